"""The bootstrap interval: deterministic, and as wide as theory says where theory knows it."""

import tracemalloc

import numpy as np
import pytest

from shared.price_index.panel import Panel
from shared.price_index.question import Question, method_named
from shared.price_index.rows import GROUPS_MAX, REPLICATES_AT_ONCE, bootstrap, comparisons, logarithms
from shared.price_index.series import index_series
from tests.unit.shared.price_index.cases import GAPS, NAN

JEVONS = Question(method_named("jevons"))


def relatives(items: int, spread: float) -> Panel:
    random = np.random.default_rng(7)
    first = random.uniform(1, 100, items)
    return Panel(np.array([first, first * np.exp(random.normal(0.1, spread, items))]))


@pytest.mark.parametrize("items", [400, 20 * GROUPS_MAX])
def test_interval_of_jevons_is_that_of_a_mean_of_logs(items: int) -> None:
    panel = relatives(items, 0.3)
    logs = np.diff(np.log(panel.prices), axis=0)[0]
    half = 1.96 * logs.std() / np.sqrt(items)
    interval = bootstrap(panel, JEVONS, 2000, seed=1)
    low, high = np.log(interval.low[1]), np.log(interval.high[1])
    assert low == pytest.approx(logs.mean() - half, abs=half / 8)
    assert high == pytest.approx(logs.mean() + half, abs=half / 8)


@pytest.mark.parametrize("method", ["jevons", "geks-jevons", "geks-fisher", "sato-vartia", "tpd", "gk"])
def test_same_seed_gives_the_same_interval_and_another_seed_another(method: str) -> None:
    panel = Panel(relatives(50, 0.4).prices, np.ones((2, 50)))
    question = Question(method_named(method))
    once, again, other = (bootstrap(panel, question, 50, seed) for seed in (3, 3, 4))
    assert np.array_equal(once.low, again.low)
    assert np.array_equal(once.high, again.high)
    assert not np.array_equal(once.high, other.high)


def test_interval_of_proportional_prices_has_no_width() -> None:
    panel = Panel(np.outer([1.0, 1.2], [3.0, 5.0, 8.0]), np.array([[1.0, 2, 3]] * 2))
    for method in ("fisher", "geks-tornqvist", "rao", "tpd"):
        interval = bootstrap(panel, Question(method_named(method)), 20, seed=0)
        assert interval.low == pytest.approx([1, 1.2])
        assert interval.high == pytest.approx([1, 1.2])


def test_sums_and_single_items_resample_to_the_same_distribution() -> None:
    """Törnqvist by sums, and the time product dummy with average weights, which equals it, item by item."""
    random = np.random.default_rng(5)
    panel = Panel(relatives(60, 0.3).prices, random.uniform(1, 9, (2, 60)))
    sums = bootstrap(panel, Question(method_named("tornqvist")), 3000, seed=1)
    items = bootstrap(panel, Question(method_named("tpd"), output="chained", weights="average"), 3000, seed=2)
    assert np.log(sums.high / sums.low)[1] == pytest.approx(np.log(items.high / items.low)[1], rel=0.1)


def test_replicates_in_which_a_period_is_not_connected_are_left_out() -> None:
    interval = bootstrap(GAPS, Question(method_named("geks-fisher")), 200, seed=0)
    assert np.isfinite(interval.low).all()
    assert (interval.low <= interval.high).all()


def market(random: np.random.Generator, items: int) -> Panel:
    """Draw items of an endless market over three periods: a fifth is missing later, dearer ones are bought less."""
    first = np.exp(random.normal(2, 1, items))
    steps = np.array([[0.03], [-0.02]]) + random.normal(0, 0.15, (2, items))
    prices = first * np.exp(np.vstack([np.zeros(items), np.cumsum(steps, axis=0)]))
    quantities = random.gamma(2, 20, items) * np.exp(random.normal(0, 0.3, (3, items))) * (prices / first) ** -1.5
    prices[1:][random.random((2, items)) < 0.2] = NAN
    return Panel(prices, np.where(np.isnan(prices), 0.0, quantities))


@pytest.mark.parametrize(("method", "trials"), [("jevons", 400), ("fisher", 400), ("geks-jevons", 120)])
def test_of_a_hundred_intervals_ninety_five_hold_the_index_of_the_whole_market(method: str, trials: int) -> None:
    question = Question(method_named(method))
    whole = index_series(market(np.random.default_rng(99), 200_000), question)[1:]
    random = np.random.default_rng(1)
    held = np.zeros(2)
    for seed in range(trials):
        interval = bootstrap(market(random, 400), question, 200, seed)
        held += (interval.low[1:] <= whole) & (whole <= interval.high[1:])
    assert held / trials == pytest.approx(0.95, abs=0.035)


def test_comparisons_grow_with_pairs_or_with_windows_and_replicates() -> None:
    panel = Panel(np.ones((10, 7)), np.ones((10, 7)))
    every_pair, windows = (Question(method_named(name), window=4) for name in ("geks-jevons", "tpd"))
    assert comparisons(panel, Question(method_named("geks-jevons")), 200) == 45 * 7
    assert comparisons(panel, every_pair, 200) == (7 * 3 + 2 + 1) * 7
    assert comparisons(panel, windows, 200) == 7 * 4 * 7 * 201
    assert comparisons(panel, Question(method_named("jevons")), 200) == 10 * 7


def test_the_memory_of_an_interval_grows_with_the_pairs_that_are_compared() -> None:
    panel = Panel(np.exp(np.random.default_rng(3).normal(0, 0.1, (1_000, 3))))
    assert logarithms(panel, Question(method_named("dutot")), 200) == 1_000 * 200
    assert logarithms(panel, Question(method_named("geks-dutot")), 200) == 1_000 * 999 // 2 * 200
    assert logarithms(panel, Question(method_named("tpd")), 200) == 0
    tracemalloc.start()
    interval = bootstrap(panel, Question(method_named("dutot")), 200, seed=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(interval.low).all()
    assert most < 50_000_000  # one matrix of periods by periods has 8 MB; of each sample it would be 1.6 GB


@pytest.mark.parametrize("method", ["geks-jevons", "jevons", "tpd"])
def test_one_period_has_an_interval_of_no_width(method: str) -> None:
    interval = bootstrap(Panel(np.array([[1.0, 2.0]])), Question(method_named(method)), 20, seed=1)
    assert (interval.low.tolist(), interval.high.tolist()) == ([1.0], [1.0])


def test_replicates_drawn_in_parts_are_those_that_are_drawn_at_once() -> None:
    panel, replicates, items = relatives(30, 0.4), 2 * REPLICATES_AT_ONCE + 500, 30
    logs = np.diff(np.log(panel.prices), axis=0)[0]
    means = logs[np.random.default_rng(8).integers(0, items, (replicates, items))].mean(axis=1)
    low, high = np.quantile(np.exp(means), [0.025, 0.975], method="weibull")
    interval = bootstrap(panel, JEVONS, replicates, seed=8)
    assert interval.low[1] == pytest.approx(low, rel=1e-12)
    assert interval.high[1] == pytest.approx(high, rel=1e-12)


def test_many_replicates_are_not_kept_at_once() -> None:
    panel = relatives(GROUPS_MAX, 0.4)
    tracemalloc.start()
    interval = bootstrap(panel, JEVONS, 6 * REPLICATES_AT_ONCE, seed=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert interval.low[1] < interval.high[1]
    assert most < 40 * GROUPS_MAX * REPLICATES_AT_ONCE  # bytes
