"""Only days that exist are read, by the first format that fits."""

from datetime import date

from workers.ingest.calendar_days import is_format, parsed, shown


def test_a_text_that_is_no_day_is_not_read() -> None:
    for text, form in (
        ("31.02.2026", "%d.%m.%Y"),
        ("31.04.2026", "%d.%m.%Y"),
        ("20260230", "%Y%m%d"),
        ("Feb 30, 2026", "%b %d, %Y"),
        ("2026-02-30T20:00:00Z", "%Y-%m-%dT%H:%M:%S%z"),
        ("2026-13-01T20:00:00Z", "%Y-%m-%dT%H:%M:%S%z"),
        ("366 2025", "%j %Y"),
        ("2025 53 1", "%Y %W %w"),
        ("2025-W53", "%G-W%V"),
        ("2026-W00", "%G-W%V"),
        ("2026-W5", "%Y-%m"),
        ("2026111", "%Y%m%d"),
        ("2026-2-3", "%Y-%m-%d"),
        ("20260805", "%Y-%m-%d"),
        ("2026-08-05", "%d.%m.%Y"),
        ("", "%Y"),
        ("13", "%Y"),
        ("2026-08-05 and more", "%Y-%m-%d"),
        ("0000-01-01", "%Y-%m-%d"),
        ("30 février 2026", "%d %B %Y"),
        ("3 marso 2026", "%d %B %Y"),
    ):
        assert parsed(text, (form,)) is None, text


def test_a_day_is_read_as_it_is_written() -> None:
    for text, form, day in [
        ("2024-02-29", "%Y-%m-%d", date(2024, 2, 29)),
        ("5.8.2026", "%d.%m.%Y", date(2026, 8, 5)),
        ("AUG 5, 2026", "%b %d, %Y", date(2026, 8, 5)),
        ("366 2024", "%j %Y", date(2024, 12, 31)),
        ("2026-2-3", "%Y-%-m-%-d", date(2026, 2, 3)),
        ("2013", "%Y", date(2013, 12, 31)),
        ("2024-02", "%Y-%m", date(2024, 2, 29)),
        ("2026-W05", "%G-W%V", date.fromisocalendar(2026, 5, 7)),
        ("2020-W53", "%G-W%V", date.fromisocalendar(2020, 53, 7)),
        ("2026-W5", "%G-W%V", date.fromisocalendar(2026, 5, 7)),
        ("KW 05/2026", "KW %V/%G", date.fromisocalendar(2026, 5, 7)),
        ("2026-W05-3", "%G-W%V-%u", date.fromisocalendar(2026, 5, 3)),
        ("2026-08-05T01:00:00+08:00", "%Y-%m-%dT%H:%M:%S%z", date(2026, 8, 4)),
        ("2026-08-05T20:00:00-08:00", "%Y-%m-%dT%H:%M:%S%z", date(2026, 8, 6)),
        ("2026-08-05T20:00:00Z", "%Y-%m-%dT%H:%M:%S%z", date(2026, 8, 5)),
        ("2026年08月05日", "%Y年%m月%d日", date(2026, 8, 5)),
        ("20260805", "%Y%m%d", date(2026, 8, 5)),
        ("٢٠٢٦-٠١-٠١", "%Y-%m-%d", date(2026, 1, 1)),
        ("２０２６年１月2日", "%Y年%-m月%-d日", date(2026, 1, 2)),
        ("2026-08-05", "%F", date(2026, 8, 5)),
        # Months by their names in the languages whose names of columns are known.
        ("1er août 2026", "%d %B %Y", date(2026, 8, 1)),
        ("12 DÉC. 2026", "%d %b %Y", date(2026, 12, 12)),
        ("12 Dez. 2026", "%d %b %Y", date(2026, 12, 12)),
        ("12 dic 2026", "%d %b %Y", date(2026, 12, 12)),
        ("7 paź 2026", "%d %b %Y", date(2026, 10, 7)),
        ("7 de out. de 2026", "%d de %b de %Y", date(2026, 10, 7)),
        ("15 fevrier 2026", "%d %B %Y", date(2026, 2, 15)),  # without its accent
        ("3. listopadu 2026", "%d. %B %Y", date(2026, 11, 3)),
        ("12 сентября 2026", "%d %B %Y", date(2026, 9, 12)),
        ("5 Ağustos 2026", "%d %B %Y", date(2026, 8, 5)),
        ("9 يناير 2026", "%d %B %Y", date(2026, 1, 9)),
        ("17 Μαΐου 2026", "%d %B %Y", date(2026, 5, 17)),
        ("15 fe\u0301vrier 2026", "%d %B %Y", date(2026, 2, 15)),  # the accent as a character of its own
    ]:
        number = parsed(text, (form,))
        assert number is not None, text
        assert shown(number) == day, text


def test_the_first_format_that_fits_counts() -> None:
    formats = ("%Y-%m-%d", "%B %d %Y", "%Y")
    days = [parsed(text, formats) for text in ("2026-01-02", "January 17 2023", "2013", "soon")]
    assert [None if day is None else str(shown(day)) for day in days] == [
        "2026-01-02",
        "2023-01-17",
        "2013-12-31",
        None,
    ]


def test_a_format_with_a_mistake_is_found() -> None:
    for form, usable in (
        ("%d.%m.%Y", True),
        ("%D", True),
        ("%G-W%V-%u", True),
        ("%d.%m.", False),
        ("%H:%M", False),
        ("%Q", False),
        ("%", False),
        ("day", False),
        ("%Y %Y", False),
    ):
        assert is_format(form) is usable, form
