"""Which data_version this edge serves."""

import asyncio
from collections.abc import Callable

from edge.storage.database import Database
from shared.db.queries import beside
from shared.errors import StoreUnavailable
from shared.telemetry import metrics
from shared.telemetry.log import Log

SQL = beside(__file__, "data_version.sql")


class DataVersionWatcher:
    """The newest committed data_version that this edge knows; 0 until the first one is read.

    While PostgreSQL is unavailable the number does not change, so answers cached for it stay valid.
    """

    def __init__(self, database: Database, log: Log) -> None:
        self._database = database
        self._log = log
        self._changed: list[Callable[[], None]] = []
        self._reading: asyncio.Task[None] | None = None
        self.current = 0

    def on_change(self, call: Callable[[], None]) -> None:
        """Call a function after each change."""
        self._changed.append(call)

    def refresh(self) -> None:
        """Read the newest version in the background; concurrent calls share one read."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._refresh())

    async def read(self) -> None:
        """Read the newest version now; keep the last one if PostgreSQL is unavailable."""
        try:
            row = await self._database.fetch_row(SQL.newest)
        except StoreUnavailable:
            return
        newest = row["version"] if row else 0
        if newest != self.current:
            self.current = newest
            metrics.data_version.labels("edge").set(newest)
            self._log.info("data-version", version=newest)
            for call in self._changed:
                call()

    async def _refresh(self) -> None:
        await self.read()
