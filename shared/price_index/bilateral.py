"""Bilateral index formulae that are functions of sums over matched items. Pure.

Each formula has two parts: the terms that every matched item contributes, and the function of their sums that is the
index. Sums can be resampled, so the bootstrap needs no second implementation. Sources: ILO et al., Consumer Price Index
Manual: Theory (2020), chapters 2 to 6; the formula's own author where its docstring names one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shared.price_index.panel import Floats


@dataclass(frozen=True)
class Matched:
    """Prices and quantities of the items that both periods have; quantities are zero-length where there are none.

    `basket` has the quantities and `basket_values` the sales of the basket period, for those formulae that use one.
    `sigma` is the elasticity of substitution.
    """

    p0: Floats
    p1: Floats
    q0: Floats
    q1: Floats
    basket: Floats
    basket_values: Floats
    sigma: float

    @property
    def ratio(self) -> Floats:
        """Return the price relatives."""
        relatives: Floats = self.p1 / self.p0
        return relatives


Terms = Callable[[Matched], tuple[Floats, ...]]
Combine = Callable[[Floats, float], Floats]


@dataclass(frozen=True)
class Formula:
    """An index as a function of sums: `terms` gives arrays over items, `combine` takes their sums and sigma.

    `reversible`: the index from 1 to 0 is the reciprocal of that from 0 to 1. `weighted`: it needs quantities.
    """

    terms: Terms
    combine: Combine
    weighted: bool
    reversible: bool = False
    basket: bool = False


def _relatives(m: Matched) -> tuple[Floats, ...]:
    return np.ones_like(m.p0), m.ratio, 1 / m.ratio


def _logs(m: Matched) -> tuple[Floats, ...]:
    return np.ones_like(m.p0), np.log(m.ratio)


def _dutot(m: Matched) -> tuple[Floats, ...]:
    return m.p1, m.p0


def _harmonic_prices(m: Matched) -> tuple[Floats, ...]:
    return 1 / m.p0, 1 / m.p1


def _balk_walsh(m: Matched) -> tuple[Floats, ...]:
    return np.sqrt(m.ratio), np.sqrt(1 / m.ratio)


def _baskets(m: Matched) -> tuple[Floats, ...]:
    """Return the four values that prices and quantities of two periods make: p1q0, p0q0, p1q1, p0q1."""
    return m.p1 * m.q0, m.p0 * m.q0, m.p1 * m.q1, m.p0 * m.q1


def _priced(quantity: Callable[[Floats, Floats], Floats]) -> Terms:
    """Return the terms of a basket whose quantities are a mean of both periods'."""

    def terms(m: Matched) -> tuple[Floats, ...]:
        q = quantity(m.q0, m.q1)
        return m.p1 * q, m.p0 * q

    return terms


def _harmonic_quantity(q0: Floats, q1: Floats) -> Floats:
    return np.divide(2 * q0 * q1, q0 + q1, out=np.zeros_like(q0), where=q0 + q1 > 0)


def _lowe(m: Matched) -> tuple[Floats, ...]:
    return m.p1 * m.basket, m.p0 * m.basket


def _young(m: Matched) -> tuple[Floats, ...]:
    return m.basket_values * m.ratio, m.basket_values


def _geometric_young(m: Matched) -> tuple[Floats, ...]:
    return m.basket_values, m.basket_values * np.log(m.ratio)


def _geometric_lowe(m: Matched) -> tuple[Floats, ...]:
    return m.p0 * m.basket, m.p0 * m.basket * np.log(m.ratio)


def _value_logs(m: Matched) -> tuple[Floats, ...]:
    """Return values of both periods and their products with the log relatives."""
    v0, v1, logs = m.p0 * m.q0, m.p1 * m.q1, np.log(m.ratio)
    return v0, v1, v0 * logs, v1 * logs


def _value_relatives(m: Matched) -> tuple[Floats, ...]:
    """Return values of both periods and their products with the relatives."""
    v0, v1 = m.p0 * m.q0, m.p1 * m.q1
    return v0, v1, v0 * m.ratio, v1 * m.ratio


def _harmonic_laspeyres(m: Matched) -> tuple[Floats, ...]:
    v0 = m.p0 * m.q0
    return v0, v0 / m.ratio


def _harmonic_young(m: Matched) -> tuple[Floats, ...]:
    return m.basket_values, m.basket_values / m.ratio


def _walsh_two(m: Matched) -> tuple[Floats, ...]:
    weight = np.sqrt(m.p0 * m.q0 * m.p1 * m.q1)
    return weight * m.ratio, weight


def _martini(m: Matched) -> tuple[Floats, ...]:
    basket = m.q0 ** (1 - m.sigma) * m.q1**m.sigma
    return m.p1 * basket, m.p0 * basket


def _lehr(m: Matched) -> tuple[Floats, ...]:
    v0, v1, sold = m.p0 * m.q0, m.p1 * m.q1, m.q0 + m.q1
    unit_value = np.divide(v0 + v1, sold, out=np.zeros_like(sold), where=sold > 0)
    return v1, v0, unit_value * m.q1, unit_value * m.q0


def _carli_of_both(m: Matched) -> tuple[Floats, ...]:
    return m.ratio, m.q1 / m.q0, m.p1 * m.q1, m.p0 * m.q0


def _palgrave(m: Matched) -> tuple[Floats, ...]:
    v1 = m.p1 * m.q1
    return v1 * m.ratio, v1


def _lloyd_moulton(m: Matched) -> tuple[Floats, ...]:
    v0 = m.p0 * m.q0
    return v0, v0 * (np.log(m.ratio) if m.sigma == 1 else m.ratio ** (1 - m.sigma))


def _agmean(m: Matched) -> tuple[Floats, ...]:
    v0 = m.p0 * m.q0
    return v0, v0 * np.log(m.ratio), v0 * m.ratio


def _montgomery_vartia(m: Matched) -> tuple[Floats, ...]:
    v0, v1 = m.p0 * m.q0, m.p1 * m.q1
    return v0, v1, logarithmic_mean(v0, v1) * np.log(m.ratio)


def _quotient(sums: Floats, _sigma: float) -> Floats:
    index: Floats = sums[0] / sums[1]
    return index


def _log_mean(sums: Floats, _sigma: float) -> Floats:
    index: Floats = np.exp(sums[1] / sums[0])
    return index


def _tornqvist(sums: Floats, _sigma: float) -> Floats:
    index: Floats = np.exp((sums[2] / sums[0] + sums[3] / sums[1]) / 2)
    return index


def _stuvel(sums: Floats, _sigma: float) -> Floats:
    laspeyres, value, quantity = sums[0] / sums[1], sums[2] / sums[1], sums[3] / sums[1]
    half = (laspeyres - quantity) / 2
    index: Floats = half + np.sqrt(half**2 + value)
    return index


def _ces(sums: Floats, sigma: float) -> Floats:
    mean = sums[1] / sums[0]
    index: Floats = np.exp(mean) if sigma == 1 else mean ** (1 / (1 - sigma))
    return index


def _mixed_mean(sums: Floats, sigma: float) -> Floats:
    index: Floats = sigma * np.exp(sums[1] / sums[0]) + (1 - sigma) * sums[2] / sums[0]
    return index


def _geometric_mixed_mean(sums: Floats, sigma: float) -> Floats:
    index: Floats = np.exp(sigma * sums[1] / sums[0] + (1 - sigma) * np.log(sums[2] / sums[0]))
    return index


def _vartia(sums: Floats, _sigma: float) -> Floats:
    index: Floats = np.exp(sums[2] / logarithmic_mean(sums[0], sums[1]))
    return index


def logarithmic_mean(a: Floats, b: Floats) -> Floats:
    """Return (a - b) / ln(a / b), which is a where a = b, and 0 where one of them is 0."""
    both = (a > 0) & (b > 0)
    half = np.log(np.where(both, a, 1) / np.where(both, b, 1)) / 2
    # Written with sinh, because (a - b) / ln(a / b) loses its digits where a is near b.
    stretch = np.divide(np.sinh(half), half, out=np.ones_like(half), where=half != 0)
    return np.where(both, np.sqrt(a * b) * stretch, 0.0)


FORMULAE: dict[str, Formula] = {
    "jevons": Formula(_logs, _log_mean, weighted=False, reversible=True),
    "dutot": Formula(_dutot, _quotient, weighted=False, reversible=True),
    "carli": Formula(_relatives, lambda s, _: s[1] / s[0], weighted=False),
    "harmonic": Formula(_relatives, lambda s, _: s[0] / s[2], weighted=False),
    # Carruthers, Sellwood, Ward and Dalén: the geometric mean of Carli and the harmonic mean.
    "cswd": Formula(_relatives, lambda s, _: np.sqrt(s[1] / s[2]), weighted=False, reversible=True),
    "harmonic-prices": Formula(_harmonic_prices, _quotient, weighted=False, reversible=True),
    # Balk, Mehrhoff, Walsh.
    "bmw": Formula(_balk_walsh, _quotient, weighted=False, reversible=True),
    "laspeyres": Formula(_baskets, _quotient, weighted=True),
    "paasche": Formula(_baskets, lambda s, _: s[2] / s[3], weighted=True),
    "fisher": Formula(_baskets, lambda s, _: np.sqrt(s[0] / s[1] * (s[2] / s[3])), weighted=True, reversible=True),
    "drobisch": Formula(_baskets, lambda s, _: (s[0] / s[1] + s[2] / s[3]) / 2, weighted=True),
    "harmonic-laspeyres-paasche": Formula(_baskets, lambda s, _: 2 / (s[1] / s[0] + s[3] / s[2]), weighted=True),
    "stuvel": Formula(_baskets, _stuvel, weighted=True, reversible=True),
    "marshall-edgeworth": Formula(_priced(lambda a, b: a + b), _quotient, weighted=True, reversible=True),
    "walsh": Formula(_priced(lambda a, b: np.sqrt(a * b)), _quotient, weighted=True, reversible=True),
    "geary-khamis": Formula(_priced(_harmonic_quantity), _quotient, weighted=True, reversible=True),
    "tornqvist": Formula(_value_logs, _tornqvist, weighted=True, reversible=True),
    "geometric-laspeyres": Formula(_value_logs, lambda s, _: np.exp(s[2] / s[0]), weighted=True),
    "geometric-paasche": Formula(_value_logs, lambda s, _: np.exp(s[3] / s[1]), weighted=True),
    # Fisher's unnamed index: the arithmetic mean of relatives by the mean of both periods' shares.
    "unnamed": Formula(_value_relatives, lambda s, _: (s[2] / s[0] + s[3] / s[1]) / 2, weighted=True),
    "harmonic-laspeyres": Formula(_harmonic_laspeyres, _quotient, weighted=True),
    "walsh-2": Formula(_walsh_two, _quotient, weighted=True),
    # Martini: quantities of the first period to the power 1 - sigma times those of the second to the power sigma.
    "martini": Formula(_martini, _quotient, weighted=True),
    "lehr": Formula(_lehr, lambda s, _: s[0] / s[1] / (s[2] / s[3]), weighted=True, reversible=True),
    # Carruthers, Sellwood, Ward, Dalén and Balk: Carli of prices and of quantities, and the ratio of values.
    "cswdb": Formula(_carli_of_both, lambda s, _: np.sqrt(s[0] / s[1] * s[2] / s[3]), weighted=True),
    "palgrave": Formula(_palgrave, _quotient, weighted=True),
    "lloyd-moulton": Formula(_lloyd_moulton, _ces, weighted=True),
    # Lent and Dorfman: sigma parts geometric, the rest arithmetic.
    "agmean": Formula(_agmean, _mixed_mean, weighted=True),
    "geometric-agmean": Formula(_agmean, _geometric_mixed_mean, weighted=True),
    "montgomery-vartia": Formula(_montgomery_vartia, _vartia, weighted=True, reversible=True),
    "lowe": Formula(_lowe, _quotient, weighted=True, basket=True),
    "young": Formula(_young, _quotient, weighted=True, basket=True),
    "harmonic-young": Formula(_harmonic_young, _quotient, weighted=True, basket=True),
    "geometric-lowe": Formula(_geometric_lowe, _log_mean, weighted=True, basket=True),
    "geometric-young": Formula(_geometric_young, _log_mean, weighted=True, basket=True),
}
