"""What is kept too long goes: results after their time, rows after thirty days, and bytes that no row speaks of."""

from uuid import UUID

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.objects.directory import ResultStore
from shared.telemetry.log import Log

SQL = beside(__file__, "retention.sql")
_ROWS_KEPT_DAYS = 30
_ATTEMPTS_AT_ONCE = 500
# Longer than any one object takes to be written.
_PARTIAL_SECONDS = 3_600.0


def tidy(connection: Connection, store: ResultStore, log: Log) -> int:
    """Expire, forget and delete; return how many attempts' bytes were deleted. Any number may tidy at once."""
    expired = connection.execute(SQL.expire).fetchall()
    connection.execute(SQL.forget, (_ROWS_KEPT_DAYS,))
    ours = _ours(store)
    starts = range(0, len(ours), _ATTEMPTS_AT_ONCE)
    store.sweep(_PARTIAL_SECONDS)
    deleted = sum(_sweep(connection, store, ours[start : start + _ATTEMPTS_AT_ONCE]) for start in starts)
    if expired or deleted:
        log.info("results-swept", expired=len(expired), deleted=deleted)
    return deleted


def _ours(store: ResultStore) -> list[tuple[str, int]]:
    return [(job, attempt) for job, attempt in store.attempts() if _is_uuid(job)]


def _sweep(connection: Connection, store: ResultStore, batch: list[tuple[str, int]]) -> int:
    # Listed before the rows are read: an attempt that begins in between is not in the list.
    jobs = [job for job, _ in batch]
    living = {(row[0], row[1]) for row in connection.execute(SQL.living, (jobs,))}
    gone = [attempt for attempt in batch if attempt not in living]
    for job, attempt in gone:
        store.delete(job, attempt)
    return len(gone)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
