"""Retention: results expire after their time, rows after thirty days, and bytes that no row names are deleted."""

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.events import KEPT_DAYS
from shared.ids import canonical_uuid
from shared.objects.directory import ResultStore
from shared.telemetry.log import Log

SQL = beside(__file__, "retention.sql")
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
    stored = _stored_attempts(store)
    starts = range(0, len(stored), _ATTEMPTS_AT_ONCE)
    store.sweep(_PARTIAL_SECONDS)
    deleted = sum(_sweep(connection, store, stored[start : start + _ATTEMPTS_AT_ONCE]) for start in starts)
    if expired or deleted:
        log.info("results-swept", expired=len(expired), deleted=deleted)
    return deleted


def _stored_attempts(store: ResultStore) -> list[tuple[str, int]]:
    return [(job, attempt) for job, attempt in store.attempts() if canonical_uuid(job)]


def _sweep(connection: Connection, store: ResultStore, batch: list[tuple[str, int]]) -> int:
    # Listed before the rows are read: an attempt that begins in between is not in the list.
    jobs = [job for job, _ in batch]
    named = {(row[0], row[1]) for row in connection.execute(SQL.named_attempts, (jobs,))}
    unnamed = [attempt for attempt in batch if attempt not in named]
    for job, attempt in unnamed:
        store.delete(job, attempt)
    return len(unnamed)
