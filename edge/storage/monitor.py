"""What an edge watches: notices of PostgreSQL, a store that was emptied, samples on a timer, the served certificate."""

import asyncio
import ssl
import uuid
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic, perf_counter
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from cryptography import x509

from edge.storage.background import Background
from edge.storage.database import NO_ANSWER, Database
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.redis import keys
from shared.telemetry import metrics
from shared.telemetry.log import Log

_PROBE_SECONDS = 0.25
_TIMEOUT_SECONDS = 5.0


class PgListener(Background):
    """Calls a function for each notification on a channel, and every function after each (re)connection.

    A notification may be lost while the connection is down; the calls after a reconnection make up for it.
    `on_payload` functions get the notification's payload, or "" after a reconnection, which means that anything may
    have changed. `confirm` is called several times a second with a moment: what was notified before it has been passed
    on if `heard`; otherwise notices may be missing since the last such moment.
    """

    def __init__(
        self,
        url: str,
        on_signal: Mapping[str, Callable[[], Any]],
        on_payload: Mapping[str, Callable[[str], Any]],
        confirm: Callable[..., Awaitable[None]],
        log: Log,
        reconnect_seconds: float = 0.5,
    ) -> None:
        super().__init__(self._listen, log)
        self._url = url
        self._reconnect_seconds = reconnect_seconds
        self._confirm = confirm
        self._on_payload = on_payload
        self._on_signal = on_signal
        self.connected = False

    async def _listen(self) -> None:
        """Listen until the connection is lost, and pause."""
        try:
            await self._listen_once()
        except (*NO_ANSWER, asyncpg.PostgresError):
            if self.connected:
                self._log.warning("store-down", store="notices")
        finally:
            self.connected = False
        await self._confirm(monotonic(), heard=False)
        await asyncio.sleep(self._reconnect_seconds)

    async def _listen_once(self) -> None:
        connection = await asyncpg.connect(
            self._url, timeout=_TIMEOUT_SECONDS, server_settings={"application_name": "itemindex-notices"}
        )
        try:
            for channel in (*self._on_signal, *self._on_payload):
                await connection.add_listener(channel, self._on_notice)
            for call in self._on_signal.values():
                call()
            for call_with in self._on_payload.values():
                call_with("")
            while True:  # a connection that was cut is noticed only when it is used
                moment = monotonic()
                await connection.execute("SELECT 1", timeout=_TIMEOUT_SECONDS)
                await self._confirm(moment, heard=True)
                self.connected = True
                await asyncio.sleep(_PROBE_SECONDS)
        finally:
            connection.terminate()

    def _on_notice(self, connection: Any, pid: int, channel: str, payload: object) -> None:
        if channel in self._on_payload:
            self._on_payload[channel](str(payload))
        else:
            self._on_signal[channel]()


class RunMarker:
    """A marker that the first edge writes and that nothing of ours deletes. Another value means that all was lost."""

    def __init__(self, store: RedisClient, log: Log) -> None:
        self._store = store
        self._log = log
        self._seen: bytes | None = None
        # There from the beginning, as 0: Prometheus sees no increase in a counter that begins with its first loss.
        self._losses = metrics.store_emptied.labels("state")

    async def look(self) -> None:
        """Compare the marker with the one seen before; count and log a loss once. Raises StoreUnavailable."""
        await self._store.command("SET", keys.RUN_MARKER, uuid.uuid4().hex, "NX")
        marker = await self._store.command("GET", keys.RUN_MARKER)
        if self._seen is not None and marker != self._seen:
            self._losses.inc()
            self._log.error("store-emptied", store="state")
        self._seen = marker


# Metrics that an edge samples on a timer instead of per request: event loop lag, stores, connection pool. Timing
# each call would slow the fast path; one probe a second shows the same latency of a store.


_LAG_SECONDS = 0.25
_SAMPLES_PER_PROBE = 4


class RuntimeMonitor(Background):
    """Samples in the background for as long as the edge runs."""

    def __init__(
        self,
        stores: Mapping[str, RedisClient],
        database: Database,
        notices: PgListener,
        marker: RunMarker,
        log: Log,
    ) -> None:
        super().__init__(self._sample, log)
        self._marker = marker
        self._stores = stores
        self._database = database
        self._notices = notices

    async def measure(self) -> None:
        """Set every gauge and probe every store once."""
        for name, client in self._stores.items():
            await self._probe(name, client)
        metrics.store_up.labels("database").set(self._database.answering)
        metrics.store_up.labels("notices").set(self._notices.connected)
        busy, idle, most = self._database.connections
        metrics.pool_connections.labels("busy").set(busy)
        metrics.pool_connections.labels("idle").set(idle)
        metrics.pool_connections_max.set(most)

    async def _sample(self) -> None:
        loop = asyncio.get_running_loop()
        await self.measure()
        for _ in range(_SAMPLES_PER_PROBE):
            due = loop.time() + _LAG_SECONDS
            await asyncio.sleep(_LAG_SECONDS)
            metrics.loop_lag_seconds.observe(max(0.0, loop.time() - due))

    async def _probe(self, name: str, client: RedisClient) -> None:
        # A probe of a store that is known to be down would count as a failed call.
        up = client.healthy
        if up:
            started = perf_counter()
            try:
                await client.command("PING")
                if name == "state":
                    await self._marker.look()
            except StoreUnavailable:
                up = False
            else:
                metrics.store_seconds.labels(name).observe(perf_counter() - started)
        metrics.store_up.labels(name).set(up)


# The certificate that callers see, which may be another than the file: a renewal counts when it is served.


_CERTIFICATE_SECONDS = 3_600.0


class CertificateMonitor(Background):
    """Reads the served certificate once an hour; without TLS there is none."""

    def __init__(self, base_url: str, log: Log) -> None:
        super().__init__(self._read, log)
        self._url = urlsplit(base_url)

    def start(self) -> None:
        if self._url.scheme == "https":
            super().start()

    async def _read(self) -> None:
        host, port = str(self._url.hostname), self._url.port or 443
        context = ssl.create_default_context()
        # Whether callers trust it is theirs to say; its end is read of one that has expired, too.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                _, writer = await asyncio.open_connection(host, port, ssl=context)
        except (OSError, TimeoutError) as error:
            self._log.warning("certificate-unread", host=host, error=str(error) or "no answer")
        else:
            der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()
            ends = x509.load_der_x509_certificate(der).not_valid_after_utc
            metrics.certificate_expires_seconds.labels(host).set(ends.timestamp())
        await asyncio.sleep(_CERTIFICATE_SECONDS)
