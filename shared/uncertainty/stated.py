"""A figure of the index with its uncertainty: stated by its source, borrowed from its category, or displaced. Pure."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal: 95 % lie within 1.96 standard deviations of the mean."""

CITATION = (
    "WRAP, Displacement Rates Untangled (2025), weighted averages of United Kingdom: "
    "https://wrap.ngo/media-centre/press-releases/"
    "fast-fashion-could-be-left-peg-preloved-and-repair-displace-new-sales"
)
RATES = {"resale": 0.646, "repair": 0.822}
"""New items not bought for each item that is bought second-hand online, or repaired."""
COUNTED = (
    "all units sold in the window and the channels chosen, those sold new included: sources do not say which were "
    "second-hand or repaired, so choose such channels with `channel`"
)
BASIC_GSD_SQUARED = 1.05
"""The basic uncertainty factor of carbon dioxide, energy and materials (ecoinvent), a squared GSD."""
_NOTATIONS = 5**5
_FACTORS = {
    "reliability": (1.0, 1.54, 1.61, 1.69, 1.69),
    "completeness": (1.0, 1.03, 1.04, 1.08, 1.08),
    "temporal": (1.0, 1.03, 1.1, 1.19, 1.29),
    "geographical": (1.0, 1.04, 1.08, 1.11, 1.11),
    "technology": (1.0, 1.18, 1.65, 2.08, 2.8),
}
"""The GSD of each score (Ciroth, Muller, Weidema, Lesage, Int J LCA 21 (2016) 1338-1348, doi
10.1007/s11367-013-0670-5). They were derived from data, and are wider than the factors that experts chose for
ecoinvent."""
SAMPLES_MIN = 5
"""With fewer samples the factor of the nearest wider category is better."""
BORROWED_DEGREES = 14
"""So many degrees of freedom the spread within the other categories counts beside a category's own. Chosen by figures
that were held out of the Carbon Catalogue and of RIVM's foods (decision 0039)."""
# With three samples or fewer the quantile of a known spread would be far off; these are Student's own.
_T975 = {1: 12.706204736432095, 2: 4.302652729911275, 3: 3.182446305284263, 4: 2.7764451051977987}
_RELATED_DEGREES = 2
SIGMA_MAX = 7.0
"""A wider figure has bounds of a trillion to one, and its third moment times a common error's would leave a double."""


class Interval(NamedTuple):
    """The bounds that contain a figure with 95 %; `central` is the median."""

    low: float
    central: float
    high: float

    def around(self, mean: float) -> "Interval":
        """Return the interval with its mean inside.

        Beyond a sigma of 3.92 the mean of a log-normal is above its 97.5 % quantile, and rounding can move a bound of a
        narrow one past it: the interval then ends at the mean, and contains no less.
        """
        return Interval(min(self.low, mean), self.central, max(self.high, mean))


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A positive quantity whose logarithm is normal: its median and the standard deviation of the logarithm."""

    median: float
    sigma: float

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return self.median * math.exp(self.sigma**2 / 2)

    @property
    def interval(self) -> Interval:
        """The median and the bounds of the middle 95 %."""
        factor = math.exp(Z95 * self.sigma)
        return Interval(self.median / factor, self.median, self.median * factor)


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


class Proportion(NamedTuple):
    """A share that was counted in a sample, with the bounds of its 95 % interval."""

    share: float
    low: float
    high: float


def wilson(count: int, total: int) -> Proportion:
    """Return the share `count / total` with its Wilson score interval; of nothing counted it is 0, from 0 to 1."""
    if not total:
        return Proportion(0.0, 0.0, 1.0)
    share, square = count / total, Z95**2
    middle = share + square / (2 * total)
    half = Z95 * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    return Proportion(share, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


class Displacement(NamedTuple):
    """A rate between 0 and 1, its source, and which units it multiplies."""

    rate: float
    citation: str
    counted: str = COUNTED


def requested_displacement(scenario: str | None, rate: float | None) -> Displacement | None:
    """Return the rate that a caller chose by one of the two, or None."""
    if rate is not None:
        return Displacement(rate, "given by the caller")
    return Displacement(RATES[scenario], CITATION) if scenario is not None else None


class Scores(NamedTuple):
    """Scores 1 (best) to 5 of where a figure comes from: a row of the pedigree matrix."""

    reliability: int
    completeness: int
    temporal: int
    geographical: int
    technology: int

    @property
    def notation(self) -> str:
        """The scores as ecoinvent and tools of life cycle assessment write them: (2,3,1,2,4)."""
        return f"({','.join(map(str, self))})"


_NOTATION = re.compile(r"\(?\s*" + r"\s*[,;]\s*".join(["([1-5])"] * len(Scores._fields)) + r"\s*\)?", re.ASCII)


@lru_cache(_NOTATIONS)
def read_scores(text: str) -> Scores | None:
    """Return the scores that a text states in their notation, with or without brackets; None where it is another."""
    found = _NOTATION.fullmatch(text.strip())
    return Scores(*map(int, found.groups())) if found else None


OF_BASIS = {"measured": Scores(1, 2, 2, 1, 1), "modelled": Scores(2, 3, 3, 2, 2)}
"""The scores that stand for a basis; no data of ours confirm them, which answers state.

Measured: verified, of this product. Modelled: partly from assumptions, from some sites, up to ten years old, from a
larger area and other enterprises of the same technology."""


@lru_cache(_NOTATIONS)
def sigma_of_scores(scores: Scores) -> float:
    """Return the standard deviation of the logarithm: the contributions of all scores are independent."""
    logs = [math.log(_FACTORS[name][score - 1]) for name, score in scores._asdict().items()]
    # The logarithm of a squared GSD is twice that of the GSD.
    return math.hypot(*logs, math.log(BASIC_GSD_SQUARED) / 2)


class Pooled(NamedTuple):
    """The spread within categories: squares of logarithms about the mean of their category, and degrees of freedom."""

    squares: float = 0.0
    degrees: int = 0

    @classmethod
    def of(cls, samples: int | None, log_deviation: float | None) -> "Pooled":
        """Return the spread of one category; nothing where it states none."""
        if samples is None or samples < 2 or log_deviation is None:
            return cls()
        return cls((samples - 1) * log_deviation**2, samples - 1)

    @classmethod
    def of_all(cls, categories: Iterable["Pooled"]) -> "Pooled":
        """Return the spread within several categories."""
        listed = list(categories)
        return cls(sum(spread.squares for spread in listed), sum(spread.degrees for spread in listed))

    def without(self, own: "Pooled") -> "Pooled":
        """Return the spread within the categories other than one of these."""
        return Pooled(max(0.0, self.squares - own.squares), max(0, self.degrees - own.degrees))


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


SOURCE, SAMPLES, PEDIGREE = "source", "samples", "pedigree"
ORIGINS = (SOURCE, SAMPLES, PEDIGREE)
"""The basis of an interval: the source's own statement, the spread of a category's samples, the pedigree matrix."""
_FACTOR_WITHOUT_SPREAD = Scores(3, 3, 3, 3, 4)


class Stated(NamedTuple):
    """A figure as a log-normal whose mean it is. Items that rest on one factor share an error of `common_sigma`.

    `low` and `high` are a source's own bounds where it states them, which need not be symmetric.
    """

    mean: float
    sigma: float
    origin: str
    common_sigma: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> Interval:
        """The bounds of the middle 95 % with the mean inside: the source's own, else those of the log-normal."""
        sigma = math.hypot(self.sigma, self.common_sigma)
        of_model = LogNormal(median_of(self.mean, sigma), sigma).interval
        if self.low is None or self.high is None:
            return of_model.around(self.mean)
        return Interval(self.low, min(max(self.low, of_model.central), self.high), self.high).around(self.mean)

    def times(self, factor: float) -> "Stated":
        """Return the figure multiplied by a number that is known, not negative."""
        bounds = (None if bound is None else bound * factor for bound in (self.low, self.high))
        return Stated(self.mean * factor, self.sigma, self.origin, self.common_sigma, *bounds)


def median_of(mean: float, sigma: float) -> float:
    """Return the median of a log-normal by its mean: mean / exp(sigma² / 2)."""
    return mean * math.exp(-(sigma**2) / 2)


class StatedSpread(NamedTuple):
    """A source's statement about a figure of its own: the bounds of the middle 95 %, a standard deviation, or scores.

    `pedigree` are the scores in their notation.
    """

    low: float | None = None
    high: float | None = None
    deviation: float | None = None
    pedigree: str | None = None


def of_item(figure: float, basis: str, spread: StatedSpread) -> Stated:
    """Return an item's own figure, which is the mean of its distribution; bounds give its width by their ratio.

    Without bounds and deviation the pedigree decides: the one that its source states, else the one assumed of a basis.
    """
    if figure <= 0:
        return Stated(0.0, 0.0, PEDIGREE)
    if spread.low is not None and spread.high is not None:
        sigma = min(sigma_of_bounds(spread.low, spread.high), SIGMA_MAX)
        return Stated(figure, sigma, SOURCE, 0.0, spread.low, spread.high)
    if spread.deviation is not None:
        return Stated(figure, min(sigma_of_deviation(figure, spread.deviation), SIGMA_MAX), SOURCE)
    scores = read_scores(spread.pedigree) if spread.pedigree is not None else None
    return Stated(figure, sigma_of_scores(scores or OF_BASIS[basis]), PEDIGREE)


def of_factor(mean: float, samples: int, spread: Pooled, pooled: Pooled) -> Stated:
    """Return a factor as the distribution of one item: the spread of its samples, and the error of their mean.

    `spread` is that of the samples themselves, `pooled` the one within all categories, this one included: a few samples
    hardly show how far from them the next one may be, so that of the other categories counts as BORROWED_DEGREES more.
    Where there is too little to borrow, the pedigree matrix's for related products stands in.
    """
    if mean <= 0:
        return Stated(0.0, 0.0, PEDIGREE)
    others, related = pooled.without(spread), sigma_of_scores(_FACTOR_WITHOUT_SPREAD)
    borrowed = Pooled()
    if others.degrees >= BORROWED_DEGREES:
        borrowed = Pooled(BORROWED_DEGREES * others.squares / others.degrees, BORROWED_DEGREES)
    elif not spread.degrees:
        return Stated(mean, 0.0, PEDIGREE, related)
    elif not enough(samples):
        borrowed = Pooled(_RELATED_DEGREES * related**2, _RELATED_DEGREES)
    squares, degrees = Pooled.of_all((spread, borrowed))
    wide = min(math.sqrt(squares / degrees) * student_975(degrees) / Z95, SIGMA_MAX)
    return Stated(mean, wide, SAMPLES, wide / math.sqrt(samples))


def enough(samples: int) -> bool:
    """Return whether a category has enough samples to stand for itself."""
    return samples >= SAMPLES_MIN
