"""Ratios of sums over items, with the interval that says how much they depend on which items there are. Pure."""

from typing import NamedTuple

import numpy as np

from shared.price_index.rows import MATCHED_LEAST, student
from workers.analytics.reports.intervals import decimals
from workers.analytics.rollups.arrays import Array, numbered_rows

METHOD = "intervals of 95 % are jackknives over items; below three items a figure and its interval are null"
_NO_SPREAD = 1e-9  # below it a standard error is what rounding leaves


class ItemRatio(NamedTuple):
    """A ratio of sums over items and its 95 % interval; None below MATCHED_LEAST items, its bounds if all agree too."""

    value: float | None
    low: float | None
    high: float | None


UNKNOWN_RATIO = ItemRatio(None, None, None)


def item_ratios(group: Array, item: Array, part: Array, whole: Array, groups: int) -> list[ItemRatio]:
    """Return the sum of the parts divided by the sum of the wholes in each of so many groups.

    `item` tells which rows are of one item. The items are left out one after the other, as for a price index. No bound
    is below 0, and none is above 1 where no item's part exceeds its whole.
    """
    (group, _), place = numbered_rows(group, item)
    whole, part = (np.bincount(place, figure, len(group)) for figure in (whole, part))
    items, wholes, parts = (np.bincount(group, figure, groups) for figure in (None, whole, part))
    known = items >= MATCHED_LEAST
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = parts / wholes
        others = (parts.take(group) - part) / (wholes.take(group) - whole)
        squares = np.bincount(group, (others - ratio.take(group)) ** 2, groups)
        error = np.sqrt((items - 1) / items * squares)
        half = np.where(error > _NO_SPREAD, error, np.nan) * student(np.maximum(items - 1, 1))
    most = 1.0 if (part <= whole).all() else np.inf
    low, high = np.maximum(ratio - half, 0.0), np.minimum(ratio + half, most)
    return [
        _rounded(*figures) if is_known else UNKNOWN_RATIO
        for is_known, *figures in zip(known.tolist(), ratio.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _rounded(ratio: float, low: float, high: float) -> ItemRatio:
    if not low < high:  # not a number, as all items agree
        return ItemRatio(round(ratio, 6), None, None)
    digits = decimals(low, high)
    return ItemRatio(round(ratio, 6), round(low, digits), round(high, digits))
