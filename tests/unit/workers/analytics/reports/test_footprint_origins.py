"""Shares of a footprint and of its variance by factor and source, against Monte Carlo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from shared.analytics.footprint import CODES
from workers.analytics.reports.footprint_origins import (
    ASSUMPTIONS,
    Assumption,
    FigureOrigins,
    assumptions_of_sums,
    quality_of_sums,
)
from workers.analytics.reports.footprint_sums import Amounts
from workers.analytics.reports.footprints import OWN, Footprints

DRAWS = 200_000


def footprints(means: list[float], sigmas: list[float], factors: list[int], common: list[float]) -> Footprints:
    """Make footprints whose first indicator has the given distributions, and all others nothing."""
    items, width = len(means), len(CODES)
    table = np.full((items + 1, width), np.nan)
    sigma, number = np.zeros((items + 1, width)), np.full((items + 1, width), OWN)
    table[:items, 0], sigma[:items, 0], number[:items, 0] = means, sigmas, factors
    return Footprints(np.arange(items), table, np.ones(items + 1), sigma, number, np.array(common), {})


def origins(
    places: list[int], scores: list[list[float]] | None = None, years: list[float] | None = None
) -> FigureOrigins:
    """Make origins whose assumptions are named by their place."""
    names = [Assumption("item", None, None, f"source {place}", "m") for place in range(max(places) + 1)]
    nothing = np.full((len(places) + 1, 5), np.nan)
    if scores is not None:
        nothing[:-1] = scores
    of_year = np.array([*(years or [np.nan] * len(places)), np.nan])
    return FigureOrigins(names, np.array([*places, OWN]), nothing, of_year)


def amounts_of(units: list[int]) -> Amounts:
    """Return one segment with these units of items 0, 1, 2 …"""
    places = np.arange(len(units))
    return Amounts(np.zeros(len(units), "i8"), places, places, np.array(units))


def test_shares_of_the_variance_agree_with_monte_carlo() -> None:
    means, sigmas = [3.0, 1.0, 2.0, 2.5, 4.0, 0.5], [0.3, 0.8, 0.4, 0.4, 0.1, 0.9]
    factors, common, units = [OWN, OWN, 0, 0, 1, 1], [0.5, 0.2], [1, 4, 2, 3, 1, 5]
    found = footprints(means, sigmas, factors, common)
    [rows] = assumptions_of_sums(amounts_of(units), found, origins([2, 2, 0, 0, 1, 1]), 0, 1)
    rng = default_rng(5)
    errors = [np.exp(c * rng.standard_normal(DRAWS) - c**2 / 2) for c in common]
    drawn = {0: np.zeros(DRAWS), 1: np.zeros(DRAWS), 2: np.zeros(DRAWS)}
    for mean, sigma, factor, of in zip(means, sigmas, factors, units, strict=True):
        own = of * mean * np.exp(sigma * rng.standard_normal(DRAWS) - sigma**2 / 2)
        drawn[factor if factor != OWN else 2] += own * (1.0 if factor == OWN else errors[factor])
    whole = np.var(sum(drawn.values()))
    expected = {f"source {place}": float(np.var(part) / whole) for place, part in drawn.items()}
    assert {row["source"]: row["variance_share"] for row in rows} == pytest.approx(expected, abs=0.02)
    totals = {"source 0": 11.5, "source 1": 6.5, "source 2": 7.0}
    assert {row["source"]: row["share"] for row in rows} == pytest.approx(
        {name: total / 25.0 for name, total in totals.items()}, abs=1e-6
    )
    assert [row["variance_share"] for row in rows] == sorted((row["variance_share"] for row in rows), reverse=True)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1e-90, 1.0, 7.5, 1e90]), st.floats(0.0, 7.0), st.integers(0, 8)), min_size=1
    )
)
def test_shares_add_up_whatever_the_figures(drawn: list[tuple[float, float, int]]) -> None:
    means, sigmas, places = ([row[n] for row in drawn] for n in range(3))
    found = footprints(means, sigmas, [OWN] * len(means), [])
    [rows] = assumptions_of_sums(amounts_of([1] * len(means)), found, origins(places), 0, 1)
    assert bool(rows) == any(means)
    assert len(rows) <= ASSUMPTIONS + 1
    assert sum(row["items"] for row in rows) == sum(mean > 0 for mean in means)
    assert not rows or sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-5)
    shares = [row["variance_share"] for row in rows]
    assert None in shares or not rows or sum(shares) == pytest.approx(1, abs=1e-5)


def test_scores_are_weighted_by_footprint_and_shares_say_how_much_states_them() -> None:
    found = footprints([1.0, 3.0, 4.0, float("nan")], [0.1] * 4, [OWN] * 4, [])
    nothing = [float("nan")] * 5
    stated = origins([0] * 4, [[1, 2, 3, 4, 5], [5, 2, 3, 4, 1], nothing, [5] * 5], [2020, float("nan"), 2024, 1999])
    [row] = quality_of_sums(amounts_of([1, 1, 1, 1]), found, stated, 0, 1)
    assert row == {
        "pedigree_share": 0.5,
        "reliability": 4.0,
        "completeness": 2.0,
        "temporal": 3.0,
        "geographical": 4.0,
        "technology": 2.0,
        "year_share": 0.625,
        "year_first": 2020,
        "year_last": 2024,
    }
