"""Notices that the state store lost what it held: a flush, or a restart without its file. Counts begin anew then."""

import uuid

from edge.storage.redis_client import RedisClient
from shared.redis import keys
from shared.telemetry import metrics
from shared.telemetry.log import Log


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
