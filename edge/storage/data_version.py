"""Which data_version this edge serves."""

import asyncio
from collections.abc import Callable

from edge.storage.background import Background
from edge.storage.database import Database
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.redis import keys
from shared.telemetry import metrics
from shared.telemetry.log import Log

SQL = load_queries(__file__, "data_version.sql")


class DataVersionWatcher(Background):
    """The newest committed data_version that this edge knows; 0 until the first one is read.

    While PostgreSQL is unavailable the number does not change, so answers cached for it stay valid. `committed_at` is
    its moment, as PostgreSQL writes it. `snapshot` names both: what is cached is keyed by it, because the number alone
    comes again after a restore of an older database.
    """

    def __init__(self, database: Database, log: Log, retry_seconds: float = 1.0) -> None:
        super().__init__(self._follow, log, retry_seconds)
        self._database = database
        self._changed: list[Callable[[], None]] = []
        self._due = asyncio.Event()
        self._one_read = asyncio.Lock()
        self._set(0, "")

    def on_change(self, call: Callable[[], None]) -> None:
        """Call a function after each change."""
        self._changed.append(call)

    def refresh(self) -> None:
        """Read the newest version in the background; calls share a read that has not begun."""
        self._due.set()

    async def read(self) -> bool:
        """Read the newest version now; keep the last one, and return False, if PostgreSQL is unavailable."""
        async with self._one_read:  # of two at a time, the older one could end last and take the version back
            try:
                row = await self._database.fetch_row(SQL.newest)
            except StoreUnavailable:
                return False
            newest, moment = (row["version"], row["committed_at"]) if row else (0, "")
            if (newest, moment) != (self.current, self.committed_at):
                self._set(newest, moment)
                metrics.data_version.labels("edge").set(newest)
                self._log.info("data-version", version=newest)
                for call in self._changed:
                    call()
            return True

    def _set(self, current: int, committed_at: str) -> None:
        self.current, self.committed_at = current, committed_at
        self.snapshot = keys.snapshot(current, committed_at)

    async def _follow(self) -> None:
        await self._due.wait()
        # Before the read: a call while it runs may be about a load that it has not seen.
        self._due.clear()
        known = False
        try:
            known = await self.read()
        finally:
            if not known:  # the same load is notified once
                self._due.set()
        if not known:
            await asyncio.sleep(self._retry_seconds)
