"""One page of a search: items with all words, then with the last word as a prefix, then with some words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from typing import NamedTuple

import numpy as np

from shared.errors import CursorExpired, UnknownTerm
from shared.index.iid import canonical_iid_prefix
from shared.search import layout
from shared.search import scoring as bitmaps
from shared.search.index import Filter, SearchIndex
from shared.search.model import Hit, Item, MatchedOn, Page, Position, SearchQuery
from shared.search.query_words import WEIGHTS, Question, TermVariant, Weights, Word
from shared.search.scoring import Best, Matches, Scorer, best, best_by_segment
from shared.search.segment import Numbers, Row
from shared.text import fold, indexed_words, stem
from shared.units.names import indexed_quantities

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

    def __init__(
        self, index: SearchIndex, weights: Weights, filters: Sequence[Filter], candidates: int = CANDIDATES
    ) -> None:
        """`candidates`: how many items the rare words select, of which the common ones are weighed."""
        self._index = index
        self._weights = weights
        self._filters = filters
        self._candidates = candidates
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
        position, segment = self._index.segment_of(number)
        return len(self._scorers[position].filtered(np.array([number - segment.base], np.uint32))) > 0

    def _with_rare_words(self, rare: Sequence[Word], common: Sequence[_CommonWord], count: int) -> RankedItems:
        some = rare[: _rarest(rare)]
        if not some:
            weighed = self._with_common([scorer.all_passing() for scorer in self._scorers], common)
            return RankedItems(_ranked(best(weighed, count)), _total(weighed), exact=False)
        wanted = max(count, self._candidates) if common else count
        found = [scorer.with_any(some, wanted) for scorer in self._scorers]
        weighed = self._with_common(best_by_segment([plan.matches for plan in found], wanted), common)
        return RankedItems(_ranked(best(weighed, count)), sum(plan.total for plan in found), exact=True)

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


# Brands, types and categories are of many hits; some thousand texts take a few megabytes.
_kept_words = lru_cache(4_096)(indexed_words)
MatchedOnRule = Callable[[Item, list[str]], list[MatchedOn]]


class _Asked(dict[str, bool]):
    """Which words of texts a query asks for, each found out once: hits share most of their words."""

    def __init__(self, stems: set[str], beginnings: tuple[str, ...]) -> None:
        self._stems, self._beginnings = stems, beginnings

    def __missing__(self, word: str) -> bool:
        asked = self[word] = stem(word) in self._stems or word.startswith(self._beginnings)
        return asked


def iid_only(item: Item, alt_names: list[str]) -> list[MatchedOn]:
    """Report a match by IID."""
    return ["iid_prefix"]


def matcher(words: list[Word]) -> MatchedOnRule:
    """Return a function that names the parts of an item that contain a word of the query."""
    variants = [variant for word in words for variant in word.variants]
    whole = {variant.terms for variant in variants if variant.field == layout.WORDS}
    begun = tuple(variant.terms[0] for variant in variants if variant.field == layout.PREFIXES)
    single = {terms[0] for terms in whole if len(terms) == 1}
    quantities = {variant.terms[0] for variant in variants if variant.field == layout.QUANTITIES}
    joint = [set(terms) for terms in whole if len(terms) > 1]

    asked = _Asked(single, begun).__getitem__

    def met(text: str, words: list[str]) -> bool:
        if any(map(asked, words)):
            return True
        if quantities and any(not quantities.isdisjoint(indexed_quantities(line)) for line in text.splitlines()):
            return True
        return bool(joint) and any(terms.issubset(map(stem, words)) for terms in joint)

    @cache
    def shared(text: str) -> bool:
        return met(text, _kept_words(text))

    def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
        brand, kind, category = item.brand, item.product_type, item.category
        matched: list[MatchedOn] = []
        if brand is not None and shared(brand.name):
            matched.append("brand")
        if kind and shared(kind):
            matched.append("product_type")
        if category is not None and shared(" ".join(category.path)):
            matched.append("category")
        named = "\n".join([item.name, *alt_names]) if alt_names else item.name
        if met(named, indexed_words(named)):
            matched.append("name")
        return matched

    return matched_on


# If fewer items than the largest page contain all words, items with some of the words follow.
FEW_HITS = 50
# The BM25 sum that is mapped to the middle of a tier: that of two fairly rare words.
SCORE_HALF = 10.0
# The upper end of the tier of items with some of the words.
SCORE_ALL_WORDS = 1 / 3
# How many items are ranked at a time. Pages within one depth are cut from the same ranking.
_DEPTHS = (64, 512, 4_096, 32_768)
_IID_START = "IID-"


@dataclass(slots=True)
class _Ranking:
    """Ranked items, best first. `whole`: no further item matches; `exact`: `total` is not a lower bound."""

    ranked: Ranked
    total: int
    all_words: int
    whole: bool
    exact: bool
    words: list[Word]


def begins_iid(q: str) -> bool:
    """Return whether a query is the beginning of an IID: it finds by that alone."""
    return q[: len(_IID_START)].upper() == _IID_START


def find(index: SearchIndex, search: SearchQuery, weights: Weights = WEIGHTS, candidates: int = CANDIDATES) -> Page:
    """Return one page of hits: always the same page for the same query, position and index.

    Score: the BM25 sum s of all words, mapped to s / (s + 10) in one of three tiers of 0–1: the upper tier if all words
    match, the middle one if the last word matches only as a prefix, the lower one if only some words match.
    An equal IID scores 1, as do the items of an identifier in the query; an IID with the given prefix 0.5. Raises
    UnknownTerm for an unknown brand or category, and CursorExpired for a position in the ranking of another index: with
    another number of items every score differs. A list of IIDs continues in every index.
    """
    _check_filters(index, search)
    if begins_iid(search.q):
        return _by_iid(index, search)
    if search.after and (search.after.data_version, search.after.identified) != (index.data_version, search.identified):
        raise CursorExpired
    depth = _depth((search.after.rank if search.after else 0) + search.limit)
    while True:
        ranking = _identified_first(index, search, _rank(index, search, weights, depth, candidates))
        start = search.after.rank if search.after else 0
        if start + search.limit < len(ranking.ranked) or ranking.whole:
            return _page(index, search, ranking, start, _matcher(search, ranking.words))
        depth *= 8


def _check_filters(index: SearchIndex, search: SearchQuery) -> None:
    lists = {"brand": (layout.BRAND, search.brand), "category": (layout.CATEGORY, search.category)}
    for name, (field, term) in lists.items():
        if term is not None and not index.frequency(field, term):
            raise UnknownTerm(name, name, term)


def _rank(index: SearchIndex, search: SearchQuery, weights: Weights, depth: int, candidates: int) -> _Ranking:
    planner = Planner(index, weights, filters_of(search), candidates)
    question = Question(index, search.q, weights)
    words = question.words()
    whole = planner.match_all([*words[:-1], *(word.whole() for word in words[-1:])], depth)
    begun = whole
    if question.begins_others:
        begun = planner.match_all(words, depth if whole.total < depth else 0)
    total = max(whole.total, begun.total)
    ranked = _in_tier(whole.ranked, 2, set())
    ranked += _in_tier(begun.ranked, 1, {number for _, number in ranked})
    if total >= FEW_HITS:
        return _Ranking(ranked[:depth], total, total, total <= min(len(ranked), depth), begun.exact, words)
    words = question.words(fuzzy=True)
    some = planner.match_any(words, depth)
    ranked += _in_tier(some.ranked, 0, {number for _, number in ranked})
    return _Ranking(ranked, max(some.total, len(ranked)), total, len(some.ranked) < depth, some.exact, words)


def _identified_first(index: SearchIndex, search: SearchQuery, ranking: _Ranking) -> _Ranking:
    """Put the items of identifiers before what the words find."""
    if not search.first:
        return ranking
    filters = filters_of(search)
    numbers = [number for iid in search.first if (number := index.find(iid)) is not None]
    passes = Planner(index, WEIGHTS, filters).passes
    first = [number for number in numbers if passes(number)]
    if not first:
        return ranking
    others = [entry for entry in ranking.ranked if entry[1] not in first]
    added = len(first) + len(others) - len(ranking.ranked)
    ranked = [(1.0, number) for number in first] + others
    # Items that the words have not ranked yet may be among `first` too, and must not be counted twice.
    known = added if ranking.whole else 0
    exact = ranking.exact and (ranking.whole or not added)
    return _Ranking(ranked, ranking.total + known, ranking.all_words + known, ranking.whole, exact, ranking.words)


def _matcher(search: SearchQuery, words: list[Word]) -> MatchedOnRule:
    matched = matcher(words)
    if not search.first:
        return matched

    def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
        named: list[MatchedOn] = ["identifier"] if item.iid in search.first else []
        return named + matched(item, alt_names)

    return matched_on


def _in_tier(ranked: Ranked, band: int, known: set[int]) -> Ranked:
    return [((band + score / (score + SCORE_HALF)) / 3, number) for score, number in ranked if number not in known]


def _depth(needed: int) -> int:
    return next((depth for depth in _DEPTHS if needed < depth), 8 * needed)


def _by_iid(index: SearchIndex, search: SearchQuery) -> Page:
    prefix = canonical_iid_prefix(search.q)
    if prefix is None:
        return Page([], 0, 0, exact=True, next=None, data_version=index.data_version)
    after = search.after.iid if search.after else None
    done = search.after.rank if search.after else 0
    filters = filters_of(search)
    if filters:
        passing = Planner(index, WEIGHTS, filters).passing()
        window, left = index.among(passing, prefix, after, search.limit + 1)
        total = left + done
    else:
        window, total = index.beginning(prefix, after, search.limit + 1), index.count_beginning(prefix)
    ranked = [(1.0 if index.iid(number) == prefix else 0.5, number) for number in window]
    ranking = _Ranking(ranked, total, total, whole=True, exact=True, words=[])
    return _page(index, search, ranking, 0, iid_only, done)


def _page(
    index: SearchIndex, search: SearchQuery, ranking: _Ranking, start: int, matched: MatchedOnRule, done: int = 0
) -> Page:
    hits = []
    for score, number in ranking.ranked[start : start + search.limit]:
        item, alt_names = index.read(number)
        hits.append(Hit(item, score, matched(item, alt_names), score >= SCORE_ALL_WORDS))
    end = None
    if hits and start + search.limit < len(ranking.ranked):
        last = hits[-1]
        rank = done + start + len(hits)
        end = Position(last.score, last.item.iid, rank, index.data_version, search.identified)
    return Page(hits, ranking.total, ranking.all_words, ranking.exact, end, index.data_version)
