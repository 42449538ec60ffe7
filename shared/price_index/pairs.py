"""Indices between pairs of periods of a panel, over the items that both have. Pure."""

from collections.abc import Sequence

import numpy as np

from shared.price_index.bilateral import FORMULAE, Matched
from shared.price_index.panel import Floats, Ints, Panel
from shared.price_index.question import SHARE_FORMULAE, TIME_PRODUCT_DUMMY, DummyWeights, Question, time_product_dummy

_NONE = np.empty(0)
PeriodPairs = Sequence[tuple[int, int]]
"""Pairs of periods, from and to."""


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
        replicates, groups = counts.shape
        logs = np.full((replicates, len(pairs)), np.nan)
        for place, (start, end) in enumerate(pairs):
            positions = self._positions(start, end)
            of_items = group.take(positions)
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = formula.terms(self._of(start, end, positions))
                sums = np.array([counts @ np.bincount(of_items, term, minlength=groups) for term in terms])
                logs[:, place] = _log(formula.combine(sums, self._question.sigma))
        return logs

    def matched(self, start: int, end: int) -> Matched:
        """Return prices and quantities of the items that both periods have (and the basket, where there is one)."""
        return self._of(start, end, self._positions(start, end))

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

    def _positions(self, start: int, end: int) -> Ints:
        both = self._present[start] & self._present[end]
        if self._in_basket is not None:
            both &= self._in_basket
        return np.flatnonzero(both)

    def _of(self, start: int, end: int, positions: Ints) -> Matched:
        prices, quantities, sigma = self._panel.prices, self._panel.quantities, self._question.sigma
        p0, p1 = prices[start].take(positions), prices[end].take(positions)
        if quantities is None:
            return Matched(p0, p1, _NONE, _NONE, _NONE, _NONE, sigma)
        q0, q1 = quantities[start].take(positions), quantities[end].take(positions)
        if self._in_basket is None:
            return Matched(p0, p1, q0, q1, _NONE, _NONE, sigma)
        basket = quantities[self._question.basket].take(positions)
        return Matched(p0, p1, q0, q1, basket, basket * prices[self._question.basket].take(positions), sigma)


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
