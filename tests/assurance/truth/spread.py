"""How wide a figure is, and a sum of figures by simulation: written again from the guide, so that a mistake there shows."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

_Z = 1.959963984540054
_MATRIX = (
    (1.0, 1.54, 1.61, 1.69, 1.69),
    (1.0, 1.03, 1.04, 1.08, 1.08),
    (1.0, 1.03, 1.1, 1.19, 1.29),
    (1.0, 1.04, 1.08, 1.11, 1.11),
    (1.0, 1.18, 1.65, 2.08, 2.8),
)
"""The same factors by score, of reliability, completeness, temporal, geographical and technological correlation."""
_GSD = {"measured": (1.03, 1.03), "modelled": (1.54, 1.04, 1.1, 1.04, 1.18)}
"""Published factors (Ciroth and others 2016) of the scores that stand for a basis; a score of 1 adds nothing."""
_RELATED = (1.61, 1.04, 1.1, 1.08, 2.08)
_BORROWED, _ENOUGH, _RELATED_DEGREES = 14, 5, 2
_CELLS_MAX = 6_000_000


class Spread(NamedTuple):
    """Deviations of the logarithm: of a figure by itself, and of the error that it shares with all of its factor."""

    own: float
    shared: float
    origin: str
    factor: tuple[str, ...] = ()


class Bounds(NamedTuple):
    """The middle 95 % and the median."""

    low: float
    central: float
    high: float


def of_own(basis: str, pedigree: str | None) -> Spread:
    """Return the spread of an item's own figure of which no source states one, by the scores that there are."""
    if pedigree is None:
        return Spread(_of_factors(_GSD[basis]), 0.0, "pedigree")
    scores = map(int, pedigree.strip("()").split(","))
    return Spread(_of_factors([row[score - 1] for row, score in zip(_MATRIX, scores, strict=True)]), 0.0, "pedigree")


def of_factor(row: Mapping[str, Any]) -> Spread:
    """Return the spread of a factor: of its samples above 0, and of the other categories where these are few."""
    from scipy.stats import t  # only here: seconds, in each process that collects tests

    factor = (row["scope"], row["weight_basis"], row["code"], row["indicator"])
    degrees = max(0, row["logs"] - 1)
    squares = degrees * (row["deviation"] or 0.0) ** 2
    others = (row["degrees"] or 0) - degrees
    related = _of_factors(_RELATED)
    if others >= _BORROWED:
        squares += _BORROWED * max(0.0, row["squares"] - squares) / others
        degrees += _BORROWED
    elif not degrees:
        return Spread(0.0, related, "pedigree", factor)
    elif row["samples"] < _ENOUGH:
        squares, degrees = squares + _RELATED_DEGREES * related**2, degrees + _RELATED_DEGREES
    wide = math.sqrt(squares / degrees) * float(t.ppf(0.975, degrees)) / _Z
    return Spread(wide, wide / math.sqrt(row["samples"]), "samples", factor)


def of_figure(mean: float, spread: Spread) -> Bounds:
    """Return the bounds of one figure, which is the mean of a log-normal."""
    sigma = math.hypot(spread.own, spread.shared)
    median = mean * math.exp(-(sigma**2) / 2)
    return Bounds(median * math.exp(-_Z * sigma), median, max(mean, median * math.exp(_Z * sigma)))


def of_sum(terms: Iterable[tuple[float, Spread]]) -> Bounds:
    """Return the bounds of a sum of figures with these means, by drawing it often."""
    listed = list(terms)
    random, draws = np.random.default_rng(len(listed)), max(4_000, min(40_000, _CELLS_MAX // len(listed)))
    total, errors = np.zeros(draws), dict[tuple[str, ...], Any]()
    for mean, spread in listed:
        if spread.factor not in errors:
            errors[spread.factor] = _errors(random, spread.shared, draws)
        total += mean * _errors(random, spread.own, draws) * errors[spread.factor]
    return Bounds(*(float(bound) for bound in np.quantile(total, [0.025, 0.5, 0.975])))


def _errors(random: np.random.Generator, sigma: float, draws: int) -> Any:
    """Draw relative errors whose mean is 1."""
    return np.exp(sigma * random.standard_normal(draws) - sigma**2 / 2)


def _of_factors(factors: Iterable[float]) -> float:
    return math.hypot(*map(math.log, factors), math.log(1.05) / 2)
