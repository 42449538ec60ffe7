"""Which postings a query reads, and the best items. Pure."""

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search import rows as bitmaps
from shared.search.candidates import Candidates, Filter, PostingsReader
from shared.search.index import Best, SearchIndex
from shared.search.model import SearchQuery
from shared.search.query_words import TermVariant, Weights, Word, description_field
from shared.search.rows import Numbers, Row
from shared.text import fold

# When some words are enough, the rarest words select at most CANDIDATES among at most WEIGHED_ITEMS_MAX items.
WEIGHED_ITEMS_MAX = 10_000
CANDIDATES = 1_024
# Where the shares of terms that a document has once begin.
_ONCE = np.uint16(256)
_NONE = np.zeros(0, np.uint32)

Ranked = list[tuple[float, int]]
"""Scores with numbers of documents, best first, equal scores by IID."""


class RankedItems(NamedTuple):
    """The best items, best first, and the total number; `exact` unless the total is a lower bound."""

    ranked: Ranked
    total: int
    exact: bool


class _CommonWord(NamedTuple):
    """The documents that have a common variant of a word, and its weight."""

    row: Row
    weight: float


def filters_of(search: SearchQuery) -> list[Filter]:
    """Return the fields and terms that each hit must contain."""
    term_of = {
        layout.BRAND: search.brand,
        layout.CATEGORY: search.category,
        layout.PRODUCT_TYPE: search.product_type and fold(search.product_type),
        layout.CHANNEL: search.channel,
        layout.CURRENCY: search.currency,
        layout.PRICE: _range(search.price_min, search.price_max),
        layout.SEEN: _range(search.seen_since, None),
    }
    return [(field, term) for field, term in term_of.items() if term is not None]


def _range(low: float | None, high: float | None) -> str | None:
    return None if low is None and high is None else f"{-inf if low is None else low}:{inf if high is None else high}"


class Planner:
    """Runs queries on one index with one set of weights."""

    def __init__(self, index: SearchIndex, weights: Weights, filters: Sequence[Filter]) -> None:
        self._index = index
        self._weights = weights
        self._filters = filters
        self._reader = PostingsReader(index)

    def match_all(self, words: Sequence[Word], count: int) -> RankedItems:
        """Return the best items that contain every word; with a count of 0, how many these are."""
        if not words or any(not word.variants for word in words):
            return RankedItems([], 0, True)
        if self._all_common(words):
            common = [self._common_word(word) for word in words]
            met = self._in_all(common)
            ranked = self._first(met, count, sum(word.weight for word in common))
            exact = all(self._is_common(variant) for word in words for variant in word.variants)
            return RankedItems(_rank(ranked), bitmaps.count(met), exact)
        matched = self._with_all(words)
        total = len(matched.documents)
        if not count or not total:
            return RankedItems([], total, True)
        scores = reduce(np.add, [matched.score(word) for word in words])
        for word in words:
            # Reading descriptions for a common word would cost much and change the scores of many hits very little.
            if word.described and not self._has_common(word):
                scores += matched.score_described(word)
        return RankedItems(_rank(self._index.best(matched.documents, scores, count)), total, True)

    def matched(self, words: Sequence[Word]) -> Numbers | Row:
        """Return the documents that contain every word and pass the filters, or their bits."""
        if not words or any(not word.variants for word in words):
            return _NONE
        if self._all_common(words):
            return self._in_all([self._common_word(word) for word in words])
        return self._with_all(words).documents

    def scores(self, words: Sequence[Word], numbers: Sequence[int]) -> list[float]:
        """Return the scores of documents that have all of the words."""
        documents = np.array(sorted(numbers), np.uint32)
        candidates = self._candidates_of(documents)
        scores = sum((candidates.score(word) for word in words), np.zeros(len(documents)))
        of_number = dict(zip(documents.tolist(), scores.tolist(), strict=True))
        return [of_number[number] for number in numbers]

    def match_any(self, words: Sequence[Word], count: int) -> RankedItems:
        """Return the best items that contain some of the words, also in descriptions; more words rank higher.

        With a count of 0 only how many these are, where a word is not common.
        """
        known = sorted((word for word in words if word.variants), key=lambda word: word.documents)
        if not known:
            return RankedItems([], 0, True)
        rare = [word for word in known if not self._has_common(word)]
        common = [self._common_word(word) for word in known if word not in rare]
        if not rare and self._filters_are_common():
            return self._with_common_words(common, count)
        some = rare[: _rarest(rare)]
        candidates = self._candidates_of(self.filtered(self._with_any(some)) if some else self.passing())
        documents, total = candidates.documents, len(candidates.documents)
        if some and not count:
            return RankedItems([], total, True)
        scores = sum((candidates.score_some(word) for word in some), np.zeros(total))
        if common:
            if some:
                documents, scores = self._index.best(documents, scores, max(count, CANDIDATES))
            places = bitmaps.places(documents)
            for word in common:
                scores = scores + bitmaps.has(word.row, places) * (self._weights.word_met + word.weight)
            documents, scores = documents[scores > 0], scores[scores > 0]
        total = total if some else len(documents)
        return RankedItems(_rank(self._index.best(documents, scores, count)), total, exact=bool(some))

    def passing(self) -> Numbers:
        """Return the documents that pass the filters, of which there is one."""
        rarest = min(self._filters, key=lambda entry: self._index.frequency(*entry))
        return self.filtered(self._reader.postings(*rarest).documents)

    def filtered(self, documents: Numbers) -> Numbers:
        """Return those of the documents that pass the filters."""
        if not self._filters:
            return documents
        candidates = self._candidates_of(documents)
        for entry in self._filters:
            candidates.keep(candidates.times(*entry) > 0)
        return candidates.documents

    def _candidates_of(self, documents: Numbers) -> Candidates:
        return Candidates(self._reader, documents, self._weights)

    def _with_all(self, words: Sequence[Word]) -> Candidates:
        """Return the documents that have every word and pass the filters. Some word or filter is not common."""
        rarest_first = sorted(words, key=lambda word: (self._has_common(word), word.documents))
        filters = [entry for entry in self._filters if not self._index.is_common(*entry)]
        # A word that nearly every item has, written in several ways, counts more documents than there are.
        named = rarest_first[0].documents
        fewest = min((self._index.frequency(*entry) for entry in filters), default=named)
        if self._has_common(rarest_first[0]) or fewest < named:
            documents = self.passing()
        else:
            documents = self.filtered(
                bitmaps.union([self._documents(variant, variant.field) for variant in rarest_first[0].variants])
            )
        candidates = self._candidates_of(documents)
        for word in rarest_first:
            if not len(candidates.documents):
                break
            candidates.keep(candidates.has(word))
        return candidates

    def _with_any(self, words: Sequence[Word]) -> Numbers:
        """Return the documents that have some of the words, also in descriptions."""
        variants = [variant for word in words for variant in word.variants]
        named = [self._documents(variant, variant.field) for variant in variants]
        described = [variant for variant in variants if variant.described]
        return bitmaps.union(
            named + [self._documents(variant, description_field(variant.field)) for variant in described]
        )

    def _documents(self, variant: TermVariant, field: str) -> Numbers:
        documents = self._reader.postings(field, variant.terms[0]).documents
        for term in variant.terms[1:]:
            documents = documents[self._candidates_of(documents).times(field, term) > 0]
        return documents

    def _with_common_words(self, words: Sequence[_CommonWord], count: int) -> RankedItems:
        by_number_met = [self._in_all([_CommonWord(row, 0)]) for row in bitmaps.by_number_met([w.row for w in words])]
        weight = sum(word.weight for word in words)
        ranked: Ranked = []
        for met, row in zip(range(len(words), 0, -1), by_number_met, strict=True):
            ranked += _rank(self._first(row, count - len(ranked), weight * met / len(words) + met))
            if len(ranked) >= count:
                break
        return RankedItems(ranked, sum(map(bitmaps.count, by_number_met)), True)

    def _first(self, row: Row, count: int, weight: float) -> Best:
        """Return the best documents of a row, where each word occurs once: the first ones of each segment."""
        ends = [base // 64 for base in (*self._index.bases[1:], self._index.numbers)]
        parts = [_NONE]
        for base, end in zip(self._index.bases, ends, strict=True):
            parts.append(bitmaps.first(row[base // 64 : end], count) + np.uint32(base))
        documents = np.concatenate(parts)
        shares: NDArray[np.float64] = self._index.shares[_ONCE + self._index.values(layout.LENGTHS, documents)]
        return self._index.best(documents, weight * shares, count)

    def _in_all(self, words: Sequence[_CommonWord]) -> Row:
        """Return the documents that have every word and pass the filters, which are common."""
        return reduce(np.bitwise_and, [word.row for word in words] + [self._reader.row(*f) for f in self._filters])

    def _all_common(self, words: Sequence[Word]) -> bool:
        return all(map(self._has_common, words)) and self._filters_are_common()

    def _filters_are_common(self) -> bool:
        return all(self._index.is_common(field, term) for field, term in self._filters)

    def _has_common(self, word: Word) -> bool:
        return any(map(self._is_common, word.variants))

    def _is_common(self, variant: TermVariant) -> bool:
        return variant.documents > self._index.common_from

    def _common_word(self, word: Word) -> _CommonWord:
        """Return the documents that have one of the common variants: all of its terms."""
        variants = [variant for variant in word.variants if self._is_common(variant)]
        rows = [self._reader.row(variant.field, term) for variant in variants for term in variant.terms[:1]]
        for position, variant in enumerate(variants):
            for term in variant.terms[1:]:
                rows[position] = rows[position] & self._reader.row(variant.field, term)
        row = reduce(np.bitwise_or, rows)
        # The bits of a long row need not be counted again.
        [first, *others] = variants
        single = not others and len(first.terms) == 1
        documents = self._index.frequency(first.field, first.terms[0]) if single else bitmaps.count(row)
        return _CommonWord(row, self._index.inverse_frequency(documents))


def _rarest(known: Sequence[Word]) -> int:
    items = 0
    for number, word in enumerate(known):
        items += word.documents
        if items > WEIGHED_ITEMS_MAX:
            return max(1, number)
    return len(known)


def _rank(best: Best) -> Ranked:
    return list(zip(best.scores.tolist(), best.documents.tolist(), strict=True))
