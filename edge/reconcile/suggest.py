"""Suggestions of entities, properties and types, and the columns that data extension offers."""

from functools import partial

from aiohttp import web

from edge.http.json import unstored_json
from edge.http.routing import operation
from edge.http.validation import QUERY
from edge.index.record import RecordCache
from edge.reconcile import schemas
from edge.reconcile.entities import PROPERTIES, TYPES, EntityId, EntityType, NamedTerm
from edge.reconcile.extension import COLUMNS
from edge.reconcile.records import find_items
from edge.search.engine import SearchEngine
from shared.index.iid import canonical_iid
from shared.search.suggesting import SUGGESTIONS_MAX
from shared.text import fold

_operation = partial(operation, "reconciliation")


class ReconcileSuggest:
    """The handlers of one form of address."""

    def __init__(self, engine: SearchEngine, records: RecordCache) -> None:
        self._engine = engine
        self._records = records

    @_operation(
        "suggestEntities", schemas.SuggestQuery, answers={200: (schemas.SuggestedEntities, "Entities, best first")}
    )
    async def entities(self, request: web.Request) -> web.StreamResponse:
        """Suggest items, brands and categories while a person types.

        As the suggestions of search, or the item of an IID.
        """
        prefix, skipped = request[QUERY]["prefix"], request[QUERY]["cursor"]
        return unstored_json({"result": (await self._suggest(prefix))[skipped:]})

    @_operation(
        "suggestProperties", schemas.SuggestQuery, answers={200: (schemas.SuggestedReferences, "The properties")}
    )
    async def properties(self, request: web.Request) -> web.StreamResponse:
        """Suggest properties of queries."""
        return _matching(request, PROPERTIES)

    @_operation("suggestTypes", schemas.SuggestQuery, answers={200: (schemas.SuggestedReferences, "The types")})
    async def types(self, request: web.Request) -> web.StreamResponse:
        """Suggest types of entities."""
        return _matching(request, tuple(TYPES.values()))

    @_operation("proposeColumns", schemas.ProposalQuery, answers={200: (schemas.ProposedColumns, "The columns")})
    async def columns(self, request: web.Request) -> web.StreamResponse:
        """Columns that data extension offers for a type."""
        kind, limit = request[QUERY]["type"], request[QUERY]["limit"]
        offered = list(COLUMNS.values())[:limit] if kind in (None, EntityType.ITEM) else []
        return unstored_json({"properties": [one.suggestion for one in offered], "type": kind, "limit": limit})

    async def _suggest(self, prefix: str) -> list[dict[str, object]]:
        if not prefix:
            return []
        iid = canonical_iid(prefix)
        if iid is not None:
            items = await find_items(self._records, [iid])
            return [_entity(EntityType.ITEM, one.iid, one.name, one.description) for one in items.values()]
        _, found = await self._engine.suggest(prefix, SUGGESTIONS_MAX)
        return [_entity(EntityType(one.kind), one.value, one.name, one.context) for one in found]


def _entity(kind: EntityType, value: str, name: str, description: str | None) -> dict[str, object]:
    said = {"description": description} if description else {}
    return {"id": str(EntityId(kind, value)), "name": name, **said, "notable": [TYPES[kind].reference]}


def _matching(request: web.Request, described: tuple[NamedTerm, ...]) -> web.Response:
    """Return those whose id or name begins as typed, after as many as were skipped."""
    prefix = fold(request[QUERY]["prefix"])
    found = [one.suggestion for one in described if fold(one.name).startswith(prefix) or one.id.startswith(prefix)]
    return unstored_json({"result": found[request[QUERY]["cursor"] :]})
