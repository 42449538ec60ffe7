"""What an edge measures of itself by the clock and not by the request: its loop's lag, its stores, its pool.

The fast lane has no microsecond to give away; a probe a second tells the same of a store, and costs nothing per call.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from time import perf_counter

from edge.storage.database import Database
from edge.storage.listener import PgListener
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.telemetry import metrics

_LAG_SECONDS = 0.25
_BEATS_A_PROBE = 4


class RuntimeMonitor:
    """Beats in the background for as long as the edge runs."""

    def __init__(
        self, stores: Mapping[str, RedisClient], database: Database, notices: PgListener, lines_lost: Callable[[], int]
    ) -> None:
        self._stores = stores
        self._database = database
        self._notices = notices
        self._lines_lost = lines_lost
        self._lost_before = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to measure."""
        self._task = asyncio.create_task(self._beat_forever())

    async def stop(self) -> None:
        """Stop measuring."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

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
        lost = self._lines_lost()
        metrics.access_lines_lost.inc(lost - self._lost_before)
        self._lost_before = lost

    async def _beat_forever(self) -> None:
        loop, beats = asyncio.get_running_loop(), 0
        while True:
            due = loop.time() + _LAG_SECONDS
            await asyncio.sleep(_LAG_SECONDS)
            metrics.loop_lag_seconds.observe(max(0.0, loop.time() - due))
            if beats % _BEATS_A_PROBE == 0:
                await self.measure()
            beats += 1

    async def _probe(self, name: str, client: RedisClient) -> None:
        # A store that is known to be down is not asked: that would count as one more failed call of a caller.
        up = client.healthy
        if up:
            started = perf_counter()
            try:
                await client.command("PING")
            except StoreUnavailable:
                up = False
            else:
                metrics.store_seconds.labels(name).observe(perf_counter() - started)
        metrics.store_up.labels(name).set(up)
