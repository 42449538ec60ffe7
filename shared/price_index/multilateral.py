"""Indices over a whole window of periods: GEKS, the time product dummy method and Geary-Khamis. Pure.

Sources: ILO et al., Consumer Price Index Manual: Theory (2020), chapter 7; Ivancic, Diewert and Fox, Journal of
Econometrics 161 (2011); Caves, Christensen and Diewert, Economic Journal 92 (1982); Summers (1973); Geary (1958) and
Khamis (1972). All return one value a period with the first period that is defined at 1, NaN for periods that matched
items do not connect with it. Systems have one equation a period: however many items there are, they stay small.
"""

import numpy as np

from shared.price_index.panel import Floats, IndexNotDefined, Mask, Panel
from shared.price_index.question import DummyWeights


def geks(logs: Floats) -> Floats:
    """Return the GEKS index of an antisymmetric matrix of bilateral ln indices.

    It is the transitive index nearest to the bilateral ones by least squares: where all are defined, the geometric mean
    of the ways through every link period. Pairs without a bilateral index (NaN) are left out.
    """
    known = ~np.isnan(logs)
    np.fill_diagonal(known, False)
    logs = np.where(known, logs, 0.0)
    if known.sum() == len(logs) * (len(logs) - 1):  # then the mean of each row solves the least squares
        sums = logs.sum(axis=1)
        index: Floats = np.exp((sums[:1] - sums) / len(logs))
        return index
    linked = reachable_periods(known)
    laplacian = np.diag(known.sum(axis=1)) - known.astype("f8")
    return _solve(laplacian, -logs.sum(axis=1), linked)


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
    return _solve(system, right, reachable_periods(weight @ weight.T > 0))


def geary_khamis(panel: Panel) -> Floats:
    """Return the Geary-Khamis index: unit values at reference prices that are themselves mean deflated prices."""
    values, quantities = panel.values(), panel.quantities
    if quantities is None:
        raise IndexNotDefined("this method weights items by their sales: it needs quantities")
    sold = quantities.sum(axis=0)
    part = np.divide(values, sold, out=np.zeros_like(values), where=sold > 0)
    totals = values.sum(axis=1)
    shared = quantities @ part.T
    linked = reachable_periods((shared > 0) & (totals > 0)[:, None])
    # Deflators x solve totals · x = shared @ x: known up to a factor, which the first period sets. What a period shares
    # with itself is on both sides; without it nothing cancels, or the sales of an item of one period alone would blur
    # what the others say. The totals less that are the sums of what the other periods share.
    deflators = np.full(panel.periods, np.nan)
    first, others = _first_and_others(linked)
    np.fill_diagonal(shared, 0.0)
    system = np.diag(shared[:, others].sum(axis=0)) - shared[np.ix_(others, others)]
    deflators[first] = 1.0
    deflators[others] = np.linalg.solve(system, shared[others][:, first].sum(axis=1))
    index: Floats = 1 / deflators
    return index


def items_of_every_period(panel: Panel) -> Panel:
    """Return the items that occur in every period of the panel."""
    return panel.take(np.flatnonzero(panel.present().all(axis=0)))


def reachable_periods(linked: Mask) -> Mask:
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


def _solve(system: Floats, right: Floats, linked: Mask) -> Floats:
    """Return exp of the solution with the first period at 0, NaN for periods that are not linked with it."""
    index = np.full(len(right), np.nan)
    first, others = _first_and_others(linked)
    index[first] = 1.0
    index[others] = np.exp(np.linalg.solve(system[np.ix_(others, others)], right[others]))
    return index
