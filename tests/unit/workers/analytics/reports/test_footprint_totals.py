"""Totals of footprints and their intervals come from one model: sums of means, with the mean inside, right 19 of 20 times."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator, default_rng

from shared.uncertainty.stated import Pooled, Scores, Stated, StatedSpread, of_factor, of_item
from workers.analytics.reports.footprint_sums import Amounts, Bounds, bounds_of_sums, totals_of_sums
from workers.analytics.reports.footprints import OWN, Footprints
from workers.analytics.reports.sustainability_rollup import CODES

CO2E = CODES.index("co2e_kg")
Item = tuple[Stated, int]
"""An item's figure, and the number of the factor that it rests on, or OWN."""


def footprints(items: Sequence[Item], common: Sequence[float]) -> Footprints:
    """Return the figures of items 0, 1, 2 …; of indicators other than CO2E none is known."""
    columns = [np.full((len(items) + 1, len(CODES)), fill) for fill in (np.nan, 0.0, float(OWN))]
    for place, (stated, factor) in enumerate(items):
        for column, value in zip(columns, (stated.mean, stated.sigma, factor), strict=True):
            column[place, CO2E] = value
    figures, sigmas, factors = columns
    bounds = {(place, "co2e_kg"): stated for place, (stated, _) in enumerate(items) if stated.low is not None}
    known = np.ones(len(items) + 1, "i8")
    return Footprints(np.arange(len(items)), figures, known, sigmas, factors, np.array(common), bounds)


def rollup(
    items: Sequence[Item], common: Sequence[float], units: Sequence[int], segments: Sequence[int]
) -> tuple[list[float | None], Bounds]:
    """Return the total of each segment, and the bounds."""
    places = np.arange(len(items))
    amounts, known = Amounts(np.array(segments), places, places, np.array(units)), footprints(items, common)
    totals = totals_of_sums(amounts, known, CO2E, max(segments) + 1)
    return totals, bounds_of_sums(amounts, known, CO2E, totals)


# Of size and width all that a load lets in, and more.
SIZES = st.one_of(st.just(0.0), st.floats(1e-9, 1e9), st.sampled_from([1.0, 1e-100, 1e100]))
OWN_FIGURES = st.one_of(
    st.builds(
        lambda size, basis: of_item(size, basis, StatedSpread()), SIZES, st.sampled_from(["measured", "modelled"])
    ),
    st.builds(
        lambda size, ratio: of_item(size, "modelled", StatedSpread(deviation=size * ratio)), SIZES, st.floats(0.0, 1e6)
    ),
    st.builds(
        lambda size, scores: of_item(size, "modelled", StatedSpread(pedigree=Scores(*scores).notation)),
        SIZES,
        st.tuples(*[st.integers(1, 5)] * 5),
    ),
    st.builds(
        lambda size, below, above: of_item(size, "measured", StatedSpread(size / below, size * above)),
        SIZES,
        st.floats(1.0, 1e8),
        st.floats(1.0, 1e8),
    ),
)
FACTORS = st.builds(
    lambda size, samples, deviation, elsewhere: of_factor(
        size, samples, Pooled.of(samples, deviation), Pooled.of_all((Pooled.of(samples, deviation), elsewhere))
    ),
    SIZES,
    st.integers(1, 40),
    st.one_of(st.none(), st.floats(0.0, 6.0)),
    st.builds(lambda variance, degrees: Pooled(variance * degrees, degrees), st.floats(0.0, 9.0), st.integers(0, 60)),
)


@st.composite
def rollups(draw: st.DrawFn) -> tuple[list[Item], list[float], list[int], list[int]]:
    """Draw items with figures of their own and of shared factors, their units, and the segment of each."""
    factors = draw(st.lists(FACTORS, max_size=3))
    own: st.SearchStrategy[Item] = st.tuples(OWN_FIGURES, st.just(OWN))
    weighed = [
        st.tuples(st.floats(1e-3, 1e3).map(factor.times), st.just(place)) for place, factor in enumerate(factors)
    ]
    items = draw(st.lists(st.one_of(own, *weighed), min_size=1, max_size=12))
    items *= draw(st.sampled_from([1, 1, 1, 7]))  # identical figures
    places = st.lists(st.integers(0, 2), min_size=len(items), max_size=len(items))
    units = draw(st.lists(st.integers(1, 10**6), min_size=len(items), max_size=len(items)))
    return items, [factor.common_sigma for factor in factors], units, draw(places)


@given(rollups())
@settings(max_examples=100, deadline=None)
def test_every_total_is_inside_its_interval_and_totals_of_parts_add_up(
    drawn: tuple[list[Item], list[float], list[int], list[int]],
) -> None:
    items, common, units, segments = drawn
    totals, bounds = rollup(items, common, units, segments)
    known = [(total, *row) for total, *row in zip(totals, *bounds, strict=True) if total is not None]
    for total, low, central, high in known:
        assert low <= total <= high
        assert low <= central <= high
    [whole], _ = rollup(items, common, units, [0] * len(items))
    assert sum(total for total, *_ in known) == pytest.approx(whole, rel=1e-8)
    assert whole == pytest.approx(math.fsum(n * item.mean for n, (item, _) in zip(units, items, strict=True)), rel=1e-8)


@given(st.one_of(OWN_FIGURES, FACTORS), st.integers(1, 10**6))
@settings(deadline=None)
def test_a_rollup_of_one_item_has_the_interval_of_the_item(figure: Stated, units: int) -> None:
    _, bounds = rollup([(figure, 0 if figure.common_sigma else OWN)], [figure.common_sigma], [units], [0])
    expected = figure.times(units).interval
    for found, bound in zip(bounds, expected, strict=True):
        assert found == [pytest.approx(bound, rel=1e-6)]


def test_many_alike_figures_add_up_to_their_sum_and_the_interval_closes_about_it() -> None:
    item = of_item(2.0, "modelled", StatedSpread()), OWN
    for number, width in ((300, 0.12), (30_000, 0.012)):
        [total], (low, _, high) = rollup([item] * number, [], [1] * number, [0] * number)
        assert total == 2.0 * number
        assert low[0] < total < high[0]
        assert high[0] / low[0] - 1 == pytest.approx(width, rel=0.1), number


DRAWS = 4_000


def errors(random: Generator, sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draw relative errors whose mean is 1."""
    return np.exp(sigma * random.standard_normal(shape) - sigma**2 / 2)


def test_of_simulated_worlds_whose_figures_are_means_nineteen_of_twenty_totals_are_inside() -> None:
    """Figures state means with a spread: worlds are drawn from that, and added up."""
    random = default_rng(20261129)
    spreads = {
        "measured": [of_item(3.0, "measured", StatedSpread())] * 30,
        "modelled": [of_item(1.0 + place % 5, "modelled", StatedSpread()) for place in range(60)],
        "deviation": [of_item(5.0, "modelled", StatedSpread(deviation=4.0))] * 8,
        "pedigree": [of_item(2.0, "modelled", StatedSpread(pedigree="(4,5,3,5,4)"))] * 20,
        "one": [of_item(5.0, "modelled", StatedSpread(deviation=9.0))],
    }
    own = Pooled.of(9, 0.6)
    factor = of_factor(4.0, 9, own, Pooled.of_all((own, Pooled(40 * 0.7**2, 40))))
    weighed = [factor.times(0.1 + 0.2 * (place % 9)) for place in range(40)]
    for names in (["measured"], ["modelled"], ["deviation"], ["pedigree"], ["one"], ["factor"], [*spreads, "factor"]):
        items: list[Item] = [(stated, OWN) for name in names if name != "factor" for stated in spreads[name]]
        items += [(stated, 0) for stated in (weighed if "factor" in names else ())]
        units = [1 + place % 4 for place in range(len(items))]
        [total], (low, _, high) = rollup(items, [factor.common_sigma], units, [0] * len(items))
        shared = errors(random, factor.common_sigma, (DRAWS,))
        worlds = sum(
            n * stated.mean * errors(random, stated.sigma, (DRAWS,)) * (1.0 if place == OWN else shared)
            for n, (stated, place) in zip(units, items, strict=True)
        )
        assert total == pytest.approx(np.mean(worlds), rel=0.05), names
        assert np.mean((low[0] <= worlds) & (worlds <= high[0])) == pytest.approx(0.95, abs=0.02), names


def test_of_categories_known_by_samples_nineteen_of_twenty_totals_are_inside() -> None:
    """Samples are drawn from categories, their mean is the factor, and other items of the categories are added up."""
    random, categories, sold = default_rng(7), 12, 25
    for samples in (6, 20):
        inside = []
        for _ in range(500):
            middles = random.normal(0, 1, categories)
            drawn = np.exp(middles[:, None] + 0.5 * random.standard_normal((categories, samples)))
            spreads = [Pooled.of(samples, float(np.std(np.log(row), ddof=1))) for row in drawn]
            pooled = Pooled.of_all(spreads)
            factors = [
                of_factor(float(row.mean()), samples, spread, pooled)
                for row, spread in zip(drawn, spreads, strict=True)
            ]
            items = [(factor, place) for place, factor in enumerate(factors) for _ in range(sold)]
            truth = np.exp(middles[:, None] + 0.5 * random.standard_normal((categories, sold))).sum()
            common = [factor.common_sigma for factor in factors]
            _, (low, _, high) = rollup(items, common, [1] * len(items), [0] * len(items))
            inside.append(low[0] <= truth <= high[0])
        assert np.mean(inside) == pytest.approx(0.95, abs=0.02), samples
