"""Which usual error explains a deviation: a shifted decimal point, another currency, the price of a pack. Pure."""

import numpy as np

from shared.outliers import PER_US_DOLLAR
from workers.rollups.codec import Array

TOLERANCE = 0.05
"""How far a deviation may be from the one that an error makes, as a difference of natural logarithms."""
PACKS = (2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 30, 36, 48)
SHIFTS = (10, 100, 1000)


def causes(deviation: Array, by_channels: Array, currency: str) -> Array:
    """Return the letter of each deviation's likely cause: that of the nearest error, else what it was compared with."""
    letters = np.where(by_channels, b"o", b"n").astype("S1")
    nearest = np.full(len(deviation), TOLERANCE)
    for letter, errors in ((b"d", SHIFTS), (b"c", _rates(currency)), (b"u", PACKS)):
        for error in errors:
            away = np.abs(np.abs(deviation) - abs(np.log(error)))
            closer = away < nearest
            letters[closer] = letter
            nearest = np.minimum(nearest, away)
    return letters


def _rates(currency: str) -> list[float]:
    """Return the factors between a currency and the others that are often taken for it."""
    own = PER_US_DOLLAR.get(currency)
    return [rate / own for code, rate in PER_US_DOLLAR.items() if code != currency] if own else []
