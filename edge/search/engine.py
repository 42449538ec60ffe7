"""Searches off the event loop, always in the newest whole index."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from edge.search.index import SearchIndex
from edge.search.paging import find
from shared.errors import StoreUnavailable
from shared.search import layout
from shared.search.model import Page, Search
from shared.telemetry.log import Log

# tantivy works without the interpreter's lock, so a second thread uses the second core.
_THREADS = 2
# Beyond that, waiting would outlast the caller's patience: better a prompt 503.
_PENDING_MAX = 200
# A notice may be lost; the directory tells the same.
_LOOK_AGAIN_SECONDS = 5.0


class SearchEngine:
    """The search of one edge process. Needs the index only, none of the stores."""

    def __init__(self, directory: Path, log: Log) -> None:
        self._directory = directory
        self._log = log
        self._index: SearchIndex | None = None
        self._swapping = Lock()
        self._look_again_at = 0.0
        self._pending = 0
        self._threads = ThreadPoolExecutor(_THREADS, "search")

    @property
    def data_version(self) -> int:
        """Return the data_version that is searched; 0 while there is no index."""
        index = self._index
        return index.data_version if index else 0

    def refresh(self) -> None:
        """Open the newest index soon, in a thread; searches that run end in the one they began in."""
        self._threads.submit(self._swap)

    def close(self) -> None:
        """Let running searches end and start none."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def find(self, search: Search) -> Page:
        """Return a page of hits. Raises StoreUnavailable without an index, or with too many searches waiting."""
        if self._pending >= _PENDING_MAX:
            raise StoreUnavailable("search", retry_after_seconds=1)
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._find, search)
        finally:
            self._pending -= 1

    def _find(self, search: Search) -> Page:
        # Without one, whoever asks waits for the index that is being opened: a process that begins is asked at once.
        if self._index is None or time.monotonic() >= self._look_again_at:
            self._swap(due=True)
        index = self._index
        if index is None:
            raise StoreUnavailable("search", retry_after_seconds=5)
        return find(index, search)

    def _swap(self, *, due: bool = False) -> None:
        """Open the newest index; with `due` only if nobody has looked just now: a broken one is not tried each time."""
        with self._swapping:
            if due and time.monotonic() < self._look_again_at:
                return
            self._look_again_at = time.monotonic() + _LOOK_AGAIN_SECONDS
            found = layout.newest(self._directory)
            if found is None or found[1].id == (self._index.id if self._index else ""):
                return
            try:
                self._index = SearchIndex(*found)
            except (OSError, ValueError) as error:  # pruned while it was being opened; the next look finds a newer one
                self._log.warning("search-index", version=found[1].data_version, error=type(error).__name__)
                return
            self._log.info("search-index", version=found[1].data_version, items=found[1].items)
