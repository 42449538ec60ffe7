"""PostgreSQL as the edge uses it: a bounded pool, a deadline on every call, one error for every kind of outage."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import perf_counter
from typing import Any, Self

import asyncpg

from shared.db.outages import READ_ONLY, is_outage, was_rolled_back
from shared.errors import StoreUnavailable
from shared.telemetry import metrics

Run = Callable[..., Awaitable[list[asyncpg.Record]]]
# InternalClientError: the driver's own state after the server had ended the connection between two statements.
_NO_ANSWER = (OSError, asyncio.TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_RETRY_AFTER_SECONDS = 5


class Transaction:
    """Statements of one transaction, asked as `Database` is asked; a transaction inside it is a part of it."""

    def __init__(self, run: Run) -> None:
        self.fetch = run

    async def fetch_row(self, query: str, *arguments: Any) -> asyncpg.Record | None:
        """Return the first row or None."""
        rows = await self.fetch(query, *arguments)
        return rows[0] if rows else None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """Go on in this transaction: it commits where it was begun."""
        yield self


class Database:
    """A pool that connects when it is first needed, so that the edge starts and stays up without PostgreSQL."""

    def __init__(self, url: str, *, connections_max: int, deadline_seconds: float) -> None:
        self._url = url
        self._connections_max = connections_max
        self._deadline_seconds = deadline_seconds
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._seconds = metrics.store_seconds.labels("database")
        self.answering = True
        """Whether the last call was answered."""

    @property
    def connections(self) -> tuple[int, int, int]:
        """How many connections are busy, how many idle, and how many there may be."""
        if self._pool is None:
            return 0, 0, self._connections_max
        idle = self._pool.get_idle_size()
        return self._pool.get_size() - idle, idle, self._connections_max

    async def open(self) -> None:
        """Make the pool; connects to nothing yet."""
        self._pool = await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._connections_max,
            command_timeout=self._deadline_seconds,
            timeout=self._deadline_seconds,
            # What an edge holds locked when its host is cut off must not keep the other edges waiting.
            server_settings={"application_name": "itemindex-edge", "idle_in_transaction_session_timeout": "5s"},
        )

    async def close(self) -> None:
        """Close all connections; those that are busy get a second."""
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._pool.close(), 1.0)
            except TimeoutError:
                self._pool.terminate()

    async def fetch(self, query: str, *arguments: Any) -> list[asyncpg.Record]:
        """Return all rows. A statement that was rolled back for another transaction's sake is sent once more.

        Raises StoreUnavailable when no connection or no answer comes within the deadline, and when PostgreSQL refuses
        because of its own state: read-only, full, shutting down, out of connections.
        """
        with self._outages():
            try:
                return await self._fetch(query, arguments)
            except asyncpg.PostgresError as error:
                if not was_rolled_back(error.sqlstate):
                    raise
            return await self._fetch(query, arguments)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Run statements in one transaction: `rows = await transaction.fetch(query, …)`. Raises StoreUnavailable.

        After that it is unknown whether the transaction was committed.
        """
        assert self._pool is not None
        with self._outages():
            async with self._pool.acquire(timeout=self._deadline_seconds) as connection, connection.transaction():
                yield Transaction(connection.fetch)

    async def fetch_row(self, query: str, *arguments: Any) -> asyncpg.Record | None:
        """Return the first row or None."""
        rows = await self.fetch(query, *arguments)
        return rows[0] if rows else None

    async def _fetch(self, query: str, arguments: tuple[Any, ...]) -> list[asyncpg.Record]:
        assert self._pool is not None
        started = perf_counter()
        async with self._pool.acquire(timeout=self._deadline_seconds) as connection:
            rows = await connection.fetch(query, *arguments)
        self._seconds.observe(perf_counter() - started)
        return rows

    @contextmanager
    def _outages(self) -> Iterator[None]:
        """Raise StoreUnavailable for what an outage looks like; every other error passes as it is."""
        try:
            yield
            self.answering = True
        except _NO_ANSWER as error:
            self.answering = False
            raise _unavailable("does not answer") from error
        except asyncpg.PostgresError as error:
            if not is_outage(error.sqlstate):
                raise
            # A server that refuses to write, or rolls one statement back, answers all others.
            self.answering = error.sqlstate == READ_ONLY or was_rolled_back(error.sqlstate)
            raise _unavailable("accepts no changes" if error.sqlstate == READ_ONLY else "does not answer") from error


def _unavailable(state: str) -> StoreUnavailable:
    metrics.store_errors.labels("database").inc()
    return StoreUnavailable("database", _RETRY_AFTER_SECONDS, state)
