"""How many items groups have, and percentiles of figures of items."""

import numpy as np

from shared.price_index.panel import Floats
from shared.price_index.rows import MATCHED_LEAST
from workers.analytics.rollups.arrays import Array, sums_by


def distinct_items(group: Array, item: Array, count: int) -> Array:
    """Return how many items each group has."""
    pairs = sums_by((group, item), None)
    return np.bincount(pairs[0], minlength=count)


def percentiles(
    group: Array, item: Array, values: Array, count: int, percents: tuple[int, ...], least: int = MATCHED_LEAST
) -> list[Floats]:
    """Return percentiles of each group's values by linear interpolation; NaN below `least` items."""
    order = np.lexsort((values, group))
    values, n = np.append(values.take(order).astype("f8"), np.nan), np.bincount(group, minlength=count)
    first, last = np.cumsum(n) - n, np.cumsum(n) - 1
    known, found = (n > 0) & (distinct_items(group, item, count) >= least), []
    for percent in percents:
        whole, part = np.divmod(percent * np.maximum(n - 1, 0), 100)
        low, high = values.take(first + whole), values.take(np.clip(first + whole + 1, 0, np.maximum(last, 0)))
        found.append(np.where(known, low + (high - low) * part / 100, np.nan))
    return found
