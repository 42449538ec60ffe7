"""Refunds of failed and cancelled jobs: a debt in the order's row, settled with the state store, once."""

import redis

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.jobs.contract import refund_arguments
from shared.redis.connect import STORE_ERRORS, connect_store
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log

SQL = load_queries(__file__, "refunds.sql")
_DEADLINE_SECONDS = 2.0


class Refunds:
    """Makes refunds: due in the row until the store has recorded them; the store's marker makes a repeat harmless."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._log = log
        self._url = settings.state_url
        self._store: redis.Redis | redis.RedisCluster | None = None

    def settle(self, connection: Connection) -> int:
        """Make the due refunds; return how many orders were settled. A refund that fails stays due."""
        settled: list[str] = []
        given: dict[str, int] = {}
        try:
            self._store = self._store or connect_store(self._url, deadline_seconds=_DEADLINE_SECONDS)
            for order, account, charge_id, day, units in connection.execute(SQL.refunds_due).fetchall():
                if self._store.eval(*refund_arguments(account, charge_id, day, units, "dispatcher")):
                    given[order] = units
                settled.append(order)
        except STORE_ERRORS:
            metrics.store_errors.labels("state").inc()
        if settled:
            connection.execute(SQL.refunded, (settled, list(given)))
        for order, units in given.items():
            metrics.jobs_refunded.inc(units)
            self._log.info("job-refunded", job=order, units=units)
        return len(settled)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
