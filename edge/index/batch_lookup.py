"""Many records by their IIDs in one call: GET and POST /index/lookup."""

from collections.abc import Sequence
from functools import partial

from aiohttp import hdrs, web

from edge.http.context import CONTEXT, principal_of
from edge.http.json import CACHE_CONTROL
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.http.validation import BODY, QUERY
from edge.index.lookup_schemas import IidBody, IidList, LookupBatchQuery, LookupList
from edge.index.members import members_of
from edge.index.record import ENCODER, ItemRecord, RecordCache
from edge.quota.billing import Billing
from edge.rules import BATCH, IIDS_PER_UNIT
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidIid, InvalidParameter, ItemIndexError, ItemMerged, StoreUnavailable
from shared.index.iid import canonical_iid
from shared.organizations.accounts import Plan

_TEXT_CHARACTERS_MAX = 80
# A canonical IID has no character that JSON escapes.
_FOUND = b'{"iid":"%b","status":200,"survivor":null,"problem":null,"record":%b}'
_DESCRIPTION = (
    "As many IIDs as the plan allows (`batch_iids_max` at `GET /v1/`). "
    "Each entry has the status that a separate lookup would return. `dry_run` returns the price."
)


_operation = partial(operation, "index")


class BatchLookup:
    """The handlers: the same answer for IIDs in the query, and in a body, which holds more than a URL can."""

    def __init__(self, records: RecordCache, version: DataVersionWatcher, billing: Billing) -> None:
        self._records = records
        self._version = version
        self._billing = billing

    @_operation(
        "lookupItems",
        IidList,
        answers={200: (LookupList, "One entry per IID, in the order of the request")},
        description=_DESCRIPTION,
    )
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Look up many items in one call."""
        return await self._answer(request)

    @_operation(
        "lookupItemsByBody",
        LookupBatchQuery,
        IidBody,
        answers={200: (LookupList, "One entry per IID, in the order of the request")},
        description=f"{_DESCRIPTION} The call changes nothing, so it can be repeated without an `Idempotency-Key`.",
    )
    async def list_body(self, request: web.Request) -> web.StreamResponse:
        """Look up more items than fit in a URL."""
        return await self._answer(request)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Prepare, charge, respond."""
        parameter, values = ("iids", request[BODY]) if request.method == hdrs.METH_POST else ("iid", request[QUERY])
        iids: Sequence[str] = values[parameter]
        units = units_of(parameter, iids, principal_of(request).plan)
        if request[QUERY]["dry_run"]:
            await self._billing.count_call(request[CONTEXT])
            return batch_estimate(BATCH, units, self._version.current)
        async with self._billing.charge(request[CONTEXT], units) as charge:
            return charge.settle(await self._respond(iids, request[QUERY]["members"]))

    async def _respond(self, texts: Sequence[str], members: Sequence[str]) -> web.Response:
        iids = [canonical_iid(text) for text in texts]
        records = await self._records.find_many([iid for iid in iids if iid is not None])
        return batch_answer([_entry(text, iid, records, members) for text, iid in zip(texts, iids, strict=True)])


def units_of(parameter: str, values: Sequence[object], plan: Plan) -> int:
    """Return the price of a batch, rounded up. Raises InvalidParameter for more values than the plan allows."""
    if len(values) > plan.batch_iids_max:
        allowed = f"must have at most {plan.batch_iids_max} entries on the {plan.title} plan, not {len(values)}"
        raise InvalidParameter(parameter, allowed)
    return -(-len(values) // IIDS_PER_UNIT)


def batch_answer(entries: Sequence[bytes], more: bytes = b"") -> web.Response:
    """Return the answer with encoded entries, and `more` members."""
    body = b'{"data":[' + b",".join(entries) + b'],"count":%d' % len(entries) + more + b"}"
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": CACHE_CONTROL})


def batch_estimate(kind: str, units: int, data_version: int) -> web.Response:
    """Return the answer to a dry run."""
    price = {"kind": kind, "cost_units": units, "cached": False, "format": "json", "data_version": data_version}
    return batch_answer((), b"," + ENCODER.encode(price)[1:-1])


def _entry(text: str, iid: str | None, records: dict[str, ItemRecord], members: Sequence[str]) -> bytes:
    try:
        if iid is None:
            raise InvalidIid
        if iid not in records:
            raise StoreUnavailable("database")
        record = records[iid].or_raise()
    except ItemMerged as merged:
        return ENCODER.encode({"iid": iid, "status": 301, "record": None, "survivor": merged.survivor, "problem": None})
    except ItemIndexError as error:
        problem = (problem_of(error) or Problem("internal-error", "")).type
        entry = {"iid": text[:_TEXT_CHARACTERS_MAX], "status": problem.status, "record": None, "survivor": None}
        return ENCODER.encode({**entry, "problem": problem.slug})
    found = _FOUND % (iid.encode(), record.body)
    return found if not members else found[:-1] + b"," + ENCODER.encode(members_of(record, members))[1:]
