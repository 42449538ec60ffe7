"""Which items stand behind the rows of a rollup, and with how many units: as sold, or each item once."""

from collections.abc import Iterator
from datetime import date

import numpy as np

from shared.db.connect import Connection
from shared.errors import JobRefused
from workers.reports.aggregator import Key
from workers.reports.filters import SQL, Filter, Tree
from workers.reports.periods import Range, number
from workers.reports.query import rollups_with_entries, wanted_entries
from workers.rollups.codec import Array, counted, ranges
from workers.rollups.columns import joined

_PAIRS_MAX = 5_000_000
"""Pairs of period and unpriced item: some 200 MB. More than any question that can be read needs."""


class Quantities:
    """Units by segment and item, month after month; segments are periods and groups. `once`: each item is one unit."""

    def __init__(
        self,
        connection: Connection,
        tree: Tree,
        chosen: Filter,
        days: Range,
        *,
        once: bool,
        pairs_max: int = _PAIRS_MAX,
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._chosen = chosen
        self._days = days
        self._once = once
        self._pairs_max = pairs_max
        self._numbers: dict[Key, int] = {}
        self._parts: list[tuple[Array, Array, Array]] = []
        self.seen: set[int] = set()

    @property
    def keys(self) -> list[Key]:
        """The segments, in the order of their numbers."""
        return list(self._numbers)

    def add(self, month: date) -> None:
        """Add a month's entries."""
        pieces = []
        for days, item, units, first, second in self._entries(month):
            self.seen.update(np.unique(days).tolist())
            pieces.append((self._days.periods_of(days), first, second, item, units))
        if pieces:
            self._add(*joined(pieces))

    def add_unpriced(self) -> None:
        """Add items with figures of their own and no price to each period from the day they were first seen on.

        They are in no channel and no currency, so a question that names one or groups by channel is not about them.
        Raises JobRefused where there are too many of them in too many periods.
        """
        if self._chosen.channels is not None or self._chosen.currency is not None or "channel" in self._chosen.group_by:
            return
        chosen = self._chosen
        values = (
            list(chosen.brands) if chosen.brands is not None else None,
            list(chosen.categories) if chosen.categories is not None else None,
            self._days.last,
        )
        rows = self._connection.execute(SQL.unpriced_items, values).fetchall()
        if not rows:
            return
        item, brand, category = (np.array([row[position] for row in rows], "i8") for position in range(3))
        first_seen = np.array([max(number(row[3]), number(self._days.first)) for row in rows], "i8")
        periods = np.unique(self._days.periods_of(np.arange(number(self._days.first), number(self._days.last) + 1)))
        begins = np.searchsorted(periods, self._days.periods_of(first_seen))
        counts = len(periods) - begins
        if counts.sum() > self._pairs_max:
            raise JobRefused("query-too-large", "There are too many periods: ask for longer ones or a shorter range.")
        of = {"brand": brand, "category": category}
        zeros = np.zeros(len(item), "i8")
        first, second = ([of[name] for name in chosen.group_by] + [zeros, zeros])[:2]
        position = np.repeat(np.arange(len(item)), counts)
        self._add(
            periods[ranges(begins, counts)],
            first[position],
            second[position],
            item[position],
            np.ones(len(position), "i8"),
        )

    def totals(self) -> tuple[Array, Array, Array]:
        """Return the distinct pairs of segment and item, and the units of each."""
        if not self._parts:
            return (np.empty(0, "i8"),) * 3
        segment, item, units = counted(*joined(self._parts))
        return segment, item, np.ones(len(units), "i8") if self._once else units

    def _add(self, period: Array, first: Array, second: Array, item: Array, units: Array) -> None:
        if not len(period):  # a rollup was read and nothing of it is of the days, brands and categories asked for
            return
        distinct, segment = np.unique(np.stack([period, first, second]), axis=1, return_inverse=True)
        keys = (Key("", *map(int, column)) for column in distinct.T)
        numbers = np.array([self._numbers.setdefault(key, len(self._numbers)) for key in keys])
        self._parts.append(counted(numbers[segment.reshape(-1)], item, units))

    def _entries(self, month: date) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
        scope, ids, others = rollups_with_entries(self._chosen, self._tree)
        values = (scope, month, ids, self._chosen.currency, list(self._chosen.strata))
        for group_id, packed, item_ids in self._connection.cursor(binary=True).execute(SQL.units, values):
            columns = wanted_entries(packed, others, self._chosen, self._days, month)
            _, position, other, day, channel, units, _ = columns
            item = np.frombuffer(item_ids, "<i8")[position]
            own = ("brand", "category") if scope == "b" else ("category", "brand")
            of = {own[0]: np.full(len(day), group_id), own[1]: other.astype("i8"), "channel": channel.astype("i8")}
            zeros = np.zeros(len(day), "i8")
            first, second = ([of[name] for name in self._chosen.group_by] + [zeros, zeros])[:2]
            yield number(month) - 1 + day.astype("i8"), item, units.astype("i8"), first, second
