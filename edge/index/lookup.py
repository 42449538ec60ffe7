"""One record by its IID: /index/lookup/{iid}."""

from functools import partial

from aiohttp import web

from edge.http.conditions import none_match
from edge.http.json import CACHE_CONTROL
from edge.http.routing import operation
from edge.http.validation import PATH
from edge.index.lookup_schemas import IidPath
from edge.index.record import ItemRecord, RecordCache
from edge.index.record_schemas import Item
from shared.errors import ItemMerged, ItemMistyped, ItemNotFound
from shared.index.iid import is_mistyped

_operation = partial(operation, "index")


class Lookup:
    def __init__(self, records: RecordCache, base_url: str) -> None:
        self._records = records
        self._base_url = base_url

    @_operation(
        "lookupItem",
        IidPath,
        answers={
            200: (Item, "The record"),
            301: "`Location` is the address of the surviving item.",
            304: "Your copy is current.",
        },
    )
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Look up one item by its IID.

        Returns everything that the index knows about one item. Lower case is accepted. A merged IID redirects to the
        surviving item.
        """
        iid: str = request[PATH]["iid"]
        try:
            record = (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            raise web.HTTPMovedPermanently(f"{self._base_url}/index/lookup/{merged.survivor}") from None
        except ItemNotFound:
            raise (ItemMistyped if is_mistyped(iid) else ItemNotFound) from None
        return answer(record, request.headers.get("If-None-Match"))


def answer(record: ItemRecord, if_none_match: str | None, address: str | None = None) -> web.Response:
    """Make the answer for a record, which has an address of its own where it was asked for otherwise.

    The fast path makes the same one, byte for byte.
    """
    fields: dict[str, str] = {"Cache-Control": CACHE_CONTROL}
    if address is not None:
        fields["Content-Location"] = address
    fields["ETag"] = record.etag
    if none_match(if_none_match, record.etag):
        return web.Response(status=304, headers=fields)
    return web.Response(body=record.body, content_type="application/json", headers=fields)
