"""A cursor opens only with the query that it was made for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.http.cursors import CursorSigner
from shared.errors import InvalidCursor

CURSORS = CursorSigner("a secret that is long enough for tests")


@given(
    st.dictionaries(st.text(max_size=5), st.integers()),
    st.lists(st.one_of(st.text(max_size=20), st.integers(-(2**60), 2**60)), max_size=3),
)
def test_a_cursor_opens_only_with_its_query(query: dict[str, int], position: list[object]) -> None:
    sealed = CURSORS.seal("search", query, position)
    assert CURSORS.open("search", query, sealed) == position
    for kind, other in (("brands", query), ("search", {**query, "more": 1})):
        with pytest.raises(InvalidCursor):
            CURSORS.open(kind, other, sealed)


@given(st.text(max_size=80))
def test_a_malformed_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.open("search", {}, text)
