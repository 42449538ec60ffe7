"""PostgreSQL as the edge uses it: a bounded pool, a deadline on every call, one error for all that can go wrong."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Self

import asyncpg

from shared.errors import StoreUnavailable
from shared.telemetry import metrics

Run = Callable[..., Awaitable[list[asyncpg.Record]]]
_LOST = (OSError, asyncio.TimeoutError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError,
         asyncpg.OperatorInterventionError, asyncpg.InsufficientResourcesError)  # fmt: skip


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
        """Return all rows. Raises StoreUnavailable when no connection or no answer comes within the deadline."""
        assert self._pool is not None
        started = perf_counter()
        try:
            async with self._pool.acquire(timeout=self._deadline_seconds) as connection:
                rows = await connection.fetch(query, *arguments)
        except _LOST as error:
            raise self._lost() from error
        self._seconds.observe(perf_counter() - started)
        self.answering = True
        return rows

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Run statements in one transaction: `rows = await transaction.fetch(query, …)`. Raises StoreUnavailable.

        After that nobody knows whether the transaction was committed.
        """
        assert self._pool is not None
        try:
            async with self._pool.acquire(timeout=self._deadline_seconds) as connection, connection.transaction():
                yield Transaction(connection.fetch)
            self.answering = True
        except _LOST as error:
            raise self._lost() from error

    async def fetch_row(self, query: str, *arguments: Any) -> asyncpg.Record | None:
        """Return the first row or None."""
        rows = await self.fetch(query, *arguments)
        return rows[0] if rows else None

    def _lost(self) -> StoreUnavailable:
        self.answering = False
        metrics.store_errors.labels("database").inc()
        return StoreUnavailable("database", retry_after_seconds=5)
