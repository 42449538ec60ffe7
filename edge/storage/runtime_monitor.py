"""Metrics that an edge samples on a timer instead of per request: event loop lag, stores, connection pool.

Timing each call would slow the fast path; one probe a second shows the same latency of a store.
"""

import asyncio
import uuid
from collections.abc import Mapping
from time import perf_counter

from edge.storage.background import Background
from edge.storage.database import Database
from edge.storage.notices import PgListener
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.redis import keys
from shared.telemetry import metrics
from shared.telemetry.log import Log

_LAG_SECONDS = 0.25
_SAMPLES_PER_PROBE = 4


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
