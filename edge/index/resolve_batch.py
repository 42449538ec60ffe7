"""POST /index/resolve: many identifiers in one call, each with its own status."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, querystring_schema, response_schema

from edge.http.context import CONTEXT
from edge.http.parameters import BODY, QUERY
from edge.http.problems import Problem, problem_of
from edge.index import resolve_schemas as schemas
from edge.index.batch import IIDS_PER_UNIT
from edge.index.identifiers import RequestedIdentifier, Resolution, requested_identifier
from edge.index.lookup import CACHE_CONTROL
from edge.index.records import Record, RecordCache
from edge.index.resolve import Resolver, several_items
from edge.quota.billing import Billing
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidParameter, ItemIndexError, StoreUnavailable
from shared.plans import Plan

KIND = "resolve-batch"
_ENCODER = msgspec.json.Encoder()
_Requested = RequestedIdentifier | ItemIndexError


class ResolveBatch:
    """The handler."""

    def __init__(self, resolver: Resolver, records: RecordCache, version: DataVersionWatcher, billing: Billing) -> None:
        self._resolver = resolver
        self._records = records
        self._version = version
        self._billing = billing

    @docs(
        operationId="resolveIdentifiers",
        summary="Find many items by identifiers",
        description="As many identifiers as the plan allows (`batch_iids_max` at `GET /v1/`). Each entry has the "
        "status that a call of its own would have had; entries are in the order of the identifiers. "
        "`dry_run` returns the price. Nothing is changed, so the call may be repeated without an `Idempotency-Key`.",
        tags=["index"],
    )
    @querystring_schema(schemas.ResolveBatchQuery())
    @json_schema(schemas.ResolveBody())
    @response_schema(schemas.ResolveList(), 200, description="One entry for each identifier, in their order")
    async def list_body(self, request: web.Request) -> web.StreamResponse:
        """Prepare, charge, respond."""
        context, given = request[CONTEXT], request[BODY]["identifiers"]
        assert context.principal is not None
        _check_count(given, context.principal.plan)
        charge = await self._billing.charge(context, 0 if request[QUERY]["dry_run"] else _units(len(given)))
        return await charge.settle(self._respond(given, dry_run=request[QUERY]["dry_run"]))

    async def _respond(self, given: Sequence[Mapping[str, str | None]], *, dry_run: bool) -> web.Response:
        """Respond with one entry for each identifier, or with the price."""
        entries: Sequence[bytes] = ()
        more = b""
        if dry_run:
            price = {"kind": KIND, "cost_units": _units(len(given)), "cached": False, "format": "json"}
            more = b"," + _ENCODER.encode({**price, "data_version": self._version.current})[1:-1]
        else:
            entries = await self._entries([_requested(one) for one in given])
        body = b'{"data":[' + b",".join(entries) + b'],"count":%d' % len(entries) + more + b"}"
        return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})

    async def _entries(self, requested: Sequence[_Requested]) -> Sequence[bytes]:
        resolved = await self._resolver.find_many([one for one in requested if isinstance(one, RequestedIdentifier)])
        single = {iid for resolution in resolved.values() for iid in resolution.iids[:2]}
        records = await self._records.find_many(single) if single else {}
        return [await self._entry(one, resolved, records) for one in requested]

    async def _entry(
        self, requested: _Requested, resolved: Mapping[str, Resolution], records: Mapping[str, Record]
    ) -> bytes:
        try:
            if isinstance(requested, ItemIndexError):
                raise requested
            if requested.key not in resolved:
                raise StoreUnavailable("database")
            iid = resolved[requested.key].only(requested)
            if iid is None:
                raise several_items(await self._resolver.candidates(resolved[requested.key]))
            if iid not in records:
                raise StoreUnavailable("database")
            record = records[iid].or_raise()
        except (ItemIndexError, Problem) as error:
            return _ENCODER.encode(_failed(requested, problem_of(error) or Problem("internal-error", "")))
        head = _ENCODER.encode(
            {"identifier": _shown(requested), "status": 200, "candidates": [], "problem": None, "detail": None}
        )
        return head[:-1] + b',"record":' + record.body + b"}"


def _check_count(identifiers: Sequence[Any], plan: Plan) -> None:
    if len(identifiers) > plan.batch_iids_max:
        raise InvalidParameter("identifiers", f"{plan.batch_iids_max} at most with the plan {plan.title}")


def _units(count: int) -> int:
    return -(-count // IIDS_PER_UNIT)


def _requested(given: Mapping[str, str | None]) -> _Requested:
    try:
        return requested_identifier(given)
    except InvalidParameter as error:
        return error


def _shown(requested: _Requested) -> dict[str, str] | None:
    return None if isinstance(requested, ItemIndexError) else {"scheme": requested.scheme, "value": requested.value}


def _failed(requested: _Requested, problem: Problem) -> dict[str, Any]:
    return {
        "identifier": _shown(requested),
        "status": problem.type.status,
        "record": None,
        "candidates": problem.extra.get("candidates", []),
        "problem": problem.type.slug,
        "detail": problem.detail,
    }
