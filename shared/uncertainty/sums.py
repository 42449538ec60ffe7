"""Sums of uncertain figures: exact moments; quantiles of a shifted log-normal or, if skewed, by convolution. Pure.

Figures of different sources err independently. Figures that rest on one factor share that factor's error; only their
own deviations from it are independent. `shared_by` multiplies a sum by such a common error.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.uncertainty.lognormal import Z95, Interval, LogNormal

# A shifted log-normal has the first three moments of the sum; its quantiles are within 1 % up to this skewness.
SKEWNESS_OF_FIT_MAX = 0.6
# Beyond it the widest terms are convolved on a grid and the others, whose sum is nearly normal, enter as one.
CONVOLVED_TERMS_MAX = 48
_GRID = 8_192
_GRID_BEYOND_HIGH = 1.6
_NARROW_CELLS = 1.0
Array = NDArray[np.float64]


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
        return self.third / self.variance**1.5 if self.variance > 0 else 0.0


class Shifted(NamedTuple):
    """A log-normal moved along the axis: shift + median · exp(sigma · Z)."""

    shift: float
    median: float
    sigma: float

    def quantile(self, z: float) -> float:
        """Return the quantile at a standard normal's quantile."""
        return self.shift + self.median * math.exp(z * self.sigma)


def moments(term: LogNormal) -> Moments:
    """Return the moments of one figure."""
    w = math.expm1(term.sigma**2)
    return Moments(term.mean, term.mean**2 * w, term.mean**3 * w * w * (w + 3))


def total_moments(medians: Array, sigmas: Array) -> Moments:
    """Return the moments of the sum of independent log-normals."""
    w = np.expm1(np.square(sigmas))
    means = medians * np.sqrt(w + 1)
    return Moments(float(means.sum()), float((means**2 * w).sum()), float((means**3 * w * w * (w + 3)).sum()))


def shared_by(inner: Moments, sigma: float) -> Moments:
    """Return the moments of a sum times a common error of median 1."""
    e1, e2, e3 = (math.exp(k * k * sigma**2 / 2) for k in (1, 2, 3))
    raw2 = (inner.variance + inner.mean**2) * e2
    raw3 = (inner.third + 3 * inner.mean * inner.variance + inner.mean**3) * e3
    mean = inner.mean * e1
    return Moments(mean, raw2 - mean**2, raw3 - 3 * mean * raw2 + 2 * mean**3)


def fitted(moments: Moments) -> Shifted:
    """Return the shifted log-normal with the given moments; of no skewness a constant or the nearest to a normal."""
    if moments.variance <= 0 or moments.mean <= 0:
        return Shifted(moments.mean, 0.0, 0.0)
    w = _excess(max(moments.skewness, 1e-6))
    median = math.sqrt(moments.variance / (w * (1 + w)))
    return Shifted(moments.mean - median * math.sqrt(1 + w), median, math.sqrt(math.log1p(w)))


def sum_interval(terms: Sequence[Moments]) -> Interval:
    """Return the median and the middle 95 % of a sum of independent terms."""
    whole = Moments()
    for term in terms:
        whole = whole.plus(term)
    fit = fitted(whole)
    if whole.skewness <= SKEWNESS_OF_FIT_MAX or len(terms) == 1:
        return Interval(fit.quantile(-Z95), fit.quantile(0.0), fit.quantile(Z95))
    return _convolved(terms, fit)


def interval_of_many(medians: Array, sigmas: Array, shared: Sequence[Moments]) -> Interval:
    """Return the interval of a sum of any number of independent log-normals and of sums that share an error each."""
    means2 = np.square(medians * np.exp(np.square(sigmas) / 2))
    order = np.argsort(-means2 * np.expm1(np.square(sigmas)), kind="stable")
    widest, rest = order[:CONVOLVED_TERMS_MAX], order[CONVOLVED_TERMS_MAX:]
    listed = zip(medians[widest].tolist(), sigmas[widest].tolist(), strict=True)
    terms = [*shared, *(moments(LogNormal(median, sigma)) for median, sigma in listed)]
    if len(rest):
        terms.append(total_moments(medians[rest], sigmas[rest]))
    return sum_interval(terms)


def _convolved(terms: Sequence[Moments], fit: Shifted) -> Interval:
    widest = sorted(terms, key=lambda term: term.variance, reverse=True)
    rest = Moments()
    for term in widest[CONVOLVED_TERMS_MAX:]:
        rest = rest.plus(term)
    parts = [fitted(term) for term in (*widest[:CONVOLVED_TERMS_MAX], rest) if term.mean > 0]
    offset = sum(part.shift for part in parts)
    top = max(fit.quantile(Z95), *(offset + part.median * math.exp(Z95 * part.sigma) for part in parts)) - offset
    step = top * _GRID_BEYOND_HIGH / _GRID
    spectrum: Any = np.ones(_GRID + 1, np.complex128)
    for part in parts:
        mean = part.median * math.exp(part.sigma**2 / 2)
        if mean * math.sqrt(math.expm1(part.sigma**2)) < _NARROW_CELLS * step:
            offset += mean
            continue
        edges = (np.arange(_GRID) + 0.5) * step
        below = normal_cdf(np.log(edges / part.median) / part.sigma)
        spectrum = spectrum * np.fft.rfft(np.diff(below, prepend=0.0), 2 * _GRID)
    cumulative = np.cumsum(np.fft.irfft(spectrum, 2 * _GRID)[:_GRID])
    low, middle, high = np.interp((0.025, 0.5, 0.975), cumulative, (np.arange(_GRID) + 0.5) * step)
    return Interval(offset + float(low), offset + float(middle), offset + float(high))


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
