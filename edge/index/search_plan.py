"""From the words of a question to ranked items: those with all words, or with as many as there are.

The weights are the few that were tuned on judged queries: deploy/decisions/0005-search.md tells what each gains.
"""

from collections.abc import Sequence
from typing import NamedTuple

import tantivy
from tantivy import Occur, Query

from edge.index.search_common import Ranked, Row
from edge.index.search_index import SearchIndex
from edge.index.search_words import Reading, Word
from shared.search import layout
from shared.search.model import Search
from shared.search.text import fold

DESCRIPTION_WEIGHT = 0.2
WORD_MET_BONUS = 8.0
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


def with_all_words(index: SearchIndex, words: Sequence[Word], filters: Sequence[Filter], count: int) -> Found:
    """Return the best items in which every word is met."""
    if not words or any(not word.readings for word in words):
        return Found([], 0, True)
    rows = [_row(index, word) for word in words]
    kept = [index.common.row(field, [term]) for field, term in filters]
    if not _lacks(rows) and not _lacks(kept):
        every_reading = all(index.common.row(r.field, r.terms) is not None for word in words for r in word.readings)
        ranked, total = index.common.with_all(_present([*rows, *kept]), count)
        return Found(ranked, total, every_reading)
    schema = index.schema
    clauses = [(Occur.Must, _met(schema, word)) for word in words] + _filter_clauses(schema, filters)
    # A common word's descriptions would all be read, for a share of the score that is lost among so many.
    clauses += [(Occur.Should, _described(schema, word)) for word, row in zip(words, rows, strict=True) if row is None]
    return Found(*index.best(Query.boolean_query(clauses), count), True)


def with_some_words(index: SearchIndex, words: Sequence[Word], filters: Sequence[Filter], count: int) -> Ranked:
    """Return the best items in which some words are met, also in descriptions; the more words the better."""
    known = sorted((word for word in words if word.readings), key=lambda word: word.documents)
    rows = {word: row for word in known if (row := _row(index, word)) is not None}
    rare = [word for word in known if word not in rows]
    if rare:
        return _with_rare_words(index, rare, list(rows.values()), filters, count)
    if not rows:
        return []
    kept = [index.common.row(field, [term]) for field, term in filters]
    if _lacks(kept):
        return _with_rare_words(index, [], list(rows.values()), filters, count)
    return index.common.with_most(list(rows.values()), _present(kept), count)


def _with_rare_words(
    index: SearchIndex, rare: Sequence[Word], common: Sequence[Row], filters: Sequence[Filter], count: int
) -> Ranked:
    schema = index.schema
    some = [clause for word in rare[: _rarest(rare)] for clause in _some(schema, word)]
    clauses = [(Occur.Must, Query.boolean_query(some))] if some else []
    candidates, _ = index.best(
        Query.boolean_query([*clauses, *_filter_clauses(schema, filters)]), max(count, CANDIDATES)
    )
    weighed = index.common.weigh(candidates, common, WORD_MET_BONUS)
    return weighed[:count]


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
        row = index.common.row(reading.field, reading.terms)
        if row is not None:
            found = row if found is None else found | row
    return found


def _lacks(rows: Sequence[Row | None]) -> bool:
    return any(row is None for row in rows)


def _present(rows: Sequence[Row | None]) -> list[Row]:
    return [row for row in rows if row is not None]


def _filter_clauses(schema: tantivy.Schema, filters: Sequence[Filter]) -> list[Clause]:
    terms = [Query.term_query(schema, field, term, "basic") for field, term in filters]
    return [(Occur.Must, Query.const_score_query(term, 0.0)) for term in terms]


def _some(schema: tantivy.Schema, word: Word) -> list[Clause]:
    met, described = _met(schema, word), _described(schema, word)
    anywhere = Query.boolean_query([(Occur.Should, met), (Occur.Should, described)])
    bonus = Query.const_score_query(anywhere, WORD_MET_BONUS)
    return [(Occur.Should, met), (Occur.Should, described), (Occur.Should, bonus)]


def _met(schema: tantivy.Schema, word: Word) -> Query:
    return _any([_reading(schema, reading, reading.field) for reading in word.readings])


def _described(schema: tantivy.Schema, word: Word) -> Query:
    readings = word.whole().readings
    described = _any([_reading(schema, reading, layout.DESCRIPTION) for reading in readings])
    return Query.boost_query(described, DESCRIPTION_WEIGHT)


def _reading(schema: tantivy.Schema, reading: Reading, field: str) -> Query:
    terms = [Query.term_query(schema, field, term, "freq") for term in reading.terms]
    query = terms[0] if len(terms) == 1 else Query.boolean_query([(Occur.Must, term) for term in terms])
    return query if reading.weight == 1.0 else Query.boost_query(query, reading.weight)


def _any(queries: list[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])
