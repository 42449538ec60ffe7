"""One page of a search: items with all words, then with the last word as a prefix, then with some words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import msgspec
import numpy as np

from shared.errors import CursorExpired, UnknownTerm
from shared.index.iid import canonical_iid_prefix
from shared.search import layout
from shared.search.candidates import Filter
from shared.search.facets import count_facets
from shared.search.index import SearchIndex
from shared.search.matched_on import MatchedOnRule, iid_only, matcher
from shared.search.model import Hit, Item, MatchedOn, Page, Position, SearchQuery
from shared.search.planner import Planner, Ranked, filters_of
from shared.search.query_words import WEIGHTS, Question, Weights, Word
from shared.search.rows import numbers_of

# If fewer items than the largest page contain all words, items with some of the words follow.
FEW_HITS = 50
# So many words that an item has all of are most of a name: what has some of them is found when it is asked for.
NAME_WORDS_MIN = 6
# The BM25 sum that is mapped to the middle of a tier: that of two fairly rare words.
SCORE_HALF = 10.0
# The upper end of the tier of items with some of the words.
SCORE_ALL_WORDS = 1 / 3
# How many items are ranked at a time. Pages within one depth are cut from the same ranking.
_DEPTHS = (64, 512, 4_096, 32_768)
_IID_START = "IID-"
_SORTED_BY = {"price": layout.PRICE, "unit_price": layout.UNIT_PRICE, "-seen": layout.SEEN}


@dataclass(slots=True)
class _Ranking:
    """Ranked items, best first. `whole`: no further item matches; `exact`: `total` is not a lower bound.

    `more`: further items match, which only the next page looks for.
    """

    ranked: Ranked
    total: int
    all_words: int
    whole: bool
    exact: bool
    words: list[Word]
    more: bool = False


def begins_iid(q: str) -> bool:
    """Return whether a query is the beginning of an IID: it finds by that alone."""
    return q[: len(_IID_START)].upper() == _IID_START


def find(index: SearchIndex, search: SearchQuery, weights: Weights = WEIGHTS) -> Page:
    """Return one page of hits: always the same page for the same query, position and index.

    Score: the BM25 sum s of all words, mapped to s / (s + 10) in one of three tiers of 0–1: the upper tier if all words
    match, the middle one if the last word matches only as a prefix, the lower one if only some words match.
    An equal IID scores 1, as do the items of an identifier in the query; an IID with the given prefix 0.5. Raises
    UnknownTerm for an unknown brand or category, and CursorExpired for a position in the ranking of another index: with
    another number of items every score differs. A list of IIDs continues in every index.
    """
    for name, field in (("brand", layout.BRAND), ("category", layout.CATEGORY), ("channel", layout.CHANNEL)):
        term = getattr(search, name)
        if term is not None and not index.frequency(field, term):
            raise UnknownTerm(name, name, term)
    if begins_iid(search.q):
        return _by_iid(index, search)
    if search.after and (search.after.data_version, search.after.identified) != (index.data_version, search.identified):
        raise CursorExpired
    return _Pages(index, search, weights).page()


class _Pages:
    """The pages of one search by words."""

    def __init__(self, index: SearchIndex, search: SearchQuery, weights: Weights) -> None:
        self._index, self._search, self._weights = index, search, weights
        self._planner = Planner(index, weights, filters_of(search))
        self._question = Question(index, search.q, weights, verbatim=search.verbatim)
        self._words = self._question.words()

    def page(self) -> Page:
        search, start = self._search, self._search.after.rank if self._search.after else 0
        if search.sort != "relevance":
            page = _page(self._index, search, self._sort(start), 0, self._matcher(self._words), start)
            return self._describe(page)
        depth = next((depth for depth in _DEPTHS if start + search.limit < depth), 8 * (start + search.limit))
        while True:
            ranking = self._identified_first(self._rank(depth))
            if start + search.limit < len(ranking.ranked) or ranking.whole or ranking.more:
                return self._describe(_page(self._index, search, ranking, start, self._matcher(ranking.words)))
            depth *= 8

    def _rank(self, depth: int) -> _Ranking:
        words = self._words
        whole = self._planner.match_all([*words[:-1], *(word.whole() for word in words[-1:])], depth)
        begun = whole
        if self._question.begins_others:
            begun = self._planner.match_all(words, depth if whole.total < depth else 0)
        total = max(whole.total, begun.total)
        ranked = _in_tier(whole.ranked, 2, set())
        ranked += _in_tier(begun.ranked, 1, {number for _, number in ranked})
        if total >= FEW_HITS:
            return _Ranking(ranked[:depth], total, total, total <= min(len(ranked), depth), begun.exact, words)
        if ranked and self._search.after is None and len(words) >= NAME_WORDS_MIN:
            return _Ranking(ranked, total, total, whole=False, exact=False, words=words, more=True)
        words = self._question.words(fuzzy=True)
        if ranked and len(words) == 1 and words == self._words and not words[0].described:
            return _Ranking(ranked, total, total, whole=True, exact=True, words=words)  # it has no other items
        search = self._search
        if search.after is None and not search.first and len(ranked) >= search.limit:
            # The page is full: of the other items only their number is needed.
            some = self._planner.match_any(words, 0)
            more = some.total > len(ranked)
            return _Ranking(ranked, max(some.total, len(ranked)), total, not more, some.exact, words, more)
        some = self._planner.match_any(words, depth)
        ranked += _in_tier(some.ranked, 0, {number for _, number in ranked})
        return _Ranking(ranked, max(some.total, len(ranked)), total, len(some.ranked) < depth, some.exact, words)

    def _sort(self, start: int) -> _Ranking:
        """Rank the items with all words by a column, then by IID, from `start` on; those without a value come last."""
        search, words = self._search, self._words
        documents = numbers_of(self._planner.matched(words))
        values = self._index.values(_SORTED_BY[search.sort], documents).astype(np.float64)
        keys = np.nan_to_num(values if search.sort.startswith("-") else -values, nan=-inf)
        total = len(documents)
        numbers = self._index.best(documents, keys, start + search.limit + 1).documents[start:].tolist()
        shown = numbers[: search.limit]
        ranked = _in_tier(zip(self._planner.scores(words, shown), shown, strict=True), 1, set())
        ranked += [(0.0, number) for number in numbers[search.limit :]]
        return _Ranking(ranked, total, total, whole=True, exact=True, words=words)

    def _describe(self, page: Page) -> Page:
        """Add the facets, and how many items are left out because no price of theirs is known."""
        search = self._search
        if search.facets:
            facets = count_facets(self._index, search.facets, self._planner.matched(self._words))
            page = msgspec.structs.replace(page, facets=facets)
        if search.currency is not None:
            other = msgspec.structs.replace(search, currency=None, price_min=None, price_max=None)
            priced = msgspec.structs.replace(other, currency=search.currency)
            totals = [self._total(filters_of(one)) for one in (other, priced)]
            page = msgspec.structs.replace(page, unpriced=totals[0] - totals[1])
        return page

    def _total(self, filters: Sequence[Filter]) -> int:
        return Planner(self._index, self._weights, filters).match_all(self._words, 0).total

    def _identified_first(self, ranking: _Ranking) -> _Ranking:
        """Put the items of identifiers before what the words find."""
        if not self._search.first:
            return ranking
        numbers = [number for iid in self._search.first if (number := self._index.find(iid)) is not None]
        passing = set(self._planner.filtered(np.array(sorted(numbers), np.uint32)).tolist())
        first = [number for number in numbers if number in passing]
        if not first:
            return ranking
        others = [entry for entry in ranking.ranked if entry[1] not in first]
        added = len(first) + len(others) - len(ranking.ranked)
        ranked = [(1.0, number) for number in first] + others
        # Items that the words have not ranked yet may be among `first` too, and must not be counted twice.
        known = added if ranking.whole else 0
        exact = ranking.exact and (ranking.whole or not added)
        return replace(
            ranking, ranked=ranked, total=ranking.total + known, all_words=ranking.all_words + known, exact=exact
        )

    def _matcher(self, words: list[Word]) -> MatchedOnRule:
        matched = matcher(words)
        if not self._search.first:
            return matched

        def matched_on(item: Item, alt_names: list[str]) -> list[MatchedOn]:
            named: list[MatchedOn] = ["identifier"] if item.iid in self._search.first else []
            return named + matched(item, alt_names)

        return matched_on


def _in_tier(ranked: Iterable[tuple[float, int]], band: int, known: set[int]) -> Ranked:
    return [((band + score / (score + SCORE_HALF)) / 3, number) for score, number in ranked if number not in known]


def _by_iid(index: SearchIndex, search: SearchQuery) -> Page:
    prefix = canonical_iid_prefix(search.q)
    if prefix is None:
        return Page([], 0, 0, exact=True, next=None, data_version=index.data_version)
    after, done = (search.after.iid, search.after.rank) if search.after else (None, 0)
    filters = filters_of(search)
    passing = Planner(index, WEIGHTS, filters).passing() if filters else None
    window, left = index.beginning(prefix, after, search.limit + 1, passing)
    total = index.beginning(prefix, None, 0, passing)[1] if after else left
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
    if hits and (ranking.more or start + search.limit < len(ranking.ranked)):
        last = hits[-1]
        rank = done + start + len(hits)
        end = Position(last.score, last.item.iid, rank, index.data_version, search.identified)
    return Page(hits, ranking.total, ranking.all_words, ranking.exact, end, index.data_version)
