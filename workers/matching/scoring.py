"""From candidate pairs to their features: what the two records say, and how the pair stands among its competitors."""

import numpy as np

from workers.matching.context import CONTEXT_FEATURES, Pairs, context_features
from workers.matching.features import pair_features
from workers.matching.index import MatchIndex
from workers.matching.model import Model, UnusableModel
from workers.matching.profiles import Profile, profile
from workers.matching.records import Record
from workers.matching.segment import Array
from workers.matching.vocabulary import Vocabulary

_NOTHING = profile(Record("", "", ""))
PAIR_FEATURES = tuple(pair_features(_NOTHING, _NOTHING, Vocabulary()))
FEATURES = (*PAIR_FEATURES, *CONTEXT_FEATURES)


def feature_matrix(index: MatchIndex, pairs: Pairs, *, chosen: Array | None = None, fixed_sides: bool = False) -> Array:
    """Return `FEATURES` of pairs, one row each; competitors are all of `pairs`, rows are made for `chosen` alone.

    The record that says more counts as the left one, so that the features do not depend on the order of a pair;
    with `fixed_sides` the left one stays left.
    """
    chosen = np.arange(len(pairs.left)) if chosen is None else chosen
    profiles = Profiles(index)
    turned = np.zeros(len(pairs.left), bool)
    rows = np.empty((len(chosen), len(PAIR_FEATURES)))
    for at, pair in enumerate(chosen):
        left, right = profiles[int(pairs.left[pair])], profiles[int(pairs.right[pair])]
        if not fixed_sides and _weight(right) > _weight(left):
            turned[pair] = True
            left, right = right, left
        rows[at] = list(pair_features(left, right, index.vocabulary).values())
    return np.hstack([rows, context_features(index, pairs, turned)[chosen]])


def fitting(model: Model) -> Model:
    """Return the model if it was trained on `FEATURES`; `UnusableModel` otherwise."""
    if model.features != FEATURES:
        raise UnusableModel("the model was trained on other features: train it anew with `itemindex matches train`")
    return model


class Profiles:
    """Profiles of an index's rows, each made once."""

    def __init__(self, index: MatchIndex) -> None:
        self._index, self._known = index, dict[int, Profile]()

    def __getitem__(self, row: int) -> Profile:
        found = self._known.get(row)
        if found is None:
            found = self._known[row] = profile(self._index.record(row))
        return found


def _weight(one: Profile) -> tuple[int, str]:
    return len(one.said), one.record.key
