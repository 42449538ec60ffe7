"""A Redis client with a low cost per command.

Commands of one event loop iteration are sent in one write, and replies go to callbacks in order. A general client
spends a connection checkout, a future, a lock and a write on each command, which would be most of the cost of a
lookup. Measurements: docs/decisions/0003-coalescing-store-client.md.
"""

import asyncio
import contextlib
import ssl
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import parse_qs, unquote, urlsplit

import hiredis

from edge.storage.background import Background
from shared.errors import ConfigurationError, StoreUnavailable
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of

Outcome = TypeVar("Outcome")
Reply = Any  # type: ignore[explicit-any]
"""The store's reply to a command; its type depends on the command."""
Done = Callable[[Reply], None]
_log = Log("edge")
_RECONNECT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0)
_CONNECT_SECONDS = 0.5


class Address(NamedTuple):
    """The address of a server, as read from its URL."""

    path: str | None
    host: str
    port: int
    database: int
    user: str | None
    password: str | None
    tls: bool


def parse_url(url: str) -> Address:
    """Read `redis://[user:password@]host:port/db`, `rediss://…` or `unix:///path?db=1`."""
    parts = urlsplit(url)
    if parts.scheme not in ("redis", "rediss", "valkey", "valkeys", "unix"):
        raise ConfigurationError("a store's URL begins with redis://, rediss:// or unix://")
    query = parse_qs(parts.query)
    password = unquote(parts.password) if parts.password else None
    user = unquote(parts.username) if parts.username else None
    if parts.scheme == "unix":
        return Address(unquote(parts.path), "", 0, int(query.get("db", ["0"])[0]), user, password, tls=False)
    database = parts.path.strip("/") or query.get("db", ["0"])[0]
    tls = parts.scheme in ("rediss", "valkeys")
    return Address(None, parts.hostname or "127.0.0.1", parts.port or 6379, int(database), user, password, tls)


def pack(*arguments: bytes | str | int) -> bytes:
    """Encode one command as the store reads it (RESP 2, array of bulk strings)."""
    packed: bytes = hiredis.pack_command(arguments)  # type: ignore[arg-type]  # its stub is too narrow
    return packed


def deliver(done: Callable[[Outcome | Exception], None], reply: Outcome | Exception) -> None:
    """Call a callback with its reply. One that raises is logged and called again with its error.

    Callers wait behind a callback: an error that passed on from here would leave them, and those of all replies behind
    this one, waiting for ever.
    """
    try:
        done(reply)
    except Exception as error:  # noqa: BLE001 - any fault of a callback is that callback's alone
        _log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        if not isinstance(reply, Exception):
            deliver(done, error)


class RedisConnection(asyncio.Protocol):
    """One connection with its unanswered commands in order."""

    def __init__(self, store: str, deadline_seconds: float, on_lost: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._store = store
        self._deadline_seconds = deadline_seconds
        self._on_lost = on_lost
        self._reader = hiredis.Reader()
        self._transport: asyncio.Transport | None = None
        self._outgoing: list[tuple[bytes, Done]] = []
        self._waiting: deque[tuple[float, Done]] = deque()
        self._watch: asyncio.TimerHandle | None = None

    @property
    def open(self) -> bool:
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def send(self, packed: bytes, done: Done) -> None:
        if self._transport is None:  # already lost: the reply would never come and the caller would wait for ever
            deliver(done, StoreUnavailable(self._store))
            return
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append((packed, done))

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        waiting = self._waiting
        while (reply := self._reader.gets()) is not False:
            deliver(waiting.popleft()[1], reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._watch is not None:
            self._watch.cancel()
        lost = [done for _, done in (*self._waiting, *self._outgoing)]
        self._waiting, self._outgoing = deque(), []
        self._on_lost()
        for done in lost:
            deliver(done, StoreUnavailable(self._store))

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _flush(self) -> None:
        batch, self._outgoing = self._outgoing, []
        if self._transport is None or not batch:
            return
        # The time of a command begins when it is sent: a loop that was blocked in between is no fault of the store.
        deadline = self._loop.time() + self._deadline_seconds
        self._waiting.extend([(deadline, done) for _, done in batch])
        if self._watch is None:
            self._watch = self._loop.call_later(self._deadline_seconds, self._check_deadline)
        self._transport.write(b"".join([packed for packed, _ in batch]))

    def _check_deadline(self) -> None:
        # One timer watches the oldest command. When it is late the whole connection is dropped: all commands behind it
        # are late as well, and late replies would be matched to the wrong callers.
        self._watch = None
        if not self._waiting:
            return
        left = self._waiting[0][0] - self._loop.time()
        if left <= 0:
            self.abort()
        else:
            self._watch = self._loop.call_later(left, self._check_deadline)


class RedisClient(ABC):
    """Sends commands to one server or to a cluster."""

    name: str
    # Whether the client itself repeats a command whose reply was lost; otherwise its caller may.
    retries_commands = False

    @property
    @abstractmethod
    def healthy(self) -> bool:
        """Whether commands can be sent now."""

    @abstractmethod
    async def start(self) -> None:
        """Connect. Never fails: while the server is unavailable, attempts continue in the background."""

    @abstractmethod
    async def close(self) -> None:
        """Close every connection; pending commands fail."""

    @abstractmethod
    def send(self, packed: bytes, done: Done) -> None:
        """Send a packed command; `done` gets its reply, an error reply, or StoreUnavailable (see `deliver`)."""

    async def command(self, *arguments: bytes | str | int) -> Reply:
        """Send one command and wait. Raises StoreUnavailable, also for the store's own errors (OOM, LOADING …)."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.send(pack(*arguments), lambda reply: None if future.done() else future.set_result(reply))
        reply = await future
        if isinstance(reply, Exception):
            metrics.store_errors.labels(self.name).inc()
            raise reply if isinstance(reply, StoreUnavailable) else StoreUnavailable(self.name)
        return reply


class SingleNodeClient(RedisClient):
    """Sends commands to one server and reconnects to it. While it is unavailable, every command fails at once."""

    # No property: each lookup reads it.
    healthy = False

    def __init__(self, address: str | Address, *, name: str, deadline_seconds: float, log: Log) -> None:
        self._address = parse_url(address) if isinstance(address, str) else address
        self.name = name
        self._deadline_seconds = deadline_seconds
        self._log = log
        self._connection: RedisConnection | None = None
        self._background = Background(self._keep_connected, log)
        self._down = asyncio.Event()
        self._reported_down = False

    async def start(self) -> None:
        """Connect. Never fails: while the server is unavailable, attempts continue in the background."""
        try:
            await self._connect()
        except (OSError, StoreUnavailable, TimeoutError):
            self._report_down()
        self._background.start()

    async def close(self) -> None:
        await self._background.stop()
        connection, self._connection, self.healthy = self._connection, None, False
        if connection is not None:
            connection.abort()
            await asyncio.sleep(0)

    def send(self, packed: bytes, done: Done) -> None:
        """Send a packed command; `done` gets its reply, an error reply, or StoreUnavailable (see `deliver`)."""
        connection = self._connection
        if connection is None:
            metrics.store_errors.labels(self.name).inc()
            deliver(done, StoreUnavailable(self.name))
        else:
            connection.send(packed, done)

    async def _keep_connected(self) -> None:
        attempt = 0
        while True:
            if self._connection is None:
                await asyncio.sleep(_RECONNECT_SECONDS[min(attempt, len(_RECONNECT_SECONDS) - 1)])
                attempt += 1
                with contextlib.suppress(OSError, StoreUnavailable, TimeoutError):
                    await self._connect()
                    attempt = 0
            else:
                self._down.clear()
                await self._down.wait()

    async def _connect(self) -> None:
        async with asyncio.timeout(_CONNECT_SECONDS):
            connection = await self._open()
        address = self._address
        handshake: list[tuple[bytes | str | int, ...]] = []
        if address.password is not None:
            user = (address.user,) if address.user else ()
            handshake.append(("AUTH", *user, address.password))
        if address.database:
            handshake.append(("SELECT", address.database))
        handshake.append(("PING",))
        try:
            for arguments in handshake:
                await self._handshake(connection, arguments)
        except asyncio.CancelledError:
            connection.abort()
            raise
        if not connection.open:  # lost between the last handshake reply and this line
            raise StoreUnavailable(self.name)
        self._connection, self.healthy = connection, True
        if self._reported_down:
            self._log.info("store-back", store=self.name)
        self._reported_down = False

    async def _open(self) -> RedisConnection:
        loop, address = asyncio.get_running_loop(), self._address

        def factory() -> RedisConnection:
            made = self._make_connection(lambda: self._on_connection_lost(made))
            return made

        if address.path is not None:
            _, connection = await loop.create_unix_connection(factory, address.path)
        else:
            context = ssl.create_default_context() if address.tls else None
            _, connection = await loop.create_connection(factory, address.host, address.port, ssl=context)
        return connection

    def _make_connection(self, on_lost: Callable[[], None]) -> RedisConnection:
        return RedisConnection(self.name, self._deadline_seconds, on_lost)

    async def _handshake(self, connection: RedisConnection, arguments: tuple[bytes | str | int, ...]) -> None:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        connection.send(pack(*arguments), lambda reply: None if future.done() else future.set_result(reply))
        reply = await future
        if isinstance(reply, Exception):
            connection.abort()
            raise StoreUnavailable(self.name)

    def _on_connection_lost(self, connection: RedisConnection) -> None:
        if self._connection is connection:
            self._connection, self.healthy = None, False
            self._report_down()
            self._down.set()

    def _report_down(self) -> None:
        self._reported_down = True
        self._log.warning("store-down", store=self.name)
