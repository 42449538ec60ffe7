"""Bilateral indices between the periods of a panel. Pure."""

from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np

from shared.price_index.bilateral import FORMULAE, Matched
from shared.price_index.panel import Floats, Ints, Mask, Panel
from shared.price_index.question import (
    SHARE_FORMULAE,
    TIME_PRODUCT_DUMMY,
    DummyWeights,
    IndexQuestion,
    time_product_dummy,
)

_NONE = np.empty(0)
PeriodPairs = Sequence[tuple[int, int]]
"""Pairs of periods, from and to."""


class Pairs:
    """Computes the question's bilateral index between periods of a panel."""

    def __init__(self, panel: Panel, question: IndexQuestion) -> None:
        self._panel = panel
        self._question = question
        self._present = panel.present()
        formula = FORMULAE.get(question.method.formula)
        self._in_basket = self._present[question.basket] if formula is not None and formula.basket else None

    def logs(self, pairs: PeriodPairs) -> Floats:
        """Return the matrix of ln indices from one period to another; NaN where not asked for or not defined."""
        if self._question.method.formula == "jevons":
            return jevons_logs(self._panel)
        logs = np.full((self._panel.periods, self._panel.periods), np.nan)
        for start, end in pairs:
            logs[start, end] = _log(np.asarray(self._index(self.match(start, end))))
        return logs

    def left_out_logs(self, pairs: PeriodPairs, group: Ints, prices_at_once: int = 200_000) -> Floats:
        """Return the ln index between each pair without each group of items, of shape (groups, pairs).

        `group` is each item's group, numbered from 0. `prices_at_once` are compared together: their terms fit a
        processor's cache. Only for formulae of sums.
        """
        if self._question.method.formula == "jevons":
            both_ways = np.array(pairs, dtype=int).reshape(-1, 2)
            return jevons_logs_without(self._panel, group)[:, both_ways[:, 0], both_ways[:, 1]]
        formula, sigma = FORMULAE[self._question.method.formula], self._question.sigma
        logs = np.full((int(group.max(initial=-1)) + 1, len(pairs)), np.nan)
        by_group = np.argsort(group, kind="stable")
        for start, same in groupby(range(len(pairs)), key=lambda place: pairs[place][0]):
            items, places = by_group[self._usable(start)[by_group]], list(same)
            if not len(items):
                continue
            of_items = group.take(items)
            firsts = np.flatnonzero(np.r_[True, of_items[1:] != of_items[:-1]])
            at_once = max(1, prices_at_once // len(items))
            for few in (places[n : n + at_once] for n in range(0, len(places), at_once)):
                ends = [pairs[place][1] for place in few]
                both = self._present[ends][:, items]
                with np.errstate(divide="ignore", invalid="ignore"):
                    terms = [np.where(both, term, 0.0) for term in formula.terms(self._of(start, ends, items))]
                    sums = np.array([np.add.reduceat(term, firsts, axis=1) for term in terms])
                    totals = sums.sum(axis=2, keepdims=True)
                    matched = np.add.reduceat(both, firsts, axis=1, dtype="i8")
                    remain = matched.sum(axis=1, keepdims=True) > matched
                    without = np.where(remain, _log(formula.combine(totals - sums, sigma)), np.nan)
                    logs[:, few] = _log(formula.combine(totals[:, :, 0], sigma))
                    logs[np.ix_(of_items[firsts], np.array(few))] = without.T
        return logs

    def match(self, start: int, end: int) -> Matched:
        """Return prices and quantities of the items that both periods have (and the basket, where there is one)."""
        return self._of(start, end, np.flatnonzero(self._usable(start) & self._present[end]))

    def _index(self, matched: Matched) -> float:
        formula, question = self._question.method.formula, self._question
        if not len(matched.p0):
            return float("nan")
        with np.errstate(divide="ignore", invalid="ignore"):
            if formula in FORMULAE:
                return index_of(formula, matched)
            if formula == TIME_PRODUCT_DUMMY:
                return time_product_dummy(matched, dummy_weights(self._panel, question), question.bias_adjust)
            return SHARE_FORMULAE[formula](matched)

    def _usable(self, start: int) -> Mask:
        """Return which items a period has, and the basket, where there is one."""
        usable: Mask = self._present[start]
        return usable if self._in_basket is None else usable & self._in_basket

    def _of(self, start: int, end: int | list[int], positions: Ints) -> Matched:
        """Return prices and quantities of items in two periods; of several ends, a row for each."""
        prices, quantities, sigma = self._panel.prices, self._panel.quantities, self._question.sigma
        p1 = prices[end][..., positions]

        def of(table: Floats, period: int) -> Floats:
            return np.broadcast_to(table[period].take(positions), p1.shape)

        p0 = of(prices, start)
        if quantities is None:
            return Matched(p0, p1, _NONE, _NONE, _NONE, _NONE, sigma)
        q0, q1 = of(quantities, start), quantities[end][..., positions]
        if self._in_basket is None:
            return Matched(p0, p1, q0, q1, _NONE, _NONE, sigma)
        basket = of(quantities, self._question.basket)
        return Matched(p0, p1, q0, q1, basket, basket * of(prices, self._question.basket), sigma)


def dummy_weights(panel: Panel, question: IndexQuestion) -> DummyWeights:
    """Return the weights of a time product dummy: as asked for, else what its context and the panel's data allow."""
    if question.weights is not None:
        return question.weights
    if panel.quantities is None:
        return "unit"
    return "average" if question.method.geks else "shares"


def jevons_logs(panel: Panel) -> Floats:
    """Return the mean of matched log relatives for all pairs at once: products of small by long matrices."""
    present = panel.present()
    logs = np.log(panel.prices, out=np.zeros_like(panel.prices), where=present)
    seen = present.astype("f8")
    ends, counts = seen @ logs.T, seen @ seen.T
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, (ends - ends.T) / counts, np.nan)


def jevons_logs_without(panel: Panel, group: Ints) -> Floats:
    """Return what `jevons_logs` returns of the panel without each group of items, one matrix a group."""
    order = np.argsort(group, kind="stable")
    seen = panel.present()[:, order].astype("f8")
    logs = np.log(panel.prices[:, order], out=np.zeros_like(seen), where=seen > 0)
    bounds = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 2))
    sums, counts = np.empty((2, len(bounds) - 1, panel.periods, panel.periods))
    for one, (first, stop) in enumerate(pairwise(bounds.tolist())):
        sums[one], counts[one] = (seen[:, first:stop] @ of.T for of in (logs[:, first:stop], seen[:, first:stop]))
    sums, counts = sums.sum(axis=0) - sums, counts.sum(axis=0) - counts
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, (sums - sums.transpose(0, 2, 1)) / counts, np.nan)


def index_of(formula: str, m: Matched) -> float:
    """Return the bilateral index of a formula of sums."""
    sums = np.array([term.sum() for term in FORMULAE[formula].terms(m)])
    return float(FORMULAE[formula].combine(sums, m.sigma))


def _log(index: Floats) -> Floats:
    """Return ln of the index, NaN where it is not a positive number."""
    logs: Floats = np.log(index, out=np.full(index.shape, np.nan), where=np.isfinite(index) & (index > 0))
    return logs
