"""Prefer, Accept, Range and conditions: what a header means, and that nonsense means nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.http.byte_ranges import Slice, Unsatisfiable, slice_of
from edge.http.conditions import match, none_match
from edge.http.prefer import best_format, wait_seconds
from shared.analytics.manifest import MEDIA_TYPES


def test_if_none_match() -> None:
    for field, matches in (
        ('W/"a.1"', True),
        ('"a.1"', True),
        ('"x", W/"a.1"', True),
        ("*", True),
        ('"a.2"', False),
        ("", False),
        (None, False),
        ("a.1", False),
    ):
        assert none_match(field, 'W/"a.1"') == matches, field


def test_how_long_a_caller_wants_to_wait() -> None:
    for field, seconds in (
        (None, 10),
        ("", 10),
        ("wait=0", 0),
        ("wait=7", 7),
        ("WAIT = 7", 7),
        ('wait="7"', 7),
        ("wait=600", 30),
        ("respond-async", 0),
        ("respond-async, wait=20", 0),
        ("handling=lenient, wait=3", 3),
        ("wait=-1", 10),
        ("wait=soon", 10),
        ("wait=٣", 10),
        ("wait=5; foo=bar", 5),
    ):
        assert wait_seconds(field) == seconds, field


def test_which_format_a_caller_likes_best() -> None:
    for field, format in (
        (None, "json"),
        ("", "json"),
        ("*/*", "json"),
        ("application/json", "json"),
        ("text/csv", "csv"),
        ("text/*", "csv"),
        ("application/*", "json"),
        ("application/json;q=0.1, text/csv;q=0.2", "csv"),
        ("application/json;q=0, */*", "csv"),
        ("application/vnd.apache.parquet", "parquet"),
        ("APPLICATION/X-NDJSON", "ndjson"),
        ("text/html, */*;q=0.1", "json"),
        ("image/png", None),
        ("text/csv;q=0", None),
        ("nonsense", None),
    ):
        assert best_format(field, MEDIA_TYPES) == format, field


@given(st.text(max_size=60))
def test_no_header_breaks_them(field: str) -> None:
    assert 0 <= wait_seconds(field) <= 30
    assert best_format(field, MEDIA_TYPES) in {*MEDIA_TYPES, None}
    assert slice_of(field, None, '"e"', 10) is None or field.lower().startswith("bytes=")


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 20))
def test_a_range_names_what_it_says(first: int, last: int, length: int) -> None:
    field = f"bytes={first}-{last}"
    if first >= length and last >= first:
        with pytest.raises(Unsatisfiable):
            slice_of(field, None, '"e"', length)
        return
    expected = Slice(first, min(last + 1, length)) if first <= last else None
    assert slice_of(field, None, '"e"', length) == expected


def test_if_match_compares_strongly() -> None:
    assert match(None, '"a"') and match("*", '"a"') and match('"b", "a"', '"a"')
    assert not match('W/"a"', '"a"') and not match('"b"', '"a"')
