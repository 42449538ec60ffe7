"""Scores of documents by BM25, with figures of the whole index, and the best of them over all its segments. Pure."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.index import SHARE_MAX, Filter, SearchIndex
from shared.search.live_segment import LiveSegment, Postings, distinct, merged, positions_in_both, union
from shared.search.query_words import TermVariant, Weights, Word, description_field
from shared.search.segment import Numbers, Row

# Rows of bits, one for each document of a segment in the order of (length, IID). Pure.
# Where every word of a query is common, each is met about once in each item, so BM25 comes down to the length of the
# text: the first set bits of a logical AND are the best hits, and the number of bits is the exact total.


# So much of a row is looked at first, then twice as much each time: the best hits of common words are at its beginning.
_FIRST_WORDS = 1_024


class Places(NamedTuple):
    """Where rows have the bits of some documents: in which word, and this word with that bit alone."""

    words: NDArray[np.intp]
    bits: Row


NOWHERE = Places(np.zeros(0, np.intp), np.zeros(0, np.uint64))


def count(row: Row) -> int:
    """Return how many bits are set."""
    return int(np.bitwise_count(row).sum(dtype=np.int64))


def first(row: Row, most: int) -> Numbers:
    """Return the first documents whose bit is set, at most so many."""
    numbers, start, size = [np.zeros(0, np.uint32)], 0, _FIRST_WORDS
    while most > 0 and start < len(row):
        # numpy finds what is set soonest in one dimension of truth values: numbers or two dimensions take twice as long
        part = row[start : start + size]
        filled = np.flatnonzero(part != 0)[:most]
        set_bits = np.flatnonzero(np.unpackbits(part[filled].view(np.uint8), bitorder="little").view(np.bool_))[:most]
        numbers.append(((filled[set_bits >> 6] + start) * 64 + (set_bits & 63)).astype(np.uint32))
        most -= len(numbers[-1])
        start, size = start + size, 2 * size
    return np.concatenate(numbers)


def places(documents: Numbers) -> Places:
    """Return where the bits of documents are, for `has`: the same for all rows of a segment."""
    bits = np.uint64(1) << (documents & np.uint32(63)).astype(np.uint64)
    return Places((documents >> np.uint32(6)).astype(np.intp), bits)


def has(row: Row, at: Places) -> NDArray[np.uint8]:
    """Return 1 for each document whose bit is set, 0 for the others."""
    found: NDArray[np.bool_] = row.take(at.words) & at.bits != 0
    return found.view(np.uint8)


def by_number_met(rows: Sequence[Row]) -> list[Row]:
    """Return the documents that are in all of the rows, in all but one, and so on down to one."""
    at_least: list[Row] = []
    for row in rows:
        longer = [row, *(row & met for met in at_least)]
        at_least = [met | more for met, more in zip(at_least, longer, strict=False)] + [longer[-1]]
    exactly = [met & ~more for met, more in pairwise(at_least)] + at_least[-1:]
    return exactly[::-1]


Scores = NDArray[np.float64]


class Matches(NamedTuple):
    """Documents of one segment with their scores."""

    segment: LiveSegment
    documents: Numbers
    scores: Scores


class Best(NamedTuple):
    """Numbers of documents in the whole index with their scores, best first, equal scores by IID."""

    numbers: NDArray[np.int64]
    scores: Scores


def best(by_segment: Sequence[Matches], count: int) -> Best:
    """Return the best documents of all segments."""
    chosen = [_best(matches, count) for matches in by_segment if len(matches.documents)]
    if not chosen:
        return Best(np.zeros(0, np.int64), np.zeros(0))
    numbers = np.concatenate([matches.documents.astype(np.int64) + matches.segment.base for matches in chosen])
    scores = np.concatenate([matches.scores for matches in chosen])
    if len(chosen) > 1:
        iids = np.concatenate([matches.segment.iids(matches.documents) for matches in chosen])
        order = np.lexsort((iids, -scores))[:count]
        numbers, scores = numbers[order], scores[order]
    return Best(numbers, scores)


def best_by_segment(by_segment: Sequence[Matches], count: int) -> Sequence[Matches]:
    """Return the best documents of all segments in no order, those of each segment."""
    chosen = [top(matches, count) for matches in by_segment]
    if sum(len(matches.documents) for matches in chosen) <= count:
        return chosen
    ranked = best(chosen, count)
    return [_of_segment(ranked, matches.segment) for matches in chosen]


def _of_segment(ranked: Best, segment: LiveSegment) -> Matches:
    mine = (ranked.numbers >= segment.base) & (ranked.numbers < segment.base + segment.items)
    return Matches(segment, (ranked.numbers[mine] - segment.base).astype(np.uint32), ranked.scores[mine])


def top(matches: Matches, count: int) -> Matches:
    """Return the best documents of a segment in no order: of the highest scores, of equal scores the first IIDs."""
    segment, documents, scores = matches
    if len(scores) <= count:
        return matches
    # Not numpy's partition: where many scores are equal, as here, it takes ten times as long as to sort them.
    least = np.sort(scores)[len(scores) - count]
    above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    first = np.argsort(segment.ranks(documents[equal]))[: count - len(above)]
    chosen = np.concatenate([above, equal[first]])
    return Matches(segment, documents[chosen], scores[chosen])


def _best(matches: Matches, count: int) -> Matches:
    """Return the best documents of a segment in their order: by score, then by IID."""
    segment, documents, scores = top(matches, count)
    order = np.lexsort((segment.ranks(documents), -scores))
    return Matches(segment, documents[order], scores[order])


# So few documents, and so small a share of a term's documents, are looked up one by one.
_FEW = 1_024
_SMALL_SHARE = 4
_WITHOUT_LENGTH = (layout.QUANTITIES, layout.DESCRIBED_QUANTITIES)
Positions = NDArray[np.intp]
# Their scores depend on the length by which documents are numbered.
_BY_LENGTH = (layout.WORDS, layout.PREFIXES)


class Found(NamedTuple):
    """Documents among which the best ones are, and the number of all that were found."""

    matches: Matches
    total: int


class _List(NamedTuple):
    """The documents that have a variant in a field and pass the filters, and the weight of the field."""

    variant: TermVariant
    field: str
    weight: float
    postings: Postings


class Scorer:
    """Finds and scores documents of one segment for one query."""

    def __init__(self, index: SearchIndex, segment: LiveSegment, weights: Weights, filters: Sequence[Filter]) -> None:
        self._index = index
        self._segment = segment
        self._weights = weights
        self._filters = filters
        self._postings: dict[Filter, Postings] = {}
        self._rows: dict[Filter, Row] = {}
        # The words of a query are mostly asked of the same documents.
        self._placed: tuple[Numbers | None, Places] = (None, NOWHERE)
        self._measured: tuple[Numbers | None, NDArray[np.uint8]] = (None, np.zeros(0, np.uint8))

    def with_all(self, words: Sequence[Word], common: Sequence[bool]) -> Matches:
        """Return the documents that have every word and pass the filters. Some word or filter is not common."""
        documents = self.filtered(self._rarest(words, common))
        if len(documents) > _FEW:  # only those that have all words are scored
            documents = self._with_every(words, common, documents)
        scores: dict[int, Scores] = {}
        for position in self._rarest_first(words, common):
            met, scores[position] = self._word(words[position], documents)
            if np.count_nonzero(met) < len(met):
                documents = documents[met]
                if not len(documents):
                    return Matches(self._segment, documents, np.zeros(0))
                scores = {of: score[met] for of, score in scores.items()}
        total = np.zeros(len(documents))
        # Added in the order of the query: floating-point sums depend on it, and segments differ in which word is rare.
        for position in range(len(words)):
            total += scores[position]
        for word, is_common in zip(words, common, strict=True):
            # Reading descriptions for a common word would cost much and change the scores of many hits very little.
            described = [variant for variant in word.variants if variant.described and not is_common]
            if described:
                variants = [(variant, description_field(variant.field)) for variant in described]
                total += self._sum(variants, documents)[1] * self._weights.description
        return Matches(self._segment, documents, total)

    def count_all(self, words: Sequence[Word], common: Sequence[bool]) -> int:
        """Return how many documents `with_all` would return."""
        return len(self._with_every(words, common, self.filtered(self._rarest(words, common))))

    def _with_every(self, words: Sequence[Word], common: Sequence[bool], documents: Numbers) -> Numbers:
        """Return those of the rarest documents that have every word."""
        # Without a filter they are the first word's.
        for position in self._rarest_first(words, common)[0 if self._filters else 1 :]:
            documents = documents[self._has(words[position], documents)]
        return documents

    def _rarest_first(self, words: Sequence[Word], common: Sequence[bool]) -> list[int]:
        return sorted(range(len(words)), key=lambda position: (common[position], self._size(words[position])))

    def with_any(self, words: Sequence[Word], count: int) -> Found:
        """Find the documents that have some of the words, also in descriptions, and pass the filters."""
        of_words = [[self._list(*place) for place in self._variants_in_fields(word)] for word in words]
        lists = [scored for of_word in of_words for scored in of_word if len(scored.postings.documents)]
        every = merged([one.postings.documents for one in lists])
        again = every[1:] == every[:-1]
        total = len(every) - int(np.count_nonzero(again))
        if total > count:
            # An item of several lists may score as their sum; an item of one list alone scores as the list says.
            every = merged([every[1:][again], *self._leaders(lists, count)])
        documents = distinct(every)
        scores = np.zeros(len(documents))
        for of_word in of_words:
            met = np.zeros(len(documents), np.bool_)
            for scored in of_word:
                here, there = positions_in_both(documents, scored.postings.documents)
                scores[here] += self._scores(scored, there)
                met[here] = True
            scores += met * self._weights.word_met
        return Found(Matches(self._segment, documents, scores), total)

    def _list(self, variant: TermVariant, field: str, weight: float) -> _List:
        documents = self._variant_documents(variant, field)
        filtered = self.filtered(documents)
        postings = self._read(field, variant.terms[0])
        if postings.documents is not filtered:
            postings = Postings(filtered, self._times(field, variant.terms[0], filtered))
        return _List(variant, field, weight, postings)

    def _leaders(self, lists: Sequence[_List], count: int) -> list[Numbers]:
        """Return of each list the documents that can be among the `count` best by what this list adds to a score.

        A list cannot add more than its `bound`, and once a list has so many documents, none that scores less counts.
        """
        leaders: list[Matches] = []
        least = 0.0
        for scored in sorted(lists, key=self._bound, reverse=True):
            if self._bound(scored) < least:
                break
            first = self._first(scored, count)
            matches = Matches(self._segment, scored.postings.documents[first], self._scores(scored, first))
            leaders.append(top(matches, count))
            if len(matches.documents) >= count:
                least = max(least, leaders[-1].scores.min())
        return [matches.documents[matches.scores >= least] for matches in leaders]

    def _bound(self, one: _List) -> float:
        inverses = [self._inverse_frequency(one.field, term) for term in one.variant.terms]
        return sum(inverses) * SHARE_MAX * one.variant.weight * one.weight

    @staticmethod
    def _first(one: _List, count: int) -> Positions:
        """Return the positions of some documents of a list, the `count` best by its scores among them."""
        times = one.postings.times
        if one.field not in _BY_LENGTH or len(one.variant.terms) > 1:
            return np.arange(len(times))
        # Of documents that have a term equally often, the shorter ones, which come first, score higher.
        if not np.count_nonzero(times != times[0]):
            return np.arange(min(count, len(times)))
        return np.concatenate([np.flatnonzero(times == n)[:count] for n in np.flatnonzero(np.bincount(times))])

    def _scores(self, one: _List, positions: Positions) -> Scores:
        """Return what a list adds to the scores of its documents at these positions."""
        variant, documents = one.variant, one.postings.documents[positions]
        if len(variant.terms) > 1:
            return self._variant_score(variant, one.field, documents)[1] * one.weight
        times = one.postings.times[positions]
        return self._bm25(one.field, variant.terms[0], times, documents) * variant.weight * one.weight

    def all_passing(self) -> Matches:
        """Return the documents that pass the filters, of which one is not common, with a score of 0."""
        documents = self.filtered(self._rarest((), ()))
        return Matches(self._segment, documents, np.zeros(len(documents)))

    def passing(self) -> Numbers:
        """Return the documents that pass the filters, of which there is one."""
        field, term = min(self._filters, key=lambda entry: self._segment.estimate(*entry))
        return self.filtered(self._read(field, term).documents)

    def filtered(self, documents: Numbers) -> Numbers:
        """Return those of the documents that pass the filters."""
        for field, term in self._filters:
            documents = documents[self._times(field, term, documents) > 0]
        return documents

    def row(self, field: str, terms: Sequence[str]) -> Row:
        """Return the documents that have all terms as bits."""
        return reduce(np.bitwise_and, [self._row(field, term) for term in terms])

    def _rarest(self, words: Sequence[Word], common: Sequence[bool]) -> Numbers:
        choices: list[tuple[int, Callable[[], Numbers]]] = [
            (self._size(word), lambda word=word: self._documents(word))  # type: ignore[misc]
            for word, is_common in zip(words, common, strict=True)
            if not is_common
        ]
        choices += [
            (self._segment.estimate(*entry), lambda entry=entry: self._read(*entry).documents)  # type: ignore[misc]
            for entry in self._filters
            if not self._index.is_common(*entry)
        ]
        return min(choices, key=lambda choice: choice[0])[1]()

    def _documents(self, word: Word) -> Numbers:
        return union([self._variant_documents(variant, variant.field) for variant in word.variants])

    def _variant_documents(self, variant: TermVariant, field: str) -> Numbers:
        documents = self._read(field, variant.terms[0]).documents
        for term in variant.terms[1:]:
            documents = documents[self._times(field, term, documents) > 0]
        return documents

    def _word(self, word: Word, documents: Numbers) -> tuple[NDArray[np.bool_], Scores]:
        return self._sum([(variant, variant.field) for variant in word.variants], documents)

    def _sum(self, variants: list[tuple[TermVariant, str]], documents: Numbers) -> tuple[NDArray[np.bool_], Scores]:
        met, total = self._variant_score(*variants[0], documents)
        for variant, field in variants[1:]:
            has_all, score = self._variant_score(variant, field, documents)
            met |= has_all
            total += score
        return met, total

    def _has(self, word: Word, documents: Numbers) -> NDArray[np.bool_]:
        matched: NDArray[np.bool_] = np.logical_or.reduce(
            [
                np.logical_and.reduce([self._times(variant.field, term, documents) > 0 for term in variant.terms])
                for variant in word.variants
            ]
        )
        return matched

    def _variant_score(self, variant: TermVariant, field: str, documents: Numbers) -> tuple[NDArray[np.bool_], Scores]:
        times = [self._times(field, term, documents) for term in variant.terms]
        met = times[0] > 0
        total = self._bm25(field, variant.terms[0], times[0], documents)
        for term, of in zip(variant.terms[1:], times[1:], strict=True):
            met &= of > 0
            total = np.where(met, total + self._bm25(field, term, of, documents), 0.0)
        return met, total * variant.weight

    def _variants_in_fields(self, word: Word) -> list[tuple[TermVariant, str, float]]:
        """Return where a word may be met: each variant with its field and the weight of that."""
        described = [variant for variant in word.variants if variant.described]
        return [(variant, variant.field, 1.0) for variant in word.variants] + [
            (variant, description_field(variant.field), self._weights.description) for variant in described
        ]

    def _bm25(self, field: str, term: str, times: NDArray[np.uint8], documents: Numbers) -> Scores:
        inverse = self._inverse_frequency(field, term)
        if field in _WITHOUT_LENGTH:
            return (times > 0).astype(np.float64) * inverse
        described = field == layout.DESCRIPTION
        lengths = self._segment.description_lengths.take(documents) if described else self._lengths(documents)
        shares = self._index.described_shares if described else self._index.shares
        share: Scores = shares.take(times.astype(np.uint16) << np.uint16(8) | lengths)
        share *= inverse
        return share

    def _inverse_frequency(self, field: str, term: str) -> float:
        return self._index.inverse_frequency(self._index.frequency(field, term))

    def _times(self, field: str, term: str, documents: Numbers) -> NDArray[np.uint8]:
        """Return how often each document has a term; of common ones only whether."""
        if self._index.is_common(field, term):
            return has(self._row(field, term), self._places(documents))
        postings = self._read(field, term)
        if postings.documents is documents:
            return postings.times
        if not len(postings.documents):
            return np.zeros(len(documents), np.uint8)
        if len(documents) < max(_FEW, len(postings.documents) // _SMALL_SHARE):
            positions = np.searchsorted(postings.documents, documents)
            positions[positions == len(postings.documents)] = 0
            counts: NDArray[np.uint8] = postings.times[positions] * (postings.documents[positions] == documents)
            return counts
        times = np.zeros(self._segment.items, np.uint8)
        times[postings.documents] = postings.times
        return times[documents]

    def _places(self, documents: Numbers) -> Places:
        if self._placed[0] is not documents:
            self._placed = documents, places(documents)
        return self._placed[1]

    def _lengths(self, documents: Numbers) -> NDArray[np.uint8]:
        if self._measured[0] is not documents:
            self._measured = documents, self._segment.lengths.take(documents)
        return self._measured[1]

    def _size(self, word: Word) -> int:
        return sum(
            min(self._segment.estimate(variant.field, term) for term in variant.terms) for variant in word.variants
        )

    def _read(self, field: str, term: str) -> Postings:
        postings = self._postings.get((field, term))
        if postings is None:
            postings = self._postings[field, term] = self._segment.postings(field, term)
        return postings

    def _row(self, field: str, term: str) -> Row:
        row = self._rows.get((field, term))
        if row is None:
            row = self._rows[field, term] = self._segment.row(field, term)
        return row
