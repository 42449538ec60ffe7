"""The index of every period of a panel, by whichever method is asked for. Pure."""

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

import numpy as np

from shared.price_index.bilateral import FORMULAE, Matched
from shared.price_index.panel import Floats, IndexNotDefined, Ints, Mask, Panel
from shared.price_index.question import (
    GEARY_KHAMIS,
    SHARE_FORMULAE,
    TIME_PRODUCT_DUMMY,
    DummyWeights,
    Links,
    Question,
    needs_quantities,
    time_product_dummy,
)

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

    def matched(self, start: int, end: int) -> Matched:
        """Return prices and quantities of the items that both periods have (and the basket, where there is one)."""
        return self._of(start, end, np.flatnonzero(self._usable(start) & self._present[end]))

    def _index(self, matched: Matched) -> float:
        formula, question = self._question.method.formula, self._question
        if not len(matched.p0):
            return float("nan")
        with np.errstate(divide="ignore", invalid="ignore"):
            if formula in FORMULAE:
                return _index_of(formula, matched)
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


def _index_of(formula: str, m: Matched) -> float:
    """Return the bilateral index of a formula of sums."""
    sums = np.array([term.sum() for term in FORMULAE[formula].terms(m)])
    return float(FORMULAE[formula].combine(sums, m.sigma))


def _log(index: Floats) -> Floats:
    """Return ln of the index, NaN where it is not a positive number."""
    logs: Floats = np.log(index, out=np.full(index.shape, np.nan), where=np.isfinite(index) & (index > 0))
    return logs


# A series longer than its window: each further period is linked to the series by a splice. Pure.
# Sources: Krsinich, Journal of Official Statistics 32 (2016), window splice; Ivancic, Diewert and Fox (2011), movement
# splice; de Haan (2015), half splice; Diewert and Fox, Journal of Business & Economic Statistics 40 (2022), mean
# splice; Chessa (2019), splices on the published series; Lamboray (2017) and Chessa (2016), fixed base windows.


Window = Callable[[int, int], Floats]
"""The index of the periods from a first one up to but without a last one, on any scale."""


def spliced(index: Window, periods: int, window: int, splice: str) -> Floats:
    """Return the index of all periods from windows of `window` periods (two or more), the first period at 1.

    Values once published do not change when a period is added. A period that no matched item connects with its window
    is NaN and links nothing; where a splice would link there alone, all periods that both windows have do.
    """
    window = min(window, periods)
    old = index(0, window)
    published = np.full(periods, np.nan)
    published[:window] = old / old[0]
    for end in range(window + 1, periods + 1):
        if splice in ("fbew", "fbmw"):
            published[end - 1] = _from_base(index, published, end, window, expanding=splice == "fbew")
            continue
        new = _to_last(index, end - window, end)
        earlier = published[end - window : end - 1]
        kept = earlier if splice.endswith("-published") else _kept(earlier, old)
        steps = new[-1] / new[:-1] * kept
        linked = _mean(steps[_link_positions(splice.removesuffix("-published"), window)])
        published[end - 1] = _mean(steps) if np.isnan(linked) else linked
        old = np.append(old[1:], np.nan) if np.isnan(new[-1]) else new
    return published


def _to_last(index: Window, start: int, end: int) -> Floats:
    """Return the index of a window's periods that matched items connect with its last one, NaN for the others."""
    new = index(start, end)
    first = start
    while np.isnan(new[-1]) and first < end - 2:
        first += 1
        new = index(first, end)
    return np.append(np.full(first - start, np.nan), new)


def _mean(steps: Floats) -> float:
    """Return the geometric mean of those that are defined, NaN where none is."""
    known = steps[~np.isnan(steps)]
    return float(np.exp(np.mean(np.log(known)))) if len(known) else float("nan")


def _kept(published: Floats, old: Floats) -> Floats:
    """Return what the window before says of the periods that both windows have, on the published scale at its last."""
    known = np.flatnonzero(~np.isnan(old[1:] * published))
    if not len(known):
        return np.full(len(published), np.nan)
    last = known[-1]
    kept: Floats = old[1:] / old[1 + last] * published[last]
    return kept


def _link_positions(splice: str, window: int) -> list[int]:
    """Return the positions in a new window at which a splice links; the last period of the window is the new one."""
    if splice.isdigit():
        if not 1 <= int(splice) < window:
            raise IndexNotDefined(f"splice: a period of the window before its last, 1 to {window - 1}")
        return [int(splice) - 1]
    return {
        "movement": [window - 2],
        "window": [0],
        "half": [(window - 1) // 2],
        "mean": list(range(window - 1)),
    }[splice]


def _from_base(index: Window, published: Floats, end: int, window: int, *, expanding: bool) -> float:
    """Return the new period's index linked to the last base period: every (window - 1)th period is one.

    `expanding`: the window begins at the base period, else it has its full length.
    """
    base = (end - 2) // (window - 1) * (window - 1)
    start = base if expanding else end - window
    new = index(start, end)
    linked = float(published[base] * new[-1] / new[base - start])
    if not np.isnan(linked):
        return linked
    new = _to_last(index, end - window, end)
    return _mean(new[-1] / new[:-1] * published[end - window : end - 1])


# Indices over a whole window of periods: GEKS, the time product dummy method and Geary-Khamis. Pure. Sources: ILO et
# al., Consumer Price Index Manual: Theory (2020), chapter 7; Ivancic, Diewert and Fox, Journal of Econometrics 161
# (2011); Caves, Christensen and Diewert, Economic Journal 92 (1982); Summers (1973); Geary (1958) and Khamis (1972).
# All return one value a period with the first period that is defined at 1, NaN for periods that matched items do not
# connect with it. Systems have one equation a period: however many items there are, they stay small.


def geks(logs: Floats) -> Floats:
    """Return the GEKS index of an antisymmetric matrix of bilateral ln indices.

    It is the transitive index nearest to the bilateral ones by least squares: where all are defined, the geometric mean
    of the ways through every link period. Pairs without a bilateral index (NaN) are left out.
    """
    known = ~np.isnan(logs)
    logs = np.where(known, logs, 0.0)
    np.fill_diagonal(known, False)
    linked = connected(known)
    laplacian = np.diag(known.sum(axis=1)) - known.astype("f8")
    return _solved(laplacian, -logs.sum(axis=1), linked)


def multilateral_time_product_dummy(panel: Panel, weights: DummyWeights) -> Floats:
    """Return the time product dummy index: the period effects of weighted least squares of ln price on period and item.

    Each price weighs its share of its period's sales (`shares`), or every price the same (`unit`).
    """
    present = panel.present()
    weight = present.astype("f8") if weights == "unit" else _shares(panel)
    logs = np.log(panel.prices, out=np.zeros_like(panel.prices), where=present)
    of_item = weight.sum(axis=0)
    part = np.divide(weight, of_item, out=np.zeros_like(weight), where=of_item > 0)
    system = np.diag(weight.sum(axis=1)) - weight @ part.T
    right = np.sum(weight * (logs - np.sum(part * logs, axis=0)), axis=1)
    return _solved(system, right, connected(weight @ weight.T > 0))


def geary_khamis(panel: Panel) -> Floats:
    """Return the Geary-Khamis index: unit values at reference prices that are themselves mean deflated prices."""
    values, quantities = panel.values(), panel.quantities
    if quantities is None:
        raise IndexNotDefined("this method weights items by their sales: it needs quantities")
    sold = quantities.sum(axis=0)
    part = np.divide(values, sold, out=np.zeros_like(values), where=sold > 0)
    totals = values.sum(axis=1)
    shared = quantities @ part.T
    linked = connected((shared > 0) & (totals > 0)[:, None])
    # Deflators x solve x = A x: known up to a factor, which the first period sets.
    deflators = np.full(panel.periods, np.nan)
    first, others = _first_and_others(linked)
    system = np.eye(len(others)) - shared[np.ix_(others, others)] / totals[others, None]
    deflators[first] = 1.0
    deflators[others] = np.linalg.solve(system, shared[others][:, first].sum(axis=1) / totals[others])
    index: Floats = 1 / deflators
    return index


def matched_throughout(panel: Panel) -> Panel:
    """Return the items that occur in every period of the panel."""
    return panel.take(np.flatnonzero(panel.present().all(axis=0)))


def connected(linked: Mask) -> Mask:
    """Return which periods a chain of links leads to from the first one."""
    reached = np.zeros(len(linked), bool)
    reached[:1] = True
    while (grown := reached | linked[reached].any(axis=0)).sum() > reached.sum():
        reached = grown
    return reached


def _shares(panel: Panel) -> Floats:
    values = panel.values()
    totals = values.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)
    return shares


def _first_and_others(linked: Mask) -> tuple[list[int], list[int]]:
    positions = np.flatnonzero(linked).tolist()
    return positions[:1], positions[1:]


def _solved(system: Floats, right: Floats, linked: Mask) -> Floats:
    """Return exp of the solution with the first period at 0, NaN for periods that are not linked with it."""
    index = np.full(len(right), np.nan)
    first, others = _first_and_others(linked)
    index[first] = 1.0
    index[others] = np.exp(np.linalg.solve(system[np.ix_(others, others)], right[others]))
    return index


# Chaining by similarity: each period is linked to the earlier one whose prices are most like its own. Pure. Sources:
# Hill (1999, 2001), Paasche-Laspeyres spread; Diewert (2009), weighted log-quadratic and asymptotically linear
# measures; Fox, Hill and Diewert (2004), mix, scale and absolute dissimilarity.


def dissimilarity(m: Matched, measure: Links) -> float:
    """Return how different two periods' prices are, 0 where they are proportional; infinite without matched items."""
    if not len(m.p0):
        return float("inf")
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = _MEASURES[measure](m)
    return distance if np.isfinite(distance) else float("inf")


_EQUAL = 1e-12


def links(count: int, measure: Callable[[int, int], float]) -> list[int]:
    """Return, for each of `count` periods, the earlier period that it is linked to (the first: itself).

    Of equally similar periods the earliest one is taken. Distances that differ by rounding are equal: a single matched
    item is at the distance 0 or 1e-32, depending on the currency.
    """
    chosen = [0]
    for end in range(1, count):
        distances = np.array([measure(start, end) for start in range(end)])
        chosen.append(int(np.argmax(distances <= distances.min() * (1 + _EQUAL) + _EQUAL)))
    return chosen


def _spread(m: Matched) -> float:
    return float(np.abs(np.log(_index_of("laspeyres", m) / _index_of("paasche", m))))


def _by_shares(distance: Callable[[Floats], Floats]) -> Callable[[Matched], float]:
    """Return the mean, by both periods' shares, of how far each relative is from the Fisher index."""

    def measure(m: Matched) -> float:
        s0, s1 = m.shares
        return float(np.sum((s0 + s1) / 2 * distance(m.ratio / _index_of("fisher", m))))

    return measure


def _prices_and_quantities(distance: Callable[[Floats], float]) -> Callable[[Matched], float]:
    def measure(m: Matched) -> float:
        return float(np.sqrt(distance(m.logs) * distance(np.log(m.q1 / m.q0))))

    return measure


def _mix(logs: Floats) -> float:
    return float(np.var(logs))


def _scale(logs: Floats) -> float:
    return float(np.mean(logs) ** 2)


_MEASURES: dict[Links, Callable[[Matched], float]] = {
    "plspread": _spread,
    "logquadratic": _by_shares(lambda relative: np.log(relative) ** 2),
    "asymplinear": _by_shares(lambda relative: relative + 1 / relative - 2),
    "mix": _prices_and_quantities(_mix),
    "scale": _prices_and_quantities(_scale),
    "absolute": _prices_and_quantities(lambda logs: _mix(logs) + _scale(logs)),
}


def measure_named(text: str) -> Links:
    """Return the measure of that name, `previous` for the period before; raise IndexNotDefined for another."""
    name = "".join(letter for letter in text.lower() if letter.isalpha())
    name = {"pop": "previous", "mixscale": "absolute"}.get(name, name)
    if name == "previous":
        return "previous"
    for measure in _MEASURES:
        if measure == name:
            return measure
    raise IndexNotDefined(f"chain method: previous, {', '.join(_MEASURES)}")


def index_series(panel: Panel, question: Question) -> Floats:
    """Return one index a period, the first (or the base period) at 1, NaN where matched items do not define it.

    Raises IndexNotDefined for a question that the panel cannot answer, naming the reason.
    """
    check(panel, question)
    if not of_pairs(question):
        window = panel.periods if question.window is None else question.window
        series = spliced(lambda a, b: _whole_window(panel.rows(a, b), question), panel.periods, window, question.splice)
        return based(series, question)
    compared = compared_with(panel, question)
    logs = Pairs(panel, question).logs(wanted_pairs(panel.periods, question, compared))
    return based(assembled(logs, question, compared), question)


def check(panel: Panel, question: Question) -> None:
    """Raise IndexNotDefined where the panel cannot answer the question, whatever its prices are."""
    if panel.quantities is None and (needs_quantities(question) or question.links != "previous"):
        raise IndexNotDefined(f"{question.method.name} weights items by their sales: it needs quantities")
    if question.window is not None and question.window < 2:
        raise IndexNotDefined("window: at least two periods")
    if question.weights == "average" and question.over_window and not question.method.geks:
        raise IndexNotDefined("weights: average is of two periods; over a window tpd weights by unit or by shares")
    if not 0 <= question.base < panel.periods or not 0 <= question.basket < panel.periods:
        raise IndexNotDefined("base period and basket period: one of the periods of the data")


def of_pairs(question: Question) -> bool:
    """Return whether indices between pairs of periods are all that the index is made of."""
    return not question.over_window or (question.method.geks and question.sample == "all")


def compared_with(panel: Panel, question: Question) -> list[int]:
    """Return the position of the period that each is compared with: the one before, the base, or the most similar."""
    count = panel.periods
    if not question.over_window and question.output == "fixed":
        return [question.base] * count
    if question.links == "previous" or question.over_window:
        return [max(position - 1, 0) for position in range(count)]
    pairs, measure = Pairs(panel, question), question.links
    return links(count, lambda a, b: dissimilarity(pairs.matched(a, b), measure))


def wanted_pairs(periods: int, question: Question, compared: list[int]) -> PeriodPairs:
    """Return the pairs of periods between which the index needs a bilateral one."""
    if not question.over_window:
        return [(start, end) for end, start in enumerate(compared)]
    width = periods if question.window is None else question.window
    if question.splice == "fbew":
        width *= 2  # a window that begins at a base period grows until the next one
    return [(start, end) for start in range(periods) for end in range(start + 1, min(start + width, periods))]


def assembled(logs: Floats, question: Question, compared: list[int]) -> Floats:
    """Return the index of every period from the ln indices between pairs of them; the first period of a series is 1."""
    count = len(logs)
    if question.over_window:
        both = np.where(np.isnan(logs), -logs.T, logs)
        window = count if question.window is None else question.window
        return spliced(lambda a, b: geks(both[a:b, a:b]), count, window, question.splice)
    with np.errstate(over="ignore", invalid="ignore"):  # an index beyond floating point is none
        steps: Floats = np.exp(logs[compared, np.arange(count)])
        if question.output == "fixed":
            return steps
        steps[0] = 1.0
        if question.output != "pop":
            for end, start in enumerate(compared[1:], 1):
                steps[end] *= steps[start]
    return steps


def based(series: Floats, question: Question) -> Floats:
    """Return a series with the base period at 1; one against a base period, or period on period, stays as it is."""
    if not question.over_window and question.output in ("fixed", "pop"):
        return series
    rescaled: Floats = series / series[question.base]
    return rescaled


def _whole_window(panel: Panel, question: Question) -> Floats:
    if question.sample == "matched":
        panel = matched_throughout(panel)
    if question.method.geks:
        pairs = wanted_pairs(panel.periods, question, [])
        return assembled(Pairs(panel, question).logs(pairs), question, [])
    if question.method.formula == GEARY_KHAMIS:
        return geary_khamis(panel)
    return multilateral_time_product_dummy(panel, dummy_weights(panel, question))
