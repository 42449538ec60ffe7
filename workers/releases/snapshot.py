"""One snapshot of the database, read by COPY as fast as the server sends.

Through asyncpg, in a thread of its own: its COPY hands over what has arrived in one piece, where libpq hands over row
by row, and the thread takes the next piece while the one before is made into columns.
"""

import asyncio
import queue
import threading
from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any, Self

import asyncpg

_PIECES_AHEAD = 64
_WAIT_SECONDS = 0.2
_CONNECT_SECONDS = 5


class SnapshotLost(Exception):
    """The server broke off in the middle; what was read is of no use."""


class Snapshot:
    """A read-only transaction at REPEATABLE READ for as long as the block lasts: everything read is of one moment."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="snapshot", daemon=True)
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._connection = self._run(self._connect())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stopped.set()
        self._connection.terminate()
        self._end()

    def rows(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a small query."""
        return [tuple(row) for row in self._run(self._connection.fetch(query, *arguments))]

    def copied(self, query: str, *arguments: Any, format: str = "binary") -> Iterator[bytes]:
        """Yield what a query's rows are as a COPY, in pieces that end anywhere. Raises SnapshotLost."""
        pieces: queue.Queue[bytes] = queue.Queue(_PIECES_AHEAD)
        stopped = threading.Event()

        async def take(piece: bytes) -> None:
            # Blocks the loop's thread, which has nothing else to do: so the server waits for us, not our memory.
            while not (stopped.is_set() or self._stopped.is_set()):
                try:
                    return pieces.put(piece, timeout=_WAIT_SECONDS)
                except queue.Full:
                    continue
            raise SnapshotLost

        copying = self._start(self._connection.copy_from_query(query, *arguments, output=take, format=format))
        try:
            while not (copying.done() and pieces.empty()):
                try:
                    yield pieces.get(timeout=_WAIT_SECONDS if not copying.done() else 0)
                except queue.Empty:
                    continue
            copying.result()
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise SnapshotLost from error
        finally:
            stopped.set()

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
            self._url, timeout=_CONNECT_SECONDS, server_settings={"application_name": "itemindex-release"}
        )
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return connection

    def _start(self, call: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    def _run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self._start(call).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
