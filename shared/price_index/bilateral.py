"""Bilateral index formulae that are functions of sums over matched items. Pure.

Each formula has two parts: the terms that every matched item contributes, and the function of their sums that is the
index. An item's terms can be taken off the sums, so intervals need no second implementation. Sources: ILO et al.,
Consumer Price Index Manual: Theory (2020), chapters 2 to 6; the formula's own author where its docstring names one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

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

    @cached_property
    def ratio(self) -> Floats:
        """The price relatives."""
        return self.p1 / self.p0

    @cached_property
    def logs(self) -> Floats:
        """The logarithms of the price relatives."""
        logs: Floats = np.log(self.ratio)
        return logs

    @cached_property
    def v0(self) -> Floats:
        """The sales of the first period."""
        return self.p0 * self.q0

    @cached_property
    def v1(self) -> Floats:
        """The sales of the second period."""
        return self.p1 * self.q1

    @property
    def shares(self) -> tuple[Floats, Floats]:
        """Each item's share of the sales of either period."""
        return self.v0 / self.v0.sum(), self.v1 / self.v1.sum()


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


def _baskets(m: Matched) -> tuple[Floats, ...]:
    """Return the four values that prices and quantities of two periods make: p1q0, p0q0, p1q1, p0q1."""
    return m.p1 * m.q0, m.v0, m.v1, m.p0 * m.q1


def _basket(quantity: Callable[[Matched], Floats]) -> Terms:
    """Return the terms of the index of one basket: its values at the prices of either period."""

    def terms(m: Matched) -> tuple[Floats, ...]:
        q = quantity(m)
        return m.p1 * q, m.p0 * q

    return terms


def _harmonic_quantity(m: Matched) -> Floats:
    return np.divide(2 * m.q0 * m.q1, m.q0 + m.q1, out=np.zeros_like(m.q0), where=m.q0 + m.q1 > 0)


def _by(weight: Callable[[Matched], Floats]) -> Terms:
    """Return the terms of the weighted mean of relatives."""

    def terms(m: Matched) -> tuple[Floats, ...]:
        w = weight(m)
        return w * m.ratio, w

    return terms


def _logs_by(weight: Callable[[Matched], Floats]) -> Terms:
    """Return the terms of the weighted mean of log relatives."""

    def terms(m: Matched) -> tuple[Floats, ...]:
        w = weight(m)
        return w, w * m.logs

    return terms


def _agmean(m: Matched) -> tuple[Floats, ...]:
    return m.v0, m.v0 * m.logs, m.v0 * m.ratio


def _lehr(m: Matched) -> tuple[Floats, ...]:
    sold = m.q0 + m.q1
    unit_value = np.divide(m.v0 + m.v1, sold, out=np.zeros_like(sold), where=sold > 0)
    return m.v1, m.v0, unit_value * m.q1, unit_value * m.q0


def _quotient(sums: Floats, _sigma: float) -> Floats:
    index: Floats = sums[0] / sums[1]
    return index


def _log_mean(sums: Floats, _sigma: float) -> Floats:
    index: Floats = np.exp(sums[1] / sums[0])
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


def logarithmic_mean(a: Floats, b: Floats) -> Floats:
    """Return (a - b) / ln(a / b), which is a where a = b, and 0 where one of them is 0."""
    both = (a > 0) & (b > 0)
    half = np.log(np.where(both, a, 1) / np.where(both, b, 1)) / 2
    # Written with sinh, because (a - b) / ln(a / b) loses its digits where a is near b.
    stretch = np.divide(np.sinh(half), half, out=np.ones_like(half), where=half != 0)
    return np.where(both, np.sqrt(a * b) * stretch, 0.0)


FORMULAE: dict[str, Formula] = {
    "jevons": Formula(lambda m: (np.ones_like(m.p0), m.logs), _log_mean, weighted=False, reversible=True),
    "dutot": Formula(lambda m: (m.p1, m.p0), _quotient, weighted=False, reversible=True),
    "carli": Formula(_relatives, lambda s, _: s[1] / s[0], weighted=False),
    "harmonic": Formula(_relatives, lambda s, _: s[0] / s[2], weighted=False),
    # Carruthers, Sellwood, Ward and Dalén: the geometric mean of Carli and the harmonic mean.
    "cswd": Formula(_relatives, lambda s, _: np.sqrt(s[1] / s[2]), weighted=False, reversible=True),
    "harmonic-prices": Formula(lambda m: (1 / m.p0, 1 / m.p1), _quotient, weighted=False, reversible=True),
    # Balk, Mehrhoff, Walsh.
    "bmw": Formula(lambda m: (np.sqrt(m.ratio), np.sqrt(1 / m.ratio)), _quotient, weighted=False, reversible=True),
    "laspeyres": Formula(_baskets, _quotient, weighted=True),
    "paasche": Formula(_baskets, lambda s, _: s[2] / s[3], weighted=True),
    "fisher": Formula(_baskets, lambda s, _: np.sqrt(s[0] / s[1] * (s[2] / s[3])), weighted=True, reversible=True),
    "drobisch": Formula(_baskets, lambda s, _: (s[0] / s[1] + s[2] / s[3]) / 2, weighted=True),
    "harmonic-laspeyres-paasche": Formula(_baskets, lambda s, _: 2 / (s[1] / s[0] + s[3] / s[2]), weighted=True),
    "stuvel": Formula(_baskets, _stuvel, weighted=True, reversible=True),
    "marshall-edgeworth": Formula(_basket(lambda m: m.q0 + m.q1), _quotient, weighted=True, reversible=True),
    "walsh": Formula(_basket(lambda m: np.sqrt(m.q0 * m.q1)), _quotient, weighted=True, reversible=True),
    "geary-khamis": Formula(_basket(_harmonic_quantity), _quotient, weighted=True, reversible=True),
    "tornqvist": Formula(
        lambda m: (m.v0, m.v1, m.v0 * m.logs, m.v1 * m.logs),
        lambda s, _: np.exp((s[2] / s[0] + s[3] / s[1]) / 2),
        weighted=True,
        reversible=True,
    ),
    "geometric-laspeyres": Formula(_logs_by(lambda m: m.v0), _log_mean, weighted=True),
    "geometric-paasche": Formula(_logs_by(lambda m: m.v1), _log_mean, weighted=True),
    # Fisher's unnamed index: the arithmetic mean of relatives by the mean of both periods' shares.
    "unnamed": Formula(
        lambda m: (m.v0, m.v1, m.v0 * m.ratio, m.v1 * m.ratio),
        lambda s, _: (s[2] / s[0] + s[3] / s[1]) / 2,
        weighted=True,
    ),
    "harmonic-laspeyres": Formula(lambda m: (m.v0, m.v0 / m.ratio), _quotient, weighted=True),
    "walsh-2": Formula(_by(lambda m: np.sqrt(m.v0 * m.v1)), _quotient, weighted=True),
    # Martini: quantities of the first period to the power 1 - sigma times those of the second to the power sigma.
    "martini": Formula(_basket(lambda m: m.q0 ** (1 - m.sigma) * m.q1**m.sigma), _quotient, weighted=True),
    "lehr": Formula(_lehr, lambda s, _: s[0] / s[1] / (s[2] / s[3]), weighted=True, reversible=True),
    # Carruthers, Sellwood, Ward, Dalén and Balk: Carli of prices and of quantities, and the ratio of values.
    "cswdb": Formula(
        lambda m: (m.ratio, m.q1 / m.q0, m.v1, m.v0),
        lambda s, _: np.sqrt(s[0] / s[1] * s[2] / s[3]),
        weighted=True,
    ),
    "palgrave": Formula(_by(lambda m: m.v1), _quotient, weighted=True),
    "lloyd-moulton": Formula(
        lambda m: (m.v0, m.v0 * (m.logs if m.sigma == 1 else m.ratio ** (1 - m.sigma))), _ces, weighted=True
    ),
    # Lent and Dorfman: sigma parts geometric, the rest arithmetic.
    "agmean": Formula(_agmean, lambda s, sigma: sigma * np.exp(s[1] / s[0]) + (1 - sigma) * s[2] / s[0], weighted=True),
    "geometric-agmean": Formula(
        _agmean, lambda s, sigma: np.exp(sigma * s[1] / s[0] + (1 - sigma) * np.log(s[2] / s[0])), weighted=True
    ),
    "montgomery-vartia": Formula(
        lambda m: (m.v0, m.v1, logarithmic_mean(m.v0, m.v1) * m.logs),
        lambda s, _: np.exp(s[2] / logarithmic_mean(s[0], s[1])),
        weighted=True,
        reversible=True,
    ),
    "lowe": Formula(_basket(lambda m: m.basket), _quotient, weighted=True, basket=True),
    "young": Formula(_by(lambda m: m.basket_values), _quotient, weighted=True, basket=True),
    "harmonic-young": Formula(
        lambda m: (m.basket_values, m.basket_values / m.ratio), _quotient, weighted=True, basket=True
    ),
    "geometric-lowe": Formula(_logs_by(lambda m: m.p0 * m.basket), _log_mean, weighted=True, basket=True),
    "geometric-young": Formula(_logs_by(lambda m: m.basket_values), _log_mean, weighted=True, basket=True),
}
