"""Sustainability rollup: units observed, and what they cost the planet, by period and group."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from shared.db.connect import Connection
from shared.results.rounding import NINE_DIGITS, SIX_DECIMALS
from workers.reports import impacts
from workers.reports.aggregator import Key
from workers.reports.filters import SQL, Filter, Tree, filter_of, range_of
from workers.reports.impacts import INDICATORS, PerUnit
from workers.reports.periods import Range, day_of, number
from workers.reports.query import Told, cells_with_entries, kept_entries, snapshot
from workers.reports.rendering import Names, coverage
from workers.reports.result import Answer
from workers.rollups.codec import Array, unpack

UNITS = {
    "units": "units", "items": "items", "co2e_kg": "kg CO2e", "water_l": "l", "waste_kg": "kg",
    "items_covered": "share of items", "items_measured": "share of items",
}  # fmt: skip
METHOD = (
    "units observed times the figure per unit: an item's own, else its product type's per kilogram times its weight, "
    "else that of the nearest category; items without any figure count in units and items, not in the sums, and a sum "
    "is null where no item of the group has a figure"
)
ROUNDING = {
    **dict.fromkeys(INDICATORS, NINE_DIGITS), **dict.fromkeys(("items_covered", "items_measured"), SIX_DECIMALS)
}  # fmt: skip
_FIGURES = [
    ("items", pa.int64()), ("units", pa.int64()), *((name, pa.float64()) for name in INDICATORS),
    ("items_covered", pa.float64()), ("items_measured", pa.float64()),
]  # fmt: skip


def make(connection: Connection, parameters: dict[str, Any], told: Told) -> Answer:
    """Compute a rollup. Raises BrandNotFound, CategoryNotFound, InvalidParameter; `told` may raise to stop."""
    with snapshot(connection):
        tree = Tree.read(connection)
        chosen = filter_of(connection, tree, parameters)
        days = range_of(connection, chosen, parameters)
        told("figures", 0, None)
        rollup = _Rollup(connection, tree, chosen, days, impacts.read(connection, tree, chosen))
        months = list(days.months())
        for done, month in enumerate(months):
            told("reading", done, len(months))
            rollup.add(month)
        told("reading", len(months), len(months))
        keys, sums = rollup.sums()
        names = Names.read(connection, tree, chosen, keys)
    schema = pa.schema([("period", pa.date32()), *((name, pa.string()) for name in chosen.group_by), *_FIGURES])
    rows = [
        {"period": day_of(key.period), **names.of(chosen.group_by, key), **row}
        for key, row in zip(keys, sums, strict=True)
    ]
    rows.sort(key=lambda row: (row["period"], *((row[name] is None, row[name]) for name in chosen.group_by)))
    return Answer(
        pa.Table.from_pylist(rows, schema), days.first, days.last, coverage(days, rollup.seen), UNITS, METHOD, ROUNDING
    )


class _Rollup:
    """Units by segment and item, month after month; segments are periods and groups."""

    def __init__(self, connection: Connection, tree: Tree, chosen: Filter, days: Range, per_unit: PerUnit) -> None:
        self._connection = connection
        self._tree = tree
        self._chosen = chosen
        self._days = days
        self._per_unit = per_unit
        self._numbers: dict[Key, int] = {}
        self._sold: list[tuple[Array, Array, Array]] = []
        self.seen: set[int] = set()

    def add(self, month: date) -> None:
        """Add a month's entries."""
        start = number(month)
        found = []
        for columns in self._entries(month):
            day, item, units, first, second = columns
            days = start - 1 + day.astype("i8")
            self.seen.update(np.unique(days).tolist())
            period = self._days.periods_of(days)
            found.append((period, first, second, item, units.astype("i8")))
        if not found:
            return
        period, first, second, item, units = (np.concatenate(column) for column in zip(*found, strict=True))
        if not len(period):  # a cell was read and nothing of it is of the days, brands and categories asked for
            return
        distinct, segment = np.unique(np.stack([period, first, second]), axis=1, return_inverse=True)
        numbers = [self._number(Key("", *map(int, column))) for column in distinct.T]
        self._sold.append(_summed(np.array(numbers)[segment.reshape(-1)], item, units))

    def sums(self) -> tuple[list[Key], list[dict[str, Any]]]:
        """Return each segment's row."""
        if not self._sold:
            return [], []
        segment, item, units = _summed(*(np.concatenate(column) for column in zip(*self._sold, strict=True)))
        place, count = self._per_unit.places(item), len(self._numbers)
        figures = self._per_unit.figures[place]
        covered: Array = np.logical_not(np.isnan(figures).all(axis=1))
        items = np.bincount(segment, minlength=count)
        columns = {
            "items": items.tolist(),
            "units": np.bincount(segment, weights=units, minlength=count).astype("i8").tolist(),
            "items_covered": _shares(segment, covered, items),
            "items_measured": _shares(segment, self._per_unit.measured[place], items),
        }
        for n, name in enumerate(INDICATORS):
            known = ~np.isnan(figures[:, n])
            total = np.bincount(segment[known], weights=(figures[:, n] * units)[known], minlength=count)
            there = np.bincount(segment[known], minlength=count) > 0
            columns[name] = [
                float(f"{value:.9g}") if is_there else None
                for value, is_there in zip(total.tolist(), there.tolist(), strict=True)
            ]
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return list(self._numbers), rows

    def _entries(self, month: date) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
        scope, ids, others = cells_with_entries(self._chosen, self._tree)
        cursor = self._connection.cursor(binary=True)
        for cell, packed, item_ids in cursor.execute(
            SQL.units.encode(), (scope, month, ids, self._chosen.currency, ["l", "s"])
        ):
            _, place, other, day, channel, units, _ = unpack(packed)
            kept = kept_entries(other, others, channel, self._chosen.channels, day, self._days, month)
            if kept is not None:
                place, other, day, channel, units = (column[kept] for column in (place, other, day, channel, units))
            item = np.frombuffer(item_ids, "<i8")[place]
            own = ("brand", "category") if scope == "b" else ("category", "brand")
            of = {own[0]: np.full(len(day), cell), own[1]: other.astype("i8"), "channel": channel.astype("i8")}
            zeros = np.zeros(len(day), "i8")
            first, second = ([of[name] for name in self._chosen.group_by] + [zeros, zeros])[:2]
            yield day, item, units, first, second

    def _number(self, key: Key) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _summed(segment: Array, item: Array, units: Array) -> tuple[Array, Array, Array]:
    """Return the distinct pairs of segment and item, and their units."""
    order = np.lexsort((item, segment))
    segment, item, units = segment[order], item[order], units[order]
    if not len(segment):
        return segment, item, units
    starts = np.flatnonzero(np.r_[True, (segment[1:] != segment[:-1]) | (item[1:] != item[:-1])])
    return segment[starts], item[starts], np.add.reduceat(units, starts)


def _shares(segment: Array, which: Array, items: Array) -> list[float]:
    counted = np.bincount(segment[which], minlength=len(items))
    return [round(float(part / whole), 6) for part, whole in zip(counted, items, strict=True)]
