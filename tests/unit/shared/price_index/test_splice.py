"""Splices against values worked out on paper from given windows."""

import numpy as np
import pytest

from shared.price_index.panel import Floats, IndexNotDefined, Panel
from shared.price_index.series import spliced
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


@pytest.mark.parametrize(
    ("splice", "fourth", "fifth"),
    [
        ("movement", 4 * 6 / 3, 8 * 5 / 4),
        ("window", 2 * 6.0, 12 * 3 / 6 * 5),
        ("half", 4 * 6 / 3, 8 * 5 / 4),
        ("1", 2 * 6.0, 12 * 3 / 6 * 5),
        ("mean", np.sqrt(12 * 8.0), np.sqrt(np.sqrt(96) * 3 / 6 * 5 * np.sqrt(96) * 5 / 4)),
        ("window-published", 2 * 6.0, 4 * 5.0),
        ("mean-published", np.sqrt(12 * 8.0), np.sqrt(4 * 5 * np.sqrt(96) * 5 / 4)),
        ("fbew", 4 * 7.0, 4 * 5.0),
        ("fbmw", 4 * 6 / 3, 4 * 5.0),
    ],
)
def test_splice_links_each_further_period_by_its_rule(splice: str, fourth: float, fifth: float) -> None:
    assert spliced(window, 5, 3, splice) == pytest.approx([1, 2, 4, fourth, fifth], rel=1e-14)


def test_window_as_long_as_the_data_needs_no_splice() -> None:
    assert spliced(window, 3, 13, "mean") == pytest.approx([1, 2, 4])


@pytest.mark.parametrize("splice", ["movement", "window", "half", "mean", "window-published", "fbew", "fbmw"])
@pytest.mark.parametrize("method", ["geks-jevons", "geks-fisher", "tpd", "gk"])
def test_adding_a_period_changes_no_earlier_value(method: str, splice: str) -> None:
    shorter = series(method, GAPS.rows(0, 4), window=3, splice=splice)
    assert series(method, GAPS, window=3, splice=splice)[:4] == pytest.approx(shorter, rel=1e-13)


@pytest.mark.parametrize("method", ["geks-jevons", "geks-fisher", "geks-sato-vartia", "tpd", "gk"])
def test_splice_of_proportional_prices_is_exact(method: str) -> None:
    levels = np.array([1.0, 1.5, 0.7, 2.0, 3.0])
    panel = Panel(np.outer(levels, [1.0, 5.0, 9.0]), np.array([[1.0, 2, 3]] * 5))
    for splice in ("movement", "window", "half", "mean", "mean-published", "fbew", "fbmw", "2"):
        assert series(method, panel, window=3, splice=splice) == pytest.approx(levels, rel=1e-13)


@pytest.mark.parametrize("method", ["geks-jevons", "geks-fisher", "tpd", "gk"])
@pytest.mark.parametrize("length", [3, 4])
@pytest.mark.parametrize("odd", [[2], [1, 2], [3], [4, 5], [7]])
def test_a_period_that_no_item_connects_breaks_no_later_link(method: str, length: int, odd: list[int]) -> None:
    levels = np.array([1.0, 1.5, 0.7, 2.0, 3.0, 2.5, 2.2, 1.9])
    prices = np.outer(levels, [1.0, 5.0, 9.0, 4.0])
    prices[:, 3] = np.nan
    for period in odd:
        prices[period] = [np.nan, np.nan, np.nan, 4.0 + period] if period == odd[0] else np.nan
    panel = Panel(prices, np.where(np.isnan(prices), 0.0, 2.0))
    levels[odd] = np.nan
    for splice in ("movement", "window", "half", "mean", "window-published", "mean-published", "fbew", "fbmw"):
        found = series(method, panel, window=length, splice=splice)
        if len(odd) < length - 1:  # else no window reaches over them
            assert found == pytest.approx(levels, rel=1e-12, nan_ok=True), splice


def test_splice_on_a_period_outside_the_window_is_refused() -> None:
    with pytest.raises(IndexNotDefined, match="1 to 2"):
        spliced(window, 5, 3, "3")
