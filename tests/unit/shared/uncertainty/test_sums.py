"""Sums of uncertain figures, judged by Monte Carlo: within 1 % at the low bound, the median and the high bound."""

import functools

import numpy as np
import pytest
from numpy.random import default_rng

from shared.uncertainty import stated as pedigree
from shared.uncertainty.distributions import Moments, fit_distribution, moments
from shared.uncertainty.stated import LogNormal, wilson
from shared.uncertainty.sums import Group, interval_of_many, sum_interval, total_moments
from tests.unit.shared.uncertainty.test_estimates import published

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
    assert fit_distribution(Moments()).quantile(1.0) == 0.0


def test_the_interval_of_a_proportion_is_that_of_scipy() -> None:
    from scipy.stats import binomtest  # only here: seconds, in each process that collects tests

    for count, total in ((0, 1), (1, 1), (3, 4), (49, 50), (50, 50), (192, 192), (17, 300)):
        expected = binomtest(count, total).proportion_ci(0.95, "wilson")
        assert wilson(count, total) == pytest.approx((count / total, expected.low, expected.high)), count


def test_of_nothing_counted_any_proportion_is_possible() -> None:
    assert wilson(0, 0) == (0.0, 0.0, 1.0)
