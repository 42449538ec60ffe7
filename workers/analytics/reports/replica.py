"""A read replica for reports: read only when it holds the ordered data_version; otherwise the primary is read."""

import time
from collections.abc import Callable
from typing import TypeVar

import psycopg

from shared.db.connect import Connection, connect
from shared.telemetry import metrics
from shared.telemetry.log import Log
from workers.analytics.reports.filters import SQL
from workers.analytics.rollups.layout import LAYOUT
from workers.jobs.leases import Lease, cancel_statement

_LOOK_SECONDS = 0.05
_REST_SECONDS = 10.0
_TRIES = 2
Result = TypeVar("Result")


class Replica:
    """A streaming replica as one worker process knows it; without an address it is never read.

    After a failure it is not read for some seconds.
    """

    def __init__(self, url: str, wait_seconds: float, log: Log) -> None:
        self._url = url
        self._wait_seconds = wait_seconds
        self._log = log
        self._rests_until = 0.0

    def read(self, lease: Lease, version: int, work: Callable[[Connection], Result]) -> Result | None:
        """Read on the replica, in a state of it that holds this data_version; None where the primary must be read.

        Raises LeaseLost or JobTimeout if the attempt must stop, and whatever the reading itself raises.
        """
        if not self._url:
            return None
        if time.monotonic() < self._rests_until:
            metrics.replica_reads.labels("rested").inc()
            return None
        why, failure = "conflict", None
        for _ in range(_TRIES):
            try:
                answer = self._read(lease, version, work)
            except psycopg.Error as error:
                lease.check()  # a cancelled statement surfaces here as an error
                failure = type(error).__name__
                if _gave_way(error):
                    continue
                why = "away"
                break
            if answer is not None:
                metrics.replica_reads.labels("replica").inc()
                return answer
            why = "behind"
            break
        self._pass_over(lease, why, failure)
        return None

    def _read(self, lease: Lease, version: int, work: Callable[[Connection], Result]) -> Result | None:
        with (
            connect(self._url, application="replica", autocommit=True) as connection,
            lease.replace_stop(lambda: cancel_statement(connection)),
        ):
            return work(connection) if self._has_come(lease, connection, version) else None

    def _has_come(self, lease: Lease, connection: Connection, version: int) -> bool:
        """Wait until the replica has replayed the load that made this data_version.

        Replay never goes back, so once the version is visible the check cannot become stale.
        """
        ends = time.monotonic() + self._wait_seconds
        while True:
            [(held, readable)] = connection.execute(SQL.newest, (LAYOUT,)).fetchall()
            if readable and held >= version:
                return True
            if time.monotonic() >= ends:
                return False
            lease.check()
            time.sleep(_LOOK_SECONDS)

    def _pass_over(self, lease: Lease, why: str, error: str | None) -> None:
        # One job has waited for a replica that lags or is unavailable; the next job need not wait too.
        self._rests_until = time.monotonic() + (0.0 if why == "conflict" else _REST_SECONDS)
        metrics.replica_reads.labels(why).inc()
        self._log.warning("replica-passed-over", job=lease.job_id, why=why, error=error)


def _gave_way(error: psycopg.Error) -> bool:
    """Return whether a query was cancelled for the replica's replay (class 40), or by its operator (57014)."""
    return (error.sqlstate or "").startswith("40") or isinstance(error, psycopg.errors.QueryCanceled)
