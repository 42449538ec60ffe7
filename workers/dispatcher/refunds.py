"""Refunds of failed and cancelled jobs: a debt in the order's row, settled with the state store, once."""

import redis

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.jobs.contract import refund_arguments
from shared.redis.connect import STORE_ERRORS, connect_store
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from workers.jobs.failed_rows import FailedRows
from workers.jobs.outages import is_outage

SQL = load_queries(__file__, "refunds.sql")
_DEADLINE_SECONDS = 2.0

# Codes of answers that are the store's state, whatever is asked of it.
_STATES = (
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOAUTH",
    "NOPERM",
    "NOREPLICAS",
    "OOM",
    "READONLY",
)


class Refunds:
    """Makes refunds: due in the row until the store has recorded them; the store's marker makes a repeat harmless."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._log = log
        self._url = settings.state_url
        self._store: redis.Redis | redis.RedisCluster | None = None
        self._failed = FailedRows("refund", log, _is_outage)

    def settle(self, connection: Connection) -> int:
        """Make the due refunds; return how many orders were settled. A refund that fails stays due."""
        settled = 0
        try:
            self._store = self._store or connect_store(self._url, deadline_seconds=_DEADLINE_SECONDS)
            for order, account, charge_id, day, units in connection.execute(SQL.refunds_due, (self._failed.keys,)):
                with self._failed.handle(order):
                    given = bool(self._store.eval(*refund_arguments(account, charge_id, day, units, "dispatcher")))
                    connection.execute(SQL.refunded, (order, given))
                    settled += 1
                    if given:
                        metrics.jobs_refunded.inc(units)
                        self._log.info("job-refunded", job=order, units=units)
        except STORE_ERRORS:
            metrics.store_errors.labels("state").inc()
        return settled

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


def _is_outage(error: Exception) -> bool:
    """Return whether an error is that of a store, also of the state store: the counters of one account are not it."""
    of_state = isinstance(error, STORE_ERRORS)
    of_account = type(error) is redis.ResponseError and not str(error).startswith(_STATES)
    return is_outage(error) or (of_state and not of_account)
