"""What the labels of a pair's neighbours say of it: the labelled pairs that share its left or its right record."""

from collections import defaultdict
from typing import Any

import numpy as np
from scipy import sparse

from workers.articles.matching.context import Pairs
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.segment import Array

_SPACE = "named"
_SIDE_FEATURES = 7
# A neighbour's label counts by its likeness to this power: only near twins of the record speak for it.
_SHARPNESS = 6
_DAMPING = 0.05


def neighbour_features(index: MatchIndex, pairs: Pairs, known: Array, labels: Array) -> Array:
    """Return 14 features of each pair, from the labels of the pairs at the positions `known`, never from its own.

    For either side: how many neighbours are matches and how many are not; how much the record on the other side is like
    that of the most similar match and non-match; the margin of the pair's cosine before either; the neighbours' labels
    weighted by likeness. Not a number where there is no such neighbour.
    """
    label = np.full(len(pairs.left), -1)
    label[known] = labels
    sides = ((pairs.left, pairs.right), (pairs.right, pairs.left))
    return np.hstack([_of_side(index, shared, other, pairs.cosines[_SPACE], label) for shared, other in sides])


def grouped(ends: Array) -> dict[int, Array]:
    """Return the positions of each value."""
    groups: dict[int, list[int]] = defaultdict(list)
    for at, end in enumerate(ends.tolist()):
        groups[end].append(at)
    return {end: np.array(members) for end, members in groups.items()}


def _of_side(index: MatchIndex, shared: Array, other: Array, cosine: Array, label: Array) -> Array:
    features = np.full((len(shared), _SIDE_FEATURES), np.nan)
    features[:, :2] = 0
    vectors, position = _vectors(index, other)
    for members in grouped(shared).values():
        speaking = label[members] >= 0
        if speaking.any():
            others = vectors[position[members]]
            alike = (others @ others[speaking].T).toarray()
            same = members[:, None] == members[speaking]
            features[members] = _of_group(alike, same, cosine[members], speaking, label[members][speaking] == 1)
    return features


def _vectors(index: MatchIndex, rows: Array) -> tuple[Any, Array]:
    """Return the vectors of distinct rows, without the columns that are empty, and the position of each row in them."""
    distinct, position = np.unique(rows, return_inverse=True)
    vectors = index.vectors(_SPACE, distinct)
    columns, column = np.unique(vectors.indices, return_inverse=True)
    return sparse.csr_matrix((vectors.data, column, vectors.indptr), shape=(len(distinct), len(columns))), position


def _of_group(alike: Array, same: Array, cosine: Array, speaking: Array, match: Array) -> Array:
    """Compare the pairs of one record with its labelled ones; `same` marks the pair itself, which says nothing."""
    rows = np.full((len(cosine), _SIDE_FEATURES), np.nan)
    margin = cosine[:, None] - cosine[speaking]
    for at, kind in enumerate((match, ~match)):
        heard = kind & ~same
        some = heard.any(axis=1)
        rows[:, at] = heard.sum(axis=1)
        rows[some, 2 + at] = np.where(heard, alike, -1.0).max(axis=1)[some]
        rows[some, 4 + at] = np.where(heard, margin, 2.0).min(axis=1)[some]
    weight = np.where(same, 0.0, alike**_SHARPNESS)
    some = (~same).any(axis=1)
    with np.errstate(invalid="ignore"):  # BLAS may leave the processor's flag set although all operands are finite
        matched = weight @ match
    rows[some, 6] = (matched / (weight.sum(axis=1) + _DAMPING))[some]
    return rows
