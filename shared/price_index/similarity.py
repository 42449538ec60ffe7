"""Chaining by similarity: each period is linked to the earlier one whose prices are most like its own. Pure.

Sources: Hill (1999, 2001), Paasche-Laspeyres spread; Diewert (2009), weighted log-quadratic and asymptotically linear
measures; Fox, Hill and Diewert (2004), mix, scale and absolute dissimilarity.
"""

from collections.abc import Callable

import numpy as np

from shared.price_index.bilateral import Matched
from shared.price_index.pairs import index_of
from shared.price_index.panel import Floats, IndexNotDefined
from shared.price_index.question import Links

_EQUAL = 1e-12


def dissimilarity(m: Matched, measure: Links) -> float:
    """Return how different two periods' prices are, 0 where they are proportional; infinite without matched items."""
    if not len(m.p0):
        return float("inf")
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = _MEASURES[measure](m)
    return distance if np.isfinite(distance) else float("inf")


def links(count: int, measure: Callable[[int, int], float]) -> list[int]:
    """Return, for each of `count` periods, the earlier period that it is linked to (the first: itself).

    Of equally similar periods the earliest one is taken. Distances that differ by rounding are equal: a single matched
    item is at the distance 0 or 1e-32, depending on the currency.
    """
    chosen = [0]
    for end in range(1, count):
        distances = np.array([measure(start, end) for start in range(end)])
        chosen.append(int(np.argmax(distances <= distances.min() * (1 + _EQUAL) + _EQUAL)))
    return chosen


def _spread(m: Matched) -> float:
    return float(np.abs(np.log(index_of("laspeyres", m) / index_of("paasche", m))))


def _by_shares(distance: Callable[[Floats], Floats]) -> Callable[[Matched], float]:
    """Return the mean, by both periods' shares, of how far each relative is from the Fisher index."""

    def measure(m: Matched) -> float:
        s0, s1 = m.shares
        return float(np.sum((s0 + s1) / 2 * distance(m.ratio / index_of("fisher", m))))

    return measure


def _prices_and_quantities(distance: Callable[[Floats], float]) -> Callable[[Matched], float]:
    def measure(m: Matched) -> float:
        return float(np.sqrt(distance(m.logs) * distance(np.log(m.q1 / m.q0))))

    return measure


def _mix(logs: Floats) -> float:
    return float(np.var(logs))


def _scale(logs: Floats) -> float:
    return float(np.mean(logs) ** 2)


_MEASURES: dict[Links, Callable[[Matched], float]] = {
    "plspread": _spread,
    "logquadratic": _by_shares(lambda relative: np.log(relative) ** 2),
    "asymplinear": _by_shares(lambda relative: relative + 1 / relative - 2),
    "mix": _prices_and_quantities(_mix),
    "scale": _prices_and_quantities(_scale),
    "absolute": _prices_and_quantities(lambda logs: _mix(logs) + _scale(logs)),
}


def measure_named(text: str) -> Links:
    """Return the measure of that name, `previous` for the period before; raise IndexNotDefined for another."""
    name = "".join(letter for letter in text.lower() if letter.isalpha())
    name = {"pop": "previous", "mixscale": "absolute"}.get(name, name)
    if name == "previous":
        return "previous"
    for measure in _MEASURES:
        if measure == name:
            return measure
    raise IndexNotDefined(f"chain method: previous, {', '.join(_MEASURES)}")
