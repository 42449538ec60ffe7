"""POST /index/resolve: many identifiers in one call, each with its own status."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, querystring_schema, response_schema

from edge.http.context import CONTEXT, principal_of
from edge.http.parameters import BODY, QUERY
from edge.http.problems import Problem, problem_of
from edge.index import resolve_schemas as schemas
from edge.index.batch import batch_answer, batch_estimate, units_of
from edge.index.identifiers import RequestedIdentifier, Resolution, requested_identifier
from edge.index.records import Record, RecordCache
from edge.index.resolve import Resolver, several_items
from edge.quota.billing import Billing
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidParameter, ItemIndexError, StoreUnavailable

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
        given = request[BODY]["identifiers"]
        units = units_of("identifiers", given, principal_of(request).plan)
        if request[QUERY]["dry_run"]:
            await self._billing.count_call(request[CONTEXT])
            return batch_estimate(KIND, units, self._version.current)
        charge = await self._billing.charge(request[CONTEXT], units)
        return await charge.settle(self._respond([_requested(one) for one in given]))

    async def _respond(self, requested: Sequence[_Requested]) -> web.Response:
        resolved = await self._resolver.find_many([one for one in requested if isinstance(one, RequestedIdentifier)])
        single = {iid for resolution in resolved.values() for iid in resolution.iids[:2]}
        records = await self._records.find_many(single) if single else {}
        return batch_answer([await self._entry(one, resolved, records) for one in requested])

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
            _, record = await self._resolver.active(iid, records[iid])
        except (ItemIndexError, Problem) as error:
            return _ENCODER.encode(_failed(requested, problem_of(error) or Problem("internal-error", "")))
        head = _ENCODER.encode(
            {"identifier": _shown(requested), "status": 200, "candidates": [], "problem": None, "detail": None}
        )
        return head[:-1] + b',"record":' + record.body + b"}"


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
