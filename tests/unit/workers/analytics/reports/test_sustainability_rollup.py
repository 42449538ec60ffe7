"""Intervals of a rollup's sums against Monte Carlo, drawn item by item; and who contributes."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from shared.analytics.footprint import CODES
from workers.analytics.reports.footprint_sums import Amounts, Bounds, bounds_of_sums, totals_of_sums
from workers.analytics.reports.footprint_sums import each_contributor as contributors
from workers.analytics.reports.footprints import OWN, Footprints

DRAWS = 200_000

COMMON = np.array([0.5, 0.2])


def footprints(means: list[float], sigmas: list[float], factors: list[int]) -> Footprints:
    """Make footprints whose first indicator has the given distributions, and all others nothing."""
    items, width = len(means), len(CODES)
    table = np.full((items + 1, width), np.nan)
    sigma, number = np.zeros((items + 1, width)), np.full((items + 1, width), OWN)
    table[:items, 0], sigma[:items, 0], number[:items, 0] = means, sigmas, factors
    return Footprints(np.arange(items), table, np.ones(items + 1), sigma, number, COMMON, {})


def bounds(amounts: Amounts, found: Footprints, segments: int) -> Bounds:
    """Return the bounds of the first indicator's sums."""
    return bounds_of_sums(amounts, found, 0, totals_of_sums(amounts, found, 0, segments))


def simulated(found: Footprints, amounts: Amounts, segment: int) -> list[float]:
    """Return the quantiles of a segment's sum: every item drawn by itself, every factor's error once."""
    rng = default_rng(7)
    errors = np.exp(COMMON[:, None] * rng.standard_normal((len(COMMON), DRAWS)) - COMMON[:, None] ** 2 / 2)
    total = np.zeros(DRAWS)
    for place, units in zip(amounts.position[amounts.segment == segment], amounts.units, strict=False):
        mean, sigma = found.figures[place, 0], found.sigmas[place, 0]
        if math.isnan(mean):
            continue
        drawn = mean * np.exp(sigma * rng.standard_normal(DRAWS) - sigma**2 / 2)
        factor = int(found.factors[place, 0])
        total += units * drawn * (1.0 if factor == OWN else errors[factor])
    return [float(one) for one in np.quantile(total, [0.025, 0.5, 0.975])]


def test_sums_of_own_and_borrowed_figures_agree_with_monte_carlo() -> None:
    rng = default_rng(3)
    n = 90
    factors = [OWN] * 30 + [0] * 30 + [1] * 30
    found = footprints(rng.lognormal(0, 1, n).tolist(), rng.uniform(0.05, 0.6, n).tolist(), factors)
    order = np.concatenate([np.arange(n), np.arange(0, n, 9)])
    amounts = Amounts(np.array([0] * n + [1] * 10), order, order, np.ones(n + 10))
    result = bounds(amounts, found, 3)
    for segment in (0, 1):
        stated = [column[segment] for column in result]
        assert stated == pytest.approx(simulated(found, amounts, segment), rel=0.015)
    assert [column[2] for column in result] == [None, None, None]


def test_units_of_one_item_do_not_average_its_error_out() -> None:
    found = footprints([2.0], [0.4], [OWN])
    one = bounds(Amounts(np.array([0]), np.array([0]), np.array([0]), np.array([1.0])), found, 1)
    many = bounds(Amounts(np.array([0]), np.array([0]), np.array([0]), np.array([500.0])), found, 1)
    assert [column[0] for column in many] == pytest.approx([500 * (column[0] or 0) for column in one], rel=1e-8)


def test_the_largest_contributors_are_named_with_their_shares_and_ties_by_id() -> None:
    found = footprints([1.0, 5.0, 2.0, 2.0, float("nan")], [0.1] * 5, [OWN] * 5)
    places = np.arange(5)
    amounts = Amounts(np.zeros(5, int), np.array([14, 13, 12, 11, 10]), places, np.array([1.0, 1.0, 1.0, 1.0, 9.0]))
    listed = [(one.indicator, one.item, one.share) for one in contributors(amounts, found)]
    assert listed == [("co2e_kg", 13, 0.5), ("co2e_kg", 11, 0.2), ("co2e_kg", 12, 0.2)]
