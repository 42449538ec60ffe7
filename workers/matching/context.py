"""How a pair stands among its competitors: the other candidates of either record in the other's source."""

from dataclasses import dataclass

import numpy as np

from workers.matching.index import MOST, MatchIndex, place_in_group
from workers.matching.segment import SPACES, Array

_BEST = 3
# Less alike than this, in whichever space, is not worth the features: the model has hardly ever called it a match.
_LEAST_ALIKE = 0.2
CONTEXT_FEATURES = tuple(
    f"{space}_{feature}"
    for space in SPACES
    for feature in ("cosine", "rank_left", "margin_left", "ratio_left", "rank_right", "margin_right", "ratio_right")
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows, each once, the smaller row left, and per space the cosine of the two vectors.

    `listed[0]` says whether the right record is among the nearest of the left one, `listed[1]` the reverse.
    """

    left: Array
    right: Array
    listed: Array
    cosines: dict[str, Array]


def pairs_of(index: MatchIndex, row: Array, other: Array) -> Pairs:
    """Make pairs of rows and those among their nearest, and compute the cosines."""
    both, pair = np.unique(
        np.stack([np.minimum(row, other), np.maximum(row, other)], axis=1), axis=0, return_inverse=True
    )
    left, right = both[:, 0], both[:, 1]
    listed = np.zeros((2, len(both)), bool)
    listed[(row > other).astype(int), pair.ravel()] = True
    rows, places = np.unique(both, return_inverse=True)
    places = places.reshape(both.shape)
    cosines = {}
    for space in SPACES:
        vectors = index.vectors(space, rows)
        product = [
            vectors[places[at : at + 100_000, 0]].multiply(vectors[places[at : at + 100_000, 1]]).sum(axis=1)
            for at in range(0, len(both), 100_000)
        ]
        cosines[space] = np.concatenate([np.zeros(0), *(np.asarray(part).ravel() for part in product)])
    return Pairs(left, right, listed, cosines)


def context_features(index: MatchIndex, pairs: Pairs, turned: Array) -> Array:
    """Return one row of `CONTEXT_FEATURES` for each pair; where `turned`, the right record counts as left."""
    columns = []
    for space in SPACES:
        sides = _sides(index, pairs, space)
        columns.append(pairs.cosines[space][:, None])
        columns += [np.where(turned[:, None], sides[1 - side], sides[side]) for side in (0, 1)]
    return np.hstack(columns)


def contenders(index: MatchIndex, pairs: Pairs) -> Array:
    """Say which pairs are worth judging: each record is among the nearest of the other, and it stands well.

    In one of the spaces it is the best candidate of one of its records, or among the best three of both, and in one of
    them it is alike at all.
    """
    alike = np.maximum.reduce([pairs.cosines[space] for space in SPACES]) >= _LEAST_ALIKE
    found = np.zeros(len(pairs.left), bool)
    for space in SPACES:
        left, right = (side[:, 0] for side in _sides(index, pairs, space))
        found |= (np.minimum(left, right) < 1) | (np.maximum(left, right) < _BEST)
    found &= alike & pairs.listed.all(axis=0)
    return found


def _sides(index: MatchIndex, pairs: Pairs, space: str) -> tuple[Array, Array]:
    """Return how each pair stands among the nearest of its left and of its right record."""
    row = np.concatenate([pairs.left, pairs.right])
    source = index.sources(np.concatenate([pairs.right, pairs.left]))
    stands = np.zeros((len(row), 3))
    stands[:, 0] = MOST
    listed = pairs.listed.ravel()
    stands[listed] = _standing(row[listed], source[listed], np.tile(pairs.cosines[space], 2)[listed])
    return stands[: len(pairs.left)], stands[len(pairs.left) :]


def _standing(row: Array, source: Array, cosine: Array) -> Array:
    """Return rank, margin before the best other and ratio to the best, within each row's candidates of one source."""
    order = np.lexsort((-cosine, source, row))
    row, source, cosine = row[order], source[order], cosine[order]
    place = place_in_group(row, source)
    first = np.arange(len(row)) - place
    best = cosine[first] if len(row) else cosine
    follower = np.minimum(first + 1, len(row) - 1)
    second = np.where((follower > first) & (first[follower] == first), cosine[follower], 0.0)
    # Equal cosines share the rank of the first of them.
    stands = np.zeros((len(row), 3))
    new = (place == 0) | (cosine < np.roll(cosine, 1) - 1e-7)
    stands[:, 0] = np.minimum(place[np.maximum.accumulate(np.where(new, np.arange(len(row)), 0))], MOST)
    stands[:, 1] = cosine - np.where(place == 0, second, best)
    stands[:, 2] = cosine / np.maximum(best, 1e-6)
    result = np.empty_like(stands)
    result[order] = stands
    return result
