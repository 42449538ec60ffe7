"""Bilateral formulae whose weights depend on expenditure shares, so that sums over items do not suffice. Pure."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from shared.price_index.bilateral import Matched, logarithmic_mean
from shared.price_index.panel import Floats

DummyWeights = Literal["unit", "average", "shares"]
"""How a bilateral time product dummy weights items: equally, by the mean of both shares, or each price by its share."""


def _shares(m: Matched) -> tuple[Floats, Floats]:
    v0, v1 = m.p0 * m.q0, m.p1 * m.q1
    return v0 / v0.sum(), v1 / v1.sum()


def _weighted_jevons(weight: Callable[[Floats, Floats], Floats]) -> Callable[[Matched], float]:
    """Return the index exp(weighted mean of log relatives) with a weight made of both periods' shares."""

    def index(m: Matched) -> float:
        weights = weight(*_shares(m))
        return float(np.exp(np.sum(weights * np.log(m.ratio)) / weights.sum()))

    return index


def _theil(s0: Floats, s1: Floats) -> Floats:
    return np.cbrt((s0 + s1) / 2 * s0 * s1)


def harmonic_shares(s0: Floats, s1: Floats) -> Floats:
    """Return s0 s1 / (s0 + s1), the weight that least squares gives an item seen in two periods; 0 without sales."""
    return np.divide(s0 * s1, s0 + s1, out=np.zeros_like(s0), where=s0 + s1 > 0)


def time_product_dummy(m: Matched, weights: DummyWeights, bias_adjust: bool) -> float:
    """Return the bilateral time product dummy index (Summers 1973; Rao 1990; Diewert 2005).

    `bias_adjust`: the exponential of an estimated coefficient is too high by half its variance; take that off
    (Kennedy 1981). The variance is that of weighted least squares over both periods' prices, with items - 1 degrees of
    freedom.
    """
    weight = _dummy_weights(m, weights)
    used = weight > 0
    weight, logs = weight[used], np.log(m.ratio[used])
    total = weight.sum()
    coefficient = np.sum(weight * logs) / total
    if bias_adjust and len(logs) > 1:
        residual = np.sum(weight * (logs - coefficient) ** 2) / (len(logs) - 1)
        coefficient -= residual / total / 2
    return float(np.exp(coefficient))


def _dummy_weights(m: Matched, weights: DummyWeights) -> Floats:
    """Return each item's weight in the estimate: the harmonic combination of its weights in both periods."""
    if weights == "unit":
        return np.full_like(m.p0, 0.5)
    s0, s1 = _shares(m)
    if weights == "average":
        return (s0 + s1) / 4
    return harmonic_shares(s0, s1)


SHARE_FORMULAE: dict[str, Callable[[Matched], float]] = {
    "sato-vartia": _weighted_jevons(logarithmic_mean),
    "theil": _weighted_jevons(_theil),
    "rao": _weighted_jevons(harmonic_shares),
    # Walsh's geometric index, sometimes called Walsh-Vartia.
    "geometric-walsh": _weighted_jevons(lambda s0, s1: np.sqrt(s0 * s1)),
}
