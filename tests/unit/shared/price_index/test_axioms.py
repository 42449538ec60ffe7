"""Price indices obey the axioms of the literature."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.price_index.offered import METHODS
from shared.price_index.panel import Panel
from shared.price_index.question import IndexQuestion, Method, method_named, method_names
from shared.price_index.series import index_series

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
    return index_series(panel, IndexQuestion(method_named(method), sigma=0.5, **options))


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
