"""PostgreSQL as the edge uses it: a bounded pool with fair shares, deadlines, one error for every kind of outage."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, Self
from uuid import UUID

import asyncpg
from asyncpg.connection import ServerCapabilities
from asyncpg.pool import PoolConnectionProxy

from shared.db.connect import READ_ONLY, SESSION, is_outage, was_rolled_back
from shared.errors import StoreUnavailable
from shared.telemetry import metrics

ACCOUNT: ContextVar[str | None] = ContextVar("account", default=None)
"""The account that the current request is counted against; None for what no account asks for."""

NO_ANSWER = (OSError, asyncio.TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""Errors of the driver in an outage.

InternalClientError: its own state after the server had ended the connection between two statements.
"""
_RETRY_AFTER_SECONDS = 5


class FairShare:
    """Bounds the connections that an account uses at a time; its other statements wait in their order."""

    def __init__(self, connections_max: int) -> None:
        self._connections_max = connections_max
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}

    @asynccontextmanager
    async def slot(self, account: str | None, deadline_seconds: float) -> AsyncIterator[None]:
        """Hold a slot of the account. Raises TimeoutError where none is free within the deadline."""
        if account is None:
            yield
            return
        gate = self._gates.setdefault(account, asyncio.Semaphore(self._connections_max))
        self._users[account] = self._users.get(account, 0) + 1
        try:
            async with asyncio.timeout(deadline_seconds):
                await gate.acquire()
            try:
                yield
            finally:
                gate.release()
        finally:
            self._users[account] -= 1
            if not self._users[account]:
                del self._users[account], self._gates[account]


@dataclass(frozen=True, slots=True)
class Scope:
    """For whom a transaction works: row-level security shows it what belongs to them and nothing else.

    A person and an organization by their UUIDs, or a task of the edge's own. PostgreSQL's functions of the schema check
    what they are given against it. It is set by statements of its own, so that no expression inside a statement can.
    """

    person: str | None = None
    organization: str | None = None
    task: (
        Literal["sign-in", "usage", "plan-notices", "jobs", "rehash", "outbox", "report-schedules", "operator"] | None
    ) = None

    @property
    def statements(self) -> str:
        """SET LOCAL for each of the three. SET takes no parameters; a UUID is spelled anew, a task is one of ours."""
        person, organization = (str(UUID(text)) if text else "" for text in (self.person, self.organization))
        return (
            f"SET LOCAL itemindex.person = '{person}'; SET LOCAL itemindex.organization = '{organization}'; "
            f"SET LOCAL itemindex.task = '{self.task or ''}'"
        )


class Transaction:
    """Statements of one transaction, asked as `Database` is asked; a transaction inside it is a part of it."""

    def __init__(self, connection: "PoolConnectionProxy[asyncpg.Record]", scope: Scope | None) -> None:
        self._connection = connection
        self._scope = scope

    async def fetch(self, query: str, *arguments: object, scope: Scope | None = None) -> list[asyncpg.Record]:
        """Return all rows, as seen for the scope; without one, for that of the statement before."""
        if scope is not None and scope != self._scope:
            await self._connection.execute(scope.statements)
            self._scope = scope
        rows: list[asyncpg.Record] = await self._connection.fetch(query, *arguments)
        return rows

    async def fetch_row(self, query: str, *arguments: object, scope: Scope | None = None) -> asyncpg.Record | None:
        rows = await self.fetch(query, *arguments, scope=scope)
        return rows[0] if rows else None

    @asynccontextmanager
    async def transaction(self, scope: Scope | None = None) -> AsyncIterator[Self]:
        """Continue in this transaction: it commits where it was begun."""
        if scope is not None and scope != self._scope:
            await self._connection.execute(scope.statements)
            self._scope = scope
        yield self


class EdgeConnection(asyncpg.Connection):
    """A connection of the edge's role, which may not call set_config() (see Scope), and whose sessions keep nothing."""

    _server_caps: ServerCapabilities

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]  # the driver makes them
        # asyncpg would switch the just-in-time compiler off around its own query; here it is off throughout.
        self._server_caps = self._server_caps._replace(jit=False)

    def get_reset_query(self) -> str:
        """Return nothing to send when the pool takes a connection back: no borrower leaves anything in its session.

        Scopes and locks end with their transaction, and the pool itself rolls back one that is still open. A law holds
        the edge's statements to that.
        """
        return ""


class Database:
    """A pool that connects when it is first needed, so that the edge starts and stays up without PostgreSQL.

    `pooled`: the address is of PgBouncer in transaction mode. No statement is then remembered by name, because the next
    call may reach another connection of the server, which does not know it.
    """

    def __init__(self, url: str, *, connections_max: int, deadline_seconds: float, pooled: bool = False) -> None:
        self._url = url
        self._pooled = pooled
        self._connections_max = connections_max
        self._deadline_seconds = deadline_seconds
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._share = FairShare(max(1, connections_max // 2))
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
        # The locks of an edge whose host is cut off must not keep the other edges waiting. PgBouncer refuses both
        # settings: there the role has them.
        own = {} if self._pooled else {"idle_in_transaction_session_timeout": "5s", "jit": "off"}
        self._pool = await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._connections_max,
            command_timeout=self._deadline_seconds,
            timeout=self._deadline_seconds,
            server_settings={"application_name": "itemindex-edge", **SESSION, **own},
            statement_cache_size=0 if self._pooled else 100,
            connection_class=EdgeConnection,
        )

    async def close(self) -> None:
        """Close all connections; those that are busy get a second."""
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._pool.close(), 1.0)
            except TimeoutError:
                self._pool.terminate()

    async def fetch(self, query: str, *arguments: object, scope: Scope | None = None) -> list[asyncpg.Record]:
        """Return all rows, as seen for the scope; a statement that was rolled back or never sent is sent once more.

        Raises StoreUnavailable when no connection or no answer comes within the deadline, and when PostgreSQL refuses
        because of its own state: read-only, full, shutting down, out of connections.
        """
        with self._outages():
            try:
                return await self._fetch(query, arguments, scope)
            except asyncpg.PostgresError as error:
                if not was_rolled_back(error.sqlstate):
                    raise
            except asyncpg.InternalClientError:
                pass  # the server ended the connection while nobody used it, and nothing was sent
            return await self._fetch(query, arguments, scope)

    @asynccontextmanager
    async def transaction(self, scope: Scope | None = None) -> AsyncIterator[Transaction]:
        """Run statements in one transaction: `rows = await transaction.fetch(query, …)`. Raises StoreUnavailable.

        After that it is unknown whether the transaction was committed.
        """
        with self._outages():
            async with self._connection() as connection, connection.transaction():
                if scope is not None:
                    await connection.execute(scope.statements)
                yield Transaction(connection, scope)

    async def fetch_row(self, query: str, *arguments: object, scope: Scope | None = None) -> asyncpg.Record | None:
        rows = await self.fetch(query, *arguments, scope=scope)
        return rows[0] if rows else None

    async def _fetch(self, query: str, arguments: tuple[object, ...], scope: Scope | None) -> list[asyncpg.Record]:
        started = perf_counter()
        async with self._connection() as connection:
            if scope is None:
                rows: list[asyncpg.Record] = await connection.fetch(query, *arguments)
            else:
                rows = await _fetch_scoped(connection, scope, query, arguments)
        self._seconds.observe(perf_counter() - started)
        return rows

    @asynccontextmanager
    async def _connection(self) -> "AsyncIterator[PoolConnectionProxy[asyncpg.Record]]":
        """Lend a connection: half of them at most to one account. Raises TimeoutError after the deadline."""
        assert self._pool is not None
        async with self._share.slot(ACCOUNT.get(), self._deadline_seconds):
            async with self._pool.acquire(timeout=self._deadline_seconds) as connection:
                yield connection

    @contextmanager
    def _outages(self) -> Iterator[None]:
        """Raise StoreUnavailable for what an outage looks like; every other error passes as it is."""
        try:
            yield
            self.answering = True
        except NO_ANSWER as error:
            self.answering = False
            raise _unavailable("is not responding") from error
        except asyncpg.PostgresError as error:
            if not is_outage(error.sqlstate):
                raise
            # A server that refuses to write, or rolls one statement back, answers all others.
            self.answering = error.sqlstate == READ_ONLY or was_rolled_back(error.sqlstate)
            raise _unavailable("is read-only now" if error.sqlstate == READ_ONLY else "is not responding") from error


async def _fetch_scoped(
    connection: "PoolConnectionProxy[asyncpg.Record]", scope: Scope, query: str, arguments: tuple[object, ...]
) -> list[asyncpg.Record]:
    """Run one statement in a transaction of its own; beginning it and setting the scope is one message."""
    await connection.execute(f"BEGIN; {scope.statements}")
    try:
        rows: list[asyncpg.Record] = await connection.fetch(query, *arguments)
    except BaseException:
        # Also when the caller has gone: the pool must not get a connection back with a transaction begun.
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await connection.execute("ROLLBACK")
        raise
    await connection.execute("COMMIT")
    return rows


def _unavailable(state: str) -> StoreUnavailable:
    metrics.store_errors.labels("database").inc()
    return StoreUnavailable("database", _RETRY_AFTER_SECONDS, state)
