"""Questions in words, as lists of jobs and exports show them, and figures for people."""

from datetime import date
from typing import Any

import pytest

from edge.dashboard.periods import Periods
from edge.dashboard.tables import Reading, export_question, figure, keys_in, question, table_of


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"dataset": "items", "filter": None, "since": None, "format": "csv", "columns": ["iid"]}, "items"),
        (
            {"dataset": "observations", "filter": {"brand": ["a", "b"], "from": "2026-07-01"}, "format": "parquet"},
            "observations, a, b · 2026-07-01 to the last day",
        ),
        ({"dataset": "impacts", "filter": {"channel": ["NORTH"]}, "since": 7}, "impacts · channel NORTH · since 7"),
    ],
)
def test_an_export_is_named_by_what_narrows_it(asked: dict[str, Any], words: str) -> None:
    assert export_question(asked) == words


def test_a_question_names_its_subject_first_and_leaves_defaults_out() -> None:
    asked = {
        "granularity": "week",
        "group_by": ["brand", "channel"],
        "brand": ["vita"],
        "outliers": "exclude",
        "currency": None,
    }
    words = question(asked, {"outliers": "exclude"})
    assert words == "vita · by week · grouped by brand and channel"


def test_a_parameter_of_zero_is_part_of_the_question() -> None:
    assert question({"displacement_rate": 0.0, "dry_run": False}, {}) == "all · displacement rate 0.0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (1234.5678, "1,234.57"),
        (999_999.4, "999,999"),
        (999_999.5, "1,000,000"),
        (-999_999.7, "-1,000,000"),
        (1e6, "1,000,000"),
        ("12.50", "12.50"),
        (None, "–"),
    ],
)
def test_a_figure_is_rounded_for_people(value: Any, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("value", "cell"), [("0.123456", "0.1235"), (f"{10**30}.123456", f"{10**30}.1235"), ("-2.00005", "-2.0000")]
)
def test_an_amount_of_many_digits_is_rounded_however_large(value: str, cell: str) -> None:
    assert [[shown.text for shown in row] for row in table_of([{"total": value}]).rows] == [[cell]]


BRAND = {
    "period": "2026-04-26",
    "brand": "vita",
    "name": "Vita",
    "currency": "HKD",
    "rank": 1,
    "items": 4,
    "observations": 9,
    "median": "22.00",
    "median_change": -0.0312,
    "kind": "listing",
    "list_price_n": 0,
    "promotion_share": None,
    "peers": [{"brand": f"b{n}", "name": f"B{n}", "observations": n, "share": 0.25} for n in range(44)],
}
USUAL = ("median", "median_change", "rank", "items", "observations", "peers", "promotion_share")
READING = Reading(Periods(None, date(2026, 7, 15), date(2026, 7, 24)), {"median": "currency"}, {})


def test_eight_columns_are_shown_with_units_and_names_and_three_members_of_a_list() -> None:
    other = BRAND | {"brand": "soy", "name": "Soy", "peers": []}
    table = table_of([BRAND, other], READING, USUAL)
    assert [column.heading for column in table.shown] == [
        "Brand",
        "Median, HKD",
        "Change of the median, %",
        "Rank",
        "Items",
        "Observations",
        "Peers",
    ]
    assert len(table.columns) == 12, "the others can be chosen; the name stands in the column of the slug"
    peers = "B0 25.0\u202f%, B1 25.0\u202f%, B2 25.0\u202f%"
    assert [(cell.text, cell.more) for cell in table.rows[0]][-1] == (peers, 41)
    assert [cell.text for cell in table.rows[1]] == ["Soy", "22.00", "-3.1", "1", "4", "9", "–"]


def test_chosen_columns_are_shown_in_their_order_and_unknown_ones_are_left_out() -> None:
    table = table_of([BRAND], READING, USUAL, ["period", "nosuch", "kind"])
    assert [column.name for column in table.shown] == ["period", "kind"]
    assert [cell.text for cell in table.rows[0]] == ["2026-07-15 to 2026-07-24", "listing"]


def test_slugs_codes_and_ids_are_shown_by_their_names() -> None:
    row = {"category": "a.b", "channel": "NORTH", "contributors": [{"iid": "IID-1", "share": 0.5}]}
    keys = keys_in([row, {"brand": ["vita"]}], {})
    assert keys == {"category": {"a.b"}, "iid": {"IID-1"}, "brand": {"vita"}}
    names = {"category": {"a.b": "Drinks › Tea"}, "iid": {"IID-1": "Green tea"}, "brand": {"vita": "Vita"}}
    [cells] = table_of([row], Reading(names=names)).rows
    assert [cell.text for cell in cells] == ["Drinks › Tea", "NORTH", "Green tea 50.0\u202f%"]
    assert question({"brand": ["vita"], "granularity": "week"}, {}, names) == "Vita · by week"
