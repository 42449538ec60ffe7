"""Sums of uncertain figures: exact moments; quantiles of a shifted log-normal or, if skewed, by convolution. Pure.

Figures of different sources err independently. Figures that rest on one factor share that factor's error; only their
own deviations from it are independent. They are a `Group`: a sum times a common error.
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
# A grid that ends below this probability, or has 97.5 % in its first eighth, is made anew.
_GRID_HOLDS_MIN = 0.985
_GRID_HIGH_MIN = _GRID // 8
_GRIDS_MAX = 40
_NARROW_CELLS = 1.0
# A wider figure has bounds of a trillion to one; its third moment, times that of a common error, would leave a double.
_SIGMA_MAX = 7.0
# A group whose sum varies less is a log-normal nearly: its common error prevails.
_NARROW_SUM = 0.1
_ERROR_NODES = np.linspace(-5.0, 5.0, 101)
_ERROR_WEIGHTS = np.exp(-(_ERROR_NODES**2) / 2) / np.exp(-(_ERROR_NODES**2) / 2).sum()
_TABLE_POINTS = 201
_PROBABILITIES = (0.025, 0.5, 0.975)
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
    def moments(self) -> "Moments":
        """The moments without the shift."""
        return moments(LogNormal(self.median, self.sigma))

    def below(self, edges: Array) -> Array:
        """Return the probabilities of less than these values without the shift."""
        return normal_cdf(np.log(edges / self.median) / self.sigma)


class Table(NamedTuple):
    """A distribution by the probabilities of less than some values, whose logarithms are `logs`."""

    moments: Moments
    logs: Array
    probabilities: Array
    shift: float = 0.0

    def quantile(self, probability: float) -> float:
        """Return a quantile."""
        return math.exp(np.interp(probability, self.probabilities, self.logs))

    @property
    def high(self) -> float:
        """The 97.5 % quantile."""
        return self.quantile(0.975)

    def below(self, edges: Array) -> Array:
        """Return the probabilities of less than these values."""
        probabilities: Array = np.interp(np.log(edges), self.logs, self.probabilities, left=0.0)
        return probabilities


class Group(NamedTuple):
    """Independent log-normals, each multiplied by the same error: a log-normal of median 1 and sigma `common`."""

    medians: Array
    sigmas: Array
    common: float

    @property
    def moments(self) -> Moments:
        """The moments of their sum."""
        return shared_by(total_moments(self.medians, self.sigmas), self.common)

    @property
    def is_fitted(self) -> bool:
        """Whether a shifted log-normal of these moments has their sum's quantiles."""
        if len(self.medians) == 1:
            return True
        inner = total_moments(self.medians, self.sigmas)
        return inner.skewness <= SKEWNESS_OF_FIT_MAX or inner.variance < (_NARROW_SUM * inner.mean) ** 2


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
    # Each term is positive: differences of raw moments would lose the digits of a small error.
    mean, variance, third = inner
    e, w = math.exp(sigma**2 / 2), math.expm1(sigma**2)
    return Moments(
        mean * e,
        variance * e**4 + (mean * e) ** 2 * w,
        third * e**9 + 3 * mean * variance * e**5 * math.expm1(2 * sigma**2) + (mean * e) ** 3 * w * w * (w + 3),
    )


def fitted(moments: Moments) -> Shifted:
    """Return the shifted log-normal with the given moments; of no skewness a constant or the nearest to a normal."""
    if moments.variance <= 0 or moments.mean <= 0:
        return Shifted(moments.mean, 0.0, 0.0)
    w = _excess(max(moments.skewness, 1e-6))
    median = math.sqrt(moments.variance / (w * (1 + w)))
    return Shifted(moments.mean - median * math.sqrt(1 + w), median, math.sqrt(math.log1p(w)))


def sum_interval(terms: Sequence[Moments | Group]) -> Interval:
    """Return the median and the middle 95 % of a sum of independent terms."""
    fittable = [one.moments if isinstance(one, Group) and one.is_fitted else one for one in terms]
    whole = _total(fittable)
    fit = fitted(whole)
    if whole.skewness <= SKEWNESS_OF_FIT_MAX or (len(terms) == 1 and isinstance(fittable[0], Moments)):
        return Interval(fit.quantile(-Z95), fit.quantile(0.0), fit.quantile(Z95))
    parts = _parts(fittable)
    if len(parts) == 1 and isinstance(parts[0], Table):
        return Interval(*(parts[0].quantile(probability) for probability in _PROBABILITIES))
    values, probabilities = _convolved(parts, fit.quantile(Z95))
    return Interval(*np.interp(_PROBABILITIES, probabilities, values).tolist())


def interval_of_many(medians: Array, sigmas: Array, groups: Sequence[Group]) -> Interval:
    """Return the interval of a sum of any number of independent log-normals and of groups that share an error each."""
    largest = max(
        (float(one.max()) for one in (medians, *(group.medians for group in groups)) if len(one)), default=0.0
    )
    # By a power of two, so that no digit changes: third moments of very large or small figures would leave a double.
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0
    medians, sigmas = medians / scale, np.minimum(sigmas, _SIGMA_MAX)
    terms: list[Moments | Group] = [
        Group(one.medians / scale, np.minimum(one.sigmas, _SIGMA_MAX), min(one.common, _SIGMA_MAX)) for one in groups
    ]
    low, central, high = sum_interval(terms + _widest_and_rest(medians, sigmas))
    return Interval(low * scale, central * scale, high * scale)


def _widest_and_rest(medians: Array, sigmas: Array) -> list[Moments | Group]:
    means2 = np.square(medians * np.exp(np.square(sigmas) / 2))
    order = np.argsort(-means2 * np.expm1(np.square(sigmas)), kind="stable")
    widest, rest = order[:CONVOLVED_TERMS_MAX], order[CONVOLVED_TERMS_MAX:]
    listed = zip(medians[widest].tolist(), sigmas[widest].tolist(), strict=True)
    terms: list[Moments | Group] = [moments(LogNormal(median, sigma)) for median, sigma in listed]
    return [*terms, total_moments(medians[rest], sigmas[rest])] if len(rest) else terms


def _total(terms: Sequence[Moments | Group]) -> Moments:
    whole = Moments()
    for one in terms:
        whole = whole.plus(one if isinstance(one, Moments) else one.moments)
    return whole


def _parts(terms: Sequence[Moments | Group]) -> list[Shifted | Table]:
    """Return the distributions of the widest terms, and that of all others as one."""
    widest = sorted(terms, key=lambda term: _total([term]).variance, reverse=True)
    rest = _total(widest[CONVOLVED_TERMS_MAX:])
    parts = [_tabled(one) if isinstance(one, Group) else fitted(one) for one in widest[:CONVOLVED_TERMS_MAX]]
    return [part for part in (*parts, fitted(rest)) if part.moments.mean > 0 or part.shift > 0]


def _tabled(group: Group) -> Table:
    """Return the distribution of a group's sum: that of the sum of its terms, for every error that they may share."""
    terms = _widest_and_rest(group.medians, group.sigmas)
    values, probabilities = _convolved(_parts(terms), fitted(_total(terms)).quantile(Z95))
    # Beyond the grid the widest term alone decides.
    widest = int(np.argmax(group.medians * np.exp(Z95 * group.sigmas)))
    tail = Shifted(0.0, float(group.medians[widest]), float(group.sigmas[widest]))
    least, most = float(values[int(np.searchsorted(probabilities, 1e-4))]), float(values[-1])
    reach = 4.5 * group.common
    points = np.linspace(math.log(least) - reach, math.log(most) + reach + 2 * tail.sigma, _TABLE_POINTS)
    wanted = np.exp(points[:, None] - group.common * _ERROR_NODES)
    below = np.interp(wanted, values, probabilities, left=0.0)
    beyond = wanted > most
    of_widest = (1 - tail.below(wanted[beyond])) / max(1 - float(tail.below(values[-1:])[0]), 1e-9)
    below[beyond] = 1 - (1 - probabilities[-1]) * np.minimum(of_widest, 1)
    return Table(group.moments, points, below @ _ERROR_WEIGHTS)


def _convolved(parts: Sequence[Shifted | Table], high: float) -> tuple[Array, Array]:
    """Return values and the probabilities of a sum below them; `high` is about its 97.5 % quantile."""
    offset = sum(part.shift for part in parts)
    top = max(high - offset, *(part.high for part in parts))
    values = probabilities = np.empty(0)
    for _ in range(_GRIDS_MAX):
        values, probabilities = _on_grid(parts, offset, top * _GRID_BEYOND_HIGH / _GRID)
        position = int(np.searchsorted(probabilities, 0.975))
        if probabilities[-1] < _GRID_HOLDS_MIN:
            top *= 2
        elif position < _GRID_HIGH_MIN:
            top *= 2 * max(position, 1) / _GRID
        else:
            break
    return values, probabilities


def _on_grid(parts: Sequence[Shifted | Table], offset: float, step: float) -> tuple[Array, Array]:
    spectrum: Any = np.ones(_GRID + 1, np.complex128)
    edges = step * (np.arange(_GRID, dtype="f8") + 0.5)
    for part in parts:
        mean, variance, _ = part.moments
        if math.sqrt(variance) < _NARROW_CELLS * step:
            offset += mean
            continue
        spectrum = spectrum * np.fft.rfft(np.diff(part.below(edges), prepend=0.0), 2 * _GRID)
    return offset + edges, np.cumsum(np.fft.irfft(spectrum, 2 * _GRID)[:_GRID])


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
