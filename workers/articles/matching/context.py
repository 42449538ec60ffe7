"""How a pair stands among its competitors: the other candidates of either record in the other's source."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workers.articles.matching.index import MOST, MatchIndex, position_in_group
from workers.articles.matching.segment import SPACES, Array

_BEST = 3
# Less alike than this, in whichever space, is not worth the features: the model has hardly ever called it a match.
_LEAST_ALIKE = 0.2
CONTEXT_FEATURES = tuple(
    f"{space}_{feature}"
    for space in SPACES
    for feature in ("cosine", "rank_left", "margin_left", "ratio_left", "rank_right", "margin_right", "ratio_right")
)
# For each space the cosine, then what the left and what the right record make of it.
_SIDE = 3
_WIDTH = 1 + 2 * _SIDE
_RANKS = tuple(1 + space * _WIDTH for space in range(len(SPACES)))
_TURNED = [space * _WIDTH + column for space in range(len(SPACES)) for column in (0, 4, 5, 6, 1, 2, 3)]
_CHUNK = 100_000


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Pairs of rows, each once, the smaller row left, and per space the cosine of the two vectors.

    `listed[0]` says whether the right record is among the nearest of the left one, `listed[1]` the reverse.
    """

    left: Array
    right: Array
    listed: Array
    cosines: dict[str, Array]


def pairs_of(index: MatchIndex, row: Array, other: Array) -> CandidatePairs:
    """Make pairs of rows and those among their nearest, and compute the cosines."""
    rows = int(max(row.max(initial=0), other.max(initial=0))) + 1
    both, pair = np.unique(np.minimum(row, other) * rows + np.maximum(row, other), return_inverse=True)
    left, right = np.divmod(both, rows)
    listed = np.zeros((2, len(both)), bool)
    listed[(row > other).astype(int), pair] = True
    cosines = {space: np.zeros(len(both)) for space in SPACES}
    for at in range(0, len(both), _CHUNK):
        part = slice(at, at + _CHUNK)
        distinct, positions = np.unique(np.concatenate([left[part], right[part]]), return_inverse=True)
        ones, others = positions.reshape(2, -1)
        for space in SPACES:
            vectors = index.vectors(space, distinct)
            cosines[space][part] = np.asarray(vectors[ones].multiply(vectors[others]).sum(axis=1)).ravel()
    return CandidatePairs(left, right, listed, cosines)


def standings(index: MatchIndex, pairs: CandidatePairs, chosen: Array) -> Array:
    """Return one row of `CONTEXT_FEATURES` for each chosen pair; its competitors are among all of `pairs`."""
    rows = np.zeros((len(chosen), len(CONTEXT_FEATURES)))
    rows[:, _RANKS] = rows[:, [column + _SIDE for column in _RANKS]] = MOST
    for number, space in enumerate(SPACES):
        rows[:, number * _WIDTH] = pairs.cosines[space][chosen]
    place = np.full(len(pairs.left), -1)
    place[chosen] = np.arange(len(chosen))
    for row, source, side, pair in _listings(index, pairs):
        wanted = place[pair] >= 0
        at, first = place[pair[wanted], None], side[wanted, None] * _SIDE + np.arange(_SIDE)
        for column, space in zip(_RANKS, SPACES, strict=True):
            rows[at, column + first] = _standing(row, source, pairs.cosines[space][pair])[wanted]
    return rows


def swap_sides(standing: Array, which: Array) -> Array:
    """Return rows of `CONTEXT_FEATURES` where of some pairs the right record counts as left."""
    return np.where(which[:, None], standing[:, _TURNED], standing)


def contenders(index: MatchIndex, pairs: CandidatePairs, among: Array) -> tuple[Array, Array]:
    """Return the positions of the pairs that are worth judging, and their `standings`; `among` says which may be.

    Each record is among the nearest of the other, and in one of the spaces they are alike at all. In one of them the
    pair is the best candidate of one of its records, or among the best three of both.
    """
    alike = np.maximum.reduce([pairs.cosines[space] for space in SPACES]) >= _LEAST_ALIKE
    chosen = np.flatnonzero(among & alike & pairs.listed.all(axis=0))
    standing = standings(index, pairs, chosen)
    worth_judging = np.zeros(len(chosen), bool)
    for column in _RANKS:
        left, right = standing[:, column], standing[:, column + _SIDE]
        worth_judging |= (np.minimum(left, right) < 1) | (np.maximum(left, right) < _BEST)
    return chosen[worth_judging], standing[worth_judging]


def _listings(index: MatchIndex, pairs: CandidatePairs) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Yield which records are among the nearest of which: the record, the other's source, the record's side, the pair.

    All of one record come together, and those of a part of the records at a time: all would take much memory.
    """
    side, pair = np.nonzero(pairs.listed)
    row = np.where(side == 0, pairs.left[pair], pairs.right[pair])
    order = np.argsort(row, kind="stable")
    first = np.flatnonzero(position_in_group(row[order]) == 0)
    ends = first[np.searchsorted(first, np.arange(_CHUNK, len(row), _CHUNK), "right") - 1]
    for part in np.split(order, ends):
        other = np.where(side[part] == 0, pairs.right[pair[part]], pairs.left[pair[part]])
        yield row[part], index.sources(other), side[part], pair[part]


def _standing(row: Array, source: Array, cosine: Array) -> Array:
    """Return rank, margin before the best other and ratio to the best, within each row's candidates of one source."""
    order = np.lexsort((-cosine, source, row))
    row, source, cosine = row[order], source[order], cosine[order]
    position = position_in_group(row, source)
    first = np.arange(len(row)) - position
    best = cosine[first] if len(row) else cosine
    follower = np.minimum(first + 1, len(row) - 1)
    second = np.where((follower > first) & (first[follower] == first), cosine[follower], 0.0)
    # Equal cosines share the rank of the first of them.
    stands = np.zeros((len(row), 3))
    new = (position == 0) | (cosine < np.roll(cosine, 1) - 1e-7)
    stands[:, 0] = np.minimum(position[np.maximum.accumulate(np.where(new, np.arange(len(row)), 0))], MOST)
    stands[:, 1] = cosine - np.where(position == 0, second, best)
    stands[:, 2] = cosine / np.maximum(best, 1e-6)
    result = np.empty_like(stands)
    result[order] = stands
    return result
