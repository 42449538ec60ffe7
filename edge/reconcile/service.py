"""Answers to batches of reconciliation queries: items by a worker's matching, brands and categories by their names."""

from collections.abc import Iterable, Mapping, Sequence

from edge.http.context import Context
from edge.index.record import RecordCache
from edge.quota.billing import Charge
from edge.reconcile.entities import TYPES, EntityId, EntityType
from edge.reconcile.items import ItemMatching
from edge.reconcile.names import EntityCandidate, find_named
from edge.reconcile.queries import ReconciliationQuery
from edge.reconcile.records import describe, find_items
from edge.search.engine import SearchEngine
from shared.articles.table_rows import ItemCandidate
from shared.index.iid import canonical_iid

_CERTAIN = 100.0
Results = Mapping[str, Mapping[str, Sequence[Mapping[str, object]]]]


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
        # What is found without the job is paid by the same charge: only the same of it comes free with an equal job.
        beside = [(query.text, *query.types) for one, query in queries.items() if one in named or _has_names(query)]
        items = dict(zip(asked, await self._matching.match(context, rows, charge, beside), strict=True))
        return {
            one: {"result": await self._result(query, named.get(one), items.get(one, ()))}
            for one, query in queries.items()
        }

    async def _by_iid(self, queries: Mapping[str, ReconciliationQuery]) -> Mapping[str, EntityCandidate]:
        """Return the item of each query for items that is an IID; that of a merged one is its survivor."""
        of_items = {one: query for one, query in queries.items() if EntityType.ITEM in query.types}
        given = {one: iid for one, query in of_items.items() if (iid := canonical_iid(query.text)) is not None}
        items = await find_items(self._records, given.values())
        return {
            one: EntityCandidate(
                EntityId(EntityType.ITEM, items[iid].iid), items[iid].name, items[iid].description, _CERTAIN, match=True
            )
            for one, iid in given.items()
            if iid in items
        }

    async def _result(
        self, query: ReconciliationQuery, named: EntityCandidate | None, items: Iterable[ItemCandidate]
    ) -> Sequence[Mapping[str, object]]:
        found = [named] if named is not None else []
        for one in items:
            score = round(100 * one.score, 2)
            id = EntityId(EntityType.ITEM, one.iid)
            found.append(EntityCandidate(id, one.name, describe(one.brand, one.category), score, one.match))
        for kind in query.types:
            if kind is not EntityType.ITEM and query.text:
                found += await find_named(self._engine, query.text, kind)
        found.sort(key=lambda one: (not one.match, -one.score))  # of equal ones the first type asked for comes first
        matches = sum(one.match for one in found)
        return [_document(one, match=one.match and matches == 1) for one in found[: query.limit]]


def _has_names(query: ReconciliationQuery) -> bool:
    """Say whether brands or categories are asked for."""
    return any(kind is not EntityType.ITEM for kind in query.types)


def _document(one: EntityCandidate, *, match: bool) -> Mapping[str, object]:
    return {
        "id": str(one.id),
        "name": one.name,
        **({"description": one.description} if one.description else {}),
        "type": [TYPES[one.id.type].reference],
        "score": one.score,
        "match": match,
    }
