"""A worker's share of an export: it claims parts one after the other and writes each under a lease of its own."""

from shared.db.connect import Connection, unavailable
from shared.errors import ItemIndexError, StoreUnavailable
from shared.exports.manifest import File
from shared.telemetry.log import trace_of
from workers.context import Services
from workers.datasets.part import Part
from workers.datasets.pipeline import write_part
from workers.datasets.sources.snapshot import SnapshotGone
from workers.exports import parts
from workers.leases import Lease, LeaseLost


def help_export(services: Services, connection: Connection, job_id: str) -> int:
    """Write parts of a running export until none is left or another export waits; return how many were written."""
    written = 0
    ttl_seconds, attempts_max = services.settings.lease_ttl_seconds, services.part_attempts_max
    while (part := parts.claim(connection, job_id, ttl_seconds, attempts_max)) is not None:
        try:
            written += write_claimed(services, connection, part)
        except SnapshotGone:
            return written  # the worker that claims the job next plans anew and asks for help again
        waiting = connection.execute(parts.SQL.other_export_waits, (job_id,)).fetchone()
        if waiting is not None and waiting[0]:
            return written
    return written


def write_claimed(services: Services, connection: Connection, part: Part, job: Lease | None = None) -> bool:
    """Write one part; False if another worker has it, or if it failed and its row says so.

    `job` is the lease of the whole export, if this worker holds it. Raises SnapshotGone or the outage of a store,
    after the part was released, and LeaseLost if the job's lease is lost.
    """
    try:
        file = _written(services, connection, part, job)
        return parts.finish(connection, part, file)
    except LeaseLost:
        if job is not None:
            job.check()
        return False
    except Exception as error:
        if isinstance(error, SnapshotGone | StoreUnavailable) or unavailable(error):
            # Not an attempt: nothing could be read or written. The job is put off, and done parts stay done.
            parts.release(connection, part)
            raise
        _record_failure(services, connection, part, error)
        return False


def _written(services: Services, connection: Connection, part: Part, job: Lease | None) -> File:
    lease = parts.lease_of(services.settings, part)
    before = job.progress.rows_done if job else 0

    def check() -> None:
        lease.check()
        if job is not None:
            job.check()

    def progress(rows: int) -> None:
        lease.progress.rows_done = rows
        if job is not None:
            job.progress.rows_done = before + rows

    with lease:
        file = write_part(services, connection, part, check, progress)
    check()
    return file


def _record_failure(services: Services, connection: Connection, part: Part, error: Exception) -> None:
    # Only the text of our own errors is public: another library's text may quote a row or an address.
    known = isinstance(error, ItemIndexError)
    detail = str(error) if known else f"A part could not be made: {type(error).__name__}."
    services.log.warning(
        "export-part-failed",
        job=part.job_id,
        number=part.number,
        attempt=part.attempt,
        error=type(error).__name__,
        trace=trace_of(error),
    )
    parts.fail(connection, part, {"slug": "job-failed", "detail": detail}, services.part_attempts_max)
