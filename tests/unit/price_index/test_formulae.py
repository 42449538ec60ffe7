"""Price indices against values worked out on paper, plain computations, and the axioms of the literature."""

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.price_index import question
from shared.price_index.offered import ALIASES, METHODS, offered_method
from shared.price_index.panel import Floats, IndexNotDefined, Panel, aggregate, coverage
from shared.price_index.question import Method, Question, method_named, method_names
from shared.price_index.series import index_series, spliced
from tests.unit.price_index.cases import GAPS, NAN, PRICES, TWO, series

# Axioms that the literature demands of index formulae, on generated panels.


# Formulae whose weights come from a basket compare prices only; agmean and lloyd-moulton get an elasticity.
EVERY = method_names()

REVERSIBLE = [
    *("jevons dutot cswd harmonic-prices bmw fisher stuvel marshall-edgeworth walsh geary-khamis tornqvist".split()),
    *("montgomery-vartia sato-vartia theil rao geometric-walsh tpd lehr".split()),
]

# Dutot and the ratio of harmonic means compare sums of prices of unlike things.
UNITS_MATTER = {"dutot", "harmonic-prices", "geks-dutot", "geks-harmonic-prices"}

# Balk's variant of CSWD gives identity up for factor reversal; those of Montgomery and Vartia and of Lehr give
# proportionality up.
NO_IDENTITY = {"cswdb"}

NOT_PROPORTIONAL = NO_IDENTITY | {"montgomery-vartia", "geks-montgomery-vartia", "lehr", "geks-lehr"}

# Each panel is asked of every method: making a panel costs more than an index.
FEW = settings(max_examples=8)

PRICE = st.floats(0.5, 50.0)

QUANTITY = st.floats(1.0, 100.0)


@st.composite
def panels(draw: Callable[[Any], Any], least: int = 2, most: int = 5) -> Panel:
    periods, items = draw(st.integers(least, most)), draw(st.integers(1, 5))
    count = periods * items
    prices = draw(st.lists(PRICE, min_size=count, max_size=count))
    quantities = draw(st.lists(QUANTITY, min_size=count, max_size=count))
    seen = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count))).reshape(periods, items)
    seen[:, 0] = True  # one item is always there, so that every index is defined
    shape = (periods, items)
    return Panel(np.where(seen, np.reshape(prices, shape), np.nan), np.where(seen, np.reshape(quantities, shape), 0.0))


def computed(method: str, panel: Panel, **options: Any) -> Any:
    return index_series(panel, Question(method_named(method), sigma=0.5, **options))


@FEW
@given(panel=panels())
def test_identity_unchanged_prices_have_the_index_one(panel: Panel) -> None:
    same = np.where(np.isnan(panel.prices), np.nan, np.nan_to_num(panel.prices).max(axis=0))
    for method in sorted(set(EVERY) - NO_IDENTITY):
        index = computed(method, Panel(same, panel.quantities))
        assert index == pytest.approx(np.ones(panel.periods), rel=1e-9), method


@FEW
@given(panel=panels(), factor=st.floats(0.1, 10.0))
def test_proportionality_all_prices_times_a_factor_is_that_index(panel: Panel, factor: float) -> None:
    both = ~np.isnan(panel.prices[0])
    prices = np.array([panel.prices[0][both], factor * panel.prices[0][both]])
    quantities = np.array([panel.quantities[0][both], np.maximum(panel.quantities[1][both], 1.0)])
    for method in sorted(set(EVERY) - NOT_PROPORTIONAL):
        assert computed(method, Panel(prices, quantities))[1] == pytest.approx(factor, rel=1e-9), method


@pytest.mark.parametrize("window", [None, 3])
@FEW
@given(panel=panels(least=4, most=5), rates=st.lists(st.floats(0.1, 10.0), min_size=5, max_size=5))
def test_the_index_in_another_currency_is_the_index_times_the_rate_by_the_first_rate(
    window: int | None, panel: Panel, rates: list[float]
) -> None:
    rate = np.array(rates[: panel.periods])
    converted = Panel(panel.prices * rate[:, None], panel.quantities)
    for method in METHODS:
        expected = computed(method, panel, window=window) * rate / rate[0]
        assert computed(method, converted, window=window) == pytest.approx(expected, rel=1e-9), method


@FEW
@given(panel=panels(most=2))
def test_time_reversal_backwards_is_the_reciprocal(panel: Panel) -> None:
    for method in REVERSIBLE:
        forward = computed(method, panel, output="fixed")[1]
        backward = computed(method, Panel(panel.prices[::-1], panel.quantities[::-1]), output="fixed")[1]
        assert forward * backward == pytest.approx(1, rel=1e-9), method


@FEW
@given(panel=panels(least=3), start=st.integers(0, 2))
def test_transitivity_of_geks_any_first_period_gives_the_same_ratios(panel: Panel, start: int) -> None:
    order = [start, *(place for place in range(panel.periods) if place != start)]
    for formula in REVERSIBLE:
        method = Method(formula, geks=True).name
        index = computed(method, panel)
        moved = computed(method, Panel(panel.prices[order], panel.quantities[order]))
        assert moved == pytest.approx(index[order] / index[start], rel=1e-8), method


@FEW
@given(panel=panels(), units=st.lists(st.floats(0.01, 100), min_size=5, max_size=5))
def test_units_of_items_do_not_matter(panel: Panel, units: list[float]) -> None:
    scale = np.array(units[: panel.items])
    other = Panel(panel.prices * scale, panel.quantities / scale)
    for method in sorted(set(EVERY) - UNITS_MATTER):
        assert computed(method, other) == pytest.approx(computed(method, panel), rel=1e-8), method


# Each formula between two periods against its value worked out on paper.


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


# Methods over windows against plain, slow computations that share no code with them.


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


# Panels made of observations, and what two periods have in common.


def cell(prices: list[float], quantities: list[float] | None) -> tuple[float, float | None]:
    zeros = np.zeros(len(prices), "i8")
    amounts = None if quantities is None else np.array(quantities)
    panel = aggregate(zeros, zeros, np.array(prices), amounts, 1, 1)
    return panel.prices[0, 0], None if panel.quantities is None else panel.quantities[0, 0]


def test_several_rows_of_an_item_in_a_period_are_its_unit_value() -> None:
    assert cell([2.0, 4.0], [3.0, 1.0]) == (pytest.approx(10 / 4), 4.0)


def test_several_rows_without_quantities_are_their_geometric_mean() -> None:
    assert cell([2.0, 8.0], None) == (pytest.approx(4.0), None)
    assert cell([2.0, 8.0], [0.0, 0.0]) == (pytest.approx(4.0), 0.0)


def test_single_row_keeps_its_price_exactly() -> None:
    assert cell([0.1], None)[0] == 0.1
    assert cell([0.1], [3.0])[0] == 0.1


def test_carried_price_is_the_last_one_else_the_next_and_weighs_nothing() -> None:
    panel = Panel(np.array([[NAN], [2.0], [NAN], [4.0]]), np.array([[0.0], [1.0], [0.0], [1.0]])).carried()
    assert panel.prices.ravel().tolist() == [2.0, 2.0, 2.0, 4.0]
    assert panel.quantities is not None
    assert panel.quantities.ravel().tolist() == [0.0, 1.0, 0.0, 1.0]


def test_quantity_index_is_the_price_index_of_the_exchanged_panel() -> None:
    exchanged = GAPS.exchanged()
    assert exchanged.quantities is not None
    assert np.array_equal(exchanged.prices, np.where(GAPS.quantities > 0, GAPS.quantities, NAN), equal_nan=True)
    assert np.array_equal(exchanged.quantities, np.nan_to_num(GAPS.prices))


def test_coverage_counts_matched_new_and_vanished_items() -> None:
    found = coverage(GAPS.present(), [0, 0, 1, 2, 3], np.arange(GAPS.items))[3]
    assert (found.items, found.matched, found.new, found.vanished, found.share_matched) == (2, 2, 0, 1, 1.0)


# Splices against values worked out on paper from given windows.


# Windows of three periods over five; each is on its own scale, as an index over a window may be.
WINDOWS: dict[tuple[int, int], Floats] = {
    (0, 3): np.array([1.0, 2.0, 4.0]),
    (1, 4): np.array([1.0, 3.0, 6.0]),
    (2, 5): np.array([1.0, 4.0, 5.0]),
    (2, 4): np.array([1.0, 7.0]),
}


def window(start: int, end: int) -> Floats:
    return WINDOWS[start, end]


def test_the_currency_does_not_decide_which_of_equally_similar_periods_is_linked() -> None:
    prices = np.array([[0.4, 1.6, np.nan], [np.nan, 0.4, 0.6], [0.7, np.nan, 5.8]])  # one matched item for each pair
    quantities = np.array([[3.0, 3.0, 0.0], [0.0, 4.0, 3.0], [4.0, 0.0, 4.0]])
    for factor in (1, 7.3, 10):
        scaled = series("fisher", Panel(prices * factor, quantities), output="chained", links="logquadratic")
        assert scaled == pytest.approx([1, 0.25, 1.75]), factor


def test_splice_links_each_further_period_by_its_rule() -> None:
    for splice, fourth, fifth in (
        ("movement", 4 * 6 / 3, 8 * 5 / 4),
        ("window", 2 * 6.0, 12 * 3 / 6 * 5),
        ("half", 4 * 6 / 3, 8 * 5 / 4),
        ("1", 2 * 6.0, 12 * 3 / 6 * 5),
        ("mean", np.sqrt(12 * 8.0), np.sqrt(np.sqrt(96) * 3 / 6 * 5 * np.sqrt(96) * 5 / 4)),
        ("window-published", 2 * 6.0, 4 * 5.0),
        ("mean-published", np.sqrt(12 * 8.0), np.sqrt(4 * 5 * np.sqrt(96) * 5 / 4)),
        ("fbew", 4 * 7.0, 4 * 5.0),
        ("fbmw", 4 * 6 / 3, 4 * 5.0),
    ):
        assert spliced(window, 5, 3, splice) == pytest.approx([1, 2, 4, fourth, fifth], rel=1e-14), splice


def test_window_as_long_as_the_data_needs_no_splice() -> None:
    assert spliced(window, 3, 13, "mean") == pytest.approx([1, 2, 4])


def test_adding_a_period_changes_no_earlier_value() -> None:
    for method in ("geks-jevons", "geks-fisher", "tpd", "gk"):
        for splice in ("movement", "window", "half", "mean", "window-published", "fbew", "fbmw"):
            shorter = series(method, GAPS.rows(0, 4), window=3, splice=splice)
            assert series(method, GAPS, window=3, splice=splice)[:4] == pytest.approx(shorter, rel=1e-13), splice


def test_splice_of_proportional_prices_is_exact() -> None:
    for method in ("geks-jevons", "geks-fisher", "geks-sato-vartia", "tpd", "gk"):
        levels = np.array([1.0, 1.5, 0.7, 2.0, 3.0])
        panel = Panel(np.outer(levels, [1.0, 5.0, 9.0]), np.array([[1.0, 2, 3]] * 5))
        for splice in ("movement", "window", "half", "mean", "mean-published", "fbew", "fbmw", "2"):
            assert series(method, panel, window=3, splice=splice) == pytest.approx(levels, rel=1e-13), method


def test_a_period_that_no_item_connects_breaks_no_later_link() -> None:
    splices = ("movement", "window", "half", "mean", "window-published", "mean-published", "fbew", "fbmw")
    for odd in ([2], [1, 2], [3], [4, 5], [7]):
        levels = np.array([1.0, 1.5, 0.7, 2.0, 3.0, 2.5, 2.2, 1.9])
        prices = np.outer(levels, [1.0, 5.0, 9.0, 4.0])
        prices[:, 3] = np.nan
        for period in odd:
            prices[period] = [np.nan, np.nan, np.nan, 4.0 + period] if period == odd[0] else np.nan
        panel = Panel(prices, np.where(np.isnan(prices), 0.0, 2.0))
        levels[odd] = np.nan
        for length, method, splice in product((3, 4), ("geks-jevons", "geks-fisher", "tpd", "gk"), splices):
            found = series(method, panel, window=length, splice=splice)
            if len(odd) < length - 1:  # else no window reaches over them
                assert found == pytest.approx(levels, rel=1e-12, nan_ok=True), (odd, length, method, splice)


def test_splice_on_a_period_outside_the_window_is_refused() -> None:
    with pytest.raises(IndexNotDefined, match="1 to 2"):
        spliced(window, 5, 3, "3")


# What reports offer is what the package computes.


def test_every_offered_method_is_computed_and_needs_quantities_as_declared() -> None:
    for method in METHODS:
        named = question.method_named(method)
        assert named.name == method, method
        assert question.needs_quantities(question.Question(named)) is METHODS[method], method
        assert np.isfinite(series(method, GAPS)).all(), method
        if not METHODS[method]:
            assert np.isfinite(series(method, Panel(GAPS.prices))).all(), method


def test_usual_spellings_name_one_method() -> None:
    for spelling, method in (
        ("CCDI", "geks-tornqvist"),
        ("GEKS-Törnqvist", "geks-tornqvist"),
        ("geks-tornqvist(ccdi)", "geks-tornqvist"),
        ("geary_khamis", "geary-khamis"),
        ("wtpd", "tpd"),
        ("best", None),
        ("", None),
    ):
        assert offered_method(spelling) == method, spelling
    assert set(ALIASES.values()) <= METHODS.keys()
