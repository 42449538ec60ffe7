"""Some documents of an index, and what the words of a query score in them by BM25. Pure."""

from collections.abc import Callable, Sequence
from functools import cache, reduce

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.query_words import TermVariant, Weights, Word, description_field
from shared.search.rows import Numbers, Places, Row, has, places
from shared.search.segment import Postings

Scores = NDArray[np.float64]
Filter = tuple[str, str]
# Two lists that are both longer than this are compared by way of an array of all documents.
_MANY = 1_024
_WITHOUT_LENGTH = (layout.QUANTITIES, layout.DESCRIBED_QUANTITIES)


class PostingsReader:
    """Reads the postings and rows of an index for one query, each once."""

    def __init__(self, index: SearchIndex) -> None:
        self.index = index
        self.postings: Callable[[str, str], Postings] = cache(index.postings)
        self.row: Callable[[str, str], Row] = cache(index.row)


class Candidates:
    """Documents in ascending order; `keep` removes those that lack something."""

    def __init__(self, reader: PostingsReader, documents: Numbers, weights: Weights) -> None:
        self.documents = documents
        self._reader, self._index, self._weights = reader, reader.index, weights
        self._times: dict[Filter, NDArray[np.uint8]] = {}
        self._lengths: dict[str, NDArray[np.uint8]] = {}
        self._places: Places | None = None

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Keep the documents for which it is true."""
        if not chosen.all():
            self.documents = self.documents[chosen]
            self._times = {term: times[chosen] for term, times in self._times.items()}
            self._lengths, self._places = {}, None

    def times(self, field: str, term: str) -> NDArray[np.uint8]:
        """Return how often each document has a term; of a common one only whether."""
        times = self._times.get((field, term))
        if times is None:
            times = self._times[field, term] = self._read_times(field, term)
        return times

    def _read_times(self, field: str, term: str) -> NDArray[np.uint8]:
        if self._index.is_common(field, term):
            if self._places is None:
                self._places = places(self.documents)
            return has(self._reader.row(field, term), self._places)
        postings = self._reader.postings(field, term)
        if postings.documents is self.documents:
            return postings.times
        if min(len(self.documents), len(postings.documents)) > _MANY:
            of_all = np.zeros(self._index.numbers, np.uint8)
            of_all[postings.documents] = postings.times
            return of_all[self.documents]
        if len(self.documents) <= len(postings.documents):
            at = postings.documents.searchsorted(self.documents)
            times = postings.times.take(at, mode="clip")
            times *= postings.documents.take(at, mode="clip") == self.documents
            return times
        at = self.documents.searchsorted(postings.documents)
        found = self.documents.take(at, mode="clip") == postings.documents
        times = np.zeros(len(self.documents), np.uint8)
        times[at[found]] = postings.times[found]
        return times

    def has(self, word: Word) -> NDArray[np.bool_]:
        """Return whether each document has one of a word's variants, where descriptions do not count."""
        return reduce(np.bitwise_or, [self._has(variant.field, variant.terms) for variant in word.variants])

    def _has(self, field: str, terms: Sequence[str]) -> NDArray[np.bool_]:
        return reduce(np.bitwise_and, [self.times(field, term) > 0 for term in terms])

    def score(self, word: Word) -> Scores:
        """Return what a word scores in names and other fields."""
        return reduce(np.add, [self._score(variant, variant.field) for variant in word.variants])

    def score_described(self, word: Word) -> Scores:
        """Return what a word scores in descriptions."""
        scores = np.zeros(len(self.documents))
        for variant in word.variants:
            if variant.described:
                scores += self._score(variant, description_field(variant.field))
        return scores * self._weights.description

    def score_some(self, word: Word) -> Scores:
        """Return what a word scores anywhere, and beside that the weight of a word that is met."""
        scores = self.score(word) + self.score_described(word)
        return scores + (scores > 0) * self._weights.word_met

    def _score(self, variant: TermVariant, field: str) -> Scores:
        scores = self._bm25(field, variant.terms[0])
        for term in variant.terms[1:]:
            scores += self._bm25(field, term)
        if len(variant.terms) > 1:
            scores *= self._has(field, variant.terms)
        return scores * variant.weight

    def _bm25(self, field: str, term: str) -> Scores:
        times = self.times(field, term)
        inverse = self._index.inverse_frequency(self._index.frequency(field, term))
        if field in _WITHOUT_LENGTH:
            return (times > 0).astype(np.float64) * inverse
        described = field == layout.DESCRIPTION
        shares = self._index.described_shares if described else self._index.shares
        lengths = self._lengths_in(layout.DESCRIPTION_LENGTHS if described else layout.LENGTHS)
        share: Scores = shares.take(np.left_shift(times, 8, dtype=np.uint16) | lengths)
        share *= inverse
        return share

    def _lengths_in(self, column: str) -> NDArray[np.uint8]:
        lengths = self._lengths.get(column)
        if lengths is None:
            lengths = self._lengths[column] = self._index.values(column, self.documents)
        return lengths
