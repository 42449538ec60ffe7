"""GET /index/resolve: the record of an item by an identifier that is printed on it or that a source gave it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.http.parameters import QUERY
from edge.http.problems import Problem
from edge.index import resolve_schemas as schemas
from edge.index.identifiers import (
    CANDIDATES_MAX,
    RequestedIdentifier,
    Resolution,
    ResolutionCache,
    requested_identifier,
)
from edge.index.lookup import answer
from edge.index.records import Record, RecordCache
from edge.index.schemas import Item
from edge.middleware.answer_keeping import offer
from shared.errors import InvalidIid, InvalidParameter, ItemMerged, StoreUnavailable
from shared.ids import canonical_iid

_DECODER = msgspec.json.Decoder()


class Resolver:
    """Finds the record, or the records, that an identifier leads to."""

    def __init__(self, resolutions: ResolutionCache, records: RecordCache, base_url: str) -> None:
        self._resolutions = resolutions
        self._records = records
        self._base_url = base_url

    async def find(self, requested: RequestedIdentifier) -> tuple[str, Record]:
        """Return the IID and the record. Raises IdentifierNotFound, StoreUnavailable, the problem `several-items`."""
        resolution = await self._resolutions.find(requested.key)
        iid = resolution.only(requested)
        if iid is None:
            raise several_items(await self.candidates(resolution))
        return await self.active(iid, await self._records.find(iid))

    async def active(self, iid: str, record: Record) -> tuple[str, Record]:
        """Return the IID and the record of a resolved item. Raises ItemNotFound, ItemWithdrawn, StoreUnavailable."""
        if record.state == ">":  # a load that merged the item was committed since the identifier was resolved
            return record.survivor, (await self._records.find(record.survivor)).or_raise()
        return iid, record.or_raise()

    async def find_many(self, requested: Sequence[RequestedIdentifier]) -> dict[str, Resolution]:
        """Return what each identifier leads to, by its key; without those that only an unavailable store knows."""
        try:
            return await self._resolutions.find_many([one.key for one in requested])
        except StoreUnavailable:
            return {}

    async def candidates(self, resolution: Resolution) -> list[dict[str, Any]]:
        """Return how an answer lists items to choose from. Raises StoreUnavailable."""
        iids = resolution.iids[:CANDIDATES_MAX]
        records = await self._records.find_many(iids)
        listed = [records[iid] for iid in iids if iid in records and records[iid].state == "+"]
        return [self._candidate(_DECODER.decode(record.body)) for record in listed]

    def address(self, iid: str) -> str:
        """Return the address of a record by its IID."""
        return f"{self._base_url}/index/lookup/{iid}"

    def _candidate(self, record: Mapping[str, Any]) -> dict[str, Any]:
        sources = [one["source"] for one in record["sources"]]
        links = {"self": self.address(record["iid"])}
        return {**{name: record[name] for name in ("iid", "name", "brand")}, "sources": sources, "links": links}


def several_items(candidates: list[dict[str, Any]]) -> Problem:
    """Make the answer that lists items to choose from."""
    detail = "The identifier alone does not say which item is meant; `candidates` lists those that have it."
    return Problem("several-items", detail, extra={"candidates": candidates, "count": len(candidates)})


class Resolve:
    """The handlers."""

    def __init__(self, resolver: Resolver, records: RecordCache, base_url: str) -> None:
        self._resolver = resolver
        self._records = records
        self._base_url = base_url

    @docs(
        operationId="resolveIdentifier",
        summary="Find one item by a GTIN, an ISBN, a part number, a source's own number or an address",
        description="The record, as a look-up gives it; `Content-Location` names it by its IID. GTIN-8, -12, -13 and "
        "-14, EAN, UPC-A, UPC-E, ISBN-10 and -13 are one number. A code that a shop or a region gives out itself leads "
        "to one item only beside `source`. Identifiers of merged items lead to the survivor; an `iid` redirects to it.",
        tags=["index"],
        responses={
            "300": {"description": "`candidates` lists the items that have it."},
            "301": {"description": "Location names the item that it was merged into."},
            "304": {"description": "Your copy is current."},
        },
    )
    @querystring_schema(schemas.ResolveQuery())
    @response_schema(Item(), 200, description="The record")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one record, or 304 when the caller has it."""
        query: dict[str, str | None] = request[QUERY]
        if query["iid"] is not None:
            iid, record = await self._by_iid(query)
        else:
            requested = requested_identifier(query)
            iid, record = await self._resolver.find(requested)
        address = self._resolver.address(iid)
        offer(request, answer(record, None, address))
        return answer(record, request.headers.get("If-None-Match"), address)

    async def _by_iid(self, query: Mapping[str, str | None]) -> tuple[str, Record]:
        beside = next((name for name, text in query.items() if text is not None and name != "iid"), None)
        if beside is not None:
            raise InvalidParameter(beside, "cannot stand beside `iid`; ask for one identifier")
        iid = canonical_iid(query["iid"] or "")
        if iid is None:
            raise InvalidIid
        try:
            return iid, (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            raise web.HTTPMovedPermanently(f"{self._base_url}/index/resolve?iid={merged.survivor}") from None
