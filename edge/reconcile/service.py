"""Answers to batches of reconciliation queries: items by a worker's matching, brands and categories by their names."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from edge.http.context import Context
from edge.index.record import RecordCache
from edge.quota.billing import Charge
from edge.reconcile.entities import TYPES, EntityId, EntityType
from edge.reconcile.items import ItemMatching
from edge.reconcile.names import EntityCandidate, find_named
from edge.reconcile.queries import ReconciliationQuery
from edge.search.engine import SearchEngine
from shared.articles.table_rows import ItemCandidate
from shared.index.iid import canonical_iid

_CERTAIN = 100.0
Results = Mapping[str, Mapping[str, Sequence[Mapping[str, object]]]]


class _Brand(msgspec.Struct):
    name: str


class _Category(msgspec.Struct):
    path: list[str]


class _Named(msgspec.Struct):
    """What a candidate shows of an item's record."""

    iid: str
    name: str
    brand: _Brand | None
    category: _Category | None


_DECODER = msgspec.json.Decoder(_Named)


class Reconciliation:
    """Finds candidates for the rows of a table."""

    def __init__(self, matching: ItemMatching, engine: SearchEngine, records: RecordCache) -> None:
        self._matching = matching
        self._engine = engine
        self._records = records

    async def answer(self, context: Context, queries: Mapping[str, ReconciliationQuery], charge: Charge) -> Results:
        """Return the candidates of each query, best first. Raises as `ItemMatching.match` and `SearchEngine.ask`."""
        named = await self._by_iid(queries)
        asked = [one for one, query in queries.items() if EntityType.ITEM in query.types and one not in named]
        rows = [queries[one].row for one in asked]
        items = dict(zip(asked, await self._matching.match(context, rows, charge), strict=True))
        return {
            one: {"result": await self._result(query, named.get(one), items.get(one, ()))}
            for one, query in queries.items()
        }

    async def _by_iid(self, queries: Mapping[str, ReconciliationQuery]) -> Mapping[str, EntityCandidate]:
        """Return the item of each query that is an IID; that of a merged one is its survivor."""
        given = {one: iid for one, query in queries.items() if (iid := canonical_iid(query.text)) is not None}
        records = await self._records.find_many(list(given.values())) if given else {}
        later = [record.survivor for record in records.values() if record.survivor]
        records = {**records, **(await self._records.find_many(later) if later else {})}
        found: dict[str, EntityCandidate] = {}
        for one, iid in given.items():
            record = records.get(iid)
            record = records.get(record.survivor) if record is not None and record.survivor else record
            if record is not None and record.body:
                item = _DECODER.decode(record.body)
                brand = item.brand.name if item.brand else None
                path = item.category.path if item.category else []
                found[one] = _item(item.iid, item.name, brand, path, _CERTAIN, match=True)
        return found

    async def _result(
        self, query: ReconciliationQuery, named: EntityCandidate | None, items: Iterable[ItemCandidate]
    ) -> Sequence[Mapping[str, object]]:
        found = [named] if named is not None else []
        for one in items:
            score = round(100 * one.score, 2)
            found.append(_item(one.iid, one.name, one.brand, one.category, score, match=one.match))
        for kind in query.types:
            if kind is not EntityType.ITEM and query.text:
                found += await find_named(self._engine, query.text, kind)
        found.sort(key=lambda one: (not one.match, -one.score))  # of equal ones the first type asked for comes first
        matches = sum(one.match for one in found)
        return [_document(one, match=one.match and matches == 1) for one in found[: query.limit]]


def _item(
    iid: str, name: str, brand: str | None, category: Sequence[str], score: float, *, match: bool
) -> EntityCandidate:
    description = ", ".join(filter(None, (brand, " > ".join(category))))
    return EntityCandidate(EntityId(EntityType.ITEM, iid), name, description, score, match)


def _document(one: EntityCandidate, *, match: bool) -> Mapping[str, object]:
    return {
        "id": str(one.id),
        "name": one.name,
        **({"description": one.description} if one.description else {}),
        "type": [TYPES[one.id.type].reference],
        "score": one.score,
        "match": match,
    }
