"""The job `release`: cuts the newest data_version into files, and publishes the manifests of all datasets at once."""

from collections.abc import Callable
from typing import Any

import msgspec
from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.errors import ItemIndexError
from shared.releases.datasets import DATASETS, schema_of
from workers.job_handler import JobContext
from workers.leases import LeaseLost
from workers.releases.observations import cut_observations
from workers.releases.parts import FilePart, PartWriter
from workers.releases.retention import SQL, alone
from workers.releases.snapshot import Snapshot, SnapshotLost
from workers.releases.tables import cut_table

Told = Callable[[str, int, int | None], None]
Files = dict[str, list[FilePart]]


class ReleaseUnderWay(ItemIndexError):
    """Another release is being cut, or old ones are being swept; try again."""


def build_release(context: JobContext) -> dict[str, Any]:
    """Return the job's result: which data_version was cut, and how many bytes of it are new."""
    with context.services.connect("release", autocommit=True) as connection:
        with alone(connection) as held:
            if not held:
                raise ReleaseUnderWay("another release is being cut")
            return _cut(context, connection)


def _cut(context: JobContext, connection: Connection) -> dict[str, Any]:
    writer = PartWriter(context.services.objects)
    try:
        with Snapshot(context.services.settings.worker_database_url) as snapshot:
            newest = snapshot.rows(SQL.newest)
            version = newest[0][0] if newest else 0
            before = connection.execute(SQL.cut_before, (version,)).fetchone()
            if not version or (before and before[0]):
                return {"data_version": version, "cut": False}
            files = cut_files(snapshot, writer, context.progress)
    except SnapshotLost:
        raise ItemIndexError("the database broke off while the release was read") from None
    _publish(context, connection, version, files)
    result = {
        "data_version": version,
        "cut": True,
        "rows": sum(part.rows for parts in files.values() for part in parts),
        "files": sum(len(parts) for parts in files.values()),
        "written_bytes": writer.written_bytes,
        "shared_bytes": writer.shared_bytes,
    }
    context.services.log.info("release-cut", **result)
    return result


def cut_files(snapshot: Snapshot, writer: PartWriter, told: Told = lambda stage, done, total: None) -> Files:
    """Write the files of all datasets from one snapshot."""
    files: Files = {}
    for name, dataset in DATASETS.items():
        told(name, 0, None)
        if name == "observations":
            files[name] = cut_observations(snapshot, SQL, writer, told)
        else:
            files[name] = cut_table(snapshot, getattr(SQL, name), dataset, writer, told)
    return files


def _publish(context: JobContext, connection: Connection, version: int, files: Files) -> None:
    settings, job = context.services.settings, context.job
    row = connection.execute(SQL.kept_as).fetchone()
    assert row is not None
    kept_as = row[0]
    days = settings.release_weekly_retention_days if kept_as == "weekly" else settings.release_daily_retention_days
    with connection.transaction():
        for name, parts in files.items():
            rows, size = sum(part.rows for part in parts), sum(part.bytes for part in parts)
            columns = Jsonb(schema_of(DATASETS[name]))
            release = (name, version, kept_as, columns, rows, size, days, job.id, job.attempt)
            if connection.execute(SQL.publish, release).fetchone() is None:
                raise LeaseLost(job.id)
            for place, part in enumerate(parts):
                named = (part.name, part.sha256, part.rows, part.bytes, part.min_key, part.max_key)
                statistics = Jsonb(msgspec.to_builtins(part.statistics))
                connection.execute(SQL.publish_file, (name, version, place, *named, statistics))
