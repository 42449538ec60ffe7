"""Intervals of a price index: as wide as theory and simulated markets say, none where the items tell nothing."""

import tracemalloc

import numpy as np
import pytest

from shared.price_index import pairs
from shared.price_index.bilateral import FORMULAE
from shared.price_index.panel import Panel
from shared.price_index.question import IndexQuestion, method_named
from shared.price_index.rows import GROUPS_MAX, comparisons, index_rows, jackknife, logarithms
from shared.price_index.series import index_series
from tests.unit.shared.price_index.cases import NAN

JEVONS = IndexQuestion(method_named("jevons"))
STUDENT = {4: 2.776445, 29: 2.045230, 199: 1.971957}


def relatives(items: int, spread: float) -> Panel:
    random = np.random.default_rng(7)
    first = random.uniform(1, 100, items)
    return Panel(np.array([first, first * np.exp(random.normal(0.1, spread, items))]))


def test_the_interval_of_jevons_is_that_of_a_mean_of_logs() -> None:
    for items in (5, 30, GROUPS_MAX):
        panel = relatives(items, 0.3)
        logs = np.diff(np.log(panel.prices), axis=0)[0]
        half = STUDENT[items - 1] * logs.std(ddof=1) / np.sqrt(items)
        interval = jackknife(panel, JEVONS)
        assert np.isnan(interval.low[0])
        assert np.log(interval.low[1]) == pytest.approx(logs.mean() - half, abs=1e-6), items
        assert np.log(interval.high[1]) == pytest.approx(logs.mean() + half, abs=1e-6), items


def test_groups_of_many_items_give_nearly_the_interval_of_single_ones() -> None:
    panel = relatives(20 * GROUPS_MAX, 0.3)
    logs = np.diff(np.log(panel.prices), axis=0)[0]
    interval = jackknife(panel, JEVONS)
    half = (np.log(interval.high[1]) - np.log(interval.low[1])) / 2
    assert half == pytest.approx(1.96 * logs.std() / np.sqrt(panel.items), rel=0.2)


def test_an_item_in_several_channels_tells_no_more_than_in_one() -> None:
    single = relatives(12, 0.3)
    doubled = Panel(np.repeat(single.prices, 2, axis=1))
    alone, both = jackknife(single, JEVONS), jackknife(doubled, JEVONS, np.repeat(np.arange(12), 2))
    assert both.low == pytest.approx(alone.low, nan_ok=True)
    assert both.high == pytest.approx(alone.high, nan_ok=True)


@pytest.mark.parametrize("method", ["jevons", "geks-jevons", "dutot", "fisher", "geks-tornqvist", "tpd", "gk", "rao"])
def test_items_that_tell_nothing_of_others_have_no_interval(method: str) -> None:
    question = IndexQuestion(method_named(method))
    prices, units = np.array([[3.0, 5.0, 8.0], [3.3, 5.0, 7.0]]), np.array([[1.0, 2, 3]] * 2)
    for panel, known in (
        (Panel(prices, units), True),
        (Panel(np.outer([1.0, 1.2], [3.0, 5.0, 8.0]), units), False),  # all changed alike
        (Panel(prices[:, :2], units[:, :2]), False),  # two items
        (Panel(np.where([[True] * 3, [True, True, False]], prices, NAN), units * [[1, 1, 1], [1, 1, 0]]), False),
        (Panel(prices[:1], units[:1]), False),
    ):
        interval = jackknife(panel, question)
        assert np.isfinite(interval.low[1:]).all() == known or panel.periods == 1, method
        assert np.isnan(interval.low[0]), method


def test_a_period_that_one_item_connects_has_no_interval() -> None:
    chained = Panel(
        np.array([[1.0, 2, 3, 4, NAN, NAN], [1.1, 2.1, 3, NAN, 5, 6], [NAN, NAN, 3.1, NAN, 5.2, 6], [1, 2, 3, 4, 5, 6]])
    )
    rows = index_rows(["a", "b", "c", "d"], chained, JEVONS, 100.0, interval=True)
    assert [row.low is not None for row in rows] == [False, True, True, True]
    bridged = Panel(np.array([[1.0, 2, 3, 4, NAN, NAN], [NAN, NAN, 3.1, NAN, 5.2, 6], [1, 2, 3.3, 4, 5, 6]]))
    rows = index_rows(["a", "b", "c"], bridged, JEVONS, 100.0, interval=True)
    assert [row.low is not None for row in rows] == [False, False, False], "the link has one item"


@pytest.mark.parametrize("at_once", [1, 20, 1_000])
def test_what_remains_without_a_group_is_the_index_of_the_other_items(at_once: int) -> None:
    random = np.random.default_rng(11)
    prices = np.where(random.random((5, 12)) < 0.8, random.uniform(1, 9, (5, 12)), NAN)
    panel = Panel(prices, np.where(np.isnan(prices), 0.0, random.uniform(1, 9, (5, 12))))
    group = random.permutation(12) % 7
    compared = [(start, end) for start in range(5) for end in range(start + 1, 5)]
    for question in (IndexQuestion(method_named(method), sigma=0.4) for method in sorted(FORMULAE)):
        samples = pairs.Pairs(panel, question).left_out_logs(compared, group, at_once)
        for one, sample in enumerate(samples):
            logs = pairs.Pairs(panel.take(np.flatnonzero(group != one)), question).logs(compared)
            expected = pytest.approx([logs[pair] for pair in compared], rel=1e-9, abs=1e-9, nan_ok=True)
            assert sample == expected, question.method.name


def test_a_new_item_leaves_the_groups_of_the_others_as_they_are() -> None:
    panel = relatives(3 * GROUPS_MAX, 0.3)
    numbers = np.arange(panel.items) * 7 + 3
    before = jackknife(panel, JEVONS, numbers)
    after = jackknife(
        Panel(np.column_stack([[[5.0], [NAN]], panel.prices])), JEVONS, np.r_[1, numbers]
    )  # an item that nothing matches
    assert (before.low[1], before.high[1]) == pytest.approx((after.low[1], after.high[1]), rel=1e-12)


def market(random: np.random.Generator, items: int) -> Panel:
    """Draw items of an endless market over three periods: a fifth is missing later, dearer ones are bought less."""
    first = np.exp(random.normal(2, 1, items))
    steps = np.array([[0.03], [-0.02]]) + random.normal(0, 0.15, (2, items))
    prices = first * np.exp(np.vstack([np.zeros(items), np.cumsum(steps, axis=0)]))
    quantities = random.gamma(2, 20, items) * np.exp(random.normal(0, 0.3, (3, items))) * (prices / first) ** -1.5
    prices[1:][random.random((2, items)) < 0.2] = NAN
    return Panel(prices, np.where(np.isnan(prices), 0.0, quantities))


@pytest.mark.parametrize(("method", "trials"), [("jevons", 1_000), ("geks-jevons", 600), ("fisher", 1_000)])
@pytest.mark.parametrize("items", [5, 10, 30, 100])
def test_of_a_hundred_intervals_ninety_five_hold_the_index_of_the_whole_market(
    method: str, trials: int, items: int
) -> None:
    """A share of a thousand trials has a standard deviation of 0.7 %."""
    question = IndexQuestion(method_named(method))
    whole = index_series(market(np.random.default_rng(99), 200_000), question)[1:]
    random = np.random.default_rng(items)
    held = known = 0
    for _ in range(trials):
        interval = jackknife(market(random, items), question)
        defined = np.isfinite(interval.low[1:])
        known += int(defined.sum())
        held += int((defined & (interval.low[1:] <= whole) & (whole <= interval.high[1:])).sum())
    assert held / known == pytest.approx(0.95, abs=0.025)


def test_comparisons_grow_with_pairs_or_with_windows_and_groups() -> None:
    panel = Panel(np.ones((10, 7)), np.ones((10, 7)))
    every_pair, windows = (IndexQuestion(method_named(name), window=4) for name in ("geks-jevons", "tpd"))
    assert comparisons(panel, IndexQuestion(method_named("geks-jevons"))) == 45 * 7
    assert comparisons(panel, every_pair) == (7 * 3 + 2 + 1) * 7
    assert comparisons(panel, windows) == 7 * 4 * 7 * 8
    assert comparisons(panel, IndexQuestion(method_named("jevons"))) == 10 * 7


def test_the_memory_of_an_interval_grows_with_the_pairs_that_are_compared() -> None:
    panel = Panel(np.exp(np.random.default_rng(3).normal(0, 0.1, (500, 30))))
    assert logarithms(panel, IndexQuestion(method_named("dutot"))) == 500 * 30
    assert logarithms(panel, IndexQuestion(method_named("geks-dutot"))) == 500 * 499 // 2 * 30
    assert logarithms(panel, IndexQuestion(method_named("tpd"))) == 0
    tracemalloc.start()
    interval = jackknife(panel, IndexQuestion(method_named("dutot")))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(interval.low[1:]).all()
    assert most < 25_000_000  # one matrix of periods by periods has 2 MB; of each group it would be 60 MB
