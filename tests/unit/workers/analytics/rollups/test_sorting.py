"""Sorting by 16 bits at a time gives what sorting whole values gives, and keeps equal keys in their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.analytics.rollups.arrays import order_by, order_of

_KEYS = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**17), st.integers(0, 2**63 - 1)), max_size=60)


@pytest.mark.parametrize("kind", ["i8", "u8"])
@given(values=_KEYS)
def test_keys_are_sorted_and_equal_ones_stay_in_their_order(kind: str, values: list[int]) -> None:
    bits = max(values, default=0).bit_length()
    keys = np.array(values, kind)
    assert order_of(keys, bits).tolist() == sorted(range(len(values)), key=values.__getitem__)


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**40), st.integers(0, 2**30)), max_size=60),
    wide=st.booleans(),
)
def test_rows_are_ordered_by_several_keys(rows: list[tuple[int, int, int]], wide: bool) -> None:
    rows = [(group, price << 22 if wide else price >> 20, times) for group, price, times in rows]
    table = np.array(rows, "i8").reshape(-1, 3)
    order = order_by(table[:, 0], table[:, 1]).tolist()
    assert order == sorted(range(len(rows)), key=lambda n: rows[n][:2])
