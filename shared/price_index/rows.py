"""An index as rows, one a period, with how far it might be off. Pure."""

from dataclasses import dataclass

import numpy as np

from shared.price_index.bilateral import FORMULAE
from shared.price_index.panel import Floats, Panel, coverage
from shared.price_index.question import Question
from shared.price_index.series import (
    Pairs,
    assembled,
    based,
    check,
    compared_with,
    index_series,
    of_pairs,
    wanted_pairs,
)

GROUPS_MAX = 1000
REPLICATES_AT_ONCE = 2000
"""Replicates that are drawn together: each takes some 32 kB meanwhile, and a command may ask for 100,000."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """The bounds between which the middle 95 % of replicates lie, one value a period; NaN where none is defined."""

    low: Floats
    high: Floats


def bootstrap(panel: Panel, question: Question, replicates: int, seed: int) -> Interval:
    """Return the percentile interval of `replicates` samples of items drawn with replacement. Same seed, same interval.

    Where the formula is one of sums and there are more than GROUPS_MAX items, random groups of items are drawn instead
    of single items: the same distribution nearly, for one pass over the items.
    """
    check(panel, question)
    random = np.random.default_rng(seed)
    if of_pairs(question) and question.method.formula in FORMULAE:
        series = _by_sums(panel, question, replicates, random)
    else:
        series = _by_items(panel, question, replicates, random)
    tail = (1 - CONFIDENCE) / 2
    defined = ~np.isnan(series).all(axis=0)
    low, high = np.full(panel.periods, np.nan), np.full(panel.periods, np.nan)
    # Of so few replicates the default quantiles are too near to the middle: they would cover 94 %, not 95 %.
    low[defined], high[defined] = np.nanquantile(series[:, defined], [tail, 1 - tail], axis=0, method="weibull")
    return Interval(low, high)


def comparisons(panel: Panel, question: Question, replicates: int) -> int:
    """Return how many prices of items are compared for an index and its interval; its time is in proportion."""
    count = panel.periods
    window = count if question.window is None else min(question.window, count)
    if of_pairs(question) and question.method.formula in FORMULAE:
        return len(wanted_pairs(count, question, [0] * count)) * panel.items
    windows = count - window + 1 if question.over_window else 1
    return windows * window * panel.items * (replicates + 1)


def logarithms(panel: Panel, question: Question, replicates: int) -> int:
    """Return how many numbers of 8 bytes an interval keeps at once."""
    if of_pairs(question) and question.method.formula in FORMULAE:
        return len(wanted_pairs(panel.periods, question, [0] * panel.periods)) * min(replicates, REPLICATES_AT_ONCE)
    return 0


def _by_sums(panel: Panel, question: Question, replicates: int, random: np.random.Generator) -> Floats:
    groups = min(panel.items, GROUPS_MAX)
    group = np.arange(panel.items) if groups == panel.items else random.permutation(panel.items) % groups
    compared = compared_with(panel, question)
    wanted = wanted_pairs(panel.periods, question, compared)
    starts, ends = np.array(wanted, dtype=int).reshape(-1, 2).T
    logs = np.full((panel.periods, panel.periods), np.nan)
    pairs = Pairs(panel, question)
    series = []
    for first in range(0, replicates, REPLICATES_AT_ONCE):
        counts = _counts(min(REPLICATES_AT_ONCE, replicates - first), groups, random)
        for sample in pairs.resampled_logs(wanted, group, counts):
            logs[starts, ends] = sample
            series.append(based(assembled(logs, question, compared), question))
    return np.array(series)


def _counts(replicates: int, groups: int, random: np.random.Generator) -> Floats:
    """Return how often each replicate has each group, of shape (replicates, groups)."""
    drawn = random.integers(0, groups, (replicates, groups)) + groups * np.arange(replicates)[:, None]
    return np.bincount(drawn.ravel(), minlength=replicates * groups).reshape(replicates, groups).astype("f8")


def _by_items(panel: Panel, question: Question, replicates: int, random: np.random.Generator) -> Floats:
    drawn = (random.integers(0, panel.items, panel.items) for _ in range(replicates))
    return np.array([index_series(panel.take(items), question) for items in drawn])


@dataclass(frozen=True)
class IndexRow:
    """One period of an index.

    `index` is None where no matched item connects the period with the first; `low` and `high` bound the bootstrap
    interval. `matched_items` are the items that the period shares with the one it is `compared_with`, `share_matched`
    their part of its items; these and `new` and `vanished` are None where it is compared with no other.
    """

    period: str
    index: float | None
    low: float | None
    high: float | None
    items: int
    matched_items: int | None
    share_matched: float | None
    new: int | None
    vanished: int | None
    compared_with: str | None


@dataclass(frozen=True)
class Resampling:
    """How many bootstrap replicates there are, and the seed that they are drawn with."""

    replicates: int
    seed: int


def index_rows(
    periods: list[str], panel: Panel, question: Question, first: float, resampling: Resampling | None = None
) -> list[IndexRow]:
    """Return the index of each period, the first (or base) period at `first`.

    Raises IndexNotDefined for a question that the panel cannot answer.
    """
    series = first * index_series(panel, question)
    low = high = np.full(panel.periods, np.nan)
    if resampling is not None:
        interval = bootstrap(panel, question, resampling.replicates, resampling.seed)
        low, high = first * interval.low, first * interval.high
    others = compared_with(panel, question)
    rows = []
    for position, (other, shared) in enumerate(zip(others, coverage(panel.present(), others), strict=True)):
        compared = other != position
        rows.append(
            IndexRow(
                period=periods[position],
                index=_known(series, position),
                low=_known(low, position),
                high=_known(high, position),
                items=shared.items,
                matched_items=shared.matched if compared else None,
                share_matched=shared.share_matched if compared else None,
                new=shared.new if compared else None,
                vanished=shared.vanished if compared else None,
                compared_with=periods[other] if compared else None,
            )
        )
    return rows


def _known(values: Floats, position: int) -> float | None:
    value = float(values[position])
    return value if np.isfinite(value) else None
