"""An export from its claim to its manifest: each part is a job, which this worker or any other runs."""

import contextlib
import time
from typing import NamedTuple

import msgspec

from shared.bulk.manifest import File, manifest_of
from shared.bulk.request import Request
from shared.clock import rfc3339, utc_now
from shared.db.connect import Connection
from shared.errors import JobRefused
from shared.jobs.contract import EXPORT_PART
from shared.jobs.contract import SQL as JOBS
from workers.bulk.export_part import part_handler
from workers.bulk.export_plan import SQL, plan_export, write_plan
from workers.jobs.job_handler import JobContext, JobOutcome, StoredResultHandler
from workers.jobs.runner import JobRunner

_POLL_SECONDS = 0.05
_IDLE_CONNECTION_SECONDS = 60.0


class Stored(NamedTuple):
    """The bytes of exports that an organization has stored, and how many it may."""

    used: int
    limit: int

    def require_room(self, size: int) -> None:
        """Raise JobRefused if further `size` bytes would exceed the limit."""
        if self.used + size > self.limit:
            raise JobRefused(
                "job-failed",
                f"The export has {size:,} bytes or more, and your organization has {self.used:,} of at most "
                f"{self.limit:,} stored. Delete exports that you downloaded, or narrow this one; it costs nothing.",
            )


def read_stored(connection: Connection, context: JobContext) -> Stored:
    """Return what the organization of a job has stored now."""
    settings, job = context.services.settings, context.job
    limits = connection.execute(SQL.stored_limit, (job.organization, settings.stored_export_bytes_max)).fetchall()
    [(used, _)] = connection.execute(JOBS.stored_exports, (job.organization,)).fetchall()
    return Stored(used, limits[0][0] if limits else settings.stored_export_bytes_max)


class ExportHandler(StoredResultHandler):
    """The coordinator of an export: it plans the parts, runs those that no other worker runs, and publishes all."""

    def run(self, context: JobContext) -> JobOutcome:
        """Plan, hold the snapshot, and run parts until all are done.

        Raises JobRefused if a part has failed for good or there is no room for the files, LeaseLost if the job is no
        longer ours, the outage of a store.
        """
        job, services, shown = context.job, context.services, context.lease.progress
        request = Request.read(job.parameters)
        parts = {EXPORT_PART.name: part_handler(shown)}
        with (
            services.connect("export") as snapshot_db,
            services.connect("parts", autocommit=True) as parts_db,
            contextlib.closing(JobRunner(services, parts, _IDLE_CONNECTION_SECONDS, raises_outages=True)) as runner,
        ):
            plan = plan_export(snapshot_db, services.objects, request, services.split_rows)
            ids = write_plan(parts_db, job, plan)
            stored = read_stored(parts_db, context)
            while True:
                [(done, rows, size, failure)] = parts_db.execute(SQL.progress, (ids,)).fetchall()
                if failure is not None:
                    raise JobRefused(str(failure["slug"]), str(failure["detail"]))
                stored.require_room(size)
                context.progress("copying", rows)
                shown.fraction = 0.99 * done / len(ids)
                if done == len(ids):
                    break
                part = parts_db.execute(SQL.next_part, (ids,)).fetchone()
                if part is not None:
                    runner.run(part[0])
                else:  # other workers write the remaining parts, or what failed waits for its pause to end
                    time.sleep(_POLL_SECONDS)
            files = [msgspec.convert(file, File) for (file,) in parts_db.execute(SQL.files, (ids,))]
        manifest = manifest_of(request, plan.data_version, plan.months, files, rfc3339(utc_now()))
        return JobOutcome(msgspec.to_builtins(manifest), manifest.bytes, manifest.rows, manifest.data_version)

    def publish(self, context: JobContext, outcome: JobOutcome) -> bool:
        """Publish where the organization has room for the files, counted exactly. Raises JobRefused."""
        connection = context.connection
        with connection.transaction():
            connection.execute(SQL.lock_stored, (context.job.organization or "",))
            read_stored(connection, context).require_room(outcome.bytes)
            return super().publish(context, outcome)
