"""From the words of a question to ranked items: those with all words, or with as many as there are."""

from collections.abc import Sequence
from typing import NamedTuple

from tantivy import Occur, Query

from edge.search.bitmaps import Ranked, Row
from edge.search.index import SearchIndex
from edge.search.query_words import Reading, Weights, Word
from shared.search import layout
from shared.search.model import Search
from shared.search.text import fold

# Where some words are enough, the rarest ones, which say most, find so many candidates among at most so many items.
WEIGHED_ITEMS_MAX = 40_000
CANDIDATES = 1_024


class Found(NamedTuple):
    """The best items, best first, and how many there are; `exact` where there cannot be more."""

    ranked: Ranked
    total: int
    exact: bool


Clause = tuple[Occur, Query]
Filter = tuple[str, str]


def filters_of(search: Search) -> list[Filter]:
    """Return the fields and terms that every hit must have."""
    asked = {
        layout.BRAND: search.brand,
        layout.CATEGORY: search.category,
        layout.PRODUCT_TYPE: search.product_type and fold(search.product_type),
    }
    return [(field, term) for field, term in asked.items() if term is not None]


class Planner:
    """Asks one index with one set of weights."""

    def __init__(self, index: SearchIndex, weights: Weights, filters: Sequence[Filter]) -> None:
        self._index = index
        self._weights = weights
        self._filters = filters

    def with_all_words(self, words: Sequence[Word], count: int) -> Found:
        """Return the best items in which every word is met."""
        if not words or any(not word.readings for word in words):
            return Found([], 0, True)
        rows = [_row(self._index, word) for word in words]
        kept = self._filter_rows()
        if not _lacks(rows) and not _lacks(kept):
            ranked, total = self._index.common.with_all(_present([*rows, *kept]), count)
            return Found(ranked, total, all(_row_of(self._index, r) is not None for w in words for r in w.readings))
        clauses = [(Occur.Must, self._met(word)) for word in words] + self._filter_clauses()
        # A common word's descriptions would all be read, for a share of the score that is lost among so many.
        rare = [self._described(word) for word, row in zip(words, rows, strict=True) if row is None]
        clauses += [(Occur.Should, described) for described in rare if described is not None]
        return Found(*self._index.best(Query.boolean_query(clauses), count), True)

    def with_some_words(self, words: Sequence[Word], count: int) -> Found:
        """Return the best items in which some words are met, also in descriptions; the more words the better."""
        known = sorted((word for word in words if word.readings), key=lambda word: word.documents)
        rows = {word: row for word in known if (row := _row(self._index, word)) is not None}
        rare = [word for word in known if word not in rows]
        kept = self._filter_rows()
        if not known:
            return Found([], 0, True)
        if rare or _lacks(kept):
            return self._with_rare_words(rare, list(rows.values()), count)
        return Found(*self._index.common.with_most(list(rows.values()), _present(kept), count), True)

    def _with_rare_words(self, rare: Sequence[Word], common: Sequence[Row], count: int) -> Found:
        some = [clause for word in rare[: _rarest(rare)] for clause in self._some(word)]
        clauses = [(Occur.Must, Query.boolean_query(some))] if some else []
        query = Query.boolean_query([*clauses, *self._filter_clauses()])
        candidates, total = self._index.best(query, max(count, CANDIDATES if some else WEIGHED_ITEMS_MAX))
        weighed = self._index.common.weigh(candidates, common, self._weights.word_met)
        return Found(weighed[:count], total if some else len(weighed), exact=bool(some))

    def _filter_rows(self) -> list[Row | None]:
        return [self._index.common.row(field, [term]) for field, term in self._filters]

    def _filter_clauses(self) -> list[Clause]:
        terms = [Query.term_query(self._index.schema, field, term, "basic") for field, term in self._filters]
        return [(Occur.Must, Query.const_score_query(term, 0.0)) for term in terms]

    def _some(self, word: Word) -> list[Clause]:
        described = self._described(word)
        places = [self._met(word)] if described is None else [self._met(word), described]
        bonus = Query.const_score_query(_any(places), self._weights.word_met)
        return [(Occur.Should, query) for query in (*places, bonus)]

    def _met(self, word: Word) -> Query:
        return _any([self._reading(reading, reading.field) for reading in word.readings])

    def _described(self, word: Word) -> Query | None:
        described = [self._reading(reading, layout.DESCRIPTION) for reading in word.readings if reading.described]
        return Query.boost_query(_any(described), self._weights.description) if described else None

    def _reading(self, reading: Reading, field: str) -> Query:
        terms = [Query.term_query(self._index.schema, field, term, "freq") for term in reading.terms]
        query = terms[0] if len(terms) == 1 else Query.boolean_query([(Occur.Must, term) for term in terms])
        return query if reading.weight == 1.0 else Query.boost_query(query, reading.weight)


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


def _row(index: SearchIndex, word: Word) -> Row | None:
    """Return the items that have a word in one of its common readings; None where none of them is common."""
    found: Row | None = None
    for reading in word.readings:
        row = _row_of(index, reading)
        if row is not None:
            found = row if found is None else found | row
    return found


def _row_of(index: SearchIndex, reading: Reading) -> Row | None:
    return index.common.row(reading.field, reading.terms)


def _lacks(rows: Sequence[Row | None]) -> bool:
    return any(row is None for row in rows)


def _present(rows: Sequence[Row | None]) -> list[Row]:
    return [row for row in rows if row is not None]
