"""Intervals of single figures: the pedigree matrix, bounds and deviations of sources."""

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.uncertainty import stated as pedigree
from shared.uncertainty.stated import (
    LogNormal,
    Pooled,
    Scores,
    of_factor,
    read_scores,
    sigma_of_bounds,
    sigma_of_deviation,
    student_975,
)
from workers.ingest.factors import log_spread


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


@given(st.tuples(*[st.integers(1, 5)] * 5), st.sampled_from([",", ";", " , "]), st.booleans())
def test_scores_are_read_from_their_notation(scores: tuple[int, ...], separator: str, bracketed: bool) -> None:
    text = separator.join(map(str, scores))
    expected = Scores(*scores)
    assert read_scores(f" ({text}) " if bracketed else text) == expected
    assert read_scores(expected.notation) == expected


@pytest.mark.parametrize(
    "text", ["", "(1,2,3,4)", "(1,2,3,4,5,1)", "(0,1,1,1,1)", "(1,2,3,4,6)", "(1,2,3,4,٣)", "1.5,2,3,4,5"]
)
def test_another_text_states_no_scores(text: str) -> None:
    assert read_scores(text) is None


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
