"""Entries of one month in one order, whatever the loads were: by item, day, channel, price, units, list price.

Whatever groups items (a brand, a category) then gathers whole stretches of rows instead of sorting them again.
"""

from functools import cached_property

import numpy as np

from workers.analytics.rollups.arrays import Array, numbered, order_by, ranges, starts_of, sums_by
from workers.analytics.rollups.codec import narrow
from workers.analytics.rollups.entries import Entries


def _tied(list_price: Array, *keys: Array) -> bool:
    """Return whether rows that are alike in all keys differ in their list price: then it must decide their order."""
    if not list_price.any():
        return False
    differs = np.flatnonzero(list_price[1:] != list_price[:-1])
    return bool(np.logical_and.reduce([key[differs] == key[differs + 1] for key in keys]).any())


class SortedEntries:
    """Entries in order, and their distinct items; `bounds[n]` to `bounds[n + 1]` are the rows of item n."""

    def __init__(self, entries: Entries) -> None:
        stretches = starts_of(entries.item)
        lengths = np.diff(stretches, append=len(entries.item))
        self.items, position = np.unique(entries.item[stretches], return_inverse=True)
        number = np.repeat(position, lengths)
        keys = (number, entries.day, entries.channel, entries.price, entries.units)
        order = order_by(*keys, nearly=True)
        if _tied(entries.list_price.take(order), *(key.take(order) for key in keys)):
            order = order_by(*keys, entries.list_price)
        self.entries = entries.take(order)
        self.bounds = np.append(starts_of(self.entries.item), len(order))
        self.channels, self.channel = numbered(self.entries.channel)
        self.prices, self.price_rank = numbered(self.entries.price)

    @cached_property
    def packed_columns(self) -> tuple[Array, ...]:
        """Price, day, channel, units and list price, as narrow as they are packed: they are gathered for each scope."""
        entries = self.entries
        columns = (entries.price, entries.day, entries.channel, entries.units, entries.list_price)
        return tuple(narrow(column) for column in columns)

    @property
    def lengths(self) -> Array:
        """How many rows each item has."""
        return np.diff(self.bounds)

    def of_items(self, column: Array) -> Array:
        """Return one value an item of a column that is the same in all rows of an item."""
        return column.take(self.bounds[:-1])

    def of_rows(self, column: Array) -> Array:
        """Repeat one value an item for each of its rows."""
        return np.repeat(column, self.lengths)

    def gathered(self, order: Array) -> Array:
        """Return the places of all rows when items come in this order."""
        return ranges(self.bounds[order], self.lengths[order])

    @cached_property
    def pairs(self) -> tuple[Array, ...]:
        """Distinct pairs of item and channel in order, as places in `items` and `channels`; the rows and units of each.

        One column each.
        """
        item = self.of_rows(np.arange(len(self.items)))
        return sums_by((item, self.channel), None, self.entries.units)
