"""The pedigree matrix: from five scores of a figure's origin to the width of its distribution. Pure.

Expert tables (ecoinvent) give factors that contribute to the squared geometric standard deviation; the empirical table
(Ciroth and others 2013) gives factors that are geometric standard deviations. Each table is read in its own sense.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shared.uncertainty.lognormal import Z95, Interval, LogNormal, sigma_of_bounds, sigma_of_deviation

BASIC_GSD_SQUARED = 1.05
"""The basic uncertainty factor of carbon dioxide, energy and materials (ecoinvent), a squared GSD."""


class Scores(NamedTuple):
    """Scores 1 (best) to 5 of where a figure comes from."""

    reliability: int
    completeness: int
    temporal: int
    geographical: int
    technology: int


TABLE = "empirical_2013"
"""The table that figures without a spread of their own use: it was derived from data, and it is the widest."""

OF_BASIS = {"measured": Scores(1, 2, 2, 1, 1), "modelled": Scores(2, 3, 3, 2, 2)}
"""The scores that stand for a basis. Measured: verified, of this product. Modelled: partly from assumptions, from some
sites, up to ten years old, from a larger area and other enterprises of the same technology."""


def sigma_of_scores(scores: Scores, table: str = TABLE, basic_gsd_squared: float = BASIC_GSD_SQUARED) -> float:
    """Return the standard deviation of the logarithm: the contributions of all scores are independent.

    `basic_gsd_squared` is a squared GSD in every table, as ecoinvent publishes it.
    """
    factors = _tables()[table]
    # The logarithm of a squared GSD is twice that of the GSD.
    halved = 0.5 if factors["factor_is"] == "gsd_squared" else 1.0
    logs = [halved * math.log(factors[name][score - 1]) for name, score in scores._asdict().items()]
    return math.hypot(*logs, math.log(basic_gsd_squared) / 2)


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Any]:
    with Path(__file__).with_name("pedigree.toml").open("rb") as file:
        return tomllib.load(file)


# Figures of a category as an estimate for one of its items, or for an item of a category without figures. Pure.


SAMPLES_MIN = 5
"""So many samples make a category's own spread usable; with fewer the nearest wider category is better."""
RELATED_DEGREES = 2
_RELATED = Scores(3, 3, 3, 3, 4)
# With three samples or fewer the quantile of a known spread would be far off; these are Student's own.
_T975 = {1: 12.706204736432095, 2: 4.302652729911275, 3: 3.182446305284263, 4: 2.7764451051977987}


class Estimate(NamedTuple):
    """The estimate of an item's figure: the distribution of a new item, and how many samples of which categories."""

    figure: LogNormal
    samples: int
    categories: int


def student_975(degrees: int) -> float:
    """Return Student's 97.5 % quantile for at least one degree of freedom, within 0.001."""
    if degrees in _T975:
        return _T975[degrees]
    z, v = Z95, float(degrees)
    first = (z**3 + z) / (4 * v)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    return z + first + second + third + fourth


def of_category(values: Sequence[float]) -> Estimate:
    """Return the distribution of one more item of a category with at least two positive figures.

    Its middle 95 % are Student's prediction interval of the logarithms, so few samples make a wide one.
    """
    logs = np.log(np.asarray(values, float))
    n = len(logs)
    if n < 2:
        raise ValueError("a spread needs two samples")
    return Estimate(LogNormal(float(np.exp(logs.mean())), predictive_sigma(float(logs.std(ddof=1)), n)), n, 1)


def predictive_sigma(log_deviation: float, samples: int) -> float:
    """Return the sigma whose 95 % interval is the prediction interval of one more item; samples ≥ 2."""
    return log_deviation * math.sqrt(1 + 1 / samples) * student_975(samples - 1) / Z95


def of_others(groups: Mapping[str, Sequence[float]]) -> Estimate:
    """Return the distribution of an item of a category that is not among the groups, by random effects.

    The variance is that between categories plus that within them, plus that of the overall mean. The
    variance between the groups (moments estimator) is averaged with the pedigree matrix's for related products,
    which counts as RELATED_DEGREES more groups: of one group there is no other, and of two Student's quantile is so
    large that an interval would span a dozen powers of ten.
    """
    logs = [np.log(np.asarray(group, float)) for group in groups.values() if len(group)]
    total = sum(map(len, logs))
    if total < 2:
        raise ValueError("a spread needs two samples")
    means = np.array([group.mean() for group in logs])
    sizes = np.array([len(group) for group in logs], float)
    inside = sum(float(((group - group.mean()) ** 2).sum()) for group in logs)
    within = inside / (total - len(logs)) if total > len(logs) else 0.0
    free = len(logs) - 1
    seen = max(0.0, float(means.var(ddof=1)) - within * float((1 / sizes).mean())) if free else 0.0
    between = (free * seen + RELATED_DEGREES * sigma_of_scores(_RELATED) ** 2) / (free + RELATED_DEGREES)
    weights = 1 / (between + within / sizes)
    middle = float((weights * means).sum() / weights.sum())
    of_mean = 1 / float(weights.sum())
    spread = math.sqrt(between + within + of_mean) * student_975(free + RELATED_DEGREES) / Z95
    return Estimate(LogNormal(math.exp(middle), spread), total, len(logs))


def nearest(code: str, groups: Mapping[str, Sequence[float]], samples_min: int = SAMPLES_MIN) -> Estimate:
    """Return the estimate for an item of a category: its own figures if there are enough, else those of the nearest.

    Codes are dotted paths. The nearest category with enough samples is the lowest ancestor below which there are so
    many; at the top stand all groups.
    """
    own = groups.get(code, ())
    if len(own) >= samples_min:
        return of_category(own)
    parts = code.split(".")
    for depth in range(len(parts) - 1, -1, -1):
        prefix = ".".join(parts[:depth])
        below = {name: group for name, group in groups.items() if not prefix or is_below(name, prefix)}
        if sum(map(len, below.values())) >= samples_min:
            return of_others(below)
    return of_others(groups)


def is_below(code: str, ancestor: str) -> bool:
    """Return whether a code is an ancestor's or below it."""
    return code == ancestor or code.startswith(f"{ancestor}.")


# The width of a figure of the index, and the basis of that width. Pure.


SOURCE, SAMPLES, PEDIGREE = "source", "samples", "pedigree"
ORIGINS = (SOURCE, SAMPLES, PEDIGREE)
"""The basis of an interval: the source's own statement, the spread of a category's samples, the pedigree matrix."""
_FACTOR_WITHOUT_SPREAD = Scores(3, 3, 3, 3, 4)


class Stated(NamedTuple):
    """A figure as a distribution. Items that rest on one factor share an error of `common_sigma`.

    `low` and `high` are a source's own bounds where it states them, which need not be symmetric.
    """

    median: float
    sigma: float
    origin: str
    common_sigma: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> Interval:
        """The figure with its bounds."""
        if self.low is not None and self.high is not None:
            return Interval(self.low, self.median, self.high)
        return LogNormal(self.median, math.hypot(self.sigma, self.common_sigma)).interval

    def times(self, factor: float) -> "Stated":
        """Return the figure multiplied by a number that is known, not negative."""
        bounds = (None if bound is None else bound * factor for bound in (self.low, self.high))
        return Stated(self.median * factor, self.sigma, self.origin, self.common_sigma, *bounds)


class Spread(NamedTuple):
    """A source's statement about a figure of its own: the bounds of the middle 95 %, or a standard deviation."""

    low: float | None = None
    high: float | None = None
    deviation: float | None = None


def of_item(figure: float, basis: str, spread: Spread) -> Stated:
    """Return an item's own figure: with a stated deviation it is the mean of the distribution, else the median."""
    if figure <= 0:
        return Stated(0.0, 0.0, PEDIGREE)
    if spread.low is not None and spread.high is not None:
        return Stated(figure, sigma_of_bounds(spread.low, spread.high), SOURCE, 0.0, spread.low, spread.high)
    if spread.deviation is not None:
        sigma = sigma_of_deviation(figure, spread.deviation)
        return Stated(figure * math.exp(-(sigma**2) / 2), sigma, SOURCE)
    return Stated(figure, sigma_of_scores(OF_BASIS[basis]), PEDIGREE)


def of_factor(mean: float, samples: int, log_mean: float | None, log_deviation: float | None) -> Stated:
    """Return a factor as the distribution of one item: its samples' spread, and the error of their mean.

    Without a spread the pedigree matrix is used, with the scores of related products. Of fewer samples than are enough
    its variance counts as RELATED_DEGREES more of them, as between categories: Student's quantile of two is 12.7.
    """
    if mean <= 0:
        return Stated(0.0, 0.0, PEDIGREE)
    if log_mean is None or log_deviation is None or samples < 2:
        return Stated(mean, 0.0, PEDIGREE, sigma_of_scores(_FACTOR_WITHOUT_SPREAD))
    degrees, variance = samples - 1, log_deviation**2
    if not enough(samples):
        related = RELATED_DEGREES * sigma_of_scores(_FACTOR_WITHOUT_SPREAD) ** 2
        degrees, variance = degrees + RELATED_DEGREES, (degrees * variance + related) / (degrees + RELATED_DEGREES)
    wide = math.sqrt(variance) * student_975(degrees) / Z95
    return Stated(math.exp(log_mean), wide, SAMPLES, wide / math.sqrt(samples))


def enough(samples: int) -> bool:
    """Return whether a category has enough samples to stand for itself."""
    return samples >= SAMPLES_MIN
