"""The job `release`: writes the newest data_version into files, and publishes the manifests of all datasets at once."""

import itertools
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from psycopg.types.json import Jsonb

from shared.bulk.schema import (
    CHANGES,
    DATASETS,
    RELEASED,
    ColumnDocument,
    Dataset,
    KeptReleaseFile,
    changes_of,
    schema_of,
    version_of,
)
from shared.bulk.signing import SigningKey, statement
from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH
from shared.errors import ItemIndexError, ResultGone
from workers.bulk import catalogue
from workers.bulk.changes import ReleaseComparison, differing_batches
from workers.bulk.releases import SQL, exclusive
from workers.bulk.sources.release_rows import month_slices, read_months, read_names, table_batches
from workers.bulk.sources.snapshot import Snapshot
from workers.bulk.writers.release_file import ReleaseWriter
from workers.bulk.writers.release_observations import write_slice
from workers.bulk.writers.release_table import write_table
from workers.jobs.job_handler import JobContext
from workers.jobs.leases import LeaseLost

Files = dict[str, list[KeptReleaseFile]]


class ReleaseProgress(Protocol):
    """Reports progress; may raise to stop."""

    def __call__(self, stage: str, rows_done: int = 0, rows_total: int | None = None) -> None:
        """Report how many rows of how many are done."""


class ReleaseUnderWay(ItemIndexError):
    """Another release is being built, or old ones are being swept; try again."""


def build_release(context: JobContext) -> dict[str, object]:
    """Return the job's result: which data_version was built, and how many bytes of it are new."""
    with context.services.connect("release", autocommit=True) as connection, exclusive(connection) as held:
        if not held:
            raise ReleaseUnderWay("another release is being built")
        return _build(context, connection)


def _build(context: JobContext, connection: Connection) -> dict[str, object]:
    writer = ReleaseWriter(context.services.objects, context.services.split_rows)
    key_file = context.services.settings.release_signing_key_file
    key = SigningKey.read(key_file) if key_file is not None else None
    with Snapshot(context.services.settings.worker_database_url, application="release") as snapshot:
        newest = snapshot.rows(SQL.newest)
        version = newest[0][0] if newest else 0
        before = connection.execute(SQL.built_before, (version,)).fetchone()
        if not version or (before and before[0]):
            return {"data_version": version, "cut": False}
        days: set[int] = set()
        files = write_files(snapshot, writer, context.progress, days)
        names = ("name", "title", "license", "url", "attribution")
        sources = [dict(zip(names, row, strict=True)) for row in snapshot.rows(SQL.sources)]
    context.progress("changes")
    changes, since = write_changes(context, connection, version, files, writer)
    profiles: dict[str, dict[str, object]] = {name: {"sources": sources} for name in files}
    profiles["observations"] |= collection_period(days)
    profiles |= {name: {"sources": sources, "since": first} for name, first in since.items()}
    _publish(context, connection, version, files | changes, profiles, key)
    result = {
        "data_version": version,
        "cut": True,
        "rows": sum(file.rows for listed in files.values() for file in listed),
        "files": sum(len(listed) for listed in files.values()),
        "written_bytes": writer.written_bytes,
        "shared_bytes": writer.shared_bytes,
    }
    context.services.log.info("release-cut", **result)
    return result


def write_files(snapshot: Snapshot, writer: ReleaseWriter, progress: ReleaseProgress, days: set[int]) -> Files:
    """Write the files of all datasets from one snapshot; add to `days` those that have an observation."""
    files: Files = {}
    for name, dataset in DATASETS.items():
        progress(name)
        if name == "observations":
            files[name] = write_observations(snapshot, writer, progress, days)
        else:
            files[name] = write_table(table_batches(snapshot, dataset), dataset, writer, partial(progress, name))
    return files


def write_observations(
    snapshot: Snapshot, writer: ReleaseWriter, progress: ReleaseProgress, days: set[int]
) -> list[KeptReleaseFile]:
    """Write all months, each slice while the next one is read; return their files in order. `days` since 2000-01-01."""
    names, months = read_names(snapshot), read_months(snapshot)
    total, done = sum(count for _, count in months), 0
    files: list[KeptReleaseFile] = []
    with ThreadPoolExecutor(1) as pool:
        writing: Future[list[KeptReleaseFile]] | None = None
        for month, count in months:
            number = -1  # the month's first slice
            for columns in month_slices(snapshot, names, month, count, writer.split_rows.release_slice):
                before = writing.result() if writing is not None else []
                files += before
                number = 0 if number < 0 else number + len(before)
                writing = pool.submit(write_slice, names, columns, month, number, writer)
                done += len(columns["item"])
                days.update(np.unique(columns["day"]).tolist())
                progress("observations", done, total)
        if writing is not None:
            files += writing.result()
    return files


def collection_period(days: set[int]) -> dict[str, object]:
    """Return the first and last of days since 2000-01-01, and the ranges of days between them that are missing."""
    ordered = sorted(days)
    ranges = [(day + 1, other - 1) for day, other in itertools.pairwise(ordered) if other > day + 1]
    return {
        "days": _dates(ordered[0], ordered[-1]) if ordered else None,
        "missing_days": [_dates(first, last) for first, last in ranges],
    }


def _dates(first: int, last: int) -> list[str]:
    return [(EPOCH + timedelta(days=day)).isoformat() for day in (first, last)]


def write_changes(
    context: JobContext, connection: Connection, version: int, files: Files, writer: ReleaseWriter
) -> tuple[Files, dict[str, int]]:
    """Write what changed since the release before; return the files of all changes since the oldest kept release.

    Also return, by dataset, from which version on they lead to this one: this one where none can be compared with it.
    """
    previous = {row[0]: PreviousRelease(*row[1:]) for row in connection.execute(SQL.previous, (version,))}
    held: Files = {}
    for name, *file in connection.execute(SQL.previous_files, (version,)):
        held.setdefault(name, []).append(KeptReleaseFile(*file))
    changed: Files = {name: [] for name in CHANGES}
    compared = [name for name in DATASETS if name in previous]
    since = dict.fromkeys(CHANGES, version)
    if not compared:
        return changed, since
    try:
        with TemporaryDirectory() as folder, ReleaseComparison(Path(folder)) as comparison:
            for name in compared:
                for rows in differing_batches(
                    context.services.objects, DATASETS[name], held.get(name, []), files[name]
                ):
                    comparison.take(DATASETS[name], rows)
            comparison.explain()
            for name in compared:
                feed, release = CHANGES[changes_of(name)], previous[name]
                rows, prefix = comparison.changes(DATASETS[name], version), f"{version}-"
                step = write_table(rows, feed, writer, partial(context.progress, feed.name), prefix)
                start, earlier = release.data_version, []
                if feed.name in previous and previous[feed.name].continues(feed):
                    start = max(previous[feed.name].since, release.oldest)
                    earlier = [file for file in held.get(feed.name, []) if version_of(file.name) > start]
                changed[feed.name], since[feed.name] = earlier + step, start
    except ResultGone as gone:
        # The release itself is whole: better one without changes than none until the lost file is restored.
        context.services.log.warning("release-not-compared", data_version=version, key=gone.key)
        return {name: [] for name in CHANGES}, dict.fromkeys(CHANGES, version)
    return changed, since


class PreviousRelease(NamedTuple):
    """What a dataset's release before says of itself, and the oldest version that is kept."""

    data_version: int
    columns: list[ColumnDocument]
    since: int
    oldest: int

    def continues(self, feed: Dataset) -> bool:
        """Return whether files with these columns are still read as one table with those of today."""
        types = {column["name"]: column["type"] for column in schema_of(feed)}
        return all(types.get(column["name"], column["type"]) == column["type"] for column in self.columns)


def _publish(
    context: JobContext,
    connection: Connection,
    version: int,
    files: Files,
    profiles: dict[str, dict[str, object]],
    key: SigningKey | None,
) -> None:
    settings, job = context.services.settings, context.job
    [(kept_as, now)] = connection.execute(SQL.kept_as).fetchall()
    days = settings.release_weekly_retention_days if kept_as == "weekly" else settings.release_daily_retention_days
    with connection.transaction():
        if key is not None:
            connection.execute(SQL.publish_key, (key.id, key.public))
        for name, listed in files.items():
            rows, size = sum(file.rows for file in listed), sum(file.bytes for file in listed)
            columns = schema_of(RELEASED[name])
            signature = key.sign(statement(name, columns, version, now, listed)) if key is not None else None
            kept = (name, version, kept_as, Jsonb(columns), rows, size, now, days)
            release = (*kept, Jsonb(signature) if signature else None, Jsonb(profiles[name]), job.id, job.attempt)
            connection.execute(SQL.publish_schema_changes, (name, version, Jsonb(columns)))
            if connection.execute(SQL.publish, release).fetchone() is None:
                raise LeaseLost(job.id)
            for position, file in enumerate(listed):
                named = (file.name, file.sha256, file.rows, file.bytes, file.min_key, file.max_key)
                statistics = Jsonb(msgspec.to_builtins(file.statistics))
                connection.execute(SQL.publish_file, (name, version, position, *named, statistics))
    catalogue.refresh(connection, context.services.objects, settings.base_url)
