"""From candidate pairs to their features: what the two records say, and how the pair stands among its competitors."""

from collections.abc import Sequence

import numpy as np

from workers.articles.matching.context import CONTEXT_FEATURES, Pairs, standings, turned
from workers.articles.matching.features import pair_features
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model, UnusableModel
from workers.articles.matching.profiles import Profile, profile
from workers.articles.matching.records import Record
from workers.articles.matching.segment import Array
from workers.articles.matching.vocabulary import Vocabulary

_NOTHING = profile(Record("", "", ""), Vocabulary())
PAIR_FEATURES = tuple(pair_features(_NOTHING, _NOTHING, Vocabulary()))
FEATURES = (*PAIR_FEATURES, *CONTEXT_FEATURES)


def feature_matrix(index: MatchIndex, pairs: Pairs, *, fixed_sides: bool = False) -> Array:
    """Return `FEATURES` of pairs, one row each; the competitors of each are the others.

    With `fixed_sides` the left record stays left; otherwise see `features_of`.
    """
    profiles = Profiles(index)
    ends = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    compared = [(profiles[left], profiles[right]) for left, right in ends]
    standing = standings(index, pairs, np.arange(len(pairs.left)))
    return features_of(compared, standing, index.vocabulary, fixed_sides=fixed_sides)


def features_of(
    compared: Sequence[tuple[Profile, Profile]], standing: Array, vocabulary: Vocabulary, *, fixed_sides: bool = False
) -> Array:
    """Return `FEATURES` of pairs of profiles that stand among their competitors as `standing` says.

    The record that says more counts as the left one, so that the features do not depend on the order of a pair.
    """
    which = np.zeros(len(compared), bool)
    rows = np.empty((len(compared), len(PAIR_FEATURES)))
    for at, pair in enumerate(compared):
        which[at] = not fixed_sides and _weight(pair[1]) > _weight(pair[0])
        left, right = reversed(pair) if which[at] else pair
        rows[at] = list(pair_features(left, right, vocabulary).values())
    return np.hstack([rows, turned(standing, which)])


def fitting(model: Model) -> Model:
    """Return the model if it was trained on `FEATURES`; `UnusableModel` otherwise."""
    if model.features != FEATURES:
        raise UnusableModel("the model was trained on other features: train it again with `itemindex matches train`")
    return model


class Profiles:
    """Profiles of an index's rows, each made once."""

    def __init__(self, index: MatchIndex) -> None:
        self._index, self._known = index, dict[int, Profile]()

    def __getitem__(self, row: int) -> Profile:
        known = self._known.get(row)
        if known is None:
            known = self._known[row] = profile(self._index.record(row), self._index.vocabulary)
        return known


def _weight(one: Profile) -> tuple[int, str]:
    return len(one.said), one.record.key
