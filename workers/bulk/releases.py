"""Releases: when the next one is due, how long they are kept, and when files that no release names are deleted."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.types.json import Jsonb

from shared.bulk.schema import PREFIX, key_of, sha256_of
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from shared.jobs.contract import RELEASE
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import ResultStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from workers.bulk import catalogue
from workers.jobs.failed_rows import FailedRows

SQL = load_queries(__file__, "releases.sql")
# A file is younger than this while a worker that lost its lock is still building the release that will name it.
_ORPHAN_SECONDS = 3_600.0
_FILES_AT_ONCE = 1_000


@contextmanager
def exclusive(connection: Connection) -> Iterator[bool]:
    """Exclude every other build and sweep; False if one of them is running."""
    row = connection.execute(SQL.try_lock).fetchone()
    held = bool(row and row[0])
    try:
        yield held
    finally:
        if held and not connection.closed:
            connection.execute(SQL.unlock)


def order(connection: Connection, version: int) -> str:
    """Order a release of the newest data_version; return the job's id. Ordering twice is one job."""
    values = (RELEASE.name, RELEASE.queue, None, Jsonb({}), str(version), version, RELEASE.attempts_max)
    [(job, *_)] = connection.execute(JOBS.join, values).fetchall()
    return str(job)


def order_newest(connection: Connection) -> str:
    """Order a release of what is loaded now; return the job's id. Raises ItemIndexError where there is no data."""
    row = connection.execute(SQL.newest).fetchone()
    if row is None:
        raise ItemIndexError("there is no data yet; load some with `itemindex ingest`")
    return order(connection, row[0])


def order_due(settings: Settings, connection: Connection) -> str | None:
    """Order the release that is due; return its job's id, None if none is due."""
    if settings.release_interval_hours <= 0:
        return None
    row = connection.execute(SQL.due, (settings.release_interval_hours,)).fetchone()
    return order(connection, row[0]) if row is not None else None


def expire(
    connection: Connection,
    store: ResultStore,
    log: Log,
    failed: FailedRows,
    orphan_seconds: float = _ORPHAN_SECONDS,
) -> int:
    """Delete releases whose time is over, and files that no release names; return how many files."""
    with exclusive(connection) as held:
        if not held:
            return 0  # a release is being built: its manifest does not name its files yet
        expired = connection.execute(SQL.expire).fetchall()
        passed_over = set(failed.keys)
        listed = [entry.key for entry in store.list_objects(PREFIX) if entry.age_seconds > orphan_seconds]
        old = [sha256_of(key) for key in listed if key not in passed_over]
        deleted = 0
        for start in range(0, len(old), _FILES_AT_ONCE):
            batch = old[start : start + _FILES_AT_ONCE]
            named = {row[0] for row in connection.execute(SQL.named, (batch,))}
            for sha256 in set(batch) - named:
                with failed.handle(key_of(sha256)):
                    store.remove(key_of(sha256))
                    deleted += 1
        if expired or deleted:
            log.info("releases-swept", expired=len(expired), deleted=deleted)
        return deleted


def refresh_catalogue(connection: Connection, store: ResultStore, base_url: str) -> bool:
    """Have the catalogue follow the releases that are kept; return whether a new one was made."""
    with exclusive(connection) as held:
        return held and catalogue.refresh(connection, store, base_url)
