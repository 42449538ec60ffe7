"""Rows of bits, against numpy's own reading of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.search import bitmaps
from shared.search.segment import bits

ITEMS = 300_001


@given(st.sets(st.integers(0, ITEMS - 1), max_size=40), st.integers(0, 50), st.sampled_from([0, 9_000]))
def test_the_first_documents_are_found_wherever_a_row_has_them(some: set[int], most: int, many: int) -> None:
    documents = np.array(sorted(some | set(range(ITEMS - many, ITEMS))), np.uint32)
    row = bits(documents, ITEMS)
    assert bitmaps.first(row, most).tolist() == documents[:most].tolist()
    assert bitmaps.first(row, ITEMS).tolist() == documents.tolist()
    assert bitmaps.count(row) == len(documents)
