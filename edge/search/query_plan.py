"""From the words of a query to ranked items: those with all words, or with as many as possible."""

from collections.abc import Sequence
from typing import NamedTuple

from tantivy import Occur, Query

from edge.search.bitmaps import Bitmap, Ranked
from edge.search.index import SearchIndex
from edge.search.query_words import TermVariant, Weights, Word, description_field
from shared.search import layout
from shared.search.model import SearchQuery
from shared.search.text import fold

# When some words are enough, the rarest words select at most CANDIDATES among at most WEIGHED_ITEMS_MAX items.
WEIGHED_ITEMS_MAX = 40_000
CANDIDATES = 1_024


class Found(NamedTuple):
    """The best items, best first, and the total number; `exact` unless the total is a lower bound."""

    ranked: Ranked
    total: int
    exact: bool


Clause = tuple[Occur, Query]
Filter = tuple[str, str]


def filters_of(search: SearchQuery) -> list[Filter]:
    """Return the fields and terms that each hit must contain."""
    asked = {
        layout.BRAND: search.brand,
        layout.CATEGORY: search.category,
        layout.PRODUCT_TYPE: search.product_type and fold(search.product_type),
    }
    return [(field, term) for field, term in asked.items() if term is not None]


class Planner:
    """Runs queries on one index with one set of weights."""

    def __init__(self, index: SearchIndex, weights: Weights, filters: Sequence[Filter]) -> None:
        self._index = index
        self._weights = weights
        self._filters = filters

    def match_all(self, words: Sequence[Word], count: int) -> Found:
        """Return the best items that contain every word."""
        if not words or any(not word.variants for word in words):
            return Found([], 0, True)
        rows = [_bitmap(self._index, word) for word in words]
        kept = self._filter_bitmaps()
        if not _any_missing(rows) and not _any_missing(kept):
            ranked, total = self._index.common.match_all(_present([*rows, *kept]), count)
            return Found(ranked, total, all(_bitmap_of(self._index, r) is not None for w in words for r in w.variants))
        clauses = [(Occur.Must, self._matches(word)) for word in words] + self._filter_clauses()
        # Reading every description with a common word would cost much and change the score of so many hits very little.
        rare = [self._in_description(word) for word, row in zip(words, rows, strict=True) if row is None]
        clauses += [(Occur.Should, described) for described in rare if described is not None]
        return Found(*self._index.best(Query.boolean_query(clauses), count), True)

    def match_any(self, words: Sequence[Word], count: int) -> Found:
        """Return the best items that contain some of the words, also in descriptions; more words rank higher."""
        known = sorted((word for word in words if word.variants), key=lambda word: word.documents)
        rows = {word: row for word in known if (row := _bitmap(self._index, word)) is not None}
        rare = [word for word in known if word not in rows]
        kept = self._filter_bitmaps()
        if not known:
            return Found([], 0, True)
        if rare or _any_missing(kept):
            return self._with_rare_words(rare, list(rows.values()), count)
        return Found(*self._index.common.match_any(list(rows.values()), _present(kept), count), True)

    def _with_rare_words(self, rare: Sequence[Word], common: Sequence[Bitmap], count: int) -> Found:
        some = [clause for word in rare[: _rarest(rare)] for clause in self._any_of(word)]
        clauses = [(Occur.Must, Query.boolean_query(some))] if some else []
        query = Query.boolean_query([*clauses, *self._filter_clauses()])
        candidates, total = self._index.best(query, max(count, CANDIDATES if some else WEIGHED_ITEMS_MAX))
        weighed = self._index.common.rescore(candidates, common, self._weights.word_met)
        return Found(weighed[:count], total if some else len(weighed), exact=bool(some))

    def _filter_bitmaps(self) -> list[Bitmap | None]:
        return [self._index.common.row(field, [term]) for field, term in self._filters]

    def _filter_clauses(self) -> list[Clause]:
        terms = [Query.term_query(self._index.schema, field, term, "basic") for field, term in self._filters]
        return [(Occur.Must, Query.const_score_query(term, 0.0)) for term in terms]

    def _any_of(self, word: Word) -> list[Clause]:
        described = self._in_description(word)
        places = [self._matches(word)] if described is None else [self._matches(word), described]
        bonus = Query.const_score_query(_any(places), self._weights.word_met)
        return [(Occur.Should, query) for query in (*places, bonus)]

    def _matches(self, word: Word) -> Query:
        return _any([self._variant_query(variant, variant.field) for variant in word.variants])

    def _in_description(self, word: Word) -> Query | None:
        described = [
            self._variant_query(variant, description_field(variant.field))
            for variant in word.variants
            if variant.described
        ]
        return Query.boost_query(_any(described), self._weights.description) if described else None

    def _variant_query(self, variant: TermVariant, field: str) -> Query:
        terms = [Query.term_query(self._index.schema, field, term, "freq") for term in variant.terms]
        query = terms[0] if len(terms) == 1 else Query.boolean_query([(Occur.Must, term) for term in terms])
        return query if variant.weight == 1.0 else Query.boost_query(query, variant.weight)


def _any(queries: list[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])


def _rarest(known: Sequence[Word]) -> int:
    items = 0
    for number, word in enumerate(known):
        items += word.documents
        if items > WEIGHED_ITEMS_MAX:
            return max(1, number)
    return len(known)


def _bitmap(index: SearchIndex, word: Word) -> Bitmap | None:
    """Return the items with a common variant of a word, or None if no variant is common."""
    found: Bitmap | None = None
    for variant in word.variants:
        row = _bitmap_of(index, variant)
        if row is not None:
            found = row if found is None else found | row
    return found


def _bitmap_of(index: SearchIndex, variant: TermVariant) -> Bitmap | None:
    return index.common.row(variant.field, variant.terms)


def _any_missing(rows: Sequence[Bitmap | None]) -> bool:
    return any(row is None for row in rows)


def _present(rows: Sequence[Bitmap | None]) -> list[Bitmap]:
    return [row for row in rows if row is not None]
