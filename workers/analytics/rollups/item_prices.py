"""One price a month for each item of a rollup: what price indices compare."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shared.price_index.panel import Floats, cell_prices
from workers.analytics.rollups.aggregates import SortedEntries
from workers.analytics.rollups.codec import Array, pack_each, unpack


class ItemPrices(NamedTuple):
    """Items, each with its price in minor units (see `cell_prices`) and the units sold; of listings the units are 0."""

    item: Array
    price: Floats
    units: Array

    @classmethod
    def of(cls, ordered: SortedEntries, *, sales: bool) -> "ItemPrices":
        """Return the prices of all items, in the order of their ids; 0 for items that have no price above zero."""
        entries = ordered.entries
        sold = entries.units.astype("f8") if sales else None
        price, units = cell_prices(ordered.bounds[:-1], entries.price.astype("f8"), sold)
        whole = np.zeros(len(price), "i8") if units is None else units.astype("i8")
        return cls(ordered.items, np.nan_to_num(price), whole)

    def packed(self, items: Array, bounds: Array) -> Iterator[bytes]:
        """Pack the prices of rollups: `items` are places, those of rollup n from `bounds[n]` to `bounds[n + 1]`."""
        bits = self.price.view("i8")  # the bits of a price of zero or more are an integer of zero or more
        return pack_each((self.item[items], bits[items], self.units[items]), bounds)

    def priced(self) -> "ItemPrices":
        """Leave out items without a price."""
        kept = np.flatnonzero(self.price)
        return self if len(kept) == len(self.price) else ItemPrices(*(column.take(kept) for column in self))


def unpacked(packed: bytes) -> ItemPrices:
    """Read a rollup's prices back."""
    item, bits, units = unpack(packed)
    price: Floats = bits.astype("<u8", copy=False).view("<f8")
    return ItemPrices(item, price, units).priced()
