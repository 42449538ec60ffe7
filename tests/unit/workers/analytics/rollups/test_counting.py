"""Counting by group and value, by a table and by sorting: both as a counter in plain Python counts."""

from collections import Counter

import numpy as np
import pytest

from workers.analytics.rollups.arrays import numbered, sums_by

_FEW, _MANY = 700, 3_000_000  # the greatest value that a table of 1,000 rows has room for, and one that it has not


@pytest.mark.parametrize("highest", [1, _FEW, _MANY])
@pytest.mark.parametrize("given", ["no times", "times", "times of which some are negative"])
def test_groups_and_prices_are_counted_as_a_counter_counts_them(highest: int, given: str) -> None:
    random = np.random.default_rng(highest)
    group, price = random.integers(0, 9, 1_000), random.integers(0, highest + 1, 1_000)
    times = None if given == "no times" else random.integers(-3 if "negative" in given else 1, 5, 1_000)
    expected: Counter[tuple[int, int]] = Counter()
    for n, pair in enumerate(zip(group.tolist(), price.tolist(), strict=True)):
        expected[pair] += 1 if times is None else int(times[n])
    groups, prices, sums = (column.tolist() for column in sums_by((group, price), times))
    found = dict(zip(zip(groups, prices, strict=True), sums, strict=True))
    assert list(found) == sorted(found)
    assert found == {pair: n for pair, n in expected.items() if n}


def test_values_are_numbered_in_their_order() -> None:
    for highest in (0, _FEW, 70_000, _MANY, 2**50):
        values = np.random.default_rng(1).integers(0, highest + 1, 1_000)
        distinct, place = numbered(values)
        assert distinct.tolist() == sorted(set(values.tolist())), highest
        assert distinct.take(place).tolist() == values.tolist(), highest


def test_of_nothing_nothing_is_counted() -> None:
    nothing = np.empty(0, "i8")
    assert [len(column) for column in sums_by((nothing, nothing), None)] == [0, 0, 0]
    assert [len(column) for column in numbered(nothing)] == [0, 0]
