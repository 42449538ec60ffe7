"""An export from its claim to its manifest: one worker plans and holds the snapshot, any worker may write a part."""

import contextlib
import time

import msgspec

from shared.clock import rfc3339, utc_now
from shared.errors import JobRefused, StoreUnavailable
from shared.exports.manifest import manifest_of
from shared.exports.request import Request
from shared.jobs.contract import EXPORT, HELP_EXPORT
from workers.exports import parts
from workers.exports.part_worker import write_claimed
from workers.exports.plan import plan_export
from workers.job_handler import JobContext, Outcome

_WORKERS_MAX = 4
_POLL_SECONDS = 0.05


class ExportHandler:
    """The coordinator of an export: it plans the parts, writes them beside any helpers, and publishes the manifest."""

    def run(self, context: JobContext) -> Outcome:
        """Plan, hold the snapshot, and write parts until all are done.

        Raises JobRefused if a part has failed for good, LeaseLost if the job is no longer ours.
        """
        job, services = context.job, context.services
        request = Request.read(job.parameters)
        with services.connect("export") as snapshot_db, services.connect("parts", autocommit=True) as parts_db:
            plan = plan_export(snapshot_db, services.objects, request, services.split_rows)
            parts.plan(parts_db, job, plan.data_version, plan.source, plan.ranges)
            while not (progress := parts.progress(parts_db, job.id, services.part_attempts_max)).all_done:
                if progress.failure is not None:
                    raise JobRefused(str(progress.failure["slug"]), str(progress.failure["detail"]))
                context.progress("copying", progress.rows)
                context.lease.progress.fraction = 0.99 * progress.done / progress.parts
                ttl_seconds = services.settings.lease_ttl_seconds
                part = parts.claim(parts_db, job.id, ttl_seconds, services.part_attempts_max)
                if part is None:  # helpers are writing the remaining parts, or what failed waits for its pause to end
                    time.sleep(_POLL_SECONDS)
                    continue
                self._request_helpers(context, min(_WORKERS_MAX - progress.running, progress.queued) - 1)
                write_claimed(services, parts_db, part, context.lease)
            files = parts.files(parts_db, job.id)
        manifest = manifest_of(request, plan.data_version, plan.months, files, rfc3339(utc_now()))
        return Outcome(msgspec.to_builtins(manifest), manifest.bytes, manifest.rows, manifest.data_version)

    def publish(self, context: JobContext, outcome: Outcome) -> bool:
        """Publish all files at once; False if the job is no longer ours or a part is not done."""
        return parts.publish(context.connection, context.job, outcome)

    def _request_helpers(self, context: JobContext, count: int) -> None:
        """Ask other workers for help. None has to come: this worker then writes all parts itself."""
        with contextlib.suppress(StoreUnavailable):
            for _ in range(count):
                context.services.messages.send(HELP_EXPORT, context.job.id, EXPORT.queue)
