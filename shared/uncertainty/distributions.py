"""Distributions of uncertain figures: moments, shifted log-normals, tables of probabilities. Pure."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.uncertainty.stated import Z95, LogNormal

Array = NDArray[np.float64]
TABLE_POINTS_MAX = 2_001
_NOISE = 1e-12


class Moments(NamedTuple):
    """Mean, variance and third central moment; of independent terms each adds up."""

    mean: float = 0.0
    variance: float = 0.0
    third: float = 0.0

    def plus(self, other: "Moments") -> "Moments":
        """Return the moments of the sum with an independent term."""
        return Moments(self.mean + other.mean, self.variance + other.variance, self.third + other.third)

    @property
    def skewness(self) -> float:
        """The third standardized moment; 0 of a constant."""
        return self.third / self.variance / math.sqrt(self.variance) if self.variance > 0 else 0.0


class Shifted(NamedTuple):
    """A log-normal moved along the axis: shift + median · exp(sigma · Z)."""

    shift: float
    median: float
    sigma: float

    def quantile(self, z: float) -> float:
        """Return the quantile at a standard normal's quantile."""
        return self.shift + self.median * math.exp(z * self.sigma)

    @property
    def high(self) -> float:
        """The 97.5 % quantile without the shift."""
        return self.median * math.exp(Z95 * self.sigma)

    @property
    def moments(self) -> Moments:
        """The moments without the shift."""
        return moments(LogNormal(self.median, self.sigma))

    @property
    def mean(self) -> float:
        """The mean without the shift."""
        return self.moments.mean

    @property
    def variance(self) -> float:
        return self.moments.variance

    def mean_below(self, edge: float) -> float:
        """Return what values below an edge contribute to the mean, without the shift."""
        return self.mean * math.erfc((self.sigma - math.log(edge / self.median) / self.sigma) / math.sqrt(2)) / 2

    def below(self, edges: Array) -> Array:
        """Return the probabilities of less than these values without the shift."""
        return normal_cdf(np.log(edges / self.median) / self.sigma)


class Table(NamedTuple):
    """A distribution by the probabilities of less than some values, whose logarithms are `logs`."""

    mean: float
    variance: float
    logs: Array
    probabilities: Array
    shift: float = 0.0

    def quantile(self, probability: float) -> float:
        return math.exp(np.interp(probability, self.probabilities, self.logs))

    @property
    def high(self) -> float:
        return self.quantile(0.975)

    def mean_below(self, edge: float) -> float:
        """Return what values below an edge contribute to the mean."""
        logs = np.linspace(self.logs[0], max(self.logs[0], math.log(edge)), TABLE_POINTS_MAX)
        masses = np.diff(np.interp(logs, self.logs, self.probabilities))
        return float(masses @ np.exp((logs[1:] + logs[:-1]) / 2))

    def below(self, edges: Array) -> Array:
        """Return the probabilities of less than these values."""
        probabilities: Array = np.interp(np.log(edges), self.logs, self.probabilities, left=0.0)
        return probabilities


def moments(term: LogNormal) -> Moments:
    w = math.expm1(term.sigma**2)
    return Moments(term.mean, term.mean**2 * w, term.mean**3 * w * w * (w + 3))


def fit_distribution(moments: Moments) -> Shifted:
    """Return the shifted log-normal with the given moments; of no skewness a constant or the nearest to a normal."""
    if moments.variance <= 0 or moments.mean <= 0:
        return Shifted(moments.mean, 0.0, 0.0)
    w = _excess(max(moments.skewness, 1e-6))
    median = math.sqrt(moments.variance / (w * (1 + w)))
    shift = moments.mean - median * math.sqrt(1 + w)
    # The difference of two large numbers has no digit left; the low bound of a wide figure is smaller than its noise.
    return Shifted(shift if abs(shift) > _NOISE * moments.mean else 0.0, median, math.sqrt(math.log1p(w)))


def _excess(skewness: float) -> float:
    """Solve (w + 3)·√w = skewness, the skewness of a log-normal with exp(σ²) = 1 + w, by bisection."""
    low, high = 0.0, max(1.0, skewness**2)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (middle + 3) * math.sqrt(middle) < skewness else (low, middle)
    return high


def normal_cdf(x: Array) -> Array:
    """Return the standard normal's distribution function, within 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = poly * np.exp(-z * z) / 2
    result: Array = np.where(x >= 0, 1 - tail, tail)
    return result
