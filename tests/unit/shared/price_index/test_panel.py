"""Panels made of observations, and what two periods have in common."""

import numpy as np
import pytest

from shared.price_index.panel import Panel, aggregate, coverage
from tests.unit.shared.price_index.cases import GAPS, NAN


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
    panel = Panel(np.array([[NAN], [2.0], [NAN], [4.0]]), np.array([[0.0], [1.0], [0.0], [1.0]])).with_carried_prices()
    assert panel.prices.ravel().tolist() == [2.0, 2.0, 2.0, 4.0]
    assert panel.quantities is not None
    assert panel.quantities.ravel().tolist() == [0.0, 1.0, 0.0, 1.0]


def test_quantity_index_is_the_price_index_of_the_exchanged_panel() -> None:
    exchanged = GAPS.quantity_panel()
    assert exchanged.quantities is not None
    assert np.array_equal(exchanged.prices, np.where(GAPS.quantities > 0, GAPS.quantities, NAN), equal_nan=True)
    assert np.array_equal(exchanged.quantities, np.nan_to_num(GAPS.prices))


def test_coverage_counts_matched_new_and_vanished_items() -> None:
    found = coverage(GAPS.present(), [0, 0, 1, 2, 3], np.arange(GAPS.items))[3]
    assert (found.items, found.matched, found.new, found.vanished, found.share_matched) == (2, 2, 0, 1, 1.0)
