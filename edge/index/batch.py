"""GET and POST /index/lookup: many records in one call, each with its own status."""

from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import hdrs, web
from aiohttp_apispec import docs, json_schema, querystring_schema, response_schema

from edge.http.context import CONTEXT
from edge.http.parameters import BODY, QUERY
from edge.http.problems import Problem, problem_of
from edge.index import schemas
from edge.index.lookup import CACHE_CONTROL
from edge.index.records import Record, RecordCache
from edge.quota.billing import Billing
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidIid, InvalidParameter, ItemIndexError, ItemMerged, StoreUnavailable
from shared.ids import canonical_iid
from shared.plans import Plan

KIND = "lookup-batch"
IIDS_PER_UNIT = 10
_ENCODER = msgspec.json.Encoder()
_TEXT_CHARACTERS_MAX = 80
# A canonical IID has no character that JSON escapes.
_FOUND = b'{"iid":"%b","status":200,"survivor":null,"problem":null,"record":%b}'
_DESCRIPTION = (
    "As many IIDs as the plan allows (`batch_iids_max` at `GET /v1/`). "
    "Each entry has the status that a look-up of its own would have had. `dry_run` returns the price."
)


class BatchLookup:
    """The handlers: the same answer for IIDs in the query, and in a body, which holds more than a URL can."""

    def __init__(self, records: RecordCache, version: DataVersionWatcher, billing: Billing) -> None:
        self._records = records
        self._version = version
        self._billing = billing

    @docs(operationId="lookupItems", summary="Look many items up in one call", description=_DESCRIPTION, tags=["index"])
    @querystring_schema(schemas.IidList())
    @response_schema(schemas.LookupList(), 200, description="One entry for each IID, in their order")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one entry for each IID of the query."""
        return await self._answer(request)

    @docs(
        operationId="lookupItemsByBody",
        summary="Look up more items than an address can hold",
        description=f"{_DESCRIPTION} Nothing is changed, so the call may be repeated without an `Idempotency-Key`.",
        tags=["index"],
    )
    @querystring_schema(schemas.BatchQuery())
    @json_schema(schemas.IidBody())
    @response_schema(schemas.LookupList(), 200, description="One entry for each IID, in their order")
    async def list_body(self, request: web.Request) -> web.StreamResponse:
        """Answer with one entry for each IID of the body."""
        return await self._answer(request)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Prepare, charge, respond."""
        context = request[CONTEXT]
        assert context.principal is not None
        batch = batch_of(request, context.principal.plan)
        charge = await self._billing.charge(context, 0 if batch.dry_run else batch.units)
        return await charge.settle(self._respond(batch))

    async def _respond(self, batch: "Batch") -> web.Response:
        entries, more = [], b""
        if batch.dry_run:
            more = b"," + _ENCODER.encode(self._estimate(batch))[1:-1]
        else:
            iids = [canonical_iid(text) for text in batch.iids]
            records = await self._records.find_many([iid for iid in iids if iid is not None])
            entries = [_entry(text, iid, records) for text, iid in zip(batch.iids, iids, strict=True)]
        body = b'{"data":[' + b",".join(entries) + b'],"count":%d' % len(entries) + more + b"}"
        return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})

    def _estimate(self, batch: "Batch") -> dict[str, Any]:
        price = {"kind": KIND, "cost_units": batch.units, "cached": False, "format": "json"}
        return {**price, "data_version": self._version.current}


@dataclass(frozen=True, slots=True)
class Batch:
    """The parameters of one call, in either form."""

    iids: list[str]
    dry_run: bool

    @property
    def units(self) -> int:
        """The price, rounded up."""
        return -(-len(self.iids) // IIDS_PER_UNIT)


def batch_of(request: web.Request, plan: Plan) -> Batch:
    """Return what a validated request asks for; raise InvalidParameter where the plan does not allow so many IIDs."""
    parameter, values = ("iids", request[BODY]) if request.method == hdrs.METH_POST else ("iid", request[QUERY])
    batch = Batch(values[parameter], request[QUERY]["dry_run"])
    if len(batch.iids) > plan.batch_iids_max:
        raise InvalidParameter(parameter, f"{plan.batch_iids_max} at most with the plan {plan.title}")
    return batch


def _entry(text: str, iid: str | None, records: dict[str, Record]) -> bytes:
    try:
        if iid is None:
            raise InvalidIid
        if iid not in records:
            raise StoreUnavailable("database")
        record = records[iid].or_raise()
    except ItemMerged as merged:
        return _ENCODER.encode(
            {"iid": iid, "status": 301, "record": None, "survivor": merged.survivor, "problem": None}
        )
    except ItemIndexError as error:
        problem = (problem_of(error) or Problem("internal-error", "")).type
        entry = {"iid": text[:_TEXT_CHARACTERS_MAX], "status": problem.status, "record": None, "survivor": None}
        return _ENCODER.encode({**entry, "problem": problem.slug})
    return _FOUND % (iid.encode(), record.body)
