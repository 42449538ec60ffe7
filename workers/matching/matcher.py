"""From records to links: identifiers first, then likeness among competitors."""

from collections.abc import Iterable

import numpy as np

from workers.matching.context import Pairs, contenders, pairs_of
from workers.matching.evidence import evidence
from workers.matching.identifiers import identifier_keys, identifier_links
from workers.matching.index import MatchIndex
from workers.matching.model import Model
from workers.matching.records import Decision, Kind, Link, Linkage
from workers.matching.scoring import Profiles, feature_matrix, fitting
from workers.matching.search import Search
from workers.matching.segment import Array

# Pairs are judged in blocks of this many, so that memory does not follow the size of a load.
_BLOCK = 50_000


class Matcher:
    """Judges pairs of records of an index with a model."""

    def __init__(self, model: Model, index: MatchIndex) -> None:
        self._model, self._index = fitting(model), index

    def link(self, keys: Iterable[str]) -> Linkage:
        """Return the links of the records with these keys and of all that compete with them."""
        found = (self._index.row(key) for key in sorted(set(keys)))
        fresh = np.array(sorted({row for row in found if row is not None}), np.int64)
        search = Search(self._index)
        touched = self._touched(search, fresh)
        records = [self._index.record(int(row)) for row in touched]
        links = {link.pair: link for link in self._likenesses(search, touched)}
        links |= {link.pair: link for link in identifier_links(records, self._index.by_identifier)}
        return Linkage(frozenset(record.key for record in records), tuple(links[pair] for pair in sorted(links)))

    def _touched(self, search: Search, fresh: Array) -> Array:
        """Return the rows, those that have one of them among their nearest, and those that share an identifier."""
        near = search.nearest(np.setdiff1d(search.wide(fresh).other, fresh))
        rows = {*fresh.tolist(), *near.row[np.isin(near.other, fresh)].tolist()}
        for row in fresh.tolist():
            for identifier in identifier_keys(self._index.record(row)):
                shared = self._index.by_identifier(identifier)
                rows.update(at for at in (self._index.row(record.key) for record in shared) if at is not None)
        return np.array(sorted(rows), np.int64)

    def _likenesses(self, search: Search, touched: Array) -> list[Link]:
        """Judge the pairs with an end in `touched`, each among all candidates of both of its records."""
        near = search.nearest(touched)
        back = search.nearest(np.setdiff1d(near.other, touched))
        pairs = pairs_of(self._index, np.concatenate([near.row, back.row]), np.concatenate([near.other, back.other]))
        ends_touched = np.isin(pairs.left, touched) | np.isin(pairs.right, touched)
        wanted = np.flatnonzero(ends_touched & contenders(self._index, pairs))
        links: list[Link] = []
        for at in range(0, len(wanted), _BLOCK):
            links += self._judged(pairs, wanted[at : at + _BLOCK])
        return links

    def _judged(self, pairs: Pairs, chosen: Array) -> list[Link]:
        scores = self._model.probabilities(feature_matrix(self._index, pairs, chosen=chosen))
        profiles, links = Profiles(self._index), []
        for at in np.flatnonzero(scores >= self._model.review):
            rows = int(pairs.left[chosen[at]]), int(pairs.right[chosen[at]])
            left, right = sorted((profiles[row] for row in rows), key=lambda one: one.record.key)
            if left.record.separate or right.record.separate:
                continue
            said = evidence(left, right, self._index.vocabulary)
            score = round(float(scores[at]), 6)
            # What two records contradict each other in is for a person, however alike they are.
            sure = score >= self._model.link and all(one.agrees for one in said)
            decision = Decision.LINK if sure else Decision.REVIEW
            links.append(Link(left.record.key, right.record.key, Kind.LIKENESS, score, decision, said))
        return links
