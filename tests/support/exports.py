"""Exports for tests: ordered without an edge, made by a worker of this process, read back and held against SQL."""

import hashlib
import time
from typing import Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from shared.bulk.manifest import File, StoredExportManifest, export_manifest_from
from shared.bulk.request import ID_END, ROWS_SQL, Request, arguments, scope_of
from shared.bulk.schema import RELEASED
from shared.db.connect import connect
from shared.jobs.contract import EXPORT
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.workers import run, worker
from workers.bulk.export_plan import SQL as PARTS


def parameters(dataset: str = "observations", format: str = "parquet", compression: str = "none", **more: Any) -> Any:
    """Return a job's parameters."""
    columns = more.pop("columns", None) or [column.name for column in RELEASED[dataset].columns]
    since, until = more.pop("since", None), more.pop("until", None)
    return {
        "dataset": dataset,
        "columns": columns,
        "filter": more,
        "since": since,
        "format": format,
        "compression": compression,
        **({"until": until} if until is not None else {}),
    }


WANTED = parameters("observations", "csv", "none", columns=["iid", "day", "price_minor"])
"""Parameters of an export of all prices by day."""


def ordered(settings: Settings, wanted: Any) -> str:
    """Queue an export without an organization."""
    [row] = execute(
        settings,
        "INSERT INTO jobs (kind, queue, parameters, fingerprint, attempts_max) VALUES ('export', 'exports', $1, $2, $3)"
        " RETURNING id::text",
        Jsonb(wanted),
        str(uuid4()),
        EXPORT.attempts_max,
    )
    return str(row[0])


def column(settings: Settings, job: str, name: str) -> Any:
    """Return a column of a job's row."""
    [row] = execute(settings, f"SELECT {name} FROM jobs WHERE id = $1", job)
    return row[0]


def manifest_of(settings: Settings, job: str) -> StoredExportManifest:
    """Return what a job has published."""
    return export_manifest_from(column(settings, job, "result"))


def made(settings: Settings, wanted: Any, **changed: Any) -> StoredExportManifest:
    """Order an export, make it with some of the worker's services `changed`, and return its manifest."""
    job = ordered(settings, wanted)
    assert run(settings, job, **changed) == "succeeded", column(settings, job, "error")
    return manifest_of(settings, job)


def help_export(settings: Settings, job: str) -> None:
    """Run parts of an export until it has ended, as a further worker does that gets a message for each."""
    helper = worker(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        while column(settings, job, "state") in ("queued", "running"):
            ids = [job for (job,) in connection.execute("SELECT id FROM jobs WHERE parent_id = $1", (job,))]
            part = connection.execute(PARTS.next_part, (ids,)).fetchone()
            if part is not None:
                helper.run(part[0])
            else:
                time.sleep(0.02)
    helper.close()


def read(settings: Settings, file: File) -> bytes:
    """Return a file's bytes, after their size and digest were found to be what the manifest says."""
    reader = DirectoryStore(settings.results_dir).open(file.key)
    data = reader.read(0, 1 << 30)
    reader.close()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (file.bytes, file.sha256)
    return data


def rows_by_sql(settings: Settings, wanted: Any) -> list[tuple[Any, ...]]:
    """Return the rows that an export of everything since ever must have, as PostgreSQL itself makes them."""
    request = Request.read(wanted)
    [named] = execute(settings, ROWS_SQL.named, request.brand, request.category, request.channel)
    scope = scope_of(request, named, None)
    query = getattr(ROWS_SQL, request.dataset)
    listed = ", ".join(f'"{name}"' for name in request.columns)
    return execute(settings, f"SELECT {listed} FROM ({query}) r", *arguments(request.dataset, scope, 0, ID_END))
