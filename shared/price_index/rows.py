"""An index as rows, one a period, with how far it might be off. Pure."""

from dataclasses import dataclass

import numpy as np

from shared.price_index.bilateral import FORMULAE
from shared.price_index.pairs import Pairs
from shared.price_index.panel import Floats, Ints, Panel, coverage
from shared.price_index.question import IndexQuestion, needs_quantities
from shared.price_index.series import (
    assemble_index,
    check,
    comparison_periods,
    index_series,
    of_pairs,
    rebase,
    wanted_pairs,
)

GROUPS_MAX = 200
"""With more items, groups of them are left out instead of single ones."""
MATCHED_LEAST = 3
"""Matched items that an interval needs."""
TAIL = 0.975
"""Of Student's distribution, for an interval of 95 %."""
_NO_SPREAD = 1e-9  # of logarithms: below it a standard error is what rounding leaves


@dataclass(frozen=True)
class IndexInterval:
    """The bounds of a 95 % interval, one value a period; NaN where none is known."""

    low: Floats
    high: Floats


def jackknife(panel: Panel, question: IndexQuestion, cluster: Ints | None = None) -> IndexInterval:
    """Return the interval of each period's index: how much it depends on which items there are.

    The items are left out, one after the other, and the index is computed of the others; Student's quantile takes into
    account how many matched items there are, fewer where they differ in weight. `cluster` names the columns of the
    panel that are left out together, in ascending order; without it each is left out by itself. Nothing is drawn: the
    same panel has the same interval.

    NaN: the period is the first or the base, it or one between has fewer than MATCHED_LEAST matched items, one item
    alone connects it, or all items tell the same change, which says nothing about others.
    """
    check(panel, question)
    cluster = np.arange(panel.items) if cluster is None else cluster
    whole, (matched, equal) = index_series(panel, question), _matched_clusters(panel, question, cluster)
    low, high = np.full(panel.periods, np.nan), np.full(panel.periods, np.nan)
    known = matched >= MATCHED_LEAST
    if not known.any():
        return IndexInterval(low, high)
    group = np.unique(_group(cluster), return_inverse=True)[1]
    if of_pairs(question) and question.method.formula in FORMULAE:
        series = _without_sums(panel, question, group)
    else:
        series = _without_items(panel, question, group)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        center, away = np.log(whole), np.log(series) - np.log(whole)
        error = np.sqrt(np.maximum(equal - 1, 0) / equal * (away**2).sum(axis=0))
        half = np.where(known & (error > _NO_SPREAD), error, np.nan) * student(np.maximum(equal - 1, 1))
        return IndexInterval(np.exp(center - half), np.exp(center + half))


def _matched_clusters(panel: Panel, question: IndexQuestion, cluster: Ints) -> tuple[Ints, Floats]:
    """Return how many clusters each period's index rests on, and how many of equal weight would tell as much; 0 at the
    first and at the base.

    Over windows: those that another period has too, or fewer at the base. Else those matched with the period that it is
    compared with, or fewer where a period between it and the first has fewer.
    """
    present, weights, starts = panel.present(), _weights(panel, question), _starts(cluster)
    matched, equal = np.zeros(panel.periods, "i8"), np.zeros(panel.periods)
    chained = not question.over_window and question.output not in ("fixed", "pop")
    others = [question.base] * panel.periods if question.over_window else comparison_periods(panel, question)
    for position, other in enumerate(others):
        if position == other:
            continue
        shared = present[position] & (present.sum(axis=0) > 1 if question.over_window else present[other])
        weight = np.add.reduceat(np.where(shared, _shares(weights[position]) + _shares(weights[other]), 0.0), starts)
        matched[position] = np.logical_or.reduceat(shared, starts).sum()
        equal[position] = weight.sum() ** 2 / (weight**2).sum() if matched[position] else 0.0
        if chained and other != 0:
            matched[position], equal[position] = (
                min(matched[position], matched[other]),
                min(equal[position], equal[other]),
            )
    if chained and question.base:
        of_base = matched[question.base], equal[question.base]
        matched[1:], equal[1:] = np.minimum(matched[1:], of_base[0]), np.minimum(equal[1:], of_base[1])
        matched[0], equal[0] = of_base
        matched[question.base], equal[question.base] = 0, 0.0
    return matched, equal


def _weights(panel: Panel, question: IndexQuestion) -> Floats:
    """Return how much each price counts in the index, nearly; 0 where there is none."""
    if panel.quantities is not None and (
        needs_quantities(question) or (question.over_window and not question.method.geks)
    ):
        return panel.values()
    if question.method.formula == "dutot":
        return np.nan_to_num(panel.prices)
    return panel.present().astype("f8")


def _shares(weights: Floats) -> Floats:
    total = weights.sum()
    return weights / total if total else weights


def _starts(cluster: Ints) -> Ints:
    """Return the first column of each cluster."""
    return np.flatnonzero(np.r_[True, cluster[1:] != cluster[:-1]][: len(cluster)])


def _group(cluster: Ints) -> Ints:
    """Return the group of each column: by its cluster's number alone, so that new items leave the others' as it is."""
    if len(np.unique(cluster)) <= GROUPS_MAX:
        return cluster
    mixed = cluster.astype("u8") * np.uint64(0x9E3779B97F4A7C15)  # modulo 2⁶⁴; its high bits depend on all bits
    group: Ints = ((mixed >> np.uint64(32)) % np.uint64(GROUPS_MAX)).astype("i8")
    return group


def student(degrees: Floats | Ints) -> Floats:
    """Return the quantile of Student's distribution that bounds a 95 % interval, by degrees of freedom."""
    from scipy.special import stdtrit  # only here: most that import this file need no interval

    quantiles: Floats = stdtrit(degrees, TAIL)
    return quantiles


def comparisons(panel: Panel, question: IndexQuestion) -> int:
    """Return how many prices of items are compared for an index and its interval; its time is in proportion."""
    count = panel.periods
    window = count if question.window is None else min(question.window, count)
    if of_pairs(question) and question.method.formula in FORMULAE:
        return len(wanted_pairs(count, question, [0] * count)) * panel.items
    windows = count - window + 1 if question.over_window else 1
    return windows * window * panel.items * (min(panel.items, GROUPS_MAX) + 1)


def logarithms(panel: Panel, question: IndexQuestion) -> int:
    """Return how many numbers of 8 bytes an interval keeps at once."""
    if of_pairs(question) and question.method.formula in FORMULAE:
        return len(wanted_pairs(panel.periods, question, [0] * panel.periods)) * min(panel.items, GROUPS_MAX)
    return 0


def _without_sums(panel: Panel, question: IndexQuestion, group: Ints) -> Floats:
    compared = comparison_periods(panel, question)
    wanted = wanted_pairs(panel.periods, question, compared)
    starts, ends = np.array(wanted, dtype=int).reshape(-1, 2).T
    logs = np.full((panel.periods, panel.periods), np.nan)
    series = []
    for without in Pairs(panel, question).left_out_logs(wanted, group):
        logs[starts, ends] = without
        series.append(rebase(assemble_index(logs, question, compared), question))
    return np.array(series)


def _without_items(panel: Panel, question: IndexQuestion, group: Ints) -> Floats:
    return np.array(
        [index_series(panel.take(np.flatnonzero(group != left_out)), question) for left_out in range(group.max() + 1)]
    )


@dataclass(frozen=True)
class IndexRow:
    """One period of an index.

    `index` is None where no matched item connects the period with the first; `low` and `high` bound its 95 % interval
    (see `jackknife`). `matched_items` are the items that have a price in common with the period that it is
    `compared_with`, `share_matched` their part of its items, `matched_prices` those prices; these and `new` and
    `vanished` are None where it is compared with no other. An item has more than one price where a cluster of columns
    is one item.
    """

    period: str
    index: float | None
    low: float | None
    high: float | None
    items: int
    matched_items: int | None
    matched_prices: int | None
    share_matched: float | None
    new: int | None
    vanished: int | None
    compared_with: str | None


def index_rows(
    periods: list[str],
    panel: Panel,
    question: IndexQuestion,
    first: float,
    *,
    interval: bool = False,
    cluster: Ints | None = None,
) -> list[IndexRow]:
    """Return the index of each period, the first (or base) period at `first`; with its `interval` if asked for.

    `cluster`: see `jackknife`. Raises IndexNotDefined for a question that the panel cannot answer.
    """
    series = first * index_series(panel, question)
    low = high = np.full(panel.periods, np.nan)
    if interval:
        bounds = jackknife(panel, question, cluster)
        low, high = first * bounds.low, first * bounds.high
    others, starts = (
        comparison_periods(panel, question),
        _starts(np.arange(panel.items) if cluster is None else cluster),
    )
    rows = []
    for position, (other, shared) in enumerate(zip(others, coverage(panel.present(), others, starts), strict=True)):
        compared = other != position
        rows.append(
            IndexRow(
                period=periods[position],
                index=_finite_value(series, position),
                low=_finite_value(low, position),
                high=_finite_value(high, position),
                items=shared.items,
                matched_items=shared.matched if compared else None,
                matched_prices=shared.prices if compared else None,
                share_matched=shared.share_matched if compared else None,
                new=shared.new if compared else None,
                vanished=shared.vanished if compared else None,
                compared_with=periods[other] if compared else None,
            )
        )
    return rows


def _finite_value(values: Floats, position: int) -> float | None:
    value = float(values[position])
    return value if np.isfinite(value) else None
