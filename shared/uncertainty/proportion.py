"""The interval of a proportion that was counted in a sample."""

import math
from typing import NamedTuple

# 97.5 % of a normal distribution lie below: what is outside a 95 % interval is on both sides.
_QUANTILE = 1.959963984540054


class Interval(NamedTuple):
    """A proportion with the bounds of its 95 % interval."""

    share: float
    low: float
    high: float


def wilson(count: int, total: int) -> Interval:
    """Return the share `count / total` with its Wilson score interval; of nothing counted it is 0, from 0 to 1."""
    if not total:
        return Interval(0.0, 0.0, 1.0)
    share, square = count / total, _QUANTILE**2
    middle = share + square / (2 * total)
    half = _QUANTILE * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    return Interval(share, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))
