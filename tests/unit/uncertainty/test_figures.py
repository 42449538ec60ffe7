"""Intervals of single figures: the pedigree matrix, bounds and deviations of sources."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.uncertainty import stated as pedigree
from shared.uncertainty.lognormal import Z95, LogNormal, sigma_of_bounds, sigma_of_deviation
from shared.uncertainty.stated import Pooled, Scores, of_factor, student_975


@pytest.mark.parametrize(
    ("table", "scores", "basic", "gsd", "low", "high"),
    [
        # Worked out on paper from the published factors: GSD² = exp(sqrt(Σ ln² factors + ln² basic)) in the expert tables.
        ("expert_v3", Scores(1, 1, 1, 1, 1), 1.05, 1.024695, 0.953312, 1.048975),
        ("expert_v3", Scores(3, 3, 3, 3, 3), 1.05, 1.126273, 0.792100, 1.262467),
        ("expert_v3", Scores(4, 5, 3, 5, 4), 1.05, 1.284944, 0.611774, 1.634592),
        ("expert_v3", Scores(5, 5, 5, 5, 5), 1.05, 1.587325, 0.404298, 2.473421),
        ("expert_v3", Scores(2, 3, 4, 2, 3), 1.5, 1.274772, 0.621378, 1.609326),
        ("empirical_2013", Scores(2, 2, 2, 2, 2), 1.05, 1.594557, 0.400712, 2.495556),
        ("empirical_2013", Scores(4, 5, 3, 5, 4), 1.05, 2.498100, 0.166226, 6.015904),
        ("empirical_2013", Scores(2, 3, 4, 2, 3), 1.5, 2.044792, 0.246115, 4.063135),
    ],
)
def test_the_pedigree_matrix_reads_each_table_in_its_own_sense(
    table: str, scores: Scores, basic: float, gsd: float, low: float, high: float
) -> None:
    figure = LogNormal(1.0, pedigree.sigma_of_scores(scores, table, basic))
    assert figure.gsd == pytest.approx(gsd, abs=1e-6)
    assert figure.interval == pytest.approx((low, 1.0, high), abs=1e-6)


def test_a_worse_score_never_makes_a_narrower_interval() -> None:
    for table in ("expert_v2", "expert_v3", "empirical_2013"):
        for place in range(5):
            widths = [
                pedigree.sigma_of_scores(Scores(*(score if one == place else 2 for one in range(5))), table)
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


@pytest.mark.parametrize(("samples", "student"), [(2, 3.182446), (4, 2.570582)])
def test_a_factor_of_few_samples_borrows_the_spread_of_related_products(samples: int, student: float) -> None:
    related = pedigree.sigma_of_scores(Scores(3, 3, 3, 3, 4))
    variance = ((samples - 1) * 0.3**2 + 2 * related**2) / (samples + 1)
    reach = student * math.sqrt(variance * (1 + 1 / samples))
    low, central, high = of_factor(2.0, samples, math.log(1.9), 0.3).interval
    assert (low, central, high) == pytest.approx((1.9 * math.exp(-reach), 1.9, 1.9 * math.exp(reach)), rel=2e-3)
    apart = math.log(10) / math.sqrt(2)  # 1 and 10 kg for each kg
    low, _, high = of_factor(5.5, 2, math.log(10) / 2, apart).interval
    assert high / low < 20_000


def test_a_factor_of_enough_samples_has_their_own_spread() -> None:
    reach = 2.776445 * 0.3 * math.sqrt(1 + 1 / 5)
    low, _, high = of_factor(2.0, 5, math.log(1.9), 0.3).interval
    assert math.log(high / low) == pytest.approx(2 * reach, rel=1e-6)


@pytest.mark.parametrize(("samples", "student"), [(1, 2.144787), (3, 2.119905), (9, 2.073873)])
def test_a_factor_borrows_the_spread_within_the_other_categories(samples: int, student: float) -> None:
    own, others = Pooled.of(samples, 0.3), Pooled(40 * 0.8**2, 40)
    variance = (own.squares + 14 * 0.8**2) / (own.degrees + 14)
    reach = student * math.sqrt(variance * (1 + 1 / samples))
    moments = (math.log(1.9), 0.3 if samples > 1 else None)
    found = of_factor(2.0, samples, *moments, Pooled.of_all((own, others)))
    assert found.origin == "samples"
    assert found.interval == pytest.approx((1.9 * math.exp(-reach), 1.9, 1.9 * math.exp(reach)), rel=2e-3)


def test_what_few_other_samples_say_is_not_borrowed() -> None:
    few = Pooled.of_all((Pooled.of(3, 0.3), Pooled(13 * 0.8**2, 13)))
    assert of_factor(2.0, 3, 0.6, 0.3, few) == of_factor(2.0, 3, 0.6, 0.3)
    assert of_factor(2.0, 1, None, None, Pooled(13 * 0.8**2, 13)).origin == "pedigree"


def test_z95_is_the_normal_quantile() -> None:
    assert pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-14) == Z95


@pytest.mark.parametrize(
    ("degrees", "published"),
    [(1, 12.7062), (2, 4.3027), (4, 2.7764), (5, 2.5706), (7, 2.3646), (10, 2.2281), (30, 2.0423), (120, 1.9799)],
)
def test_student_quantiles_are_the_published_ones(degrees: int, published: float) -> None:
    assert student_975(degrees) == pytest.approx(published, abs=1.5e-3)
