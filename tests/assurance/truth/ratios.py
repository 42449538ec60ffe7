"""A ratio of sums over items, with the interval that leaving out each item gives. Shares no code with the product."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy import stats

from tests.assurance.truth.exact import Near
from tests.assurance.truth.questions.price_index import MATCHED_LEAST, digits

Bounds = tuple[Near | None, Near | None, Near | None]


def ratio(parts: Sequence[tuple[Fraction | int, Fraction | int]], *, at_most_one: bool) -> Bounds:
    """Return the ratio of sums and the ends of its 95 % interval; `parts` are each item's part and whole."""
    if len(parts) < MATCHED_LEAST:
        return None, None, None
    part, whole = (sum((Fraction(one[place]) for one in parts), Fraction(0)) for place in (0, 1))
    value = part / whole
    away = [float((part - one) / (whole - of) - value) for one, of in parts]
    error = math.sqrt((len(parts) - 1) / len(parts) * math.fsum(one * one for one in away))
    if error <= 1e-9:
        return Near(value, places=6), None, None
    half = error * float(stats.t.ppf(0.975, len(parts) - 1))
    low, high = max(float(value) - half, 0.0), float(value) + half
    high = min(high, 1.0) if at_most_one else high
    places = digits(low, high)
    return Near(value, places=6), Near(Fraction(low), places=places), Near(Fraction(high), places=places)
