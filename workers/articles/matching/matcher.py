"""From records to links: identifiers first, then likeness among competitors."""

from collections.abc import Iterable, Iterator

import numpy as np

from workers.articles.matching.context import CandidatePairs, contenders, pairs_of
from workers.articles.matching.identifiers import identifier_keys, identifier_links
from workers.articles.matching.index import LEAST_OF_BEST, MatchIndex, Nearest
from workers.articles.matching.judging import Judge, PairBlock, judge_blocks
from workers.articles.matching.model import Model
from workers.articles.matching.records import Linkage, RecordLink
from workers.articles.matching.scoring import fitting
from workers.articles.matching.segment import Array

# Pairs are judged in blocks of this many, so that memory does not follow the size of a load.
_BLOCK = 2_000
_NO_ROWS = np.zeros(0, np.int64)


class CandidateSearch:
    """The nearest of rows on behalf of one load, each looked up once; the index must not change meanwhile."""

    def __init__(self, index: MatchIndex) -> None:
        self._index, self._looked_up = index, _NO_ROWS
        self._nearest = index.nearest(_NO_ROWS)

    def nearest(self, rows: Array) -> Nearest:
        """Return what `MatchIndex.nearest` returns, in any order."""
        missing = np.setdiff1d(rows, self._looked_up)
        if len(missing):
            self._keep(missing, self._index.nearest(missing))
        return _part(self._nearest, np.isin(self._nearest.row, rows))

    def unpruned_candidates(self, rows: Array) -> Nearest:
        """Return the nearest of distinct rows, also those that are far behind the best one."""
        wide = self._index.nearest(rows, least_of_best=0.0)
        best = np.zeros(int(rows.max(initial=-1)) + 1, np.float32)
        np.maximum.at(best, wide.row, wide.score)
        new = ~np.isin(wide.row, self._looked_up)
        self._keep(
            np.setdiff1d(rows, self._looked_up), _part(wide, new & (wide.score >= LEAST_OF_BEST * best[wide.row]))
        )
        return wide

    def _keep(self, rows: Array, nearest: Nearest) -> None:
        self._looked_up = np.union1d(self._looked_up, rows)
        self._nearest = Nearest(
            np.concatenate([self._nearest.row, nearest.row]),
            np.concatenate([self._nearest.other, nearest.other]),
            np.concatenate([self._nearest.score, nearest.score]),
        )


def _part(nearest: Nearest, chosen: Array) -> Nearest:
    return Nearest(nearest.row[chosen], nearest.other[chosen], nearest.score[chosen])


class Matcher:
    """Judges pairs of records of an index with a model."""

    def __init__(self, model: Model, index: MatchIndex) -> None:
        self._model, self._index = fitting(model), index

    def link(self, keys: Iterable[str]) -> Linkage:
        """Return the links of the records with these keys and of all that compete with them."""
        fresh = np.unique(np.array(list(self._index.rows_of(keys).values()), np.int64))
        touched, pairs = self._competing(fresh)
        likenesses = self._likenesses(pairs, touched)
        del pairs  # they are many, and the blocks to judge have what is needed
        links = {link.pair: link for link in likenesses}
        keys, identifiers = set[str](), set[str]()
        for record in self._index.records(touched):
            keys.add(record.key)
            identifiers.update(identifier_keys(record))
        identified = {link.pair: link for link in identifier_links(identifiers, self._index.by_identifier)}
        replaced = {pair: links[pair] for pair in identified.keys() & links.keys()}
        links |= identified
        return Linkage(frozenset(keys), tuple(links[pair] for pair in sorted(links)), replaced)

    def _competing(self, fresh: Array) -> tuple[Array, CandidatePairs]:
        """Return what new rows touch, and the pairs with an end in it and all that compete with one of these."""
        search = CandidateSearch(self._index)
        touched = self._touched(search, fresh)
        near = search.nearest(touched)
        back = search.nearest(np.setdiff1d(near.other, touched))
        pairs = pairs_of(self._index, np.concatenate([near.row, back.row]), np.concatenate([near.other, back.other]))
        return touched, pairs

    def _touched(self, search: CandidateSearch, fresh: Array) -> Array:
        """Return the rows, those that have one of them among their nearest, and those that share an identifier."""
        near = search.nearest(np.setdiff1d(search.unpruned_candidates(fresh).other, fresh))
        identifiers = {key for record in self._index.records(fresh) for key in identifier_keys(record)}
        named = [self._index.rows_of_identifier(identifier) for identifier in identifiers]
        return np.unique(np.concatenate([fresh, near.row[np.isin(near.other, fresh)], *named]))

    def _likenesses(self, pairs: CandidatePairs, touched: Array) -> Iterator[RecordLink]:
        """Judge the pairs with an end in `touched`, each among all candidates of both of its records."""
        ends_touched = np.isin(pairs.left, touched) | np.isin(pairs.right, touched)
        chosen, standing = contenders(self._index, pairs, ends_touched)
        # The pairs of a new record, whose row is the greater one, come together, so that it is taken apart once.
        order = np.argsort(pairs.right[chosen], kind="stable")
        left, right, standing = pairs.left[chosen[order]], pairs.right[chosen[order]], standing[order]
        starts = range(0, len(chosen), _BLOCK)
        blocks = (self._block(*(one[at : at + _BLOCK] for one in (left, right, standing))) for at in starts)
        return judge_blocks(Judge(self._model, self._index.vocabulary), blocks)

    def _block(self, left: Array, right: Array, standing: Array) -> PairBlock:
        rows, positions = np.unique(np.concatenate([left, right]), return_inverse=True)
        return PairBlock(self._index.texts(rows), positions[: len(left)], positions[len(left) :], standing)
