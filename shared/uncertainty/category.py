"""Figures of a category as an estimate for one of its items, or for an item of a category without figures. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shared.uncertainty import pedigree
from shared.uncertainty.lognormal import Z95, LogNormal

SAMPLES_MIN = 5
"""So many samples make a category's own spread usable; with fewer the nearest wider category is better."""
RELATED_DEGREES = 2
_RELATED = pedigree.Scores(3, 3, 3, 3, 4)
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
    between = (free * seen + RELATED_DEGREES * pedigree.sigma(_RELATED) ** 2) / (free + RELATED_DEGREES)
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
