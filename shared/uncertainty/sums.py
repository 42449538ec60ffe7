"""Sums of uncertain figures: exact moments; quantiles of a shifted log-normal or, if skewed, by convolution. Pure."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.uncertainty.stated import SIGMA_MAX, Z95, Interval, LogNormal

_GRID = 8_192
_GRID_BEYOND_HIGH = 1.6
# A grid that ends below this probability, or has 97.5 % in its first eighth, is made anew.
_GRID_HOLDS_MIN = 0.985
_GRID_HIGH_MIN = _GRID // 8
_GRIDS_MAX = 40
_NARROW_CELLS = 1.0
# A quantile that is in fewer cells from the grid's begin is read from a finer grid, which ends so many cells on.
_FINER_BELOW = 128
# Of a term that is mostly in the first cell the mean is kept, not the cell's middle.
_FIRST_CELL_MAX = 1e-3
# What a grid does not hold would come back at its begin: so many powers of e make it nothing.
_DAMPED = np.exp(-20.0 / (2 * _GRID) * np.arange(_GRID))
Array = NDArray[np.float64]


class Terms(NamedTuple):
    """So many independent terms of one distribution."""

    each: "Shifted | Table"
    number: int = 1


class Cumulative(NamedTuple):
    """Ascending values, and the probabilities of a sum below them."""

    values: Array
    probabilities: Array

    def at(self, probabilities: Sequence[float]) -> list[float]:
        found: list[float] = np.interp(probabilities, self.probabilities, self.values).tolist()
        return found


def convolved(terms: Sequence[Terms], high: float, lowest: float) -> Cumulative:
    """Return the distribution of a sum; `high` is about its 97.5 % quantile, `lowest` the least probability asked."""
    offset = sum(term.number * term.each.shift for term in terms)
    top = max(high - offset, *(term.each.high for term in terms))
    found, step = Cumulative(np.empty(0), np.empty(0)), 0.0
    for _ in range(_GRIDS_MAX):
        step = top * _GRID_BEYOND_HIGH / _GRID
        found = _on_grid(terms, offset, step)
        position = int(np.searchsorted(found.probabilities, 0.975))
        if found.probabilities[-1] < _GRID_HOLDS_MIN:
            top *= 2
        elif position < _GRID_HIGH_MIN:
            top *= 2 * max(position, 1) / _GRID
        else:
            break
    return _finer(terms, offset, step, found, lowest)


def _finer(terms: Sequence[Terms], offset: float, step: float, found: Cumulative, lowest: float) -> Cumulative:
    """Put finer and finer grids before the first cells, until the lowest quantile is far enough within one."""
    for _ in range(_GRIDS_MAX):
        begin = int(np.searchsorted(found.probabilities, lowest))
        if begin >= _FINER_BELOW or found.probabilities[0] >= 1:
            break
        step *= 2 * _FINER_BELOW / _GRID
        finer = _on_grid(terms, offset, step)
        kept = found.values > finer.values[-1]
        kept &= found.probabilities >= finer.probabilities[-1]
        found = Cumulative(
            np.concatenate((finer.values, found.values[kept])),
            np.concatenate((finer.probabilities, found.probabilities[kept])),
        )
    return found


def _on_grid(terms: Sequence[Terms], offset: float, step: float) -> Cumulative:
    spectrum: Any = np.ones(_GRID + 1, np.complex128)
    cells = np.arange(_GRID, dtype="f8")
    edges = step * (cells + 0.5)
    for each, number in terms:
        if np.sqrt(number * each.variance) < _NARROW_CELLS * step:
            offset += number * each.mean
            continue
        masses = np.diff(each.below(edges), prepend=0.0)
        if number > 1 or masses[0] > _FIRST_CELL_MAX:
            offset += number * (each.mean_below(float(edges[-1])) - step * float(masses @ cells))
        own = np.fft.rfft(masses * _DAMPED, 2 * _GRID)
        spectrum *= own**number if number > 1 else own
    sums = np.fft.irfft(spectrum, 2 * _GRID)[:_GRID] / _DAMPED
    return Cumulative(offset + edges, np.maximum.accumulate(np.cumsum(sums)))


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


def fitted(moments: Moments) -> Shifted:
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


# Sums of uncertain figures: exact moments; quantiles of a shifted log-normal or, if skewed, by convolution. Pure.
# Figures of different sources err independently. Figures that rest on one factor share that factor's error; only
# their own deviations from it are independent. They are a `Group`: a sum times a common error.


# A shifted log-normal has the first three moments of the sum; its quantiles are within 1 % up to this skewness.
SKEWNESS_OF_FIT_MAX = 0.6
# Beyond it the widest terms are convolved on a grid and the others, whose sum is nearly normal, enter as one.
CONVOLVED_TERMS_MAX = 48
# Up to this skewness all others are one term of the same moments; beyond it each convolved term stands for alike ones.
_SKEWNESS_OF_REST_MAX = 2.0
_ALIKE_MAX = 256
# A group whose sum varies less is a log-normal nearly: its common error prevails.
_NARROW_SUM = 0.1
# The low bound of the widest figure is its mean times 1e-30.
_NEGLIGIBLE = 1e-40
_ERROR_NODES = np.linspace(-5.0, 5.0, 101)
_ERROR_WEIGHTS = np.exp(-(_ERROR_NODES**2) / 2) / np.exp(-(_ERROR_NODES**2) / 2).sum()
_TABLE_POINTS = 201
_TABLE_STEP_MAX = 0.05
_TABLE_LOWEST = 1e-3
_PROBABILITIES = (0.025, 0.5, 0.975)


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


def sum_interval(terms: Sequence[Moments | Group | Terms]) -> Interval:
    """Return the median and the middle 95 % of a sum of independent terms."""
    fittable = [term.moments if isinstance(term, Group) and term.is_fitted else term for term in terms]
    whole = _total(fittable)
    fit = fitted(whole)
    if whole.skewness <= SKEWNESS_OF_FIT_MAX or (len(terms) == 1 and isinstance(fittable[0], Moments)):
        return Interval(fit.quantile(-Z95), fit.quantile(0.0), fit.quantile(Z95))
    parts = _parts(fittable)
    alone = parts[0].each
    if len(parts) == 1 and isinstance(alone, Table):
        return Interval(*(alone.quantile(probability) for probability in _PROBABILITIES))
    return Interval(*convolved(parts, fit.quantile(Z95), _PROBABILITIES[0]).at(_PROBABILITIES))


def interval_of_many(medians: Array, sigmas: Array, groups: Sequence[Group]) -> Interval:
    """Return the interval of a sum of any number of independent log-normals and of groups that share an error each."""
    largest = max(
        (float(one.max()) for one in (medians, *(group.medians for group in groups)) if len(one)), default=0.0
    )
    # By a power of two, so that no digit changes: third moments of very large or small figures would leave a double.
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0
    own, *shared = _without_negligible(
        [
            Group(group.medians / scale, np.minimum(group.sigmas, SIGMA_MAX), min(group.common, SIGMA_MAX))
            for group in (Group(medians, sigmas, 0.0), *groups)
        ]
    )
    terms: list[Moments | Group | Terms] = [group for group in shared if len(group.medians)]
    low, central, high = sum_interval(terms + _widest_and_rest(own.medians, own.sigmas))
    return Interval(low * scale, central * scale, high * scale)


def _without_negligible(groups: Sequence[Group]) -> list[Group]:
    """Return groups without the figures that no digit of a sum shows: their moments would leave a double."""
    means = [group.medians * np.exp((np.square(group.sigmas) + group.common**2) / 2) for group in groups]
    least = _NEGLIGIBLE * max((float(one.max()) for one in means if len(one)), default=0.0)
    return [
        Group(group.medians[kept], group.sigmas[kept], group.common)
        for group, kept in zip(groups, (one >= least for one in means), strict=True)
    ]


def _widest_and_rest(medians: Array, sigmas: Array) -> list[Moments | Group | Terms]:
    means2 = np.square(medians * np.exp(np.square(sigmas) / 2))
    order = np.argsort(-means2 * np.expm1(np.square(sigmas)), kind="stable")
    widest, rest = order[:CONVOLVED_TERMS_MAX], order[CONVOLVED_TERMS_MAX:]
    listed = zip(medians[widest].tolist(), sigmas[widest].tolist(), strict=True)
    terms: list[Moments | Group | Terms] = [moments(LogNormal(median, sigma)) for median, sigma in listed]
    return terms + _others(medians[rest], sigmas[rest]) if len(rest) else terms


def _others(medians: Array, sigmas: Array) -> list[Moments | Group | Terms]:
    """Return log-normals as one term of their moments or, where that is skewed, as terms of alike ones."""
    whole = total_moments(medians, sigmas)
    if whole.skewness <= _SKEWNESS_OF_REST_MAX:
        return [whole]
    counted = medians > 0  # a figure of nothing adds nothing, and has no logarithm
    medians, sigmas = medians[counted], sigmas[counted]
    logs, width = np.log(medians), 0.05
    while True:
        width *= 2
        keys = np.column_stack((np.round(logs / width), np.round(sigmas / width)))
        kinds, kind, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        if len(kinds) <= _ALIKE_MAX:
            break
    kind = kind.reshape(-1)
    middle = np.exp(np.bincount(kind, logs) / counts), np.bincount(kind, sigmas) / counts
    listed = zip(*(column.tolist() for column in middle), counts.tolist(), strict=True)
    return [Terms(Shifted(0.0, median, sigma), count) for median, sigma, count in listed]


def _moments_of(term: Moments | Group | Terms) -> Moments:
    if isinstance(term, Terms):
        assert isinstance(term.each, Shifted)
        return Moments(*(term.number * moment for moment in term.each.moments))
    return term.moments if isinstance(term, Group) else term


def _total(terms: Sequence[Moments | Group | Terms]) -> Moments:
    whole = Moments()
    for term in terms:
        whole = whole.plus(_moments_of(term))
    return whole


def _parts(terms: Sequence[Moments | Group | Terms]) -> list[Terms]:
    """Return the distributions of the widest terms, and those of all others."""
    parts = [one for one in terms if isinstance(one, Terms)]
    single: list[Moments | Group] = [one for one in terms if not isinstance(one, Terms)]
    single.sort(key=lambda term: _moments_of(term).variance, reverse=True)
    widest, rest = single[:CONVOLVED_TERMS_MAX], single[CONVOLVED_TERMS_MAX:]
    parts += [Terms(_tabled(one) if isinstance(one, Group) else fitted(one)) for one in widest]
    if rest and _total(rest).skewness > _SKEWNESS_OF_REST_MAX:
        fits = [fitted(_moments_of(one)) for one in rest]
        alike = _others(np.array([fit.median for fit in fits]), np.array([fit.sigma for fit in fits]))
        parts += [one if isinstance(one, Terms) else Terms(fitted(_moments_of(one))) for one in alike]
        parts.append(Terms(Shifted(sum(fit.shift for fit in fits), 0.0, 0.0)))
    else:
        parts.append(Terms(fitted(_total(rest))))
    return [part for part in parts if part.each.mean > 0 or part.each.shift > 0]


def _tabled(group: Group) -> Table:
    """Return the distribution of a group's sum: that of the sum of its terms, for every error that they may share."""
    terms = _widest_and_rest(group.medians, group.sigmas)
    values, probabilities = convolved(_parts(terms), fitted(_total(terms)).quantile(Z95), _TABLE_LOWEST)
    # Beyond the grid the widest term alone decides.
    widest = int(np.argmax(group.medians * np.exp(Z95 * group.sigmas)))
    tail = Shifted(0.0, float(group.medians[widest]), float(group.sigmas[widest]))
    least, most = float(values[int(np.searchsorted(probabilities, 1e-4))]), float(values[-1])
    reach = 4.5 * group.common
    begin, end = math.log(least) - reach, math.log(most) + reach + 2 * tail.sigma
    number = min(max(_TABLE_POINTS, math.ceil((end - begin) / _TABLE_STEP_MAX)), TABLE_POINTS_MAX)
    points = np.linspace(begin, end, number)
    wanted = np.exp(points[:, None] - group.common * _ERROR_NODES)
    below = np.interp(wanted, values, probabilities, left=0.0)
    beyond = wanted > most
    of_widest = (1 - tail.below(wanted[beyond])) / max(1 - float(tail.below(values[-1:])[0]), 1e-9)
    below[beyond] = 1 - (1 - probabilities[-1]) * np.minimum(of_widest, 1)
    whole = group.moments
    return Table(whole.mean, whole.variance, points, below @ _ERROR_WEIGHTS)
