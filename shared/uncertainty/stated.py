"""The width of a figure of the index, and the basis of that width. Pure."""

import math
from typing import NamedTuple

from shared.uncertainty import pedigree
from shared.uncertainty.category import RELATED_DEGREES, SAMPLES_MIN, student_975
from shared.uncertainty.lognormal import Z95, Interval, LogNormal, sigma_of_bounds, sigma_of_deviation
from shared.uncertainty.pedigree import Scores

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
    return Stated(figure, pedigree.sigma(pedigree.OF_BASIS[basis]), PEDIGREE)


def of_factor(mean: float, samples: int, log_mean: float | None, log_deviation: float | None) -> Stated:
    """Return a factor as the distribution of one item: its samples' spread, and the error of their mean.

    Without a spread the pedigree matrix is used, with the scores of related products. Of fewer samples than are enough
    its variance counts as RELATED_DEGREES more of them, as between categories: Student's quantile of two is 12.7.
    """
    if mean <= 0:
        return Stated(0.0, 0.0, PEDIGREE)
    if log_mean is None or log_deviation is None or samples < 2:
        return Stated(mean, 0.0, PEDIGREE, pedigree.sigma(_FACTOR_WITHOUT_SPREAD))
    degrees, variance = samples - 1, log_deviation**2
    if not enough(samples):
        related = RELATED_DEGREES * pedigree.sigma(_FACTOR_WITHOUT_SPREAD) ** 2
        degrees, variance = degrees + RELATED_DEGREES, (degrees * variance + related) / (degrees + RELATED_DEGREES)
    wide = math.sqrt(variance) * student_975(degrees) / Z95
    return Stated(math.exp(log_mean), wide, SAMPLES, wide / math.sqrt(samples))


def enough(samples: int) -> bool:
    """Return whether a category has enough samples to stand for itself."""
    return samples >= SAMPLES_MIN
