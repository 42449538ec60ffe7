"""`itemindex calc index-numbers`, and its bootstrap intervals."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from shared.errors import ItemIndexError
from shared.price_index import series
from shared.price_index.bilateral import FORMULAE
from shared.price_index.panel import Panel
from shared.price_index.question import Question, method_named
from shared.price_index.rows import GROUPS_MAX, REPLICATES_AT_ONCE, bootstrap, comparisons, logarithms
from shared.price_index.series import index_series
from tests.unit.price_index.cases import GAPS, NAN

# `itemindex calc index-numbers`: files as people have them, and refusals that name the row.


HEADER = "period,item,price,quantity\n"

TWO = HEADER + "2024-09,a,1,4\n2024-09,b,4,1\n2024-10,a,2,1\n2024-10,b,2,4\n"


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def call(text: str, *options: str) -> list[dict[str, Any]]:
        path = tmp_path / "prices.csv"
        path.write_text(text, encoding="utf-8")
        result = CliRunner().invoke(
            cli, ["calc", "index-numbers", str(path), "--json", *options], catch_exceptions=True
        )
        if isinstance(result.exception, ItemIndexError):
            raise result.exception
        assert result.exit_code == 0, result.output
        rows: list[dict[str, Any]] = json.loads(result.stdout)
        return rows

    return call


def test_first_period_is_a_hundred_and_rows_name_the_compared_items(run: Any) -> None:
    first, second = run(TWO + "2024-10,c,9,1\n", "--method", "laspeyres")
    assert (first["period"], first["index"], first["matched_items"], first["compared_with"]) == (
        "2024-09",
        100,
        None,
        None,
    )
    assert second == {
        "period": "2024-10", "index": pytest.approx(125), "low": None, "high": None, "items": 3, "matched_items": 2,
        "share_matched": pytest.approx(2 / 3), "new": 1, "vanished": 0, "compared_with": "2024-09",
    }  # fmt: skip


def test_weights_of_two_periods_are_refused_over_a_window(run: Any) -> None:
    options = ("--method", "tpd", "--weights", "average")
    with pytest.raises(ItemIndexError, match="weights: average is of two periods"):
        run(TWO, *options)
    assert run(TWO, *options, "--output", "chained")[1]["index"] is not None
    assert len(run(TWO, "--method", "geks-tpd", "--weights", "average")) == 2


def test_periods_are_in_order_of_numbers_and_of_time(run: Any) -> None:
    for labels in (
        ["2", "9", "10"],
        ["2024-9", "2024-10", "2025-1"],
        ["2024-01-31", "2024-02-01"],
        ["2024-Q4", "2025-Q1"],
        ["2", "10", "inf", "nan"],
    ):
        text = HEADER + "".join(f"{label},a,1,1\n" for label in reversed(labels))
        assert [row["period"] for row in run(text, "--method", "jevons")] == labels


def test_columns_are_found_by_their_usual_names_or_as_named(run: Any) -> None:
    rows = [line.split(",") for line in TWO.splitlines()[1:]]
    usual = "\ufeffTime,ProdID,prices,quantities\n" + "".join(",".join(row) + "\n" for row in rows)
    assert run(usual, "--method", "paasche") == run(TWO, "--method", "paasche")
    named = "wann,was,price,qty\n" + "".join(",".join(row) + "\n" for row in rows)
    assert run(named, "--method", "paasche", "--column", "period=wann", "--column", "item=was") == run(
        TWO, "--method", "paasche"
    )


def test_days_are_put_together_to_months_as_unit_values(run: Any) -> None:
    text = HEADER + "2024-09-01,a,2,3\n2024-09-30,a,4,1\n2024-10-05,a,5,1\n"
    rows = run(text, "--method", "jevons", "--granularity", "month")
    assert [(row["period"], row["index"]) for row in rows] == [("2024-09", 100), ("2024-10", pytest.approx(200))]


def test_identifiers_are_text_whose_zeros_count(run: Any) -> None:
    text = "period,item,price\n1,01,1\n1,1,10\n2,01,2\n2,1,10\n"
    assert run(text, "--method", "carli")[1]["index"] == pytest.approx(150)


@pytest.mark.parametrize("spelling", ["ccdi", "GEKS-Törnqvist", "geks tornqvist", "GEKS_Tornqvist"])
def test_usual_spellings_of_a_method_are_one_method(run: Any, spelling: str) -> None:
    assert run(TWO, "--method", spelling) == run(TWO, "--method", "geks-tornqvist")


def test_bootstrap_bounds_the_index_and_is_repeated_by_its_seed(run: Any) -> None:
    rows = run(TWO, "--method", "jevons", "--bootstrap", "50", "--seed", "1")
    assert rows[1]["low"] <= rows[1]["index"] <= rows[1]["high"]
    assert rows == run(TWO, "--method", "jevons", "--bootstrap", "50", "--seed", "1")


def test_base_period_is_the_one_at_a_hundred(run: Any) -> None:
    rows = run(TWO, "--method", "laspeyres", "--base", "2024-10")
    assert [row["index"] for row in rows] == [pytest.approx(170), 100]


GAPPED = HEADER + "1,a,2,3\n1,b,5,1\n2,a,3,2\n2,c,1,9\n3,b,4,2\n3,c,2,8\n3,a,4,1\n"


@pytest.mark.parametrize(
    "options",
    [
        "--method geks-jevons",
        "--method geks-fisher --window 2 --splice movement",
        "--method geks-tornqvist --sample matched",
        "--method tpd",
        "--method geary-khamis",
        "--method jevons --output chained",
    ],
)
def test_a_base_period_rescales_an_index_that_is_not_made_against_it(run: Any, options: str) -> None:
    series = [row["index"] for row in run(GAPPED, *options.split())]
    based = [row["index"] for row in run(GAPPED, *options.split(), "--base", "2")]
    assert based[1] == 100
    assert based == [pytest.approx(100 * value / series[1]) for value in series]


def test_the_interval_has_no_width_at_the_base_period(run: Any) -> None:
    for method in ("geks-jevons", "tpd"):
        rows = run(GAPPED, "--method", method, "--base", "3", "--bootstrap", "50")
        assert (rows[2]["low"], rows[2]["high"]) == (100, 100)
        assert rows[0]["low"] < rows[0]["high"]


@pytest.mark.parametrize("options", ["--method jevons", "--method tpd --output chained"])
def test_a_window_that_a_method_does_not_have_changes_nothing_and_is_named(
    run: Any, tmp_path: Path, options: str
) -> None:
    plain = run(GAPPED, *options.split())
    called = ["calc", "index-numbers", str(tmp_path / "prices.csv"), "--json", *options.split(), "--window", "2"]
    result = CliRunner().invoke(cli, called, catch_exceptions=False)
    assert json.loads(result.stdout) == plain
    assert "--window is not used" in result.stderr


def test_a_number_without_bounds_has_none_in_the_help() -> None:
    help_text = CliRunner().invoke(cli, ["calc", "index-numbers", "--help"]).stdout
    assert "--sigma FLOAT" in help_text and "None]" not in help_text


@pytest.mark.parametrize("option", ["--first", "--sigma"])
@pytest.mark.parametrize("value", ["nan", "inf", "x"])
def test_a_number_that_is_none_is_refused(run: Any, option: str, value: str) -> None:
    with pytest.raises(AssertionError, match="a finite number"):
        run(TWO, "--method", "lloyd-moulton", option, value)


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        (HEADER + "1,a,1,1\n1,b,0,1\n", "--method jevons", "row 2: the price must be above zero"),
        (HEADER + "1,a,-1,1\n", "--method jevons", "row 1: the price must be above zero"),
        (HEADER + "1,a,nan,1\n", "--method jevons", "row 1: the price must be above zero"),
        (HEADER + "1,a,inf,1\n", "--method jevons", "row 1: the price must be above zero and finite"),
        (HEADER + "1,a,1,1\n1,b,1,1\n1,c,,1\n", "--method jevons", "row 3: the price is not a number"),
        (HEADER + "1,a,1,-2\n", "--method fisher", "row 1: the quantity must be zero or more"),
        (HEADER + '1,a,1,1\n1,b,"1,5",1\n', "--method fisher", "row 2: the price is not a number"),
        ("period,item,price\n1,a,1\n2,a,2\n", "--method geks-fisher", "needs quantities"),
        ("period,item,price\n1,a,1\n2,a,2\n", "--method jevons --kind quantity", "needs quantities"),
        ("period,price\n1,1\n", "--method jevons", "no column `item`; name it by --column item=COLUMN"),
        ("period;item;price\n1;a;1\n", "--method jevons", "no column `period`: commas separate columns"),
        ("period,item,price,price\n1,a,1,1\n", "--method jevons", "more than one column `price`"),
        (HEADER, "--method jevons", "no row"),
        (HEADER + "1,a,1\n", "--method jevons", "Expected 4 columns, got 3"),
        ("", "--method jevons", "cannot be read as CSV in UTF-8: Empty CSV file"),
        (HEADER + "1,a,1,1\n ,a,1,1\n", "--method jevons", "row 2: the period is empty"),
        (HEADER + "1,,1,1\n", "--method jevons", "row 1: the item is empty"),
        (HEADER + "1,a,1e200,1e200\n", "--method jevons", "add up to more than a number can hold"),
        (TWO, "--method best", "method: one of"),
        (TWO, "--method geks-fisher --splice glue", "splice: one of"),
        (TWO, "--method laspeyres --base 1999", "--base: not a period"),
        (TWO, "--method jevons --granularity week", "must be a day"),
        (TWO, "--method geks-jevons --output pop", "geks-jevons is one series"),
        (TWO, "--method geks-fisher --chain-method plspread", "geks-fisher is one series"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_with_its_reason(
    run: Any, text: str, options: str, reason: str
) -> None:
    with pytest.raises(ItemIndexError, match=reason):
        run(text, *options.split())


# The bootstrap interval: deterministic, and as wide as theory says where theory knows it.


JEVONS = Question(method_named("jevons"))


def relatives(items: int, spread: float) -> Panel:
    random = np.random.default_rng(7)
    first = random.uniform(1, 100, items)
    return Panel(np.array([first, first * np.exp(random.normal(0.1, spread, items))]))


def test_interval_of_jevons_is_that_of_a_mean_of_logs() -> None:
    for items in (400, 20 * GROUPS_MAX):
        panel = relatives(items, 0.3)
        logs = np.diff(np.log(panel.prices), axis=0)[0]
        half = 1.96 * logs.std() / np.sqrt(items)
        interval = bootstrap(panel, JEVONS, 2000, seed=1)
        low, high = np.log(interval.low[1]), np.log(interval.high[1])
        assert low == pytest.approx(logs.mean() - half, abs=half / 8), items
        assert high == pytest.approx(logs.mean() + half, abs=half / 8), items


def test_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    for method in ("jevons", "geks-jevons", "geks-fisher", "sato-vartia", "tpd", "gk"):
        panel = Panel(relatives(50, 0.4).prices, np.ones((2, 50)))
        question = Question(method_named(method))
        once, again, other = (bootstrap(panel, question, 50, seed) for seed in (3, 3, 4))
        assert np.array_equal(once.low, again.low), method
        assert np.array_equal(once.high, again.high), method
        assert not np.array_equal(once.high, other.high), method


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


@pytest.mark.parametrize("at_once", [1, 20, 1_000])
def test_a_sample_of_groups_is_the_index_of_its_items_as_often_as_they_were_drawn(at_once: int) -> None:
    random = np.random.default_rng(11)
    prices = np.where(random.random((5, 12)) < 0.8, random.uniform(1, 9, (5, 12)), NAN)
    panel = Panel(prices, np.where(np.isnan(prices), 0.0, random.uniform(1, 9, (5, 12))))
    group, counts = random.permutation(12) % 7, random.integers(0, 3, (4, 7))
    compared = [(start, end) for start in range(5) for end in range(start + 1, 5)]
    for question in (Question(method_named(method), sigma=0.4) for method in sorted(FORMULAE)):
        samples = series.Pairs(panel, question).resampled_logs(compared, group, counts.astype("f8"), at_once)
        for sample, often in zip(samples, counts, strict=True):
            logs = series.Pairs(panel.take(np.repeat(np.arange(12), often[group])), question).logs(compared)
            expected = pytest.approx([logs[pair] for pair in compared], rel=1e-9, abs=1e-12, nan_ok=True)
            assert sample == expected, question.method.name


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


def test_of_a_hundred_intervals_ninety_five_hold_the_index_of_the_whole_market() -> None:
    for method, trials in (("fisher", 200), ("geks-jevons", 100)):
        question = Question(method_named(method))
        whole = index_series(market(np.random.default_rng(99), 200_000), question)[1:]
        random = np.random.default_rng(1)
        held = np.zeros(2)
        for seed in range(trials):
            interval = bootstrap(market(random, 200), question, 200, seed)
            held += (interval.low[1:] <= whole) & (whole <= interval.high[1:])
        assert held / trials == pytest.approx(0.95, abs=0.035), method


def test_comparisons_grow_with_pairs_or_with_windows_and_replicates() -> None:
    panel = Panel(np.ones((10, 7)), np.ones((10, 7)))
    every_pair, windows = (Question(method_named(name), window=4) for name in ("geks-jevons", "tpd"))
    assert comparisons(panel, Question(method_named("geks-jevons")), 200) == 45 * 7
    assert comparisons(panel, every_pair, 200) == (7 * 3 + 2 + 1) * 7
    assert comparisons(panel, windows, 200) == 7 * 4 * 7 * 201
    assert comparisons(panel, Question(method_named("jevons")), 200) == 10 * 7


def test_the_memory_of_an_interval_grows_with_the_pairs_that_are_compared() -> None:
    panel = Panel(np.exp(np.random.default_rng(3).normal(0, 0.1, (500, 3))))
    assert logarithms(panel, Question(method_named("dutot")), 200) == 500 * 200
    assert logarithms(panel, Question(method_named("geks-dutot")), 200) == 500 * 499 // 2 * 200
    assert logarithms(panel, Question(method_named("tpd")), 200) == 0
    tracemalloc.start()
    interval = bootstrap(panel, Question(method_named("dutot")), 200, seed=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(interval.low).all()
    assert most < 25_000_000  # one matrix of periods by periods has 2 MB; of each sample it would be 400 MB


def test_one_period_has_an_interval_of_no_width() -> None:
    for method in ("geks-jevons", "jevons", "tpd"):
        interval = bootstrap(Panel(np.array([[1.0, 2.0]])), Question(method_named(method)), 20, seed=1)
        assert (interval.low.tolist(), interval.high.tolist()) == ([1.0], [1.0]), method


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
    interval = bootstrap(panel, JEVONS, 3 * REPLICATES_AT_ONCE, seed=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert interval.low[1] < interval.high[1]
    assert most < 40 * GROUPS_MAX * REPLICATES_AT_ONCE  # bytes
