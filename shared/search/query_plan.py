"""From the words of a query to ranked items: those with all words, or with as many as possible."""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from shared.search import bitmaps, layout
from shared.search.index import Filter, SearchIndex
from shared.search.matches import Best, Matches, best, best_by_segment
from shared.search.model import SearchQuery
from shared.search.query_words import TermVariant, Weights, Word
from shared.search.scoring import Scorer
from shared.search.segment import Numbers, Row
from shared.text import fold

# When some words are enough, the rarest words select at most CANDIDATES among at most WEIGHED_ITEMS_MAX items.
WEIGHED_ITEMS_MAX = 40_000
CANDIDATES = 1_024
# Where the shares of terms that a document has once begin.
_ONCE = np.uint16(256)

Ranked = list[tuple[float, int]]
"""Scores with numbers of documents, best first, equal scores by IID."""


class RankedItems(NamedTuple):
    """The best items, best first, and the total number; `exact` unless the total is a lower bound."""

    ranked: Ranked
    total: int
    exact: bool


class _CommonWord(NamedTuple):
    """The documents of each segment that have a common variant of a word, and its weight."""

    rows: list[Row]
    weight: float


def filters_of(search: SearchQuery) -> list[Filter]:
    """Return the fields and terms that each hit must contain."""
    term_of = {
        layout.BRAND: search.brand,
        layout.CATEGORY: search.category,
        layout.PRODUCT_TYPE: search.product_type and fold(search.product_type),
    }
    return [(field, term) for field, term in term_of.items() if term is not None]


class Planner:
    """Runs queries on one index with one set of weights."""

    def __init__(self, index: SearchIndex, weights: Weights, filters: Sequence[Filter]) -> None:
        self._index = index
        self._weights = weights
        self._filters = filters
        self._scorers = [Scorer(index, segment, weights, filters) for segment in index.segments]

    def match_all(self, words: Sequence[Word], count: int) -> RankedItems:
        """Return the best items that contain every word; with a count of 0, how many these are."""
        if not words or any(not word.variants for word in words):
            return RankedItems([], 0, True)
        common = [any(map(self._is_common, word.variants)) for word in words]
        if all(common) and self._filters_are_common():
            rows = [self._common_word(word) for word in words] + self._filter_rows()
            met = [reduce(np.bitwise_and, of) for of in zip(*(word.rows for word in rows), strict=True)]
            ranked = self._first(met, count, sum(word.weight for word in rows))
            exact = all(self._is_common(variant) for word in words for variant in word.variants)
            return RankedItems(_ranked(ranked), sum(map(bitmaps.count, met)), exact)
        if not count:
            return RankedItems([], sum(scorer.count_all(words, common) for scorer in self._scorers), True)
        matches = [scorer.with_all(words, common) for scorer in self._scorers]
        return RankedItems(_ranked(best(matches, count)), _total(matches), True)

    def match_any(self, words: Sequence[Word], count: int) -> RankedItems:
        """Return the best items that contain some of the words, also in descriptions; more words rank higher."""
        known = sorted((word for word in words if word.variants), key=lambda word: word.documents)
        if not known:
            return RankedItems([], 0, True)
        rare = [word for word in known if not any(map(self._is_common, word.variants))]
        common = [self._common_word(word) for word in known if word not in rare]
        if rare or not self._filters_are_common():
            return self._with_rare_words(rare, common, count)
        return self._with_common_words(common, count)

    def passing(self) -> list[Numbers]:
        """Return the documents of each segment that pass the filters, of which there is one."""
        return [scorer.passing() for scorer in self._scorers]

    def passes(self, number: int) -> bool:
        """Return whether a document passes the filters."""
        position, segment = self._index.segment_of(number)
        return len(self._scorers[position].filtered(np.array([number - segment.base], np.uint32))) > 0

    def _with_rare_words(self, rare: Sequence[Word], common: Sequence[_CommonWord], count: int) -> RankedItems:
        some = rare[: _rarest(rare)]
        if not some:
            weighed = self._with_common([scorer.all_passing() for scorer in self._scorers], common)
            return RankedItems(_ranked(best(weighed, count)), _total(weighed), exact=False)
        wanted = max(count, CANDIDATES) if common else count
        found = [scorer.with_any(some, wanted) for scorer in self._scorers]
        weighed = self._with_common(best_by_segment([one.matches for one in found], wanted), common)
        return RankedItems(_ranked(best(weighed, count)), sum(one.total for one in found), exact=True)

    def _with_common_words(self, words: Sequence[_CommonWord], count: int) -> RankedItems:
        passing = [reduce(np.bitwise_and, of) for of in zip(*(word.rows for word in self._filter_rows()), strict=True)]
        by_segment = [bitmaps.by_number_met(of) for of in zip(*(word.rows for word in words), strict=True)]
        if passing:
            by_segment = [[row & kept for row in rows] for rows, kept in zip(by_segment, passing, strict=True)]
        weight = sum(word.weight for word in words)
        ranked: Ranked = []
        for met, rows in zip(range(len(words), 0, -1), zip(*by_segment, strict=True), strict=True):
            ranked += _ranked(self._first(rows, count - len(ranked), weight * met / len(words) + met))
            if len(ranked) >= count:
                break
        return RankedItems(ranked, sum(bitmaps.count(row) for rows in by_segment for row in rows), True)

    def _first(self, rows: Sequence[Row], count: int, weight: float) -> Best:
        """Return the best documents of these rows, where each word occurs once."""
        by_segment = []
        for segment, row in zip(self._index.segments, rows, strict=True):
            documents = bitmaps.first(row, count)
            by_segment.append(
                Matches(segment, documents, weight * self._index.shares[_ONCE + segment.lengths[documents]])
            )
        return best(by_segment, count)

    def _with_common(self, candidates: Sequence[Matches], words: Sequence[_CommonWord]) -> Sequence[Matches]:
        """Add the weights of the common words in each candidate."""
        if not words:
            return candidates
        weighed = []
        for position, (segment, documents, scores) in enumerate(candidates):
            total, places = scores, bitmaps.places(documents)
            for word in words:
                total = total + bitmaps.has(word.rows[position], places) * (self._weights.word_met + word.weight)
            with_some = total > 0
            weighed.append(Matches(segment, documents[with_some], total[with_some]))
        return weighed

    def _filters_are_common(self) -> bool:
        return all(self._index.is_common(field, term) for field, term in self._filters)

    def _filter_rows(self) -> list[_CommonWord]:
        return [self._common([(field, (term,))]) for field, term in self._filters]

    def _is_common(self, variant: TermVariant) -> bool:
        return all(self._index.is_common(variant.field, term) for term in variant.terms)

    def _common_word(self, word: Word) -> _CommonWord:
        return self._common([(variant.field, variant.terms) for variant in word.variants if self._is_common(variant)])

    def _common(self, variants: list[tuple[str, tuple[str, ...]]]) -> _CommonWord:
        """Return the documents that have one of the variants: all of its terms."""
        rows = [reduce(np.bitwise_or, [scorer.row(*variant) for variant in variants]) for scorer in self._scorers]
        [(field, terms), *others] = variants
        # The bits of a long row need not be counted again.
        documents = (
            sum(map(bitmaps.count, rows)) if others or len(terms) > 1 else self._index.frequency(field, terms[0])
        )
        return _CommonWord(rows, self._index.inverse_frequency(documents))


def _rarest(known: Sequence[Word]) -> int:
    items = 0
    for number, word in enumerate(known):
        items += word.documents
        if items > WEIGHED_ITEMS_MAX:
            return max(1, number)
    return len(known)


def _total(by_segment: Sequence[Matches]) -> int:
    return sum(len(matches.documents) for matches in by_segment)


def _ranked(ranked: Best) -> Ranked:
    return list(zip(ranked.scores.tolist(), ranked.numbers.tolist(), strict=True))
