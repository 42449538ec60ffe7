"""Which handler does which kind of job: the only place that names them all."""

from shared.jobs.contract import EXPORT, RELEASE, SEARCH_INDEX
from workers.context import Services
from workers.exports.coordinator import ExportHandler
from workers.job_handler import Handlers, RowResultHandler
from workers.releases.build import build_release
from workers.reports.publish import ReportHandler
from workers.reports.registry import COMPUTATIONS
from workers.reports.replica import Replica
from workers.search import job as search


def job_handlers(services: Services) -> Handlers:
    """Return the handlers of all kinds of jobs, for one process."""
    settings = services.settings
    replica = Replica(settings.replica_database_url, settings.replica_wait_seconds, services.log)
    return {
        SEARCH_INDEX.name: RowResultHandler(search.build_index),
        RELEASE.name: RowResultHandler(build_release),
        EXPORT.name: ExportHandler(),
        **{kind: ReportHandler(compute, replica) for kind, compute in COMPUTATIONS.items()},
    }
