"""Rollups of months that are all new, made in a thread while the server is busy with the rest of the load."""

import os
import queue
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from types import TracebackType
from typing import Any, Self

from shared.db.connect import Connection
from workers.analytics.rollups import rows
from workers.analytics.rollups.items import Ancestors, Items
from workers.analytics.rollups.marks import Marks, mark
from workers.analytics.rollups.refresh import Observe, whole_month
from workers.analytics.rollups.strata import by_stratum

_READ_BYTES = 128 * 1024


class BackgroundBuilder:
    """Makes the rollups of `months` from the rows that `read` gives of each. They wait in an unnamed temporary file.

    `observe` is called in the thread that makes them.
    """

    def __init__(
        self, items: Items, above: Ancestors, months: list[date], read: Callable[[date], Any], observe: Observe
    ) -> None:
        self._items = items
        self._above = above
        self._months = months
        self._read = read
        self._observe = observe
        self._stop = threading.Event()
        self._marks: list[tuple[date, Marks]] = []
        self._ends: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._thread = ThreadPoolExecutor(1, "rollups")
        self._made: Future[None] = self._thread.submit(self._make)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.shutdown()
        self._file.close()

    def write(self, connection: Connection, event_no: int) -> None:
        """Add the rollups, month by month as they are made, and mark outliers; raise what went wrong with them."""
        if self._months:
            rows.write(connection, self._pieces())
        for month, marks in self._marks:
            mark(connection, month, marks, event_no)

    def _make(self) -> None:
        end = 0
        try:
            for month in self._months:
                if self._stop.is_set():
                    return
                observed = by_stratum(month, self._items, self._read(month))
                self._marks.append((month, observed.marks))
                self._observe(month, observed.entries)
                for piece in whole_month(month, observed.entries, self._above):
                    end += self._file.write(piece)
                self._file.flush()  # the other thread reads what the system has
                self._ends.put(end)
        finally:
            self._ends.put(None)

    def _pieces(self) -> Iterator[bytes]:
        done = 0
        while (end := self._ends.get()) is not None:
            while done < end:
                piece = os.pread(self._file.fileno(), min(_READ_BYTES, end - done), done)
                done += len(piece)
                yield piece
        self._made.result()
