"""Methods over windows against plain, slow computations that share no code with them."""

from itertools import pairwise

import numpy as np
import pytest

from shared.price_index.panel import Floats, IndexNotDefined, Panel
from tests.unit.shared.price_index.cases import GAPS, NAN, series


def matched_fisher(panel: Panel, start: int, end: int) -> float:
    both = ~np.isnan(panel.prices[start]) & ~np.isnan(panel.prices[end])
    p0, p1, q0, q1 = (rows[row][both] for rows in (panel.prices, panel.quantities) for row in (start, end))
    return float(np.sqrt((p1 @ q0) / (p0 @ q0) * (p1 @ q1) / (p0 @ q1)))


def dummy_regression(panel: Panel, weights: Floats) -> Floats:
    """Return exp of the period effects of a weighted least-squares regression with one dummy a period and an item."""
    times, items = np.nonzero(~np.isnan(panel.prices))
    design = np.zeros((len(times), panel.periods - 1 + panel.items))
    later = times > 0
    design[np.flatnonzero(later), times[later] - 1] = 1
    design[np.arange(len(times)), panel.periods - 1 + items] = 1
    root = np.sqrt(weights[times, items])
    target = np.log(panel.prices[times, items])
    solution = np.linalg.lstsq(design * root[:, None], target * root, rcond=None)[0]
    return np.exp(np.concatenate([[0.0], solution[: panel.periods - 1]]))


def test_geks_is_the_geometric_mean_over_every_link_period() -> None:
    count = GAPS.periods
    direct = [
        np.prod([matched_fisher(GAPS, 0, link) * matched_fisher(GAPS, link, end) for link in range(count)])
        ** (1 / count)
        for end in range(count)
    ]
    assert series("geks-fisher", GAPS) == pytest.approx(direct, rel=1e-13)


def test_geks_leaves_out_pairs_of_periods_that_share_no_item() -> None:
    # 0-1 and 1-2 share an item, 0-2 does not: what is left is a chain.
    panel = Panel(np.array([[1.0, NAN], [1.1, 5.0], [NAN, 6.0]]))
    assert series("geks-jevons", panel) == pytest.approx([1, 1.1, 1.1 * 6 / 5])


def test_periods_that_nothing_connects_with_the_first_have_no_index() -> None:
    panel = Panel(np.array([[1.0, NAN], [1.2, NAN], [NAN, 6.0]]), np.array([[1.0, 0], [1, 0], [0, 1]]))
    for method in ("geks-jevons", "geks-fisher", "tpd", "geary-khamis"):
        assert np.isnan(series(method, panel)).tolist() == [False, False, True], method


def test_time_product_dummy_is_the_regression_with_expenditure_shares() -> None:
    values = np.nan_to_num(GAPS.prices * GAPS.quantities)
    shares = values / values.sum(axis=1, keepdims=True)
    assert series("tpd", GAPS) == pytest.approx(dummy_regression(GAPS, shares), rel=1e-12)


def test_time_product_dummy_without_quantities_weighs_all_prices_the_same() -> None:
    expected = dummy_regression(GAPS, np.ones_like(GAPS.prices))
    assert series("tpd", Panel(GAPS.prices)) == pytest.approx(expected, rel=1e-12)
    assert series("tpd", GAPS, weights="unit") == pytest.approx(expected, rel=1e-12)


def test_geary_khamis_is_the_fixed_point_of_its_two_equations() -> None:
    prices, quantities = np.nan_to_num(GAPS.prices), GAPS.quantities
    levels = np.ones(GAPS.periods)
    for _ in range(2000):
        reference = np.sum(prices * quantities / levels[:, None], axis=0) / quantities.sum(axis=0)
        levels = np.sum(prices * quantities, axis=1) / (quantities @ reference)
        levels /= levels[0]
    assert series("gk", GAPS) == pytest.approx(levels, rel=1e-12)


def test_matched_sample_keeps_items_that_every_period_of_the_window_has() -> None:
    only = GAPS.take(np.array([0]))
    for method in ("tpd", "gk", "geks-fisher"):
        assert series(method, GAPS, sample="matched") == pytest.approx(series(method, only), rel=1e-13)


def test_geks_refuses_a_formula_without_time_reversal() -> None:
    with pytest.raises(IndexNotDefined, match="no time reversal"):
        series("geks-laspeyres", GAPS)


def test_chained_index_is_the_product_of_its_links() -> None:
    steps = [matched_fisher(GAPS, a, b) for a, b in pairwise(range(GAPS.periods))]
    assert series("fisher", GAPS) == pytest.approx(np.cumprod([1, *steps]), rel=1e-13)
    assert series("fisher", GAPS, output="pop") == pytest.approx([1, *steps], rel=1e-13)


def test_similarity_links_a_period_to_the_earlier_one_with_proportional_prices() -> None:
    # Prices of the third period are twice those of the first; the second is a sale of one item.
    panel = Panel(np.array([[1.0, 1.0], [0.2, 1.0], [2.0, 2.0]]), np.array([[1.0, 1], [30, 1], [1, 1]]))
    for measure in ("plspread", "logquadratic", "asymplinear", "absolute"):
        assert series("laspeyres", panel, output="chained", links=measure)[2] == pytest.approx(2.0), measure
    assert series("laspeyres", panel)[2] != pytest.approx(2.0)
