"""Days and moments as people write them."""

from datetime import UTC, date, datetime, timedelta, timezone

from edge.dashboard.dates import day_text, moment_text, range_text, with_days


def test_a_day_has_its_month_as_a_word_and_other_text_stays() -> None:
    assert day_text("2026-11-29") == day_text(date(2026, 11, 29)) == "29 Nov 2026"
    assert day_text("2026-13-29") == "2026-13-29"


def test_a_range_repeats_no_month_and_no_year_of_both_ends() -> None:
    assert range_text("2026-07-15", "2026-07-24") == "15 to 24 Jul 2026"
    assert range_text("2026-06-25", "2026-07-24") == "25 Jun to 24 Jul 2026"
    assert range_text("2006-06-01", "2022-05-01") == "1 Jun 2006 to 1 May 2022"
    assert range_text("2026-07-15", "2026-07-15") == "15 Jul 2026"


def test_a_moment_is_told_in_utc() -> None:
    east = timezone(timedelta(hours=8))
    assert moment_text(datetime(2026, 11, 29, 7, 5, tzinfo=east)) == "28 Nov 2026, 23:05 UTC"
    assert moment_text("2026-11-29T07:05:09.120Z", seconds=True) == "29 Nov 2026, 07:05:09 UTC"
    assert moment_text(datetime(2026, 11, 29, tzinfo=UTC)) == "29 Nov 2026, 00:00 UTC"


def test_days_and_months_within_a_sentence_are_replaced_and_nothing_else() -> None:
    text = "Prices rose from 2026-06 to the week of 2026-07-20 (2026-07-15 to 2026-07-24), model 12026-07 and 99-2026-07-1."
    assert with_days(text, "<{}>") == (
        "Prices rose from Jun 2026 to the week of <20 Jul 2026> (<15 to 24 Jul 2026>), model 12026-07 and 99-2026-07-1."
    )
