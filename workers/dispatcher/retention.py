"""Retention: results expire after their time, rows after thirty days, and bytes that no row names are deleted."""

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.events.types import KEPT_DAYS
from shared.index.iid import canonical_uuid
from shared.objects.directory import ResultStore
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log

SQL = load_queries(__file__, "retention.sql")
_ROWS_KEPT_DAYS = 30
_ATTEMPTS_AT_ONCE = 500
# Longer than any one object takes to be written.
_PARTIAL_SECONDS = 3_600.0


def delete_old(connection: Connection, store: ResultStore, log: Log) -> int:
    """Expire results, delete old rows and unnamed bytes; return how many attempts' bytes were deleted.

    Any number of processes may do so at once.
    """
    expired = connection.execute(SQL.expire).fetchall()
    connection.execute(SQL.delete_old_jobs, (_ROWS_KEPT_DAYS,))
    connection.execute(SQL.delete_old_events, (KEPT_DAYS,))
    connection.execute(SQL.delete_old_attempts, (KEPT_DAYS,))
    connection.execute(SQL.delete_old_answers)
    connection.execute(SQL.delete_old_answers_of_organizations)
    connection.execute(SQL.delete_old_invitations, (_ROWS_KEPT_DAYS,))
    stored = _stored_attempts(store)
    starts = range(0, len(stored), _ATTEMPTS_AT_ONCE)
    store.sweep(_PARTIAL_SECONDS)
    deleted = sum(_sweep(connection, store, stored[start : start + _ATTEMPTS_AT_ONCE]) for start in starts)
    if expired or deleted:
        log.info("results-swept", expired=len(expired), deleted=deleted)
    return deleted


def delete_old_loads(connection: Connection, settings: Settings, log: Log) -> None:
    """Delete rejects, loads that changed nothing and the names of files after their time; measure what is left.

    Loads that changed the index stay listed: they can be undone.
    """
    rejects = connection.execute(SQL.delete_old_rejects, (settings.rejects_retention_days,)).rowcount
    loads = connection.execute(SQL.delete_old_loads, (settings.loads_retention_days,)).rowcount
    files = connection.execute(SQL.delete_old_files, (settings.loads_retention_days,)).rowcount
    if rejects or loads or files:
        log.info("loads-swept", rejects=rejects, loads=loads, files=files)
    [(kept, dropped, listed, remembered)] = connection.execute(SQL.measure_loads).fetchall()
    metrics.load_rejects.labels("kept").set(kept)
    metrics.load_rejects.labels("dropped").set(dropped)
    metrics.loads_listed.labels("loads").set(listed)
    metrics.loads_listed.labels("files").set(remembered)


def delete_old_usage(connection: Connection, settings: Settings, log: Log) -> None:
    """Delete usage statistics after their time."""
    if deleted := connection.execute(SQL.delete_old_usage, (settings.usage_retention_days,)).rowcount:
        log.info("usage-swept", deleted=deleted)


def _stored_attempts(store: ResultStore) -> list[tuple[str, int]]:
    return [(job, attempt) for job, attempt in store.attempts() if canonical_uuid(job)]


def _sweep(connection: Connection, store: ResultStore, batch: list[tuple[str, int]]) -> int:
    # Listed before the rows are read: an attempt that begins in between is not in the list.
    jobs, attempts = zip(*batch, strict=True)
    named = set(connection.execute(SQL.named_attempts, (list(jobs), list(attempts))))
    unnamed = [attempt for attempt in batch if attempt not in named]
    for job, attempt in unnamed:
        store.delete(job, attempt)
    return len(unnamed)
