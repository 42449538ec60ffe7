"""The width of a rollup's sums, and which items contribute most to them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from shared.indicators import CODES
from shared.uncertainty.sums import Group, interval_of_many
from workers.reports.impacts import OWN, Footprints
from workers.rollups.codec import Array

CONTRIBUTORS = 3
"""So many items are named for each indicator of a row."""


class Bounds(NamedTuple):
    """Low, median and high of each segment's sum; None where no item has a figure."""

    low: list[float | None]
    central: list[float | None]
    high: list[float | None]


class Contributor(NamedTuple):
    """An item among those that a sum owes most to, by its share of the sum."""

    segment: int
    indicator: str
    item: int
    share: float


class Amounts(NamedTuple):
    """The entries that a rollup adds up: segment, item, the item's position in the footprints, and units of each."""

    segment: Array
    item: Array
    position: Array
    units: Array


def bounds(amounts: Amounts, footprints: Footprints, indicator: int, segments: int) -> Bounds:
    """Return the middle 95 % of each segment's sum of an indicator.

    Units of one item share its error wholly, items of one factor that factor's; all else is independent.
    """
    columns: list[list[float | None]] = [[None] * segments for _ in Bounds._fields]
    medians = footprints.medians[amounts.position, indicator] * amounts.units
    sigmas = footprints.sigmas[amounts.position, indicator]
    numbers = footprints.factors[amounts.position, indicator].astype("i8")
    for segment, entries in _by_segment(amounts.segment, ~np.isnan(medians)):
        own = numbers[entries] == OWN
        shared = _by_factor(medians[entries][~own], sigmas[entries][~own], numbers[entries][~own], footprints.common)
        interval = interval_of_many(medians[entries][own], sigmas[entries][own], shared)
        for column, bound in zip(columns, interval, strict=True):
            column[segment] = float(f"{bound:.9g}")
    return Bounds(*columns)


def contributors(amounts: Amounts, footprints: Footprints) -> Iterator[Contributor]:
    """Yield the items with the largest shares of each segment's sums, the largest first."""
    for n, name in enumerate(CODES):
        values = footprints.figures[amounts.position, n] * amounts.units
        for segment, entries in _by_segment(amounts.segment, values > 0):
            total = float(values[entries].sum())
            # Equal shares in the order of ids, so that the same question has the same answer.
            largest = entries[np.lexsort((amounts.item[entries], -values[entries]))[:CONTRIBUTORS]]
            for entry in largest.tolist():
                yield Contributor(segment, name, int(amounts.item[entry]), round(float(values[entry]) / total, 6))


def _by_segment(segment: Array, known: Array) -> Iterator[tuple[int, Any]]:
    """Yield each segment with the places of its entries that are known."""
    entries = np.flatnonzero(known)
    entries = entries[np.argsort(segment[entries], kind="stable")]
    numbers, starts = np.unique(segment[entries], return_index=True)
    if len(entries):
        yield from zip(numbers.tolist(), np.split(entries, starts[1:]), strict=True)


def _by_factor(medians: Array, sigmas: Array, numbers: Array, common: Array) -> list[Group]:
    groups = []
    for number in np.unique(numbers).tolist():
        mine = numbers == number
        groups.append(Group(medians[mine], sigmas[mine], float(common[number])))
    return groups
