"""Each formula between two periods against its value worked out on paper."""

import math

import numpy as np
import pytest

from shared.price_index.panel import IndexNotDefined, Panel
from tests.unit.shared.price_index.cases import NAN, PRICES, TWO, series

# With TWO: p0 = (1, 4), p1 = (2, 2), q0 = (4, 1), q1 = (1, 4); values p0q0 = (4, 4), p1q1 = (2, 8), p1q0 = (8, 2),
# p0q1 = (1, 16); shares s0 = (1/2, 1/2), s1 = (1/5, 4/5).
HALVED = math.log(2)

BY_HAND = {
    "jevons": 1.0,
    "dutot": 4 / 5,
    "carli": (2 + 1 / 2) / 2,
    "harmonic": 2 / (1 / 2 + 2),
    "cswd": 1.0,
    "harmonic-prices": (1 + 1 / 4) / (1 / 2 + 1 / 2),
    "bmw": 1.0,
    "laspeyres": 10 / 8,
    "paasche": 10 / 17,
    "fisher": math.sqrt(10 / 8 * 10 / 17),
    "drobisch": (10 / 8 + 10 / 17) / 2,
    # Price minus quantity Laspeyres over two, plus the root of its square plus the value ratio.
    "stuvel": (10 / 8 - 17 / 8) / 2 + math.sqrt(((10 / 8 - 17 / 8) / 2) ** 2 + 10 / 8),
    "marshall-edgeworth": 20 / 25,
    "walsh": 8 / 10,
    "geary-khamis": 1.6 * 4 / (1.6 * 5),
    "tornqvist": math.exp((0.5 + 0.2) / 2 * HALVED - (0.5 + 0.8) / 2 * HALVED),
    "geometric-laspeyres": 1.0,
    "geometric-paasche": math.exp((0.2 - 0.8) * HALVED),
    "harmonic-laspeyres-paasche": 2 / (8 / 10 + 17 / 10),
    "unnamed": 0.35 * 2 + 0.65 / 2,
    "harmonic-laspeyres": 1 / (0.5 / 2 + 0.5 * 2),
    "walsh-2": (math.sqrt(8) * 2 + math.sqrt(32) / 2) / (math.sqrt(8) + math.sqrt(32)),
    # Unit values over both periods: (4 + 2) / 5 and (4 + 8) / 5; the quantity index at them is 54 / 36.
    "lehr": 10 / 8 / (54 / 36),
    "cswdb": math.sqrt((2 + 1 / 2) / (1 / 4 + 4) * 10 / 8),
    "palgrave": 0.2 * 2 + 0.8 / 2,
    "montgomery-vartia": math.exp((2 / HALVED * HALVED - 4 / HALVED * HALVED) / (2 / math.log(10 / 8))),
    "sato-vartia": math.exp(
        HALVED * (0.3 / math.log(2.5) - 0.3 / math.log(1.6)) / (0.3 / math.log(2.5) + 0.3 / math.log(1.6))
    ),
    "rao": math.exp(HALVED * (0.1 / 0.7 - 0.4 / 1.3) / (0.1 / 0.7 + 0.4 / 1.3)),
    "theil": math.exp(
        HALVED * (np.cbrt(0.35 * 0.1) - np.cbrt(0.65 * 0.4)) / (np.cbrt(0.35 * 0.1) + np.cbrt(0.65 * 0.4))
    ),
    "geometric-walsh": math.exp(HALVED * (math.sqrt(0.1) - math.sqrt(0.4)) / (math.sqrt(0.1) + math.sqrt(0.4))),
    # The basket of the first period: Lowe is Laspeyres, Young is its mean of relatives.
    "lowe": 10 / 8,
    "young": 0.5 * 2 + 0.5 / 2,
    "harmonic-young": 1 / (0.5 / 2 + 0.5 * 2),
    "geometric-lowe": 1.0,
    "geometric-young": 1.0,
}


def test_formula_between_two_periods_is_its_value_worked_out_on_paper() -> None:
    for method in BY_HAND:
        assert series(method, TWO, output="fixed") == pytest.approx([1, BY_HAND[method]], abs=1e-14), method


def test_lloyd_moulton_takes_the_elasticity_of_substitution() -> None:
    for sigma, by_hand in (
        (0.0, 1.25),
        (2.0, 1 / (0.5 / 2 + 0.5 * 2)),
        (1.0, 1.0),
        (0.5, (0.5 * 2**0.5 + 0.5**1.5) ** 2),
    ):
        assert series("ces", TWO, sigma=sigma)[1] == pytest.approx(by_hand, abs=1e-14), sigma


def test_agmean_mixes_geometric_and_arithmetic_laspeyres_by_sigma() -> None:
    assert series("agmean", TWO, sigma=0.25)[1] == pytest.approx(0.25 * 1.0 + 0.75 * 1.25)


def test_geometric_agmean_mixes_them_by_powers() -> None:
    assert series("geometric-agmean", TWO, sigma=0.25)[1] == pytest.approx(1.25**0.75)


def test_martini_moves_from_laspeyres_by_walsh_to_paasche() -> None:
    for sigma, by_hand in ((0.0, 10 / 8), (1.0, 10 / 17), (0.5, 8 / 10)):
        assert series("martini", TWO, sigma=sigma)[1] == pytest.approx(by_hand), sigma


def test_basket_of_a_later_period_is_used_where_asked_for() -> None:
    assert series("lowe", TWO, basket=1)[1] == pytest.approx(10 / 17)
    assert series("young", TWO, basket=1)[1] == pytest.approx(0.2 * 2 + 0.8 / 2)


def test_bilateral_time_product_dummy_weights_are_the_named_formulae() -> None:
    chosen = {"unit": "jevons", "average": "tornqvist", "shares": "rao"}
    for weights, formula in chosen.items():
        dummy = series("tpd", TWO, output="chained", weights=weights)
        assert dummy == pytest.approx(series(formula, TWO), abs=1e-14)


def test_kennedy_correction_takes_half_the_variance_of_least_squares_off() -> None:
    panel = Panel(np.array([[1.0, 2, 3], [1.2, 2.1, 4]]), np.array([[5.0, 3, 1], [4, 4, 2]]))
    values = panel.prices * panel.quantities
    weights = (values / values.sum(axis=1, keepdims=True)).ravel()
    # One row a price: an intercept, a dummy for the second period, and dummies for the items but the first.
    design = np.zeros((6, 4))
    design[:, 0] = 1
    design[3:, 1] = 1
    design[[1, 4], 2] = 1
    design[[2, 5], 3] = 1
    root = np.sqrt(weights)
    scaled, target = design * root[:, None], np.log(panel.prices).ravel() * root
    solution = np.linalg.lstsq(scaled, target, rcond=None)[0]
    residual = np.sum((target - scaled @ solution) ** 2) / (6 - 4)
    variance = residual * np.linalg.inv(scaled.T @ scaled)[1, 1]
    adjusted = series("tpd", panel, output="fixed", bias_adjust=True)
    assert adjusted[1] == pytest.approx(math.exp(solution[1] - variance / 2), rel=1e-12)


def test_equal_shares_do_not_lose_digits_in_logarithmic_means() -> None:
    panel = Panel(np.array([[1.0, 1.0], [1.5, 1.5 * (1 + 1e-13)]]), np.ones((2, 2)))
    for method in ("sato-vartia", "montgomery-vartia"):
        assert series(method, panel)[1] == pytest.approx(1.5, rel=1e-12)


def test_items_that_only_one_period_has_change_nothing() -> None:
    wider = Panel(np.hstack([PRICES, [[NAN, 7.0], [3.0, NAN]]]), np.hstack([TWO.quantities, [[0.0, 9.0], [5.0, 0.0]]]))
    for method in BY_HAND:
        assert series(method, wider, output="fixed") == pytest.approx(series(method, TWO, output="fixed"))


def test_weighted_methods_without_quantities_are_refused_with_the_reason() -> None:
    for method in ("fisher", "geks-walsh", "gk", "sato-vartia"):
        with pytest.raises(IndexNotDefined, match="needs quantities"):
            series(method, Panel(PRICES))


def test_period_without_a_matched_item_has_no_index() -> None:
    apart = Panel(np.array([[1.0, NAN], [NAN, 2.0], [1.5, 2.0]]))
    assert np.isnan(series("jevons", apart)).tolist() == [False, True, True]
    assert series("jevons", apart, output="fixed") == pytest.approx([1, NAN, 1.5], nan_ok=True)


def test_an_index_that_no_number_can_hold_is_none_without_a_warning() -> None:
    index = series("jevons", Panel(np.array([[1e300], [1e-300], [1e300]])))
    assert index[0] == 1 and not np.isfinite(index[2])
