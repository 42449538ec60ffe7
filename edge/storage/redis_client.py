"""A client of Valkey or Redis that costs little per command.

Commands of one turn of the event loop leave in one write; replies come back in order to callbacks. A general client
makes a connection check-out, a future, a lock and a write for each command, which is most of a look-up's cost; see
deploy/decisions/0003-coalescing-store-client.md for what was measured.
"""

import asyncio
import contextlib
import ssl
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs, unquote, urlsplit

import hiredis

from shared.errors import ConfigurationError, StoreUnavailable
from shared.telemetry import metrics
from shared.telemetry.log import Log

Reply = Any
Done = Callable[[Reply], None]
_RECONNECT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0)
_CONNECT_SECONDS = 0.5


class Address(NamedTuple):
    """Where a store is, as read from its URL."""

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
        return Address(parts.path, "", 0, int(query.get("db", ["0"])[0]), user, password, tls=False)
    database = parts.path.strip("/") or query.get("db", ["0"])[0]
    tls = parts.scheme in ("rediss", "valkeys")
    return Address(None, parts.hostname or "127.0.0.1", parts.port or 6379, int(database), user, password, tls)


def pack(*arguments: bytes | str | int) -> bytes:
    """Encode one command as the store reads it (RESP 2, array of bulk strings)."""
    packed: bytes = hiredis.pack_command(arguments)  # type: ignore[arg-type]  # its stub is too narrow
    return packed


class Connection(asyncio.Protocol):
    """One connection: what was sent and not yet answered, in order."""

    def __init__(self, store: str, deadline_seconds: float, lost: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._store = store
        self._deadline_seconds = deadline_seconds
        self._lost = lost
        self._reader = hiredis.Reader()
        self._transport: asyncio.Transport | None = None
        self._outgoing: list[bytes] = []
        self._waiting: deque[tuple[float, Done]] = deque()
        self._watch: asyncio.TimerHandle | None = None

    @property
    def open(self) -> bool:
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def send(self, packed: bytes, done: Done) -> None:
        if self._transport is None:  # lost already: nobody would ever answer, and whoever waits would wait forever
            done(StoreUnavailable(self._store))
            return
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(packed)
        self._waiting.append((self._loop.time() + self._deadline_seconds, done))
        if self._watch is None:
            self._watch = self._loop.call_later(self._deadline_seconds, self._check_deadline)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        waiting = self._waiting
        while (reply := self._reader.gets()) is not False:
            waiting.popleft()[1](reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._watch is not None:
            self._watch.cancel()
        waiting, self._waiting = self._waiting, deque()
        self._lost()
        for _, done in waiting:
            done(StoreUnavailable(self._store))

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _flush(self) -> None:
        batch, self._outgoing = self._outgoing, []
        if self._transport is not None:
            self._transport.write(b"".join(batch))

    def _check_deadline(self) -> None:
        # One timer watches the oldest command. A late store is dropped whole: its replies would come in an order
        # that nobody waits for any more, and every caller behind the late one is late too.
        self._watch = None
        if not self._waiting:
            return
        left = self._waiting[0][0] - self._loop.time()
        if left <= 0:
            self.abort()
        else:
            self._watch = self._loop.call_later(left, self._check_deadline)


class RedisClient(ABC):
    """What the edge asks a store through, be it one server or a cluster."""

    name: str
    # Whether a command whose reply was lost is sent again by the client; if not, its caller may do so.
    asks_again = False

    @property
    @abstractmethod
    def healthy(self) -> bool:
        """Whether commands can be sent now."""

    @abstractmethod
    async def start(self) -> None:
        """Connect; never fails: when the store is down, attempts go on in the background."""

    @abstractmethod
    async def close(self) -> None:
        """Close every connection; commands on their way fail."""

    @abstractmethod
    def send(self, packed: bytes, done: Done) -> None:
        """Send a packed command; `done` gets its reply, an error reply, or StoreUnavailable, and must not raise."""

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
    """Sends commands to one server. While it is down every command fails at once; it reconnects by itself."""

    def __init__(self, address: str | Address, *, name: str, deadline_seconds: float, log: Log) -> None:
        self._address = parse_url(address) if isinstance(address, str) else address
        self.name = name
        self._deadline_seconds = deadline_seconds
        self._log = log
        self._line: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._down = asyncio.Event()
        self._ever_connected = False

    @property
    def healthy(self) -> bool:
        """Whether there is a connection."""
        return self._line is not None

    async def start(self) -> None:
        """Connect; never fails: when the store is down, attempts go on in the background."""
        with contextlib.suppress(OSError, StoreUnavailable, TimeoutError):
            await self._connect()
        self._task = asyncio.create_task(self._keep_connected())

    async def close(self) -> None:
        """Close the connection."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        line, self._line = self._line, None
        if line is not None:
            line.abort()
            await asyncio.sleep(0)

    def send(self, packed: bytes, done: Done) -> None:
        """Send a packed command; `done` gets its reply, an error reply, or StoreUnavailable, and must not raise."""
        line = self._line
        if line is None:
            metrics.store_errors.labels(self.name).inc()
            done(StoreUnavailable(self.name))
        else:
            line.send(packed, done)

    async def _keep_connected(self) -> None:
        attempt = 0
        while True:
            if self._line is None:
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
            line = await self._open()
        address = self._address
        greeting: list[tuple[bytes | str | int, ...]] = []
        if address.password is not None:
            user = (address.user,) if address.user else ()
            greeting.append(("AUTH", *user, address.password))
        if address.database:
            greeting.append(("SELECT", address.database))
        greeting.append(("PING",))
        try:
            for arguments in greeting:
                await self._greet(line, arguments)
        except asyncio.CancelledError:
            line.abort()
            raise
        if not line.open:  # lost between its last word and this one
            raise StoreUnavailable(self.name)
        self._line = line
        if self._ever_connected:
            self._log.info("store-back", store=self.name)
        self._ever_connected = True

    async def _open(self) -> Connection:
        loop, address = asyncio.get_running_loop(), self._address

        def factory() -> Connection:
            made = self._make_line(lambda: self._on_lost(made))
            return made

        if address.path is not None:
            _, line = await loop.create_unix_connection(factory, address.path)
        else:
            context = ssl.create_default_context() if address.tls else None
            _, line = await loop.create_connection(factory, address.host, address.port, ssl=context)
        return line

    def _make_line(self, lost: Callable[[], None]) -> Connection:
        return Connection(self.name, self._deadline_seconds, lost)

    async def _greet(self, line: Connection, arguments: tuple[bytes | str | int, ...]) -> None:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        line.send(pack(*arguments), lambda reply: None if future.done() else future.set_result(reply))
        reply = await future
        if isinstance(reply, Exception):
            line.abort()
            raise StoreUnavailable(self.name)

    def _on_lost(self, line: Connection) -> None:
        if self._line is line:
            self._line = None
            self._log.warning("store-down", store=self.name)
            self._down.set()
