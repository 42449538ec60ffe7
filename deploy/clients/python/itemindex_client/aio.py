"""The asynchronous client: the same calls, awaited."""

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from itemindex_client.calls import REPORTS, Calls, Progress
from itemindex_client.client import _silent
from itemindex_client.flow import Flow, Send
from itemindex_client.results import Report
from itemindex_client.schemas import Item, LookupEntry
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
        """Return the record of an IID."""
        return await self._run(self._calls.lookup(iid))

    async def lookup_many(self, iids: list[str]) -> list[LookupEntry]:
        """Return an entry for each IID, in their order. Needs a key."""
        return await self._run(self._calls.lookup_many(iids))

    async def resolve(self, **identifiers: str) -> Item:
        """Return the record of an identifier. Raises SeveralCandidates where it belongs to several items."""
        return await self._run(self._calls.resolve(**identifiers))

    def search(self, q: str, *, limit: int | None = None, **filters: Any) -> AsyncIterator[dict[str, Any]]:
        """Go through all hits of a search, best first."""
        return self.pages("/index/search", {"q": q, "limit": limit, **filters})

    def brands(self, **filters: Any) -> AsyncIterator[dict[str, Any]]:
        """Go through the brands."""
        return self.pages("/index/brands", filters)

    async def pages(
        self, path: str, query: dict[str, Any], *, key_needed: bool = False
    ) -> AsyncIterator[dict[str, Any]]:
        """Go through the entries of a list, one page after another."""
        cursor: str | None = None
        while True:
            page = await self._run(self._calls.page(path, {**query, "cursor": cursor}, key_needed=key_needed))
            for entry in page["data"]:
                yield entry
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def prices(self, iid: str, **question: Any) -> Report:
        """Return the price history of an item. Needs a key."""
        return Report.of(await self._run(self._calls.get(f"/index/pricing/{iid}", question, key_needed=True)))

    async def sustainability(self, iid: str, **question: Any) -> Report:
        """Return the footprint of an item. Needs a key."""
        return Report.of(await self._run(self._calls.get(f"/index/sustainability/{iid}", question, key_needed=True)))

    async def quota(self) -> dict[str, Any]:
        """Return the caller's limits and what is left of them."""
        return dict(await self._run(self._calls.get("/quota")))

    async def report(
        self, name: str, *, within: float = 600.0, progress: Progress = _silent, **question: Any
    ) -> Report:
        """Order a report by its name (`cohorts`, `price_index`, …), wait for it, and return its rows. Needs a key."""
        return await self._run(self._calls.report(REPORTS[name], question, within, progress))

    async def export(self, *, within: float = 3_600.0, progress: Progress = _silent, **order: Any) -> dict[str, Any]:
        """Order an export, wait for it, and return its manifest. Needs a key."""
        return await self._run(self._calls.export(order, within, progress))

    async def _run(self, flow: Flow[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                found: T = end.value
                return found
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
