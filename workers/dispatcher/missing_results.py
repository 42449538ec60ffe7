"""Results that edges reported missing: served again once they are back, expired and refunded once they stay missing."""

from shared.analytics.manifest import manifest_from
from shared.bulk.manifest import export_manifest_from
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.jobs.contract import EXPORT
from shared.objects.directory import ResultStore
from shared.telemetry import metrics
from shared.telemetry.log import Log
from workers.jobs.failed_rows import FailedRows

SQL = load_queries(__file__, "missing_results.sql")


class MissingResults:
    """Checks the results that edges reported missing.

    One that is back is served again. One that is missing now and was first missed `patience_seconds` ago or earlier
    expires; what its orders cost is owed back in the same statement.
    """

    def __init__(self, store: ResultStore, log: Log, patience_seconds: int, failed: FailedRows) -> None:
        self._store = store
        self._log = log
        self._patience_seconds = patience_seconds
        self._failed = failed

    def confirm(self, connection: Connection) -> None:
        """Look at each. Raises StoreUnavailable, and expires nothing, if the store does not answer."""
        for job, kind, result in connection.execute(SQL.missing, (self._failed.keys,)).fetchall():
            with self._failed.handle(job):
                self._confirm(connection, job, kind, result)

    def _confirm(self, connection: Connection, job: str, kind: str, result: dict[str, object]) -> None:
        if all(self._store.size(key) == size for key, size in _objects(kind, result)):
            connection.execute(SQL.found, (job,))
            self._log.info("result-found", job=job, kind=kind)
        elif connection.execute(SQL.lost, (job, self._patience_seconds)).fetchone() is not None:
            metrics.results_lost.labels(kind).inc()
            self._log.error("result-lost", job=job, kind=kind)


def _objects(kind: str, result: dict[str, object]) -> list[tuple[str, int]]:
    """Return key and length in bytes of everything that a job has published."""
    if kind == EXPORT.name:
        return [(file.key, file.bytes) for file in export_manifest_from(result).files]
    manifest = manifest_from(result)
    return [(manifest.key, manifest.bytes)]
