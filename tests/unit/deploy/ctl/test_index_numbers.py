"""`itemindex calc index-numbers`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from shared.errors import ItemIndexError

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
        "matched_prices": 2, "share_matched": pytest.approx(2 / 3), "new": 1, "vanished": 0, "compared_with": "2024-09",
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


def test_an_interval_bounds_the_index_where_three_items_match(run: Any) -> None:
    text = "period,item,price\n1,a,2\n1,b,5\n1,c,3\n2,a,3\n2,b,6\n2,c,3\n3,a,3\n3,b,7\n"
    rows = run(text, "--method", "jevons", "--interval")
    assert (rows[0]["low"], rows[0]["high"]) == (None, None), "the first period is 100 by definition"
    assert rows[1]["low"] < rows[1]["index"] < rows[1]["high"]
    assert (rows[2]["low"], rows[2]["high"]) == (None, None), "two items match"
    assert rows == run(text, "--method", "jevons", "--interval")


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


def test_there_is_no_interval_at_the_base_period(run: Any) -> None:
    text = GAPPED + "1,c,2,4\n1,d,3,4\n2,d,4,4\n3,d,3,6\n"
    for method in ("geks-jevons", "tpd"):
        rows = run(text, "--method", method, "--base", "3", "--interval")
        assert (rows[2]["low"], rows[2]["high"]) == (None, None)
        assert rows[0]["low"] < rows[0]["index"] < rows[0]["high"]


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
