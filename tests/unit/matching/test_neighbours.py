"""What the labels of the pairs that share a record say of a pair."""

import numpy as np
import pytest

from workers.articles.matching.context import Pairs, pairs_of
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.neighbours import neighbour_features
from workers.articles.matching.records import Record

LAMP = Record("left/1", "left", "Korva desk lamp LX-200 white")
TWIN = Record("right/1", "right", "Korva desk lamp LX-200 white")
AGAIN = Record("right/2", "right", "Korva desk lamp LX-200 white new")
OTHER = Record("right/3", "right", "Brenta floor lamp Q7 black")


@pytest.fixture
def index() -> MatchIndex:
    return MatchIndex.build([LAMP, TWIN, AGAIN, OTHER])


@pytest.fixture
def pairs(index: MatchIndex) -> Pairs:
    """Pairs of the left record with each of the right ones, in their order."""
    return pairs_of(index, np.array([0, 0, 0]), np.array([1, 2, 3]))


def test_a_pair_never_hears_its_own_label(index: MatchIndex, pairs: Pairs) -> None:
    known = np.array([0, 1, 2])
    said = neighbour_features(index, pairs, known, np.array([True, False, False]))
    changed = neighbour_features(index, pairs, known, np.array([False, False, False]))
    np.testing.assert_array_equal(said[0], changed[0])
    assert not np.array_equal(said[1], changed[1], equal_nan=True)


def test_the_near_twin_of_a_match_hears_more_of_it_than_another_record(index: MatchIndex, pairs: Pairs) -> None:
    said = neighbour_features(index, pairs, np.array([0]), np.array([True]))
    matches, alike, weighted = said[:, 0], said[:, 2], said[:, 6]
    assert matches.tolist() == [0, 1, 1]
    assert alike[1] > alike[2]
    assert weighted[1] > weighted[2]


def test_without_examples_every_feature_says_so(index: MatchIndex, pairs: Pairs) -> None:
    said = neighbour_features(index, pairs, np.zeros(0, np.int64), np.zeros(0, bool))
    assert said.shape == (3, 14)
    assert (np.nan_to_num(said) == 0).all()
