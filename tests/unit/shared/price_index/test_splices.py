"""Splices against values worked out on paper from given windows."""

from itertools import product

import numpy as np
import pytest

from shared.price_index.panel import Floats, IndexNotDefined, Panel
from shared.price_index.splices import splice_windows
from tests.unit.shared.price_index.cases import GAPS, series

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
        assert splice_windows(window, 5, 3, splice) == pytest.approx([1, 2, 4, fourth, fifth], rel=1e-14), splice


def test_window_as_long_as_the_data_needs_no_splice() -> None:
    assert splice_windows(window, 3, 13, "mean") == pytest.approx([1, 2, 4])


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
        splice_windows(window, 5, 3, "3")
