"""Results that edges reported missing: served again once they are back, expired and refunded once they stay missing."""

from typing import Any

from shared.analytics.manifest import manifest_from
from shared.bulk.manifest import export_manifest_from
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.jobs.contract import EXPORT
from shared.objects.directory import ResultStore
from shared.telemetry import metrics
from shared.telemetry.log import Log

SQL = load_queries(__file__, "missing_results.sql")


def confirm_missing(connection: Connection, store: ResultStore, log: Log, patience_seconds: int) -> None:
    """Check the results that edges reported missing. One that is back is served again; one that stays missing expires.

    A result expires when it is missing now and was first missed `patience_seconds` ago or earlier; what its orders cost
    is owed back in the same statement. Raises StoreUnavailable, and expires nothing, if the store does not answer.
    """
    for job, kind, result in connection.execute(SQL.missing).fetchall():
        if all(store.size(key) == size for key, size in _objects(kind, result)):
            connection.execute(SQL.found, (job,))
            log.info("result-found", job=job, kind=kind)
        elif connection.execute(SQL.lost, (job, patience_seconds)).fetchone() is not None:
            metrics.results_lost.labels(kind).inc()
            log.error("result-lost", job=job, kind=kind)


def _objects(kind: str, result: dict[str, Any]) -> list[tuple[str, int]]:
    """Return key and length in bytes of everything that a job has published."""
    if kind == EXPORT.name:
        return [(file.key, file.bytes) for file in export_manifest_from(result).files]
    manifest = manifest_from(result)
    return [(manifest.key, manifest.bytes)]
