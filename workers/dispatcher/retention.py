"""Retention: results expire after their time, rows after thirty days, and bytes that no row names are deleted."""

from dataclasses import dataclass

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.events.types import KEPT_DAYS
from shared.index.iid import canonical_uuid
from shared.objects.directory import ResultStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from workers.jobs.failed_rows import FailedRows

SQL = load_queries(__file__, "retention.sql")
_ROWS_KEPT_DAYS = 30
_ATTEMPTS_AT_ONCE = 500
# The largest number that a row's attempt can be; an object under a larger one is no attempt.
_ATTEMPT_MAX = 2**31 - 1
# Longer than any one object takes to be written.
_PARTIAL_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that ends rows which have had their time."""

    name: str
    query: str
    values: tuple[int, ...] = ()

    def execute(self, connection: Connection, log: Log) -> None:
        """Execute it, and log how many rows it ended."""
        if ended := connection.execute(self.query, self.values).rowcount:
            log.info("rows-swept", step=self.name, rows=ended)


def statements(settings: Settings) -> tuple[Statement, ...]:
    """Return what ends rows, each on its own: one that fails keeps no other from its time.

    Loads that changed the index stay listed: they can be undone.
    """
    return (
        Statement("expire-results", SQL.expire),
        Statement("delete-jobs", SQL.delete_old_jobs, (_ROWS_KEPT_DAYS,)),
        Statement("delete-events", SQL.delete_old_events, (KEPT_DAYS,)),
        Statement("delete-webhook-attempts", SQL.delete_old_attempts, (KEPT_DAYS,)),
        Statement("delete-outbox-mails", SQL.delete_old_mails, (KEPT_DAYS,)),
        Statement("delete-queued-mails", SQL.delete_old_queued_mails, (KEPT_DAYS,)),
        Statement("delete-answers", SQL.delete_old_answers),
        Statement("delete-answers-of-organizations", SQL.delete_old_answers_of_organizations),
        Statement("delete-invitations", SQL.delete_old_invitations, (_ROWS_KEPT_DAYS,)),
        Statement("delete-rejects", SQL.delete_old_rejects, (settings.rejects_retention_days,)),
        Statement("delete-loads", SQL.delete_old_loads, (settings.loads_retention_days,)),
        Statement("delete-files", SQL.delete_old_files, (settings.loads_retention_days,)),
        Statement("delete-operator-acts", SQL.delete_old_operator_acts, (settings.operator_acts_retention_days,)),
        Statement("delete-usage", SQL.delete_old_usage, (settings.usage_retention_days,)),
    )


def delete_unnamed(connection: Connection, store: ResultStore, log: Log, failed: FailedRows) -> int:
    """Delete the bytes of attempts that no row names; return of how many attempts.

    Any number of processes may do so at once.
    """
    passed_over = set(failed.keys)
    stored = [(job, attempt) for job, attempt in _stored_attempts(store) if _key(job, attempt) not in passed_over]
    starts = range(0, len(stored), _ATTEMPTS_AT_ONCE)
    with failed.handle("partial"):
        store.sweep(_PARTIAL_SECONDS)
    batches = [stored[start : start + _ATTEMPTS_AT_ONCE] for start in starts]
    deleted = sum(_sweep(connection, store, batch, failed) for batch in batches)
    if deleted:
        log.info("results-swept", deleted=deleted)
    return deleted


def _key(job: str, attempt: int) -> str:
    return f"{job}/{attempt}"


def _stored_attempts(store: ResultStore) -> list[tuple[str, int]]:
    return [(job, attempt) for job, attempt in store.attempts() if canonical_uuid(job) and attempt <= _ATTEMPT_MAX]


def _sweep(connection: Connection, store: ResultStore, batch: list[tuple[str, int]], failed: FailedRows) -> int:
    # Listed before the rows are read: an attempt that begins in between is not in the list.
    jobs, attempts = zip(*batch, strict=True)
    named = set(connection.execute(SQL.named_attempts, (list(jobs), list(attempts))))
    unnamed = [attempt for attempt in batch if attempt not in named]
    deleted = 0
    for job, attempt in unnamed:
        with failed.handle(_key(job, attempt)):
            store.delete(job, attempt)
            deleted += 1
    return deleted
