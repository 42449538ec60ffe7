"""From a report's answer to a published result: one snapshot read, bytes under the attempt, one fenced UPDATE."""

import hashlib
from typing import Any, BinaryIO

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from shared.config import Settings
from shared.db.connect import Connection
from shared.db.queries import beside
from shared.errors import CellsOutdated
from shared.jobs.contract import KINDS, fingerprint
from shared.objects.directory import ResultStore
from shared.objects.open import store_of
from shared.results import layout
from shared.results.formats import MEDIA_TYPES, digest, write
from shared.results.layout import Manifest
from workers.leases import SQL as LEASE
from workers.leases import Lease
from workers.reports.registry import Make
from workers.reports.replica import replica_of
from workers.reports.result import Answer
from workers.rollups.layout import LAYOUT

SQL = beside(__file__, "publish.sql")


def spool(settings: Settings, connection: Connection, job: dict[str, Any], lease: Lease, make: Make) -> Manifest:
    """Make a report and write it under its attempt; nobody can see it before `publish`."""

    def told(stage: str, done: int = 0, total: int | None = None) -> None:
        lease.progress.tell(stage, done, total)
        lease.check()

    def read(source: Connection) -> tuple[int, Answer]:
        return _read(source, job, make, told)

    found = replica_of(settings).read(lease, job["data_version"], read)
    lease.check()
    data_version, answer = found or read(connection)
    told("writing", 0, answer.table.num_rows)
    return _write(store_of(settings), job, data_version, answer)


def publish(connection: Connection, job: dict[str, Any], manifest: Manifest) -> bool:
    """Publish what was spooled; False when the job is no longer ours, and then nobody will ever see it."""
    kind = KINDS[job["kind"]]
    print_of = fingerprint(job["parameters"], manifest.format, manifest.data_version)
    values = (
        job["id"],
        job["attempt"],
        Jsonb(msgspec.to_builtins(manifest)),
        kind.kept_hours,
        manifest.data_version,
        print_of,
        manifest.rows,
    )
    return connection.execute(LEASE.publish, values).fetchone() is not None


def _read(connection: Connection, job: dict[str, Any], make: Make, told: Any) -> tuple[int, Answer]:
    connection.autocommit = False
    connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
    try:
        row = connection.execute(SQL.newest, (LAYOUT,)).fetchone()
        assert row is not None
        version, readable = row
        if not readable:
            raise CellsOutdated
        return version, make(connection, job["parameters"], told)
    finally:
        if not connection.closed:
            connection.rollback()
            connection.isolation_level, connection.read_only = None, None
            connection.autocommit = True


def _write(store: ResultStore, job: dict[str, Any], data_version: int, answer: Answer) -> Manifest:
    kind, format = KINDS[job["kind"]], job["format"]
    key = layout.key_of(job["id"], job["attempt"], kind.name, format)
    result_sha256 = digest(answer.table)
    meta = _meta(answer, data_version, result_sha256, kind.units)
    with store.writing(key) as file:
        write(answer.table, meta, format, file)
        size, sha256 = _read_back(file)
    return Manifest(
        key=key,
        format=format,
        media_type=MEDIA_TYPES[format],
        rows=answer.table.num_rows,
        bytes=size,
        sha256=sha256,
        result_sha256=result_sha256,
        data_version=data_version,
        meta=msgspec.json.encode(meta).decode(),
        tail_bytes=len(layout.tail(meta)) if format == "json" else 0,
        paged=answer.page is not None,
        after=answer.page.after if answer.page else None,
    )


def _meta(answer: Answer, data_version: int, result_sha256: str, units: int) -> dict[str, Any]:
    coverage = answer.coverage
    return {
        "data_version": data_version,
        "result_sha256": result_sha256,
        "cached": False,
        "cost_units": units,
        "rows": answer.table.num_rows,
        "from": answer.first,
        "to": answer.last,
        "window_ended_by": answer.ended_by,
        "coverage": {
            "days": coverage.days,
            "observed_days": coverage.observed_days,
            "missing_days": coverage.missing_days,
            "first": coverage.first,
            "last": coverage.last,
        },
        "units": answer.units,
        "method": answer.method,
        "rounding": answer.rounding,
        **({"kind": answer.kind} if answer.kind else {}),
        **({"basis": answer.basis} if answer.basis else {}),
        **({"total": answer.page.total} if answer.page else {}),
    }


def _read_back(file: BinaryIO) -> tuple[int, str]:
    """Return the size and the SHA-256 of what the file now holds, not of what was meant to be in it."""
    file.flush()
    size = file.seek(0, 2)
    file.seek(0)
    return size, _sha256(file)


def _sha256(file: BinaryIO) -> str:
    total = hashlib.sha256()
    while chunk := file.read(1 << 20):
        total.update(chunk)
    return total.hexdigest()
