"""Which handler does which kind of job: the only place that names them all."""

from shared.jobs.contract import EXPORT, EXPORT_PART, RELEASE, SEARCH_INDEX
from workers.analytics.reports.publish import COMPUTATIONS, Replica, ReportHandler
from workers.bulk.build_release import build_release
from workers.bulk.exports import ExportHandler, part_handler
from workers.jobs.context import Services
from workers.jobs.job_handler import Handlers, RowResultHandler
from workers.search import build as search


def job_handlers(services: Services) -> Handlers:
    """Return the handlers of all kinds of jobs, for one process."""
    settings = services.settings
    replica = Replica(settings.replica_database_url, settings.replica_wait_seconds, services.log)
    return {
        SEARCH_INDEX.name: RowResultHandler(search.build_index),
        RELEASE.name: RowResultHandler(build_release),
        EXPORT.name: ExportHandler(),
        EXPORT_PART.name: part_handler(),
        **{kind: ReportHandler(compute, replica) for kind, compute in COMPUTATIONS.items()},
    }
