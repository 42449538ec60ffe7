"""An export from its claim to its manifest: one worker plans and holds the snapshot, any worker may write a part."""

import contextlib
import time

import msgspec

from shared.clock import rfc3339, utc_now
from shared.db.connect import Connection
from shared.errors import JobRefused, StoreUnavailable
from shared.exports.contract import ROWS
from shared.exports.manifest import ExportManifest, File, described, media_type
from shared.exports.request import Request
from shared.jobs.contract import EXPORT, HELP_EXPORT
from shared.releases.datasets import DATASETS
from workers.exports import parts
from workers.exports.part_worker import write_claimed
from workers.exports.plan import Plan, plan_export
from workers.job_handler import JobContext, Outcome

_WORKERS_MAX = 4
_POLL_SECONDS = 0.2


class ExportHandler:
    """The coordinator of an export: it plans the parts, writes them beside any helpers, and publishes the manifest."""

    def run(self, context: JobContext) -> Outcome:
        """Plan, hold the snapshot, and write parts until all are done.

        Raises JobRefused if a part has failed for good, LeaseLost if the job is no longer ours.
        """
        request, services = Request.read(context.job.parameters), context.services
        with services.connect("export") as snapshot_db, services.connect("parts", autocommit=True) as parts_db:
            plan = plan_export(snapshot_db, services.objects, request)
            parts.plan(parts_db, context.job, plan.data_version, plan.source, plan.ranges)
            while not _all_done(context, parts_db):
                part = parts.claim(parts_db, context.job.id, services.settings.lease_ttl_seconds)
                if part is None:
                    time.sleep(_POLL_SECONDS)  # the remaining parts are being written by helpers
                else:
                    write_claimed(services, parts_db, part, request, context.lease)
            return outcome_of(manifest_of(request, plan, parts.files(parts_db, context.job.id)))

    def publish(self, context: JobContext, outcome: Outcome) -> bool:
        """Publish all files at once; False if the job is no longer ours or a part is not done."""
        return parts.publish(context.connection, context.job, outcome)


def _all_done(context: JobContext, parts_db: Connection) -> bool:
    """Report progress, and ask for helpers while parts wait. Raises JobRefused if a part has failed for good."""
    lease = context.lease
    lease.check()
    found = parts.progress(parts_db, context.job.id)
    if found.failure is not None:
        raise JobRefused(str(found.failure["slug"]), str(found.failure["detail"]))
    lease.progress.report("copying", found.rows)
    lease.progress.fraction = 0.99 * found.done / found.parts
    if found.queued > 1 and found.running < _WORKERS_MAX:
        _request_helpers(context, min(_WORKERS_MAX - found.running, found.queued) - 1)
    return found.done == found.parts


def _request_helpers(context: JobContext, count: int) -> None:
    """Ask other workers for help. None has to come: this worker then writes all parts itself."""
    with contextlib.suppress(StoreUnavailable):
        for _ in range(count):
            context.services.messages.send(HELP_EXPORT, context.job.id, EXPORT.queue)


def outcome_of(manifest: ExportManifest) -> Outcome:
    """Return what the job's row says of an export."""
    return Outcome(
        msgspec.to_builtins(manifest), bytes=manifest.bytes, rows=manifest.rows, data_version=manifest.data_version
    )


def manifest_of(request: Request, plan: Plan, files: list[File]) -> ExportManifest:
    """Return the manifest of the parts' files, in their order.

    A part without rows is not listed; if none has rows, the first one is, because it shows the schema.
    """
    listed = [file for file in files if file.rows] or files[:1]
    return ExportManifest(
        dataset=request.dataset,
        schema=described(DATASETS[request.dataset], request.columns),
        format=request.format,
        compression=request.compression,
        media_type=media_type(request.format, request.compression),
        data_version=plan.data_version,
        since=request.since,
        months=plan.months or [],
        all_months=plan.months is None,
        created_at=rfc3339(utc_now()),
        rows=sum(file.rows for file in listed if file.content == ROWS),
        bytes=sum(file.bytes for file in listed),
        files=listed,
    )
