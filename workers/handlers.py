"""Which handler does which kind of job: the only place that names them all."""

from shared.jobs.contract import EXPORT, EXPORT_PART, MATCH_TABLE, RELEASE, SEARCH_INDEX
from workers.analytics.reports.publish import COMPUTATIONS, ReportHandler
from workers.analytics.reports.replica import Replica
from workers.articles.match_table import MatchTableHandler
from workers.bulk.build_release import build_release
from workers.bulk.export_part import part_handler
from workers.bulk.exports import ExportHandler
from workers.jobs.job_handler import Handlers, RowResultHandler
from workers.jobs.services import WorkerServices
from workers.search import job as search


def job_handlers(services: WorkerServices) -> Handlers:
    """Return the handlers of all kinds of jobs, for one process."""
    settings = services.settings
    replica = Replica(settings.replica_database_url, settings.replica_wait_seconds, services.log)
    return {
        SEARCH_INDEX.name: RowResultHandler(search.build_index),
        RELEASE.name: RowResultHandler(build_release),
        EXPORT.name: ExportHandler(),
        EXPORT_PART.name: part_handler(),
        MATCH_TABLE.name: MatchTableHandler(),
        **{kind: ReportHandler(compute, replica) for kind, compute in COMPUTATIONS.items()},
    }
