"""Periods by their days with data: titles state those, and a period without data for all of its days is known."""

from datetime import date

import pytest

from edge.dashboard.periods import Periods

FIRST, LAST = date(2026, 7, 15), date(2026, 7, 24)


@pytest.mark.parametrize(
    ("granularity", "period", "text", "partial"),
    [
        ("day", "2026-07-15", "2026-07-15", False),
        ("week", "2026-07-13", "2026-07-15 to 2026-07-19", True),
        ("week", "2026-07-20", "2026-07-20 to 2026-07-24", True),
        ("month", "2026-07-01", "2026-07-15 to 2026-07-24", True),
        ("month", "2026-06-01", "2026-06", False),  # a footprint of items without a price
        ("quarter", "2026-07-01", "2026-07-15 to 2026-07-24", True),
        (None, "2026-04-26", "2026-07-15 to 2026-07-24", False),
    ],
)
def test_a_period_is_never_named_by_a_day_before_its_data(
    granularity: str | None, period: str, text: str, partial: bool
) -> None:
    periods = Periods(granularity, FIRST, LAST)
    assert (periods.text(period), periods.is_partial(period)) == (text, partial)


def test_a_period_with_data_for_all_of_its_days_is_whole() -> None:
    periods = Periods("week", date(2026, 7, 13), date(2026, 7, 26))
    assert [periods.text(monday) for monday in ("2026-07-13", "2026-07-20")] == [
        "2026-07-13 to 2026-07-19",
        "2026-07-20 to 2026-07-26",
    ]
    assert not periods.is_partial("2026-07-20")
    assert Periods("month", date(2026, 6, 1), date(2026, 7, 1)).text("2026-06-01") == "2026-06"


def test_the_coverage_of_a_result_is_what_titles_state() -> None:
    coverage = {"coverage": {"first": "2026-07-15", "last": "2026-07-24"}}
    assert Periods.of({"granularity": "month"}, coverage).span == "2026-07-15 to 2026-07-24"
    assert Periods.of({}, {"coverage": {"first": None, "last": None}}).span == ""
