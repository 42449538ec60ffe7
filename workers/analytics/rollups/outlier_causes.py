"""Which usual error explains a deviation: shifted decimals, another currency, exchanged digits, the price of a pack."""

import numpy as np

from shared.analytics.outliers import PER_US_DOLLAR, OutlierCause
from workers.analytics.rollups.arrays import Array

TOLERANCE = 0.03
"""How far a deviation may be from the one that an error makes, as a difference of natural logarithms."""
EXACT = 0.01
"""Within this of a shifted decimal point, no other error is considered."""
PACKS = (2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 30, 36, 48)
SHIFTS = (10, 100, 1000)
MINOR_LEAST = 0.5  # a price of 0 has no logarithm; it counts as half the smallest unit


def causes(price: Array, others: Array, currency: str) -> Array:
    """Return the letter of each outlier's likely cause.

    `others` has for each what it may be compared with, one column each: the prices before and after it, and its level.
    """
    letters = np.full(len(price), OutlierCause.ONE_OFF.value.encode(), "S1")
    nearest = np.full(len(price), TOLERANCE)
    deviations = np.abs(np.log(np.maximum(price, MINOR_LEAST))[:, None] - np.log(np.maximum(others, MINOR_LEAST)))
    for cause, factors in (
        (OutlierCause.UNIT_SLIP, SHIFTS),
        (OutlierCause.CURRENCY, _rates(currency)),
        (OutlierCause.WRONG_PACK, PACKS),
    ):
        for factor in factors:
            away = np.abs(deviations - abs(np.log(factor))).min(axis=1)
            closer = away < nearest
            letters[closer] = cause.value.encode()
            nearest = np.minimum(nearest, away)
    shifted = (letters == OutlierCause.UNIT_SLIP.value.encode()) & (nearest < EXACT)
    for place in np.flatnonzero(~shifted).tolist():
        if any(is_swapped(int(price[place]), int(other)) for other in others[place]):
            letters[place] = OutlierCause.DIGIT_SWAP.value.encode()
    return letters


def _rates(currency: str) -> list[float]:
    """Return the factors between a currency and the others that are often taken for it."""
    own = PER_US_DOLLAR.get(currency)
    return [rate / own for code, rate in PER_US_DOLLAR.items() if code != currency] if own else []


def is_swapped(price: int, other: int) -> bool:
    """Return whether exchanging two adjacent digits of one price makes the other."""
    here, there = str(price), str(other)
    if len(here) != len(there):
        return False
    differs = [place for place in range(len(here)) if here[place] != there[place]]
    return (
        len(differs) == 2
        and differs[1] == differs[0] + 1
        and here[differs[0]] == there[differs[1]]
        and here[differs[1]] == there[differs[0]]
    )
