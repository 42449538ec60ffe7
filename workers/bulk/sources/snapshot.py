"""One snapshot of the database, read by COPY as fast as the server sends.

By asyncpg, in a thread of its own: its COPY hands over whatever has arrived in one piece, where libpq hands over row by
row, and the thread receives the next piece while the previous one is converted.
"""

import asyncio
import queue
import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Literal, Self, TypeVar

import asyncpg
import uvloop
from psycopg.sql import Literal as Constant

from shared.db.connect import SESSION, Row, unavailable
from shared.errors import StoreUnavailable

_PIECES_AHEAD = 2
_PIECE_BYTES = 8 << 20
_GATHER_SECONDS = 0.0003
_CONNECT_SECONDS = 5
_SESSION = {**SESSION, "jit": "off"}
Outcome = TypeVar("Outcome")


class SnapshotLost(StoreUnavailable):
    """The connection broke, or the transaction that exported the snapshot has ended: nothing more can be read of it."""

    def __init__(self) -> None:
        super().__init__("database")


class Snapshot:
    """A read-only transaction at REPEATABLE READ for as long as the block lasts: all reads are of one moment.

    `name` is a snapshot that another transaction has exported; without it the moment is now. `check` is called a few
    times a second while rows are read, and may raise. Entering raises SnapshotLost if there is no such snapshot.
    """

    def __init__(
        self,
        url: str,
        name: str | None = None,
        *,
        application: str,
        check: Callable[[], None] = lambda: None,
        poll_seconds: float = 0.2,
    ) -> None:
        self._url = url
        self._name = name
        self._application = application
        self._check = check
        self._poll_seconds = poll_seconds
        self._loop = uvloop.new_event_loop()  # a third less CPU than asyncio's for what arrives in 8 kB pieces
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
        self._run(self._close())
        self._end()

    def rows(self, query: str, *arguments: object) -> list[Row]:
        """Return all rows of a small query."""
        return [tuple(row) for row in self._run(self._connection.fetch(_with(arguments, query)))]

    def copy(self, query: str, *arguments: object, format: Literal["csv", "binary"]) -> Iterator[bytes]:
        """Yield a query's rows as a COPY, in pieces of whole rows. Raises SnapshotLost.

        At most three pieces of some 8 MB are held; a slow reader slows the server down.
        """
        pieces: queue.Queue[bytes | None] = queue.Queue(_PIECES_AHEAD)
        stopped = threading.Event()
        copying = self._start(self._copy(query, arguments, format, pieces, stopped))
        try:
            while True:
                self._check()
                try:
                    piece = pieces.get(timeout=self._poll_seconds)
                except queue.Empty:
                    continue
                if piece is None:  # the end, or an error
                    break
                yield piece
            copying.result()
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            if isinstance(error, asyncpg.PostgresError) and not unavailable(error):
                raise
            raise SnapshotLost from error
        finally:
            stopped.set()

    async def _copy(
        self,
        query: str,
        arguments: tuple[object, ...],
        format: Literal["csv", "binary"],
        pieces: "queue.Queue[bytes | None]",
        stopped: threading.Event,
    ) -> None:
        """Put what arrives into the queue, some 8 MB at a time, then None, also after an error."""
        held: list[bytes] = []
        size = 0

        def put(piece: bytes | None) -> None:
            # Blocks the loop's thread, which has nothing else to do: so the server waits, and memory does not grow.
            while not (stopped.is_set() or self._stopped.is_set()):
                try:
                    return pieces.put(piece, timeout=self._poll_seconds)
                except queue.Full:
                    continue
            raise SnapshotLost

        async def take(piece: bytes) -> None:
            nonlocal size
            held.append(piece)
            size += len(piece)
            if size >= _PIECE_BYTES:
                put(b"".join(held))
                held.clear()
                size = 0
            _gather()

        try:
            await self._connection.copy_from_query(_with(arguments, query), output=take, format=format)
            if held:
                put(b"".join(held))
        finally:
            put(None)

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        settings = {"application_name": f"itemindex-{self._application}", **_SESSION}
        connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
            self._url, timeout=_CONNECT_SECONDS, server_settings=settings
        )
        try:
            await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            if self._name is not None:
                await connection.execute(f"SET TRANSACTION SNAPSHOT '{self._name}'")
        except (asyncpg.InvalidParameterValueError, asyncpg.UndefinedObjectError) as error:
            connection.terminate()
            raise SnapshotLost from error
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _close(self) -> None:
        self._connection.terminate()  # read only: there is nothing to commit
        # A COPY that was stopped early ends with an error that no caller awaits any more.
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _start(self, call: Coroutine[None, None, Outcome]) -> Future[Outcome]:
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    def _run(self, call: Coroutine[None, None, Outcome]) -> Outcome:
        return self._start(call).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _with(arguments: tuple[object, ...], query: str) -> str:
    """Return the query with its arguments written into it, quoted.

    COPY takes no arguments. asyncpg would ask for their types, have the server quote them, and ask each new connection
    about arrays: three questions before the first row, and 4 ms.
    """
    return re.sub(r"\$(\d+)\b", lambda place: Constant(arguments[int(place[1]) - 1]).as_string(), query)


def _gather() -> None:
    """Block the loop's thread, which has nothing else to do, while the server fills the socket.

    The server sends 8 kB at a time. Read one by one, each wakes both sides up, and reading costs three times the CPU.
    The socket holds what the server makes in half a millisecond.
    """
    time.sleep(_GATHER_SECONDS)
