"""The asynchronous client: the same calls, awaited."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from itemindex_client import schemas
from itemindex_client.calls import Calls, Progress, known, silent
from itemindex_client.downloads import Counted, download, uncounted
from itemindex_client.flow import Flow, Send
from itemindex_client.reports import Reports
from itemindex_client.results import Report
from itemindex_client.settings import credentials

T = TypeVar("T")


class AsyncClient:
    """Calls the API without blocking the event loop. The arguments are those of `Client`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        token: str | None = None,
        max_wait: float = 60.0,
        timeout: float = 60.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._calls = Calls(credentials(url, key, token), max_wait)
        self._given, self._timeout = http, timeout
        self._own: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._own is not None and self._loop is asyncio.get_running_loop():
            await self._own.aclose()
        self._own = None

    async def lookup(self, iid: str) -> schemas.Item:
        """Return the record of an IID. A merged IID returns the record of its article."""
        return await self._run(self._calls.lookup(iid))

    async def lookup_many(self, iids: list[str]) -> list[schemas.LookupEntry]:
        """Return an entry for each IID, in their order. Needs a key."""
        return await self._run(self._calls.lookup_many(iids))

    async def resolve(self, **identifiers: Unpack[schemas.ResolveIdentifierQuery]) -> schemas.Item:
        """Return the record of an identifier. Raises SeveralCandidates where it belongs to several items."""
        return await self._run(self._calls.resolve(identifiers))

    async def resolve_many(self, identifiers: list[schemas.IdentifierFields]) -> list[schemas.ResolveEntry]:
        """Return an entry for each identifier, in their order. Needs a key."""
        return await self._run(self._calls.resolve_many(identifiers))

    def search(self, q: str, **filters: Unpack[schemas.SearchItemsQuery]) -> AsyncIterator[schemas.SearchHit]:
        """Go through all hits of a search, best first. `limit` is that of a page."""
        return self.pages("/index/search", {"q": q, **known(filters, schemas.SearchItemsQuery)})

    async def suggest(self, q: str, *, limit: int = 8) -> list[schemas.SuggestionEntry]:
        """Return brands, categories and items that a person may mean by what is typed so far, best first."""
        return await self._run(self._calls.suggest(q, limit))

    def brands(self, **filters: Unpack[schemas.ListBrandsQuery]) -> AsyncIterator[schemas.BrandEntry]:
        """Go through the brands."""
        return self.pages("/index/brands", known(filters, schemas.ListBrandsQuery))

    def categories(self, **filters: Unpack[schemas.ListCategoriesQuery]) -> AsyncIterator[schemas.CategoryEntry]:
        """Go through the categories."""
        return self.pages("/index/categories", known(filters, schemas.ListCategoriesQuery))

    def channels(self, **filters: Unpack[schemas.ListChannelsQuery]) -> AsyncIterator[schemas.ChannelEntry]:
        """Go through the channels."""
        return self.pages("/index/channels", known(filters, schemas.ListChannelsQuery))

    def jobs(self, **filters: Unpack[schemas.ListJobsQuery]) -> AsyncIterator[schemas.Job]:
        """Go through the organization's jobs, newest first. Needs a key."""
        return self.pages("/jobs", known(filters, schemas.ListJobsQuery), key_needed=True)

    def events(self, **filters: Unpack[schemas.ListEventsQuery]) -> AsyncIterator[schemas.Event]:
        """Go through the events, oldest first, with `after` those after a cursor. Needs a key."""
        return self.pages("/events", known(filters, schemas.ListEventsQuery), key_needed=True, cursor_name="after")

    async def pages(
        self, path: str, query: dict[str, Any], *, key_needed: bool = False, cursor_name: str = "cursor"
    ) -> AsyncIterator[Any]:
        """Go through the entries of a list, one page after another."""
        while True:
            page = await self._run(self._calls.get(path, query, key_needed=key_needed))
            for entry in page["data"]:
                yield entry
            if page["next_cursor"] is None:
                return
            query = {**query, cursor_name: page["next_cursor"]}

    async def prices(self, iid: str, **query: Unpack[schemas.GetPricingQuery]) -> Report[schemas.PricingRow]:
        """Return the price history of an item. Needs a key."""
        return await self._run(self._calls.prices(iid, query))

    async def prior_price(self, iid: str, **query: Unpack[schemas.GetPriorPriceQuery]) -> Report[schemas.PriorPriceRow]:
        """Return each channel's running reduction with its prior price and evidence. Needs a key."""
        return await self._run(self._calls.prior_price(iid, query))

    async def sustainability(
        self, iid: str, **query: Unpack[schemas.GetSustainabilityQuery]
    ) -> Report[schemas.SustainabilityRow]:
        """Return the footprint of an item. Needs a key."""
        return await self._run(self._calls.sustainability(iid, query))

    async def quota(self) -> schemas.QuotaAnswer:
        """Return the caller's limits and what is left of them. Costs nothing."""
        limits: schemas.QuotaAnswer = await self._run(self._calls.get("/quota"))
        return limits

    @property
    def report(self) -> "Reports[AsyncClient]":
        """The paid reports, each a method: `await client.report.cohorts(brand=…).wait()`."""
        return Reports(self)

    async def export(
        self, *, within: float = 3_600.0, progress: Progress = silent, **order: Unpack[schemas.NewExport]
    ) -> schemas.Export:
        """Order an export, wait for it, and return its manifest with signed addresses. Needs a key."""
        return await self._run(self._calls.export(order, within, progress))

    async def release(self, dataset: str, version: str | int = "latest") -> "AsyncRelease":
        """Return a release of a dataset. Needs a key."""
        return AsyncRelease(self, await self._run(self._calls.release(dataset, version)))

    async def release_keys(self) -> Mapping[str, Any]:
        """Return the public keys that signatures of manifests are checked with."""
        return await self._run(self._calls.release_keys())

    @property
    def _http(self) -> httpx.AsyncClient:
        """The given client of httpx, else one of the running event loop: connections cannot outlive their loop."""
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        if self._own is None or self._loop is not loop:
            self._own, self._loop = httpx.AsyncClient(timeout=self._timeout), loop
        return self._own

    async def _run(self, flow: Flow[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, Send):
                answer = await self._sent(step)
            else:
                answer = None
                await asyncio.sleep(step.seconds)

    async def _sent(self, step: Send) -> httpx.Response | httpx.TransportError:
        http = self._http
        try:
            return await http.send(step.request(http), follow_redirects=True)
        except httpx.TransportError as error:
            return error


class AsyncRelease:
    """One release of a dataset; `manifest` names its files with their digests."""

    def __init__(self, client: AsyncClient, manifest: schemas.ReleaseManifest) -> None:
        self._client = client
        self.manifest = manifest

    async def download(self, folder: str | Path = ".", *, parallel: int = 4, progress: Counted = uncounted) -> Path:
        """Download all files as `Release.download` does, in threads that write what the client receives."""
        credentials = self._client._calls.credentials
        sender = self._client._http
        bridge = _Bridge(sender, asyncio.get_running_loop())
        with httpx.Client(transport=bridge, headers=sender.headers, cookies=sender.cookies) as http:
            return await asyncio.to_thread(download, http, self.manifest, credentials, Path(folder), parallel, progress)


class _Bridge(httpx.BaseTransport):  # type: ignore[misc, unused-ignore]  # also checked without httpx
    """Sends the requests of threads through an asynchronous client, whose proxy and certificates thereby count."""

    def __init__(self, http: httpx.AsyncClient, loop: asyncio.AbstractEventLoop) -> None:
        self._http, self._loop = http, loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request = httpx.Request(request.method, request.url, headers=request.headers)
        answer = self.result(self._http.send(request, stream=True))
        # The body comes decoded.
        fields = [(name, value) for name, value in answer.headers.multi_items() if name.lower() != "content-encoding"]
        return httpx.Response(answer.status_code, headers=fields, stream=_Body(self, answer))

    def result(self, awaited: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine of the event loop returns, or raise what it raises; called in a thread."""
        return asyncio.run_coroutine_threadsafe(awaited, self._loop).result()


class _Body(httpx.SyncByteStream):  # type: ignore[misc, unused-ignore]
    """The body of an answer, as it comes."""

    def __init__(self, bridge: _Bridge, answer: httpx.Response) -> None:
        self._bridge, self._answer, self._blocks = bridge, answer, answer.aiter_bytes()

    def __iter__(self) -> Iterator[bytes]:
        while block := self._bridge.result(self._next()):
            yield block

    def close(self) -> None:
        self._bridge.result(self._answer.aclose())

    async def _next(self) -> bytes:
        return await anext(self._blocks, b"")
