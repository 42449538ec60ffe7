"""From candidate pairs to their features: what the two records say, and how the pair stands among its competitors."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from workers.articles.matching.context import CONTEXT_FEATURES, COPIES, swap_sides
from workers.articles.matching.features import Group, amounts, codes, fields, numbers, words
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import ANOTHER_MODEL, Model, UnusableModel
from workers.articles.matching.profiles import Profile
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.segment import Array
from workers.articles.matching.vocabulary import Vocabulary

_NOTHING = Profile(MatchRecord("", "", ""), Vocabulary())
_GROUPS: tuple[Group, ...] = (words, codes, numbers, amounts, fields)
_NAMES = {group: tuple(group(_NOTHING, _NOTHING)) for group in _GROUPS}
PAIR_FEATURES = tuple(name for names in _NAMES.values() for name in names)
FEATURES = (*PAIR_FEATURES, *CONTEXT_FEATURES)
_COLUMNS = {group: np.flatnonzero(np.isin(FEATURES, names)) for group, names in _NAMES.items()}
# What tells most pairs apart for the least work comes first: few of them need the words, and fewer the amounts.
_STEPS: tuple[tuple[Group, ...], ...] = ((codes, numbers, fields), (words,), (amounts,))


def profiles_of(index: MatchIndex, left: Array, right: Array) -> list[tuple[Profile, Profile]]:
    """Return the profiles of pairs of rows; that of a row is made once, whatever number of pairs it is in."""
    rows, positions = np.unique(np.concatenate([left, right]), return_inverse=True)
    profiles = [Profile(record, index.vocabulary) for record in index.records(rows)]
    ends = positions.reshape(2, -1).tolist()
    return [(profiles[one], profiles[other]) for one, other in zip(*ends, strict=True)]


def features_of(compared: Sequence[tuple[Profile, Profile]], standing: Array) -> Array:
    """Return `FEATURES` of pairs of profiles that stand among their competitors as `standing` says.

    The record that says more counts as the left one, so that the features do not depend on the order of a pair.
    """
    rows, pairs = _begun(compared, standing)
    for group in _GROUPS:
        _fill(rows, np.arange(len(pairs)), pairs, group)
    return rows


def likely(model: Model, compared: Sequence[tuple[Profile, Profile]], standing: Array) -> tuple[Array, Array]:
    """Return the positions of the pairs that are not below the model's lower bound, and their probabilities.

    A pair that cannot reach the bound whatever its other features are is left out without them.
    """
    rows, pairs = _begun(compared, standing)
    known = np.isin(FEATURES, CONTEXT_FEATURES)
    positions, probabilities = np.arange(len(pairs)), np.ones(len(pairs))
    for step in _STEPS:
        for group in step:
            _fill(rows, positions, pairs, group)
            known[_COLUMNS[group]] = True
        probabilities = model.probabilities(rows[positions], known)
        reached = probabilities >= model.review
        positions, probabilities = positions[reached], probabilities[reached]
    return positions, probabilities


def _begun(compared: Sequence[tuple[Profile, Profile]], standing: Array) -> tuple[Array, list[tuple[Profile, Profile]]]:
    """Return rows that have the features of `standing` alone, and the pairs, each with its left record first."""
    turn = np.array([_weight(right) > _weight(left) for left, right in compared], bool)
    rows = np.full((len(compared), len(FEATURES)), np.nan)
    rows[:, len(PAIR_FEATURES) :] = swap_sides(standing, turn)
    return rows, [pair[::-1] if turns else pair for pair, turns in zip(compared, turn.tolist(), strict=True)]


def _fill(rows: Array, positions: Array, pairs: Sequence[tuple[Profile, Profile]], group: Group) -> None:
    columns = _COLUMNS[group]
    values = chain.from_iterable(group(*pairs[at]).values() for at in positions.tolist())
    rows[positions[:, None], columns] = np.fromiter(values, float).reshape(len(positions), len(columns))


def fitting(model: Model) -> Model:
    """Return the model if it was trained on `FEATURES`; `UnusableModel` otherwise.

    A model that was trained before offers with copies were told apart judges them like all others, and links none of
    them without a person.
    """
    if model.features == tuple(name for name in FEATURES if name != COPIES):
        return replace(model, features=FEATURES)
    if model.features != FEATURES:
        raise UnusableModel(f"the model was trained on other features: {ANOTHER_MODEL}")
    return model


def _weight(one: Profile) -> tuple[int, str]:
    return len(one.said), one.record.key
