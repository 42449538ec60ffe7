"""Runs searches in threads, always over the newest complete index; an identifier in a query comes before words."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar

import msgspec

from edge.index.identifiers import RequestedIdentifier, ResolutionCache
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidIdentifier, StoreUnavailable
from shared.index.identifiers import LAYOUT, SCHEMES, normal
from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Page, SearchQuery
from shared.search.paging import begins_iid, find
from shared.telemetry.log import Log, trace_of
from shared.text import in_ascii

# Threads that answer questions of the event loop.
# Executors make two futures with locks for each question, and hand each result over in three steps: a tenth of a
# search.


Answer = TypeVar("Answer")


class _Waiting(NamedTuple):
    """A question with the future of its answer, and the loop of that."""

    question: Callable[[], Any]
    answered: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class AnsweringThreads:
    """A number of threads, and the questions that wait for one of them. They start with the first question."""

    def __init__(self, count: int, name: str) -> None:
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._names = [f"{name}-{n}" for n in range(count)]
        self._threads: list[Thread] = []
        self._closed = False

    async def ask(self, question: Callable[[], Answer]) -> Answer:
        """Return what a function returns in a thread. Raises what it raises, and RuntimeError once they are closed.

        A question whose caller no longer waits is not begun.
        """
        if self._closed:
            raise RuntimeError("the engine is closed")
        if not self._threads:
            self._threads = [Thread(target=self._answer_all, name=name, daemon=True) for name in self._names]
            for thread in self._threads:
                thread.start()
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Answer] = loop.create_future()
        self._waiting.put(_Waiting(question, answered, loop))
        return await answered

    def close(self) -> None:
        """Cancel the questions that wait, and wait for those that were begun."""
        self._closed = True
        with suppress(Empty):
            while waiting := self._waiting.get_nowait():
                with suppress(RuntimeError):  # its loop has ended
                    waiting.loop.call_soon_threadsafe(waiting.answered.cancel)
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _answer_all(self) -> None:
        while waiting := self._waiting.get():
            question, answered, loop = waiting
            if answered.done():
                continue
            try:
                given, error = question(), None
            except Exception as raised:  # noqa: BLE001 - the caller gets it
                given, error = None, raised
            with suppress(RuntimeError):  # the loop has ended: no caller waits
                loop.call_soon_threadsafe(_settle, answered, given, error)


def _settle(answered: asyncio.Future[Any], given: Any, error: Exception | None) -> None:
    if answered.done():  # its caller no longer waits
        return
    if error is None:
        answered.set_result(given)
    else:
        answered.set_exception(error)


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
        self._threads = AnsweringThreads(_THREADS, "search")

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
        self._threads.close()

    async def find(self, search: SearchQuery) -> Page:
        """Return a page of hits. Raises as `ask` and `page`."""
        return await self.ask(lambda index: self.page(index, search))

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
        former = (one for _, one in self._former if one.data_version == version)
        return find(index if version == index.data_version else next(former, index), search)

    async def ask(self, question: Callable[[SearchIndex], Answer]) -> Answer:
        """Return what a function says of the newest index, in a thread.

        Raises StoreUnavailable without an index, or with too many searches waiting.
        """
        if self._pending >= self._pending_max:
            raise StoreUnavailable("search", retry_after_seconds=1)
        self._pending += 1
        try:
            return await self._threads.ask(lambda: self._ask(question))
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
            self._former = [one for one in self._former if one[0] > time.monotonic()]
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
            # Merged segments are another index of the same state, and take the place of no former one.
            if replaced is not None and replaced.data_version != newest.data_version:
                self._former = [(time.monotonic() + _FORMER_SECONDS, replaced), *self._former][:_FORMER_MAX]
            self._log.info("search-index", version=newest.data_version, items=newest.items)
            with suppress(RuntimeError):  # the process is stopping
                self._beside.submit(self._index.touch)
            if self._loop is not None:
                with suppress(RuntimeError):  # the loop has ended: no answers are left
                    self._loop.call_soon_threadsafe(self._changed)


# A text that more items have is no identifier of theirs.
_ITEMS_MAX = 10
_WORDS_MAX = 3
_NUMBERS = ("gtin", "upc", "isbn")
_WORD = re.compile(r"\S+")
_NUMBER_CHARACTERS_MIN = 8
_PART_CHARACTERS_MIN = 5
_DIGIT = re.compile(r"[0-9]", re.ASCII)


def identifiers_in(q: str) -> list[RequestedIdentifier]:
    """Return the identifiers that a query may consist of or contain, each once. Pure."""
    if begins_iid(q) or not _DIGIT.search(in_ascii(q)):
        return []
    return list(dict.fromkeys(_candidates(q)))


def _candidates(q: str) -> Iterator[RequestedIdentifier]:
    if q[:8].lower().startswith(("http://", "https://")):
        yield from _read("url", q)
        return
    words = _WORD.findall(q)
    for text in (q, *words):
        if len(text) >= _NUMBER_CHARACTERS_MIN:
            number = in_ascii(text)
            for scheme in _NUMBERS:
                yield from _read(scheme, number)
    # A part number or a source's own number may be any text: only a short query with a digit is looked up as one.
    if len(words) <= _WORDS_MAX and len(q) >= _PART_CHARACTERS_MIN:
        yield from _read("mpn", q)
        yield from _read("sku", q)
        if len(words) > 1:  # a brand before its part number
            yield from _read("mpn", words[-1])


def _read(scheme: str, text: str) -> Iterator[RequestedIdentifier]:
    try:
        canonical = normal(scheme, text)
    except InvalidIdentifier:
        return
    if canonical is None:
        return
    usable = SCHEMES[scheme] not in ("mpn", "sku") or (
        len(canonical.value) >= _PART_CHARACTERS_MIN and _DIGIT.search(canonical.value)
    )
    if usable:
        yield RequestedIdentifier(*canonical)


class ItemSearch:
    """The search of words, and before it the identifiers that a query contains."""

    def __init__(self, engine: SearchEngine, resolutions: ResolutionCache, version: DataVersionWatcher) -> None:
        self._engine = engine
        self._resolutions = resolutions
        self._version = version

    async def find(self, search: SearchQuery) -> Page:
        """Return a page of hits. Without PostgreSQL the words alone are searched. Raises as `SearchEngine.find`."""
        requested = identifiers_in(search.q)
        if requested:
            found = await self._engine.ask(
                lambda index: self._possible(index, requested) or self._engine.page(index, search)
            )
            if isinstance(found, Page):
                return found
            requested = found
        resolved = await self._resolutions.find_all(requested)
        named = [entry.iids for entry in resolved.values() if len(entry.iids) <= _ITEMS_MAX]
        first = tuple(sorted({iid for iids in named for iid in iids}))
        page = await self._engine.find(msgspec.structs.replace(search, first=first))
        return page if len(resolved) == len(requested) else msgspec.structs.replace(page, whole=False)

    def _possible(self, index: SearchIndex, requested: list[RequestedIdentifier]) -> list[RequestedIdentifier]:
        """Return the identifiers that items may have; an index of another data_version cannot tell."""
        newest = (LAYOUT, self._version.current, self._version.committed_at)
        if (index.identifiers, index.data_version, index.committed_at) != newest:
            return requested
        return [identifier for identifier in requested if index.may_have(identifier.scheme, identifier.value)]
