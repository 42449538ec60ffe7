"""Questions in words, as lists of jobs and exports show them, and figures for people."""

from typing import Any

import pytest

from edge.dashboard.tables import export_question, figure, question, table_of


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
