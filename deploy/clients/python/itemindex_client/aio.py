"""The asynchronous client: the same calls, awaited."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from itemindex_client.calls import Calls, Progress, silent
from itemindex_client.downloads import Counted, download, uncounted
from itemindex_client.flow import Flow, Send
from itemindex_client.reports import Reports
from itemindex_client.results import Report
from itemindex_client.schemas import Item, LookupEntry
from itemindex_client.settings import credentials

T = TypeVar("T")
Entries = AsyncIterator[dict[str, Any]]


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
        self._http = http or httpx.AsyncClient(timeout=timeout)
        self._is_own = http is None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._is_own:
            await self._http.aclose()

    async def lookup(self, iid: str) -> Item:
        """Return the record of an IID. A merged IID returns the record of its article."""
        return await self._run(self._calls.lookup(iid))

    async def lookup_many(self, iids: list[str]) -> list[LookupEntry]:
        """Return an entry for each IID, in their order. Needs a key."""
        return await self._run(self._calls.lookup_many(iids))

    async def resolve(self, **identifiers: str) -> Item:
        """Return the record of an identifier. Raises SeveralCandidates where it belongs to several items."""
        return await self._run(self._calls.resolve(**identifiers))

    def search(self, q: str, *, limit: int | None = None, **filters: Any) -> Entries:
        """Go through all hits of a search, best first. `limit` is that of a page."""
        return self.pages("/index/search", {"q": q, "limit": limit, **filters})

    def brands(self, **filters: Any) -> Entries:
        """Go through the brands."""
        return self.pages("/index/brands", filters)

    def categories(self, **filters: Any) -> Entries:
        """Go through the categories."""
        return self.pages("/index/categories", filters)

    def channels(self, **filters: Any) -> Entries:
        """Go through the channels."""
        return self.pages("/index/channels", filters)

    def jobs(self, **filters: Any) -> Entries:
        """Go through the organization's jobs, newest first. Needs a key."""
        return self.pages("/jobs", filters, key_needed=True)

    def events(self, after: str | int | None = None, **filters: Any) -> Entries:
        """Go through the events after a cursor, oldest first. Needs a key."""
        return self.pages("/events", {"after": after, **filters}, key_needed=True, cursor_name="after")

    async def pages(
        self, path: str, query: dict[str, Any], *, key_needed: bool = False, cursor_name: str = "cursor"
    ) -> Entries:
        """Go through the entries of a list, one page after another."""
        while True:
            page = await self._run(self._calls.get(path, query, key_needed=key_needed))
            for entry in page["data"]:
                yield entry
            if page["next_cursor"] is None:
                return
            query = {**query, cursor_name: page["next_cursor"]}

    async def prices(self, iid: str, **question: Any) -> Report:
        """Return the price history of an item. Needs a key."""
        return await self._run(self._calls.light("/index/pricing/{}", iid, question))

    async def prior_price(self, iid: str, **question: Any) -> Report:
        """Return each channel's running reduction with its prior price and evidence. Needs a key."""
        return await self._run(self._calls.light("/index/pricing/{}/reference", iid, question))

    async def sustainability(self, iid: str, **question: Any) -> Report:
        """Return the footprint of an item. Needs a key."""
        return await self._run(self._calls.light("/index/sustainability/{}", iid, question))

    async def quota(self) -> dict[str, Any]:
        """Return the caller's limits and what is left of them. Costs nothing."""
        return dict(await self._run(self._calls.get("/quota")))

    @property
    def report(self) -> "Reports[AsyncReportCall]":
        """The paid reports, each a method: `await client.report.cohorts(brand=…).wait()`."""
        return Reports(lambda path, question: AsyncReportCall(self, path, question))

    async def export(self, *, within: float = 3_600.0, progress: Progress = silent, **order: Any) -> dict[str, Any]:
        """Order an export, wait for it, and return its manifest with signed addresses. Needs a key."""
        return await self._run(self._calls.export(order, within, progress))

    async def release(self, dataset: str, version: str | int = "latest") -> "AsyncRelease":
        """Return a release of a dataset. Needs a key."""
        return AsyncRelease(self, await self._run(self._calls.release(dataset, version)))

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
        try:
            return await self._http.send(step.request, follow_redirects=True)
        except httpx.TransportError as error:
            return error


class AsyncReportCall:
    """A report that was not ordered yet."""

    def __init__(self, client: AsyncClient, path: str, question: dict[str, Any]) -> None:
        self._client, self._path, self._question = client, path, question

    async def cost(self) -> dict[str, Any]:
        """Return what the report would cost. Charges nothing."""
        return await self._client._run(self._client._calls.quote(self._path, self._question))

    async def wait(self, within: float = 600.0, progress: Progress = silent) -> Report:
        """Order the report and return its rows. Raises JobFailed, ApiProblem; TimeoutError after `within` seconds."""
        return await self._client._run(self._client._calls.report(self._path, self._question, within, progress))


class AsyncRelease:
    """One release of a dataset; `manifest` names its files with their digests."""

    def __init__(self, client: AsyncClient, manifest: dict[str, Any]) -> None:
        self._client = client
        self.manifest = manifest

    async def download(self, folder: str | Path = ".", *, parallel: int = 4, progress: Counted = uncounted) -> Path:
        """Download all files as `Release.download` does, in threads with connections of their own."""
        credentials = self._client._calls.credentials
        with httpx.Client(timeout=self._client._http.timeout) as http:
            return await asyncio.to_thread(download, http, self.manifest, credentials, Path(folder), parallel, progress)
