"""How figures with an interval are rounded. Pure."""

import math

BY_INTERVAL = "to two digits of the interval's width; half-even to 6 decimals where the interval is null"
BOUNDS = "to two digits of the interval's width"
_DECIMALS_MAX = 6
ENDS = ("", "_low", "_high")
"""What follows the name of a figure in those of its columns: itself, and the ends of its interval."""


def decimals(low: float | None, high: float | None) -> int:
    """Return how many decimals to show: two digits of the interval's width, six where it is unknown and at most."""
    if low is None or high is None:
        return _DECIMALS_MAX
    return min(max(1 - math.floor(math.log10(high - low)), 0), _DECIMALS_MAX)
