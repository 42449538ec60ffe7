"""Positions of keys in observations are those of a binary search."""

import numpy as np

from workers.bulk.codecs.key_positions import KeyPositions

RANDOM = np.random.default_rng(7)

SPREADS = {
    "one": np.array([5]),
    "even": np.unique(RANDOM.integers(0, 2**63 - 1, 5000)),
    "dense": np.arange(1000, 3000),
    "uneven": np.unique(np.r_[RANDOM.integers(0, 500, 300), RANDOM.integers(0, 2**63 - 1, 30), 0, 2**63 - 1]),
}


def test_positions_are_those_of_a_binary_search() -> None:
    for spread in SPREADS:
        keys = SPREADS[spread]
        others = np.r_[RANDOM.integers(0, 2**63 - 1, 1000), 0, 2**63 - 1, keys[:-1] + 1]
        wanted = RANDOM.permutation(np.r_[keys, keys, others])
        position, found = KeyPositions(keys).of(wanted)
        assert (found == np.isin(wanted, keys)).all(), spread
        assert (position[found] == np.searchsorted(keys, wanted[found])).all(), spread


def test_no_key_is_found_for_none() -> None:
    position, found = KeyPositions(SPREADS["even"]).of(np.empty(0, "i8"))
    assert not len(position)
    assert not len(found)
