"""Uncertain figures: intervals, sums, and estimates from categories."""

import csv
import functools
import gzip
import math
import statistics
from collections import defaultdict
from decimal import Decimal
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from deploy.ctl.demo import DATA
from shared.uncertainty import stated as pedigree
from shared.uncertainty.stated import (
    LogNormal,
    Pooled,
    Scores,
    of_factor,
    sigma_of_bounds,
    sigma_of_deviation,
    student_975,
    wilson,
)
from shared.uncertainty.sums import Group, Moments, fitted, interval_of_many, moments, sum_interval, total_moments
from workers.ingest.factors import log_spread

# Estimates from categories: known figures that were held out, and the share inside their stated 95 %.


Categories = list[list[float]]


def held_out(categories: Categories, kept: int | None = None) -> tuple[float, float]:
    """Estimate each figure from the others of its category; return the share inside, and the median of high over low.

    With `kept` only so many of its category's figures, spread evenly over their order, are known.
    """
    logs = [[math.log(value) for value in figures] for figures in categories]
    pooled = Pooled.of_all(map(spread_of, logs))
    inside, widths = [], []
    for figures, of_category in zip(categories, logs, strict=True):
        elsewhere = pooled.without(spread_of(of_category))
        for position, value in enumerate(figures):
            own = of_category[position + 1 :] + of_category[:position]
            if len(own) < (kept or 1):
                continue
            if kept is not None:
                own = [own[(2 * n + 1) * len(own) // (2 * kept)] for n in range(kept)]
            within = Pooled.of_all((elsewhere, spread_of(own)))
            low, _, high = of_factor(fmean(map(math.exp, own)), len(own), spread_of(own), within).interval
            inside.append(low <= value <= high)
            widths.append(high / low)
    return fmean(inside), statistics.median(widths)


def spread_of(logs: list[float]) -> Pooled:
    return Pooled.of(len(logs), stdev(logs) if len(logs) > 1 else None)


def population(categories: int, each: int, between: float, within: float, seed: int) -> Categories:
    """Make figures of categories that differ, log-normal around their categories."""
    rng = default_rng(seed)
    return [np.exp(rng.normal(0, between) + rng.normal(0, within, each)).tolist() for _ in range(categories)]


# Of the demo data: the file, and the columns of values, of categories and of the weight that a value is for.
_CATALOGUE = ("carbon_catalogue.csv.gz", "Product's carbon footprint (PCF, kg CO2e)")
_WEIGHT, _GROUP = "Product weight (kg)", "product_group_nl"
_RIVM = "rivm_food_footprints.csv"
PUBLISHED = {
    "Carbon Catalogue, sectors": (*_CATALOGUE, "*Company's sector", _WEIGHT),
    "Carbon Catalogue, industries": (*_CATALOGUE, "Company's GICS Industry", _WEIGHT),
    "RIVM, CO2e": (_RIVM, "gwp_kg_co2e", _GROUP, ""),
    "RIVM, water": (_RIVM, "water_m3", _GROUP, ""),
    "RIVM, land use": (_RIVM, "land_use_m2a", _GROUP, ""),
}


def published(title: str) -> Categories:
    """Return the positive figures of PUBLISHED by category, per kilogram where there is a weight."""
    file, value, category, weight = PUBLISHED[title]
    content = (DATA / file).read_bytes()
    text = (gzip.decompress(content) if file.endswith(".gz") else content).decode("utf-8-sig")
    figures: dict[str, list[float]] = defaultdict(list)
    for row in csv.DictReader(text.splitlines(keepends=True)):
        if float(row[value] or 0) > 0:
            figures[row[category]].append(float(row[value]) / float(row[weight] if weight else 1))
    return list(figures.values())


def test_of_the_held_out_figures_nineteen_of_twenty_are_inside() -> None:
    for kept in (1, 2, None):
        inside = fmean(held_out(population(20, 8, 1.0, 0.3, seed), kept)[0] for seed in range(8))
        assert inside == pytest.approx(0.95, abs=0.025), kept
    inside = fmean(held_out(population(20, 8, 1.5, 1.5, seed), None)[0] for seed in range(8))
    assert inside == pytest.approx(0.95, abs=0.025)


def test_of_a_wide_category_one_sample_shows_its_mean_and_not_how_far_above_it_others_are() -> None:
    """The 97.5 % quantile of a log-normal is at most 6.8 times its mean, however wide it is."""
    assert math.exp(1.96**2 / 2) == pytest.approx(6.8, abs=0.05)
    for kept, least in ((1, 0.80), (2, 0.86), (5, 0.91)):
        inside = fmean(held_out(population(20, 8, 1.5, 1.5, seed), kept)[0] for seed in range(8))
        assert inside >= least, kept


def test_intervals_are_no_wider_than_they_must_be() -> None:
    inside, width = held_out(population(30, 40, 1.0, 0.5, 3))
    assert inside <= 0.97
    assert width == pytest.approx(math.exp(2 * 1.96 * 0.5), rel=0.15)
    assert held_out(population(30, 40, 1.0, 0.5, 3), 2)[1] < math.exp(2 * 1.96 * 0.5) ** 1.5


# The aim is 95 %; of 230 figures the share varies by 1.5 % by chance alone, and models of one maker are alike. A mean of
# one or two samples from a category as wide as these is below that of the next item more often than above it.
def test_of_published_footprints_about_nineteen_of_twenty_are_inside() -> None:
    for title, widest in zip(PUBLISHED, (2_900, 6_800, 83, 460, 1_540), strict=True):
        for kept, least in ((1, 0.83), (2, 0.89), (5, 0.92), (None, 0.94)):
            inside, width = held_out(published(title), kept)
            assert least <= inside <= 0.985, (title, kept)
            assert width <= widest / (1 if kept == 1 else 2), (title, kept)


# Intervals of single figures: the pedigree matrix, bounds and deviations of sources.


def test_the_pedigree_matrix_is_read_as_it_is_published() -> None:
    for scores, gsd, low, high in [
        # Worked out on paper from the published factors: GSD = exp(sqrt(Σ ln² factors + ln² 1.05 / 4)).
        (Scores(2, 2, 2, 2, 2), 1.594557, 0.400712, 2.495556),
        (Scores(4, 5, 3, 5, 4), 2.498100, 0.166226, 6.015904),
        (Scores(2, 3, 4, 2, 3), 1.986549, 0.260457, 3.839403),
    ]:
        sigma = pedigree.sigma_of_scores(scores)
        assert math.exp(sigma) == pytest.approx(gsd, abs=1e-6)
        assert LogNormal(1.0, sigma).interval == pytest.approx((low, 1.0, high), abs=1e-6)


def test_a_worse_score_never_makes_a_narrower_interval() -> None:
    for place in range(5):
        widths = [
            pedigree.sigma_of_scores(Scores(*(score if one == place else 2 for one in range(5))))
            for score in range(1, 6)
        ]
        assert widths == sorted(widths)


@given(st.floats(1e-6, 1e9), st.floats(0.0, 3.0))
def test_bounds_of_an_interval_give_its_sigma_back(median: float, sigma: float) -> None:
    low, central, high = LogNormal(median, sigma).interval
    assert low <= central <= high
    assert sigma_of_bounds(low, high) == pytest.approx(sigma, abs=1e-9)


@given(st.floats(1e-3, 1e6), st.floats(0.0, 2.0))
def test_mean_and_deviation_of_a_log_normal_give_its_sigma_back(median: float, sigma: float) -> None:
    figure = LogNormal(median, sigma)
    deviation = figure.mean * math.sqrt(math.expm1(sigma**2))
    assert sigma_of_deviation(figure.mean, deviation) == pytest.approx(sigma, abs=1e-7)


def test_a_deviation_far_above_or_below_its_mean_has_a_sigma() -> None:
    assert sigma_of_deviation(1e-100, 1e100) == pytest.approx(math.sqrt(400 * math.log(10)), rel=1e-12)
    assert sigma_of_deviation(1e100, 1e-60) == pytest.approx(1e-160, rel=1e-12)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0)])
def test_bounds_that_are_none_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="bounds"):
        sigma_of_bounds(*bounds)


def around(mean: float, reach: float) -> Any:
    """Return the interval of a log-normal by its mean and the half of its width in logarithms, nearly."""
    median = mean * math.exp(-((reach / 1.959964) ** 2) / 2)
    return pytest.approx((median * math.exp(-reach), median, median * math.exp(reach)), rel=3e-3)


def test_a_factor_of_few_samples_borrows_the_spread_of_related_products() -> None:
    for samples, student in ((2, 3.182446), (4, 2.570582)):
        related = pedigree.sigma_of_scores(Scores(3, 3, 3, 3, 4))
        variance = ((samples - 1) * 0.3**2 + 2 * related**2) / (samples + 1)
        reach = student * math.sqrt(variance * (1 + 1 / samples))
        assert of_factor(2.0, samples, Pooled.of(samples, 0.3), Pooled()).interval == around(2.0, reach), samples
    apart = math.log(10) / math.sqrt(2)  # 1 and 10 kg for each kg
    low, _, high = of_factor(5.5, 2, Pooled.of(2, apart), Pooled()).interval
    assert high / low < 20_000


def test_a_factor_of_enough_samples_has_their_own_spread() -> None:
    reach = 2.776445 * 0.3 * math.sqrt(1 + 1 / 5)
    low, _, high = of_factor(2.0, 5, Pooled.of(5, 0.3), Pooled()).interval
    assert math.log(high / low) == pytest.approx(2 * reach, rel=1e-6)


def test_a_factor_borrows_the_spread_within_the_other_categories() -> None:
    for samples, student in ((1, 2.144787), (3, 2.119905), (9, 2.073873)):
        own, others = Pooled.of(samples, 0.3), Pooled(40 * 0.8**2, 40)
        variance = (own.squares + 14 * 0.8**2) / (own.degrees + 14)
        reach = student * math.sqrt(variance * (1 + 1 / samples))
        found = of_factor(2.0, samples, own, Pooled.of_all((own, others)))
        assert found.origin == "samples", samples
        assert found.interval == around(2.0, reach), samples


def test_what_few_other_samples_say_is_not_borrowed() -> None:
    own = Pooled.of(3, 0.3)
    few = Pooled.of_all((own, Pooled(13 * 0.8**2, 13)))
    assert of_factor(2.0, 3, own, few) == of_factor(2.0, 3, own, Pooled())
    assert of_factor(2.0, 1, Pooled(), Pooled(13 * 0.8**2, 13)).origin == "pedigree"


def test_one_sample_of_nothing_moves_a_factor_by_its_share_of_the_mean() -> None:
    """The median follows from the mean and the spread, whether all samples have a logarithm or not."""
    figures, others = [Decimal(n) for n in range(8, 28)], Pooled(40 * 0.3**2, 40)
    before, after = (
        of_factor(float(sum(listed)) / len(listed), len(listed), own, Pooled.of_all((own, others))).interval
        for listed in (figures, [*figures, Decimal(0)])
        for own in [Pooled.of(*log_spread(listed))]
    )
    assert after.central / before.central == pytest.approx(20 / 21, rel=1e-3)
    assert after.high / after.low == pytest.approx(before.high / before.low, rel=1e-2)


def test_student_quantiles_are_the_published_ones() -> None:
    for degrees, published in (
        (1, 12.7062),
        (2, 4.3027),
        (4, 2.7764),
        (5, 2.5706),
        (7, 2.3646),
        (10, 2.2281),
        (30, 2.0423),
        (120, 1.9799),
    ):
        assert student_975(degrees) == pytest.approx(published, abs=1.5e-3), degrees


# Sums of uncertain figures, judged by Monte Carlo: within 1 % at the low bound, the median and the high bound.


DRAWS = 400_000

NONE = np.empty(0)


def draws_for(figures: int) -> int:
    """Return how many sums to draw: the more figures there are, the narrower is their sum, and the fewer tell its ends."""
    return DRAWS // 8 if figures >= 40 else DRAWS


def drawn(medians: list[float], sigmas: list[float]) -> list[float]:
    """Return the quantiles of the sum by simulation."""
    rng, draws = default_rng(20261122), draws_for(len(medians))
    total = np.zeros(draws)
    for median, sigma in zip(medians, sigmas, strict=True):
        total += median * np.exp(sigma * rng.standard_normal(draws))
    return [float(one) for one in np.quantile(total, [0.025, 0.5, 0.975])]


def test_a_sum_of_independent_figures_agrees_with_monte_carlo() -> None:
    for medians, sigmas in (
        ([3.0], [0.9]),
        ([1.0, 1.0], [0.2, 0.2]),
        ([1.0, 2.0], [0.5, 0.9]),
        ([5.0, 1.0, 0.1], [1.1, 0.3, 1.1]),
        ([1.0] * 10, [0.8] * 10),
        ([2.0**n for n in range(10)], [0.1 * n for n in range(1, 11)]),
        ([1.0] * 60, [0.6] * 60),
        ([1.0 / n for n in range(1, 80)], [0.48] * 79),
        ([1000.0] + [1.0] * 50, [0.05] + [1.0] * 50),
    ):
        terms = [moments(LogNormal(median, sigma)) for median, sigma in zip(medians, sigmas, strict=True)]
        assert sum_interval(terms) == pytest.approx(drawn(medians, sigmas), rel=0.01), medians


def test_sales_of_published_footprints_add_up_as_monte_carlo_says() -> None:
    """Of 238 foods a few sell far more than the others, so they dominate the sum."""
    figures = np.concatenate(published("RIVM, CO2e"))
    for basis in ("measured", "modelled"):
        rng = default_rng(7)
        medians = figures * np.ceil(200 / rng.permutation(np.arange(1, len(figures) + 1)))
        sigma = pedigree.sigma_of_scores(pedigree.OF_BASIS[basis])
        total = sum(median * np.exp(sigma * rng.standard_normal(50_000)) for median in medians)
        terms = [moments(LogNormal(float(median), sigma)) for median in medians]
        assert sum_interval(terms) == pytest.approx(np.quantile(total, [0.025, 0.5, 0.975]).tolist(), rel=0.01), basis


def test_figures_that_share_a_factor_do_not_average_its_error_out() -> None:
    for medians, own, common in (
        ([1.0] * 40, 0.5, 0.4),
        ([1.0, 1.0], 0.9, 0.1),
        ([1.0, 3.0], 1.1, 0.5),
        ([1.0] * 5, 1.4, 0.6),
        ([2.0**n for n in range(8)], 1.86, 0.44),
        ([1.0 / n for n in range(1, 80)], 1.2, 0.5),
    ):
        rng, draws = default_rng(5), draws_for(len(medians))
        total = sum(median * np.exp(own * rng.standard_normal(draws)) for median in medians)
        total *= np.exp(common * rng.standard_normal(draws))
        others = np.array([2.0, 1.0]), np.array([0.8, 0.8])
        besides = total + sum(median * np.exp(0.8 * rng.standard_normal(draws)) for median in others[0])
        listed, sigmas = np.array(medians), np.full(len(medians), own)
        found = interval_of_many(NONE, NONE, [Group(listed, sigmas, common)])
        assert found == pytest.approx(np.quantile(total, [0.025, 0.5, 0.975]).tolist(), rel=0.015), medians
        with_others = interval_of_many(*others, [Group(listed, sigmas, common)])
        assert with_others == pytest.approx(np.quantile(besides, [0.025, 0.5, 0.975]).tolist(), rel=0.015), medians


@functools.lru_cache(1)
def wide_sums(items: int, sigma: float) -> np.ndarray:
    """Draw sums of figures without a common factor."""
    rng, draws = default_rng(11), min(DRAWS, 12_000_000 // items)
    return sum((median * np.exp(sigma * rng.standard_normal(draws)) for median in wide(items)), np.zeros(draws))


def wide(items: int) -> np.ndarray:
    return 1.0 / (1 + np.arange(items) % 7)


def test_bounds_of_sums_of_very_wide_figures_agree_with_monte_carlo() -> None:
    """Low bounds are far below a cell of the grid that holds the high one, and no few terms make such a sum."""
    for items, sigma in ((2, 3.0), (5, 4.0), (20, 5.0), (60, 1.9), (300, 3.0)):
        medians, sigmas = wide(items), np.full(items, sigma)
        sums = wide_sums(items, sigma)
        for common in (0.0, 0.6):
            total = sums * np.exp(common * default_rng(12).standard_normal(len(sums)))
            groups = [Group(medians, sigmas, common)] if common else []
            found = interval_of_many(NONE if common else medians, NONE if common else sigmas, groups)
            # The simulation's own error at the bounds is a hundredth and more.
            assert found == pytest.approx(np.quantile(total, [0.025, 0.5, 0.975]).tolist(), rel=0.035), (
                items,
                sigma,
                common,
            )


@pytest.mark.filterwarnings("error")
def test_figures_of_nothing_and_exact_ones_beside_wide_ones_change_no_bound_of_these() -> None:
    medians, sigmas = 1.0 / (1 + np.arange(100) % 7), np.full(100, 4.0)
    wide = interval_of_many(medians, sigmas, [])
    assert interval_of_many(np.append(medians, [0.0, 0.0]), np.append(sigmas, [4.0, 0.0]), []) == wide
    groups = [Group(np.array([median]), np.array([3.0]), 1.5) for median in medians]
    alone, beside = interval_of_many(NONE, NONE, groups), interval_of_many(np.array([2.0, 0.0]), np.zeros(2), groups)
    assert beside == pytest.approx([bound + 2.0 for bound in alone], rel=0.01)


def test_many_wide_groups_add_up_as_their_items_do() -> None:
    rng = default_rng(12)
    medians = 1.0 / (1 + np.arange(90) % 5)
    total = sum(median * np.exp(2.5 * rng.standard_normal(DRAWS // 4)) for median in medians)
    groups = [Group(np.array([median]), np.array([2.0]), 1.5) for median in medians]
    expected = np.quantile(total, [0.025, 0.5, 0.975]).tolist()
    assert interval_of_many(NONE, NONE, groups) == pytest.approx(expected, rel=0.025)


def test_the_error_of_a_factor_widens_the_sum_of_many_items() -> None:
    medians, sigmas = np.ones(40), np.full(40, 0.5)
    alone = interval_of_many(medians, sigmas, [])
    found = interval_of_many(NONE, NONE, [Group(medians, sigmas, 0.4)])
    assert found.high / found.low > 2 * alone.high / alone.low


def test_no_size_and_no_width_of_figures_leaves_the_range_of_a_double() -> None:
    for sigma in (0.0, 1e-150, 0.3, 1.4, 30.0):
        for size in (1e-300, 1e-110, 1.0, 1e120):
            medians, sigmas = np.array([size, size, 2 * size]), np.full(3, sigma)
            low, central, high = interval_of_many(medians, sigmas, [Group(medians, sigmas, sigma / 2)])
            assert 0 < low <= central <= high < np.inf, size
            scaled = interval_of_many(medians / size, sigmas, [Group(medians / size, sigmas, sigma / 2)])
            assert [low / size, central / size, high / size] == pytest.approx(
                list(scaled), rel=1e-9 if sigma < 2 else 1
            ), size


def test_figures_too_small_to_be_seen_beside_others_change_no_bound_of_these() -> None:
    wide = Group(np.array([1e7, 2e7]), np.array([1.2, 1.2]), 0.8)
    tiny = Group(np.array([1e-100, 1e-97]), np.array([1.2, 1.1]), 0.8)
    alone = interval_of_many(np.array([3e7]), np.array([0.9]), [wide])
    assert interval_of_many(np.array([3e7, 1e-120]), np.array([0.9, 3.0]), [wide, tiny]) == alone


def test_moments_of_many_terms_are_the_sums_of_each() -> None:
    medians, sigmas = np.array([1.0, 2.0, 5.0]), np.array([0.1, 0.7, 1.2])
    whole = Moments()
    for median, sigma in zip(medians, sigmas, strict=True):
        whole = whole.plus(moments(LogNormal(float(median), float(sigma))))
    assert total_moments(medians, sigmas) == pytest.approx(whole, rel=1e-12)


def test_one_figure_alone_keeps_its_own_interval() -> None:
    figure = LogNormal(7.5, 0.8)
    assert sum_interval([moments(figure)]) == pytest.approx(figure.interval, rel=1e-6)


def test_a_figure_without_width_is_a_point() -> None:
    assert sum_interval([moments(LogNormal(2.0, 0.0)), moments(LogNormal(3.0, 0.0))]) == pytest.approx((5.0, 5.0, 5.0))
    assert fitted(Moments()).quantile(1.0) == 0.0


def test_the_interval_of_a_proportion_is_that_of_scipy() -> None:
    from scipy.stats import binomtest  # only here: seconds, in each process that collects tests

    for count, total in ((0, 1), (1, 1), (3, 4), (49, 50), (50, 50), (192, 192), (17, 300)):
        expected = binomtest(count, total).proportion_ci(0.95, "wilson")
        assert wilson(count, total) == pytest.approx((count / total, expected.low, expected.high)), count


def test_of_nothing_counted_any_proportion_is_possible() -> None:
    assert wilson(0, 0) == (0.0, 0.0, 1.0)
