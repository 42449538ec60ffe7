"""/index/resolve: records by an identifier printed on an item or given by a source, one or many in a call."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial

import msgspec
from aiohttp import web

from edge.http.answer_keeping import cacheable
from edge.http.context import CONTEXT, principal_of
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.http.validation import BODY, QUERY
from edge.index.batch_lookup import batch_answer, batch_estimate, units_of
from edge.index.identifiers import (
    CANDIDATES_MAX,
    RequestedIdentifier,
    Resolution,
    ResolutionCache,
    requested_identifier,
)
from edge.index.lookup import answer
from edge.index.lookup_schemas import BatchQuery
from edge.index.record import ItemRecord, RecordCache
from edge.index.record_schemas import Item
from edge.index.resolve_schemas import ResolveBody, ResolveList, ResolveQuery
from edge.quota.billing import Billing
from edge.rules import RESOLVE_BATCH
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidIid, InvalidParameter, ItemIndexError, ItemMerged, StoreUnavailable
from shared.index.iid import canonical_iid

_ENCODER = msgspec.json.Encoder()


class _SourceName(msgspec.Struct):
    source: str


class _Candidate(msgspec.Struct):
    """What an item to choose from shows of its record."""

    iid: str
    name: str
    brand: dict[str, object] | None
    sources: list[_SourceName]


_DECODER = msgspec.json.Decoder(_Candidate)


class Resolver:
    """Finds the record, or the records, that an identifier leads to."""

    def __init__(self, resolutions: ResolutionCache, records: RecordCache, base_url: str) -> None:
        self.resolutions = resolutions
        self._records = records
        self._base_url = base_url

    async def find(self, requested: RequestedIdentifier) -> tuple[str, ItemRecord]:
        """Return the IID and the record. Raises IdentifierNotFound, StoreUnavailable, the problem `several-items`."""
        resolution = await self.resolutions.find(requested.key)
        iid = resolution.only(requested)
        if iid is None:
            raise several_items(await self.candidates(resolution))
        return await self.active(iid, await self._records.find(iid))

    async def active(self, iid: str, record: ItemRecord) -> tuple[str, ItemRecord]:
        """Return the IID and the record of a resolved item. Raises ItemNotFound, ItemWithdrawn, StoreUnavailable."""
        if record.state == ">":  # a load that merged the item was committed since the identifier was resolved
            return record.survivor, (await self._records.find(record.survivor)).or_raise()
        return iid, record.or_raise()

    async def candidates(self, resolution: Resolution) -> list[dict[str, object]]:
        """Return how an answer lists items to choose from. Raises StoreUnavailable."""
        iids = resolution.iids[:CANDIDATES_MAX]
        records = await self._records.find_many(iids)
        listed = [records[iid] for iid in iids if iid in records and records[iid].state == "+"]
        return [self._candidate(_DECODER.decode(record.body)) for record in listed]

    def address(self, iid: str) -> str:
        """Return the address of a record by its IID."""
        return f"{self._base_url}/index/lookup/{iid}"

    def _candidate(self, record: _Candidate) -> dict[str, object]:
        return {
            "iid": record.iid,
            "name": record.name,
            "brand": record.brand,
            "sources": [source.source for source in record.sources],
            "links": {"self": self.address(record.iid)},
        }


def several_items(candidates: list[dict[str, object]]) -> Problem:
    """Make the answer that lists items to choose from."""
    detail = "The identifier is ambiguous; `candidates` lists the items with this identifier."
    return Problem("several-items", detail, extra={"candidates": candidates, "count": len(candidates)})


_operation = partial(operation, "index")


class Resolve:
    def __init__(self, resolver: Resolver, records: RecordCache, base_url: str) -> None:
        self._resolver = resolver
        self._records = records
        self._base_url = base_url

    @_operation(
        "resolveIdentifier",
        ResolveQuery,
        answers={
            200: (Item, "The record"),
            300: "`candidates` lists the items with this identifier.",
            301: "`Location` is the address of the surviving item.",
            304: "Your copy is current.",
        },
    )
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Find one item by a GTIN, an ISBN, a part number, a source's own number or a URL.

        Returns the record as a lookup does; `Content-Location` is its address by IID. GTIN-8, -12, -13 and -14, EAN,
        UPC-A, UPC-E, ISBN-10 and -13 are treated as one number. Codes that shops or regions assign themselves need
        `source` to identify one item. A number that was given to another item returns the item of which it was stated
        last, and with `as_of` the one that had it on that day. Identifiers of merged items return the surviving item;
        a merged `iid` redirects to it.
        """
        query: dict[str, str | date | None] = request[QUERY]
        if query["iid"] is not None:
            iid, record = await self._by_iid(str(query["iid"]), query)
        else:
            requested = _identifier_of(query)
            iid, record = await self._resolver.find(requested)
        address = self._resolver.address(iid)
        cacheable(request, answer(record, None, address))
        return answer(record, request.headers.get("If-None-Match"), address)

    async def _by_iid(self, text: str, query: Mapping[str, str | date | None]) -> tuple[str, ItemRecord]:
        beside = next((name for name, value in query.items() if value is not None and name != "iid"), None)
        if beside is not None:
            raise InvalidParameter(beside, "cannot be combined with `iid`; send only one identifier")
        iid = canonical_iid(text)
        if iid is None:
            raise InvalidIid
        try:
            return iid, (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            raise web.HTTPMovedPermanently(f"{self._base_url}/index/resolve?iid={merged.survivor}") from None


_Requested = RequestedIdentifier | ItemIndexError


class ResolveBatch:
    def __init__(self, resolver: Resolver, records: RecordCache, version: DataVersionWatcher, billing: Billing) -> None:
        self._resolver = resolver
        self._records = records
        self._version = version
        self._billing = billing

    @_operation(
        "resolveIdentifiers",
        BatchQuery,
        ResolveBody,
        answers={200: (ResolveList, "One entry per identifier, in the order of the request")},
    )
    async def list_body(self, request: web.Request) -> web.StreamResponse:
        """Find many items by identifiers.

        As many identifiers as the plan allows (`batch_iids_max` at `GET /v1/`). Each entry has the status that a
        separate call would return; entries are in the order of the identifiers. `dry_run` returns the price. The call
        changes nothing, so it can be repeated without an `Idempotency-Key`.
        """
        given = request[BODY]["identifiers"]
        units = units_of("identifiers", given, principal_of(request).plan)
        if request[QUERY]["dry_run"]:
            await self._billing.count_call(request[CONTEXT])
            return batch_estimate(RESOLVE_BATCH, units, self._version.current)
        async with self._billing.charge(request[CONTEXT], units) as charge:
            return charge.settle(await self._respond([_read_identifier(identifier) for identifier in given]))

    async def _respond(self, requested: Sequence[_Requested]) -> web.Response:
        resolved = await self._resolver.resolutions.find_all(
            [identifier for identifier in requested if isinstance(identifier, RequestedIdentifier)]
        )
        single = {iid for resolution in resolved.values() for iid in resolution.iids[:2]}
        records = await self._records.find_many(single) if single else {}
        return batch_answer([await self._entry(identifier, resolved, records) for identifier in requested])

    async def _entry(
        self, requested: _Requested, resolved: Mapping[str, Resolution], records: Mapping[str, ItemRecord]
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
            return _ENCODER.encode(_failure(requested, problem_of(error) or Problem("internal-error", "")))
        head = _ENCODER.encode(
            {
                "identifier": _identifier_document(requested),
                "status": 200,
                "candidates": [],
                "problem": None,
                "detail": None,
            }
        )
        return head[:-1] + b',"record":' + record.body + b"}"


def _identifier_of(given: Mapping[str, str | date | None]) -> RequestedIdentifier:
    """Read validated parameters, of which the day alone is no text. Raises as `requested_identifier`."""
    as_of = given["as_of"]
    texts = {name: text for name, text in given.items() if not isinstance(text, date)}
    return requested_identifier(texts, as_of if isinstance(as_of, date) else None)


def _read_identifier(given: Mapping[str, str | date | None]) -> _Requested:
    try:
        return _identifier_of(given)
    except InvalidParameter as error:
        return error


def _identifier_document(requested: _Requested) -> dict[str, str] | None:
    return None if isinstance(requested, ItemIndexError) else {"scheme": requested.scheme, "value": requested.value}


def _failure(requested: _Requested, problem: Problem) -> dict[str, object]:
    return {
        "identifier": _identifier_document(requested),
        "status": problem.type.status,
        "record": None,
        "candidates": problem.extra.get("candidates", []),
        "problem": problem.type.slug,
        "detail": problem.detail,
    }
