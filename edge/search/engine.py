"""Runs searches in threads, always over the newest complete index."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

from shared.errors import StoreUnavailable
from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Page, SearchQuery
from shared.search.paging import begins_iid, find
from shared.search.suggesting import Suggester, Suggestion
from shared.telemetry.log import Log, trace_of

Answer = TypeVar("Answer")
# Long operations of numpy and tantivy release the interpreter lock, so a second thread uses a second core.
_THREADS = 2
# Longer queues would outlast a caller's time-out; a prompt 503 is better.
_PENDING_MAX = 200
# A notification may be lost; the directory shows the same.
_CHECK_SECONDS = 5.0
# Pages continue in the index in which they began, also after a load. What a load replaces shares most segments with
# what it brings; the files of the others stay on the disk for as long as they are mapped.
_FORMER_MAX = 4
_FORMER_SECONDS = 900.0
# An index that could not be fetched may be large, and as damaged the next time.
_FETCH_AGAIN_SECONDS = 60.0


class SearchEngine:
    """The search of one edge process. It needs only the index, no store."""

    def __init__(
        self,
        directory: Path,
        log: Log,
        changed: Callable[[], None] = lambda: None,
        *,
        fetch: Callable[[], object] | None = None,
        check_seconds: float = _CHECK_SECONDS,
        pending_max: int = _PENDING_MAX,
    ) -> None:
        """`changed` is called in the event loop after another index was opened.

        `fetch` brings the newest index into the directory, where that is not written by the workers themselves.
        """
        self._fetch = fetch
        self._beside = ThreadPoolExecutor(1, "search-index")
        self._fetch_waits = False
        self._next_fetch_at = 0.0
        self._check_seconds, self._pending_max = check_seconds, pending_max
        self._directory = directory
        self._changed = changed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._log = log
        self._index: SearchIndex | None = None
        self._former: list[tuple[float, SearchIndex]] = []
        self._swapping = Lock()
        self._next_check_at = 0.0
        self._pending = 0
        self._threads = ThreadPoolExecutor(_THREADS, "search")
        self._suggester_of: Callable[[SearchIndex], Suggester] = lru_cache(maxsize=1)(Suggester)

    @property
    def data_version(self) -> int:
        """The data_version of the open index; 0 without one."""
        index = self._index
        return index.data_version if index else 0

    def refresh(self) -> None:
        """Open the newest index in a thread; running searches finish in the index they started with."""
        self._loop = asyncio.get_running_loop()
        if self._fetch is None:
            self._beside.submit(self._swap)
        else:
            self._begin_fetch()

    def close(self) -> None:
        """Finish running searches and start no others."""
        self._beside.shutdown(wait=False, cancel_futures=True)
        self._threads.shutdown(cancel_futures=True)

    async def find(self, search: SearchQuery) -> Page:
        """Return a page of hits. Raises as `ask` and `page`."""
        return await self.ask(lambda index: self.page(index, search))

    async def suggest(self, q: str, count: int) -> tuple[int, list[Suggestion]]:
        """Return the data_version and the suggestions for what was typed. Raises as `ask`."""
        return await self.ask(lambda index: (index.data_version, self._suggester_of(index).suggest(q, count)))

    def page(self, index: SearchIndex, search: SearchQuery) -> Page:
        """Return a page of the newest index, or of the one in which the page before was found. Called in a thread.

        Raises CursorExpired where that one is gone, and StoreUnavailable where another process has opened it before.
        """
        version = search.after.data_version if search.after and not begins_iid(search.q) else index.data_version
        if version > index.data_version:
            self._swap()
            index = self._index or index
        if version > index.data_version:
            raise StoreUnavailable("search", retry_after_seconds=1, state="has not opened the newest index yet")
        former = (index_before for _, index_before in self._former if index_before.data_version == version)
        return find(index if version == index.data_version else next(former, index), search)

    async def ask(self, question: Callable[[SearchIndex], Answer]) -> Answer:
        """Return what a function says of the newest index, in a thread.

        Raises StoreUnavailable without an index, or with too many searches waiting.
        """
        if self._pending >= self._pending_max:
            raise StoreUnavailable("search", retry_after_seconds=1)
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, question)
        finally:
            self._pending -= 1

    def _ask(self, question: Callable[[SearchIndex], Answer]) -> Answer:
        # A process receives searches as soon as it starts, so the first ones wait for the index that is being opened.
        if self._index is None or time.monotonic() >= self._next_check_at:
            if time.monotonic() >= self._next_fetch_at:
                self._begin_fetch()
            self._swap(due=True)
        index = self._index
        if index is None:
            raise StoreUnavailable("search", retry_after_seconds=5)
        return question(index)

    def _begin_fetch(self) -> None:
        """Fetch beside the searches, which do not wait for it. One that was not begun yet serves all callers."""
        if self._fetch is None or self._fetch_waits:
            return
        self._fetch_waits = True
        with suppress(RuntimeError):  # the process is stopping
            self._beside.submit(self._fetch_newest, self._fetch)

    def _fetch_newest(self, fetch: Callable[[], object]) -> None:
        self._fetch_waits = False
        try:
            fetch()
        except Exception as error:  # noqa: BLE001 - nobody waits for this thread, so nobody else would say it
            self._next_fetch_at = time.monotonic() + _FETCH_AGAIN_SECONDS
            self._log.warning("search-fetch", error=type(error).__name__, trace=trace_of(error))
        self._swap()

    def _swap(self, *, due: bool = False) -> None:
        """Open the newest index; with `due`, only if the last check is old: a broken index is not retried each time."""
        with self._swapping:
            if due and time.monotonic() < self._next_check_at:
                return
            self._next_check_at = time.monotonic() + self._check_seconds
            self._former = [kept for kept in self._former if kept[0] > time.monotonic()]
            newest = layout.newest(self._directory)
            if newest is None or newest.id == (self._index.id if self._index else ""):
                return
            replaced = self._index
            try:
                self._index = SearchIndex(self._directory, newest, replaced)
            except (OSError, ValueError) as error:  # pruned while it was being opened; the next check finds a newer one
                self._log.warning("search-index", version=newest.data_version, error=type(error).__name__)
                return
            except Exception as error:  # noqa: BLE001 - the index before it still answers
                self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
                return
            # Joined updates are another index of the same state, and take the place of no former one.
            if replaced is not None and replaced.data_version != newest.data_version:
                self._former = [(time.monotonic() + _FORMER_SECONDS, replaced), *self._former][:_FORMER_MAX]
            self._log.info("search-index", version=newest.data_version, items=newest.items)
            with suppress(RuntimeError):  # the process is stopping
                self._beside.submit(self._index.touch)
                self._beside.submit(self._suggester_of(self._index).suggest, "a", 1)  # its lists are made now
            if self._loop is not None:
                with suppress(RuntimeError):  # the loop has ended: no answers are left
                    self._loop.call_soon_threadsafe(self._changed)
