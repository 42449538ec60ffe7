"""A part of an export from its source to its file: batches of a snapshot or of a release, written in one format."""

import contextlib
from collections.abc import Callable

import msgspec

from shared.bulk.manifest import File
from shared.bulk.request import Request
from shared.db.connect import Connection
from workers.bulk.changes import changed_batches
from workers.bulk.part import CHANGED, RELEASE, ExportPart
from workers.bulk.sources.export_rows import snapshot_batches
from workers.bulk.sources.release import release_batches, stored_copy
from workers.bulk.sources.snapshot import Snapshot
from workers.bulk.writers.part_file import PartFile
from workers.jobs.job_handler import JobContext, JobHandler, RowResultHandler
from workers.jobs.leases import LeaseProgress
from workers.jobs.services import WorkerServices


def write_part(
    services: WorkerServices,
    connection: Connection,
    part: ExportPart,
    check: Callable[[], None],
    progress: Callable[[int], None],
) -> File:
    """Write a part's file and return its description; no manifest names it yet. `check` is called often and may raise.

    Raises SnapshotLost if the snapshot cannot be read, ResultGone if the release lacks a file.
    """
    with PartFile.begin(services.objects, part, progress) as file, contextlib.ExitStack() as opened:
        if part.snapshot == RELEASE:
            stored = stored_copy(connection, services.objects, part)
            if stored is not None:
                return file.copy(stored, check)
            batches = release_batches(connection, services.objects, part)
        elif part.snapshot == CHANGED:
            batches = changed_batches(connection, services.objects, part)
        else:
            url = services.settings.worker_database_url
            snapshot = opened.enter_context(Snapshot(url, part.snapshot, application="export", check=check))
            batches = snapshot_batches(snapshot, part)
        for batch in batches:
            check()
            file.write(batch)
        check()
        return file.finish()


class _PartRange(msgspec.Struct, frozen=True):
    number: int
    content: str
    snapshot: str
    id_from: int
    id_to: int


class _PartParameters(msgspec.Struct, frozen=True):
    """The parameters of a part's job: those of its export, and its range."""

    request: dict[str, object]
    part: _PartRange


def part_handler(export: LeaseProgress | None = None) -> JobHandler:
    """Return the handler of parts; `export` is the progress of the export to which their rows are added."""

    def run(context: JobContext) -> dict[str, object]:
        before = export.rows_done if export is not None else 0

        def progress(rows: int) -> None:
            context.lease.progress.report("copying", rows)
            if export is not None:
                export.rows_done = before + rows

        job = context.job
        given = msgspec.convert(job.parameters, _PartParameters)
        values = msgspec.structs.astuple(given.part)
        part = ExportPart(job.id, job.attempt, job.data_version, Request.read(given.request), *values)
        file = write_part(context.services, context.connection, part, context.lease.check, progress)
        return msgspec.structs.asdict(file)

    return RowResultHandler(run)
