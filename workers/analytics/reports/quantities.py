"""Which items stand behind the rows of a rollup, and with how many units: as sold, or each item once."""

from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from shared.analytics.observations import OBSERVATION_KINDS
from shared.db.connect import Connection
from shared.errors import JobRefused
from workers.analytics.reports.aggregator import Key, Segments
from workers.analytics.reports.filters import SQL, Filter, Tree, filter_of
from workers.analytics.reports.periods import number
from workers.analytics.reports.query import Reader, ReportProgress
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array, joined, ranges, sums_by

_PAIRS_MAX = 5_000_000
"""Pairs of period and unpriced item: some 200 MB. More than any question that can be read needs."""


class CountedUnits(NamedTuple):
    """Of what a report of footprints counts units: of `sales`, or one of each item of the `assortment`.

    `chosen` is what the question names, `counted` its observations that count.
    """

    basis: str
    chosen: Filter
    counted: Filter
    reader: Reader

    @classmethod
    def asked(
        cls, connection: Connection, tree: Tree, parameters: dict[str, Any], report_progress: ReportProgress
    ) -> "CountedUnits":
        """Return what a question counts: sales if there are any, unless it says which.

        Raises BrandNotFound, CategoryNotFound and InvalidParameter.
        """
        # A unit was sold and an item exists, whatever price was noted.
        chosen = replace(filter_of(connection, tree, parameters), outliers=True)
        reader = Reader(connection, tree, range_of(connection, tree, chosen, parameters), report_progress)
        basis = parameters.get("basis") or ("sales" if reader.has_sales(chosen) else "assortment")
        kinds = OBSERVATION_KINDS["sale" if basis == "sales" else "both"]
        return cls(basis, chosen, replace(chosen, kinds=kinds), reader)

    @property
    def once(self) -> bool:
        """Return whether each item counts as one unit."""
        return self.basis == "assortment"


class Quantities:
    """Units by segment and item, month after month; segments are periods and groups. `once`: each item is one unit."""

    def __init__(self, reader: Reader, chosen: Filter, *, once: bool, pairs_max: int = _PAIRS_MAX) -> None:
        self._reader = reader
        self._days = reader.days
        self._chosen = chosen
        self._once = once
        self._pairs_max = pairs_max
        self._segments = Segments(reader.days)
        self._parts: list[tuple[Array, ...]] = []  # segment, item, rows and units of each distinct pair
        self.seen: set[int] = set()

    @classmethod
    def read(cls, reader: Reader, chosen: Filter, *, once: bool) -> "Quantities":
        """Read those of a range of days; with `once` also of items that have figures of their own and no price."""
        quantities = cls(reader, chosen, once=once)
        months = list(reader.days.months())
        for done, month in enumerate(months):
            reader.report_progress("reading", done, len(months))
            quantities.add(month)
        if once:
            quantities.add_unpriced()
        reader.report_progress("reading", len(months), len(months))
        return quantities

    @property
    def keys(self) -> list[Key]:
        """The segments, in the order of their numbers."""
        return self._segments.keys

    def add(self, month: date) -> None:
        """Add a month's entries."""
        pieces = []
        for part in self._reader.entries(self._chosen, month):
            if not len(part.day):  # nothing of the rollup is of the days, brands and categories asked for
                continue
            self.seen.update((number(month) - 1 + np.unique(part.day).astype("i8")).tolist())
            segment = self._segments.of_entries("", month, part.day, part.groups(self._chosen))
            pieces.append((segment, part.ids, part.units))
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
        rows = self._reader.connection.execute(SQL.unpriced_items, values).fetchall()
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
        position = np.repeat(np.arange(len(item)), counts)
        groups = [of[name][position] for name in chosen.group_by]
        segment = self._segments.of_periods("", periods[ranges(begins, counts)], groups)
        self._add(segment, item[position], np.ones(len(position), "i8"))

    def totals(self) -> tuple[Array, Array, Array]:
        """Return the distinct pairs of segment and item, and the units of each."""
        if not self._parts:
            return (np.empty(0, "i8"),) * 3
        segment, item, rows, units = joined(self._parts)
        segment, item, _, units = sums_by((segment, item), rows, units)
        return segment, item, np.ones(len(units), "i8") if self._once else units

    def _add(self, segment: Array, item: Array, units: Array) -> None:
        self._parts.append(sums_by((segment, item), None, units))
