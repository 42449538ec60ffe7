"""Days are put into periods as another engine's calendar does it."""

from datetime import date, timedelta

import duckdb
import numpy as np

from workers.analytics.reports.periods import Range, day_of, last_day_of, number

FIRST, DAYS = date(1968, 11, 20), 3000

GRANULARITIES = ("day", "week", "month", "quarter", "year")


def test_each_day_is_in_the_period_that_duckdb_says() -> None:
    for granularity in GRANULARITIES:
        days = [FIRST + timedelta(days=n) for n in range(DAYS)]
        found = Range(FIRST, days[-1], granularity).periods_of(np.array([number(day) for day in days]))
        judged = duckdb.execute(
            f"SELECT date_trunc('{granularity}', ?::DATE + n::INTEGER)::DATE FROM range(?) r(n) ORDER BY n",
            [FIRST, DAYS],
        ).fetchall()
        assert [day_of(one) for one in found] == [row[0] for row in judged], granularity


def test_the_last_day_of_a_period_is_the_one_before_the_next() -> None:
    for granularity in GRANULARITIES:
        judged = duckdb.execute(
            f"SELECT DISTINCT p::DATE, (p + INTERVAL 1 {granularity} - INTERVAL 1 DAY)::DATE "
            f"FROM (SELECT date_trunc('{granularity}', ?::DATE + n::INTEGER) AS p FROM range(?) r(n))",
            [FIRST, DAYS],
        ).fetchall()
        assert [last_day_of(first, granularity, date.max) for first, _ in judged] == [last for _, last in judged], (
            granularity
        )


def test_the_last_period_ends_with_the_range() -> None:
    assert last_day_of(date(2026, 7, 1), "quarter", date(2026, 8, 9)) == date(2026, 8, 9)
    assert last_day_of(date(2026, 7, 1), None, date(2026, 8, 9)) == date(2026, 8, 9)
