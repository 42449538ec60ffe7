"""Questions in words, as lists of jobs and exports show them."""

from typing import Any

import pytest

from edge.dashboard.tables import export_question, question


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
