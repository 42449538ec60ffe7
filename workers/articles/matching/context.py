"""How a pair stands among its competitors: the other candidates of either record in the other's source."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workers.articles.matching.index import MOST, MatchIndex, position_in_group
from workers.articles.matching.segment import SPACES, Array

_BEST = 3
# Less alike than this, in whichever space, is not worth the features: the model has hardly ever called it a match.
_LEAST_ALIKE = 0.2
COPIES = "copies"
"""How many copies the record with fewer of them has among the other's source; a market's offers have some."""
CONTEXT_FEATURES = (
    *(
        f"{space}_{feature}"
        for space in SPACES
        for feature in ("cosine", "rank_left", "margin_left", "ratio_left", "rank_right", "margin_right", "ratio_right")
    ),
    COPIES,
)
# For each space the cosine, then what the left and what the right record make of it.
_SIDE = 3
_WIDTH = 1 + 2 * _SIDE
_RANKS = tuple(1 + space * _WIDTH for space in range(len(SPACES)))
_TURNED = [space * _WIDTH + column for space in range(len(SPACES)) for column in (0, 4, 5, 6, 1, 2, 3)]
_TURNED.append(len(SPACES) * _WIDTH)
_CHUNK = 100_000
# Cosines that differ less are equal.
_EQUAL = 1e-7


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Pairs of rows, each once, the smaller row left, and per space the cosine of the two vectors.

    `listed[0]` says whether the right record is among the nearest of the left one, `listed[1]` the reverse. Records of
    one of `groups`, which has a row for each side, are taken for offers of one article, which do not compete.
    """

    left: Array
    right: Array
    listed: Array
    cosines: dict[str, Array]
    groups: Array


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
    copies = np.unique(np.stack([index.contents(left), index.contents(right)]), return_inverse=True)[1]
    return CandidatePairs(left, right, listed, cosines, copies.reshape(2, -1))


def standings(index: MatchIndex, pairs: CandidatePairs, chosen: Array) -> Array:
    """Return one row of `CONTEXT_FEATURES` for each chosen pair; its competitors are among all of `pairs`."""
    rows = np.zeros((len(chosen), len(CONTEXT_FEATURES)))
    rows[:, _RANKS] = rows[:, [column + _SIDE for column in _RANKS]] = MOST
    for number, space in enumerate(SPACES):
        rows[:, number * _WIDTH] = pairs.cosines[space][chosen]
    offers, copies = rows.copy(), np.zeros((len(chosen), 2))
    place = np.full(len(pairs.left), -1)
    place[chosen] = np.arange(len(chosen))
    for row, source, side, pair in _listings(index, pairs):
        at, first = place[pair], side[:, None] * _SIDE + np.arange(_SIDE)
        wanted = at >= 0
        group, own = pairs.groups[1 - side, pair], pairs.groups[side, pair]
        counted = _copies(row, source, group == own)
        copies[at[wanted], side[wanted]] = np.minimum(counted - (group == own), _BEST)[wanted]
        alone, none = np.arange(len(pair)), np.full(len(pair), -1)
        some = np.flatnonzero(counted)  # of the other lists, offers that do not compete would stand as all do
        asked = wanted[some]
        for column, space in zip(_RANKS, SPACES, strict=True):
            cosine = pairs.cosines[space][pair]
            rows[at[wanted, None], column + first[wanted]] = _standing(row, source, alone, none, cosine)[wanted]
            among_offers = _standing(row[some], source[some], group[some], own[some], cosine[some])
            offers[at[some][asked, None], column + first[some][asked]] = among_offers[asked]
    # Only where both records have copies, as on marketplaces, do copies not compete.
    rows[:, -1] = offers[:, -1] = copies.min(axis=1)
    return np.where(has_copies(rows)[:, None], offers, rows)


def has_copies(standing: Array) -> Array:
    """Say of rows of `CONTEXT_FEATURES` whether both records have a copy among the other's source."""
    several: Array = standing[:, -1] > 0
    return several


def swap_sides(standing: Array, which: Array) -> Array:
    """Return rows of `CONTEXT_FEATURES` where of some pairs the right record counts as left."""
    return np.where(which[:, None], standing[:, _TURNED], standing)


def contenders(index: MatchIndex, pairs: CandidatePairs, among: Array) -> tuple[Array, Array]:
    """Return the positions of the pairs that are worth judging, and their `standings`; `among` says which may be.

    Each record is among the nearest of the other, and in one of the spaces they are alike at all. In one of them the
    pair is the best candidate of one of its records, or among the best three of both. Offers that have copies are all
    worth it: those of other products, several of each, stand before them.
    """
    alike = np.maximum.reduce([pairs.cosines[space] for space in SPACES]) >= _LEAST_ALIKE
    chosen = np.flatnonzero(among & alike & pairs.listed.all(axis=0))
    standing = standings(index, pairs, chosen)
    worth_judging = has_copies(standing)
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


def _copies(row: Array, source: Array, own: Array) -> Array:
    """Count, within each row's candidates of one source, those of the row's own group, the candidate among them."""
    _, lists = np.unique(np.stack([row, source]), axis=1, return_inverse=True)
    counts: Array = np.bincount(lists, own, minlength=int(lists.max(initial=-1)) + 1)[lists]
    return counts


def _standing(row: Array, source: Array, group: Array, own: Array, cosine: Array) -> Array:
    """Return rank, margin before the best rival and ratio to the best, within each row's candidates of one source.

    A candidate's rivals are those of other groups than its own and, as `own` tells, the row's; each group counts once.
    """
    starts = np.lexsort((source, row))
    number = np.empty(len(row), np.int64)
    number[starts] = np.cumsum(position_in_group(row[starts], source[starts]) == 0) - 1
    rival = np.flatnonzero(group != own)
    best_first = rival[np.lexsort((-cosine[rival], group[rival], number[rival]))]
    leads = best_first[position_in_group(number[best_first], group[best_first]) == 0]
    leads = leads[np.lexsort((-cosine[leads], number[leads]))]
    # One ascending key for all lists: their number, then the best cosine first.
    keys = 4.0 * number[leads] - cosine[leads]
    first = np.searchsorted(number[leads], number)
    # Equal cosines share the rank of the first of them.
    better = np.searchsorted(keys, 4.0 * number - cosine - _EQUAL) - first
    _, mates = np.unique(np.stack([number, group]), axis=1, return_inverse=True)
    best_mate = np.full(int(mates.max(initial=-1)) + 1, -1.0)
    np.maximum.at(best_mate, mates[leads], cosine[leads])
    lead_of = np.where(group != own, best_mate[mates], -1.0)
    padded_group = np.append(group[leads], [-1, -1])
    padded = np.append(cosine[leads], [0.0, 0.0])
    padded_number = np.append(number[leads], [-1, -1])
    at = first + ((padded_number[first] == number) & (padded_group[first] == group))
    best = np.where(padded_number[at] == number, padded[at], 0.0)
    rank = np.minimum(better - (lead_of > cosine + _EQUAL), MOST)
    return np.stack([rank, cosine - best, cosine / np.maximum(np.maximum(best, cosine), 1e-6)], axis=1)
