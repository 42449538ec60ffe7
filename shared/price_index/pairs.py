"""Indices between pairs of periods of a panel, over the items that both have. Pure."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from shared.price_index.bilateral import FORMULAE, Matched
from shared.price_index.panel import Floats, Ints, Mask, Panel
from shared.price_index.question import SHARE_FORMULAE, TIME_PRODUCT_DUMMY, DummyWeights, Question, time_product_dummy

_NONE = np.empty(0)
PeriodPairs = Sequence[tuple[int, int]]
"""Pairs of periods, from and to."""
_PRICES_AT_ONCE = 200_000
"""Prices that are compared together: their terms fit a processor's cache."""


class Pairs:
    """Computes the question's bilateral index between periods of a panel."""

    def __init__(self, panel: Panel, question: Question) -> None:
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
            logs[start, end] = _log(np.asarray(self._index(self.matched(start, end))))
        return logs

    def resampled_logs(self, pairs: PeriodPairs, group: Ints, counts: Floats) -> Floats:
        """Return the ln index between each pair for each row of `counts`, of shape (replicates, pairs).

        `group` is each item's group, `counts` how often a replicate has each group. Only for formulae of sums.
        """
        formula = FORMULAE[self._question.method.formula]
        logs = np.full((len(counts), len(pairs)), np.nan)
        by_group = np.argsort(group, kind="stable")
        for start, same in groupby(range(len(pairs)), key=lambda place: pairs[place][0]):
            items, places = by_group[self._usable(start)[by_group]], list(same)
            if not len(items):
                continue
            of_items = group.take(items)
            firsts = np.flatnonzero(np.r_[True, of_items[1:] != of_items[:-1]])
            drawn = counts if len(firsts) == counts.shape[1] else counts[:, of_items[firsts]]
            # Many periods at once: a product with `counts` for each pair would take most of the time.
            at_once = max(1, _PRICES_AT_ONCE // len(items))
            for few in (places[n : n + at_once] for n in range(0, len(places), at_once)):
                ends = [pairs[place][1] for place in few]
                both = self._present[ends][:, items]
                with np.errstate(divide="ignore", invalid="ignore"):
                    terms = [np.where(both, term, 0.0) for term in formula.terms(self._of(start, ends, items))]
                    sums = np.array([drawn @ np.add.reduceat(term, firsts, axis=1).T for term in terms])
                    logs[:, few] = _log(formula.combine(sums, self._question.sigma))
        return logs

    def matched(self, start: int, end: int) -> Matched:
        """Return prices and quantities of the items that both periods have (and the basket, where there is one)."""
        return self._of(start, end, np.flatnonzero(self._usable(start) & self._present[end]))

    def _index(self, matched: Matched) -> float:
        formula, question = self._question.method.formula, self._question
        if not len(matched.p0):
            return float("nan")
        with np.errstate(divide="ignore", invalid="ignore"):
            if formula in FORMULAE:
                sums = np.array([term.sum() for term in FORMULAE[formula].terms(matched)])
                return float(FORMULAE[formula].combine(sums, question.sigma))
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


def dummy_weights(panel: Panel, question: Question) -> DummyWeights:
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


def _log(index: Floats) -> Floats:
    """Return ln of the index, NaN where it is not a positive number."""
    logs: Floats = np.log(index, out=np.full(index.shape, np.nan), where=np.isfinite(index) & (index > 0))
    return logs
