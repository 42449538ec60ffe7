"""One uncertain figure: a log-normal distribution and its 95 % interval. Pure."""

import math
from dataclasses import dataclass
from typing import NamedTuple

Z95 = 1.959963984540054
"""The standard normal's 97.5 % quantile: 95 % lie within so many standard deviations."""


class Interval(NamedTuple):
    """A figure with the bounds that contain it with 95 %; `central` is the median."""

    low: float
    central: float
    high: float


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A positive quantity whose logarithm is normal: its median and the standard deviation of the logarithm."""

    median: float
    sigma: float

    @property
    def gsd(self) -> float:
        """The geometric standard deviation."""
        return math.exp(self.sigma)

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return self.median * math.exp(self.sigma**2 / 2)

    @property
    def interval(self) -> Interval:
        """The median and the bounds of the middle 95 %."""
        factor = math.exp(Z95 * self.sigma)
        return Interval(self.median / factor, self.median, self.median * factor)

    def times(self, factor: float) -> "LogNormal":
        """Return the quantity multiplied by a positive number."""
        return LogNormal(self.median * factor, self.sigma)


def sigma_of_bounds(low: float, high: float) -> float:
    """Return the deviation of a log-normal whose middle 95 % lie between two bounds, 0 < low <= high."""
    if not 0 < low <= high:
        raise ValueError("bounds must be positive and in order")
    return math.log(high / low) / (2 * Z95)


def sigma_of_deviation(mean: float, standard_deviation: float) -> float:
    """Return the deviation of the logarithm from an arithmetic mean and standard deviation."""
    if mean <= 0 or standard_deviation < 0:
        raise ValueError("the mean must be positive and the deviation not negative")
    ratio = standard_deviation / mean
    # The square of a large ratio would leave a double; beside that of a small one 1 has no digit left.
    return math.sqrt(2 * math.log(math.hypot(1, ratio)) if ratio > 1 else math.log1p(ratio * ratio))
