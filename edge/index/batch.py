"""GET and POST /index/lookup: many records in one call, each with its own status."""

from collections.abc import Sequence
from typing import Any

import msgspec
from aiohttp import hdrs, web
from aiohttp_apispec import docs, json_schema, querystring_schema, response_schema

from edge.http.context import CONTEXT, principal_of
from edge.http.parameters import BODY, QUERY
from edge.http.problems import Problem, problem_of
from edge.index import schemas
from edge.index.lookup import CACHE_CONTROL
from edge.index.records import Record, RecordCache
from edge.quota.billing import Billing
from edge.rules import BATCH, IIDS_PER_UNIT
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidIid, InvalidParameter, ItemIndexError, ItemMerged, StoreUnavailable
from shared.index.iid import canonical_iid
from shared.organizations.accounts import Plan

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
        parameter, values = ("iids", request[BODY]) if request.method == hdrs.METH_POST else ("iid", request[QUERY])
        iids: Sequence[str] = values[parameter]
        units = units_of(parameter, iids, principal_of(request).plan)
        if request[QUERY]["dry_run"]:
            await self._billing.count_call(request[CONTEXT])
            return batch_estimate(BATCH, units, self._version.current)
        charge = await self._billing.charge(request[CONTEXT], units)
        return await charge.settle(self._respond(iids))

    async def _respond(self, texts: Sequence[str]) -> web.Response:
        iids = [canonical_iid(text) for text in texts]
        records = await self._records.find_many([iid for iid in iids if iid is not None])
        return batch_answer([_entry(text, iid, records) for text, iid in zip(texts, iids, strict=True)])


def units_of(parameter: str, values: Sequence[Any], plan: Plan) -> int:
    """Return the price of a batch, rounded up. Raises InvalidParameter where the plan does not allow so many values."""
    if len(values) > plan.batch_iids_max:
        allowed = f"must have {plan.batch_iids_max} entries at most with the plan {plan.title}, not {len(values)}"
        raise InvalidParameter(parameter, allowed)
    return -(-len(values) // IIDS_PER_UNIT)


def batch_answer(entries: Sequence[bytes], more: bytes = b"") -> web.Response:
    """Return the answer with encoded entries, and `more` members."""
    body = b'{"data":[' + b",".join(entries) + b'],"count":%d' % len(entries) + more + b"}"
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})


def batch_estimate(kind: str, units: int, data_version: int) -> web.Response:
    """Return the answer to a dry run."""
    price = {"kind": kind, "cost_units": units, "cached": False, "format": "json", "data_version": data_version}
    return batch_answer((), b"," + _ENCODER.encode(price)[1:-1])


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
