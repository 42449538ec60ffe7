"""Sums of footprints: their width, their parts by stage, and which items contribute most to them."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from shared.analytics.footprint import CODES
from shared.db.connect import Connection
from shared.uncertainty.stated import Interval
from shared.uncertainty.sums import Group, interval_of_many
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.footprints import OWN, Footprints
from workers.analytics.rollups.arrays import Array

CONTRIBUTORS = 3
"""So many items are named for each indicator of a row."""


class Bounds(NamedTuple):
    """Low, median and high of each segment's sum; None where no item has a figure. The sum is inside."""

    low: list[float | None]
    central: list[float | None]
    high: list[float | None]


class Contributor(NamedTuple):
    """An item among those that a sum owes most to, by its share of the sum."""

    segment: int
    indicator: str
    item: int
    share: float


Staged = Mapping[tuple[str, str], tuple[Array, Array]]
"""For an indicator and a stage the items with a figure of it, and these figures."""


class Amounts(NamedTuple):
    """The entries that a rollup adds up: segment, item, the item's position in the footprints, and units of each."""

    segment: Array
    item: Array
    position: Array
    units: Array


def totals_of_sums(amounts: Amounts, footprints: Footprints, indicator: int, segments: int) -> list[float | None]:
    """Return each segment's sum of an indicator: of the figures, which are means; None where no item has one."""
    figures = footprints.figures[amounts.position, indicator]
    known = ~np.isnan(figures)
    total = np.bincount(amounts.segment[known], weights=(figures * amounts.units)[known], minlength=segments)
    there = np.bincount(amounts.segment[known], minlength=segments) > 0
    return [nine_digits(value) if is_there else None for value, is_there in zip(total.tolist(), there, strict=True)]


def bounds_of_sums(amounts: Amounts, footprints: Footprints, indicator: int, totals: Sequence[float | None]) -> Bounds:
    """Return the middle 95 % of each segment's sum of an indicator, whose mean is among the `totals`.

    Units of one item share its error wholly, items of one factor that factor's; all else is independent.
    """
    columns: list[list[float | None]] = [[None] * len(totals) for _ in Bounds._fields]
    figures = footprints.figures[amounts.position, indicator]
    sigmas = footprints.sigmas[amounts.position, indicator]
    numbers = footprints.factors[amounts.position, indicator].astype("i8")
    for segment, entries in by_segment(amounts.segment, ~np.isnan(figures)):
        total = totals[segment]
        assert total is not None
        alone = footprints.stated.get((int(amounts.item[entries[0]]), CODES[indicator])) if len(entries) == 1 else None
        if alone is not None:
            interval = alone.times(float(amounts.units[entries[0]])).interval
        else:
            means = figures[entries] * amounts.units[entries]
            interval = _interval(means, sigmas[entries], numbers[entries], footprints.common)
        for column, bound in zip(columns, Interval(*map(nine_digits, interval)).around(total), strict=True):
            column[segment] = bound
    return Bounds(*columns)


def _interval(means: Array, sigmas: Array, numbers: Array, common: Array) -> Interval:
    """Return the interval of a sum of log-normals of these means."""
    own = numbers == OWN
    medians = means * np.exp(-np.square(sigmas) / 2)  # as median_of has it
    groups = []
    for factor in np.unique(numbers[~own]).tolist():
        mine, shared = numbers == factor, float(common[factor])
        # The shared error has a median of 1: the mean of the whole is then that of its figures.
        groups.append(Group(medians[mine] * math.exp(-(shared**2) / 2), sigmas[mine], shared))
    return interval_of_many(medians[own], sigmas[own], groups)


def nine_digits(value: float) -> float:
    return float(f"{value:.9g}")


def read_stages(connection: Connection, chosen: Filter) -> Staged:
    """Read what stages of the life cycle contribute to items' own figures."""
    brands = list(chosen.brands) if chosen.brands is not None else None
    categories = list(chosen.categories) if chosen.categories is not None else None
    listed: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for indicator, stage, item, per_unit in connection.execute(SQL.own_stages, (brands, categories)):
        listed[indicator, stage].append((item, per_unit))
    return {
        key: (np.array([item for item, _ in rows], "i8"), np.array([per_unit for _, per_unit in rows]))
        for key, rows in listed.items()
    }


def stages_of_sums(
    amounts: Amounts,
    footprints: Footprints,
    staged: Staged,
    totals: Mapping[str, Sequence[float | None]],
    segments: int,
) -> list[list[dict[str, Any]]]:
    """Return each segment's sums by stage, and what no stage accounts for as the stage None: together the total."""
    rows: list[list[dict[str, Any]]] = [[] for _ in range(segments)]
    rest: dict[tuple[int, str], Decimal] = {}
    for (indicator, stage), (item, per_unit) in staged.items():
        of_item = np.full(len(footprints.item) + 1, np.nan)
        of_item[footprints.positions(item)] = per_unit
        figures = of_item[amounts.position]
        known = ~np.isnan(figures)
        sums = np.bincount(amounts.segment[known], weights=(figures * amounts.units)[known], minlength=segments)
        for segment in np.unique(amounts.segment[known]).tolist():
            total, part = totals[indicator][segment], nine_digits(float(sums[segment]))
            rows[segment].append({"indicator": indicator, "stage": stage, "sum": part})
            rest[segment, indicator] = rest.get((segment, indicator), Decimal(repr(total))) - Decimal(repr(part))
    for (segment, indicator), left in rest.items():
        if left:
            rows[segment].append({"indicator": indicator, "stage": None, "sum": float(left)})
    for row in rows:
        row.sort(key=lambda one: (CODES.index(one["indicator"]), one["stage"] is None))
    return rows


def each_contributor(amounts: Amounts, footprints: Footprints) -> Iterator[Contributor]:
    """Yield the items with the largest shares of each segment's sums, the largest first."""
    for n, name in enumerate(CODES):
        values = footprints.figures[amounts.position, n] * amounts.units
        for segment, entries in by_segment(amounts.segment, values > 0):
            total = float(values[entries].sum())
            # Equal shares in the order of ids, so that the same question has the same answer.
            largest = entries[np.lexsort((amounts.item[entries], -values[entries]))[:CONTRIBUTORS]]
            for entry in largest.tolist():
                yield Contributor(segment, name, int(amounts.item[entry]), round(float(values[entry]) / total, 6))


def by_segment(segment: Array, known: Array) -> Iterator[tuple[int, Any]]:
    """Yield each segment with the places of its entries that are known."""
    entries = np.flatnonzero(known)
    entries = entries[np.argsort(segment[entries], kind="stable")]
    numbers, starts = np.unique(segment[entries], return_index=True)
    if len(entries):
        yield from zip(numbers.tolist(), np.split(entries, starts[1:]), strict=True)
