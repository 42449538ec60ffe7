"""Periods are named by their days with data, and one without data for all of its days is known."""

from datetime import date

import pytest

from edge.analytics.period_words import Periods, coverage_text

FIRST, LAST = date(2026, 7, 15), date(2026, 7, 24)


def test_a_period_is_never_named_by_a_day_before_its_data() -> None:
    for granularity, period, text, partial in [
        ("day", "2026-07-15", "2026-07-15", False),
        ("week", "2026-07-13", "2026-07-15 to 2026-07-19", True),
        ("week", "2026-07-20", "2026-07-20 to 2026-07-24", True),
        ("month", "2026-07-01", "2026-07-15 to 2026-07-24", True),
        ("month", "2026-06-01", "2026-06", False),  # a footprint of items without a price
        ("quarter", "2026-07-01", "2026-07-15 to 2026-07-24", True),
        ("year", "2025-01-01", "2025", False),
        ("year", "2026-01-01", "2026-07-15 to 2026-07-24", True),
        (None, "2026-04-26", "2026-07-15 to 2026-07-24", False),
    ]:
        periods = Periods(granularity, FIRST, LAST)
        assert (periods.text(period), periods.is_partial(period)) == (text, partial), granularity


def test_a_period_among_others_is_named_by_what_people_call_it() -> None:
    for granularity, period, name in (
        ("day", "2026-07-15", "2026-07-15"),
        ("week", "2026-07-13", "the incomplete week of 2026-07-15"),
        ("week", "2026-07-20", "the week of 2026-07-20"),
        ("month", "2026-08-01", "2026-08"),
        ("quarter", "2026-07-01", "the incomplete quarter 2026-Q3"),
        ("quarter", "2026-10-01", "2026-Q4"),
        ("year", "2026-01-01", "the incomplete year 2026"),
        ("year", "2027-01-01", "2027"),
    ):
        assert Periods(granularity, date(2026, 7, 15), date(2028, 1, 1)).name(period) == name, granularity


MONTHLY = {"coverage": {"first": "2006-06-01", "last": "2022-05-01", "observed_days": 192, "days": 5814}}


def test_a_month_of_a_source_of_one_day_a_month_is_whole() -> None:
    for granularity, period, partial in (
        ("month", "2006-06-01", False),
        ("month", "2022-05-01", False),
        ("quarter", "2022-04-01", True),
        ("quarter", "2006-04-01", True),
        ("year", "2021-01-01", False),
        ("year", "2022-01-01", True),
    ):
        assert Periods.of({"granularity": granularity}, MONTHLY).is_partial(period) == partial, (granularity, period)
    assert Periods.of({"granularity": "month"}, MONTHLY).name("2022-05-01") == "2022-05"
    assert Periods.of({"granularity": "month"}, MONTHLY).finer() is None, "a week or day divides no such month"
    assert Periods.of({"granularity": "year"}, MONTHLY).finer() == "quarter"


def test_a_month_whose_data_ends_early_stays_incomplete_beside_monthly_ones() -> None:
    for last, observed in (("2022-05-24", 202), ("2022-05-01", 193)):
        coverage = {"coverage": {**MONTHLY["coverage"], "last": last, "observed_days": observed}}
        assert Periods.of({"granularity": "month"}, coverage).is_partial("2022-05-01"), last


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


@pytest.mark.parametrize(
    ("first", "last", "observed", "days", "text"),
    [
        ("2006-06-01", "2022-05-01", 192, 5814, "Prices of one day a month, for all 192 months"),
        ("2006-06-01", "2022-06-30", 150, 5874, "150 days in 193 months have prices"),
        ("2026-07-15", "2026-07-24", 10, 10, "10 of 10 days have prices"),
        ("2026-06-01", "2026-07-31", 3, 61, "3 of 61 days have prices"),
        ("2030-01-01", "2030-01-01", 0, 1, "0 of 1 day has prices"),
    ],
)
def test_monthly_prices_are_covered_by_months(first: str, last: str, observed: int, days: int, text: str) -> None:
    coverage = {"first": first, "last": last, "observed_days": observed, "days": days}
    assert coverage_text({"from": first, "to": last, "coverage": coverage}) == text
