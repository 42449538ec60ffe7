"""Sums of uncertain figures: exact moments; quantiles of a shifted log-normal or, if skewed, by convolution. Pure.

Figures of different sources err independently. Figures that rest on one factor share that factor's error; only their
own deviations from it are independent. They are a `Group`: a sum times a common error.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shared.uncertainty.convolution import Terms, convolve
from shared.uncertainty.distributions import TABLE_POINTS_MAX, Array, Moments, Shifted, Table, fit_distribution, moments
from shared.uncertainty.stated import SIGMA_MAX, Z95, Interval, LogNormal

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
    fit = fit_distribution(whole)
    if whole.skewness <= SKEWNESS_OF_FIT_MAX or (len(terms) == 1 and isinstance(fittable[0], Moments)):
        return Interval(fit.quantile(-Z95), fit.quantile(0.0), fit.quantile(Z95))
    parts = _parts(fittable)
    alone = parts[0].each
    if len(parts) == 1 and isinstance(alone, Table):
        return Interval(*(alone.quantile(probability) for probability in _PROBABILITIES))
    return Interval(*convolve(parts, fit.quantile(Z95), _PROBABILITIES[0]).at(_PROBABILITIES))


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
    parts = [term for term in terms if isinstance(term, Terms)]
    single: list[Moments | Group] = [term for term in terms if not isinstance(term, Terms)]
    single.sort(key=lambda term: _moments_of(term).variance, reverse=True)
    widest, rest = single[:CONVOLVED_TERMS_MAX], single[CONVOLVED_TERMS_MAX:]
    parts += [Terms(_tabulate(term) if isinstance(term, Group) else fit_distribution(term)) for term in widest]
    if rest and _total(rest).skewness > _SKEWNESS_OF_REST_MAX:
        fits = [fit_distribution(_moments_of(term)) for term in rest]
        alike = _others(np.array([fit.median for fit in fits]), np.array([fit.sigma for fit in fits]))
        parts += [term if isinstance(term, Terms) else Terms(fit_distribution(_moments_of(term))) for term in alike]
        parts.append(Terms(Shifted(sum(fit.shift for fit in fits), 0.0, 0.0)))
    else:
        parts.append(Terms(fit_distribution(_total(rest))))
    return [part for part in parts if part.each.mean > 0 or part.each.shift > 0]


def _tabulate(group: Group) -> Table:
    """Return the distribution of a group's sum: that of the sum of its terms, for every error that they may share."""
    terms = _widest_and_rest(group.medians, group.sigmas)
    values, probabilities = convolve(_parts(terms), fit_distribution(_total(terms)).quantile(Z95), _TABLE_LOWEST)
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
