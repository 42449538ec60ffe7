"""`python -m tests.assurance.drills.worker`: production's worker with the drill's report besides; no production worker loads it."""

import os
import signal
from typing import Any

from shared.db.connect import Connection
from tests.assurance.drills import workload
from workers.analytics.reports.publish import ReportHandler
from workers.analytics.reports.query import ReportProgress
from workers.analytics.reports.replica import Replica
from workers.analytics.reports.result import Answer
from workers.handlers import job_handlers
from workers.jobs.job_handler import Handlers, JobContext, JobOutcome
from workers.jobs.services import WorkerServices
from workers.worker import main


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Answer a question of the drill, slowly; die of a poisoned one, as a worker dies of memory."""
    if workload.is_poison(parameters):
        os.kill(os.getpid(), signal.SIGKILL)
    steps = workload.pauses(parameters)
    for done, seconds in enumerate(steps):
        report_progress("drilling", done, len(steps))
        connection.execute("SELECT pg_sleep($1)", (seconds,))
    return workload.answer(parameters)


class DrillReport(ReportHandler):
    """Publishes as production does; of one question the first attempt is stopped right before it, as by SIGSTOP.

    By then it has checked its lease for the last time: only the fence of the publishing statement is left.
    """

    def publish(self, context: JobContext, outcome: JobOutcome) -> bool:
        """Publish, or stop this process first."""
        if workload.is_stale(context.job.parameters) and context.job.attempt == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        return super().publish(context, outcome)


def handlers(services: WorkerServices) -> Handlers:
    """Return production's handlers and the drill's."""
    return {**job_handlers(services), workload.KIND: DrillReport(make, Replica("", 0.0, services.log))}


if __name__ == "__main__":
    main(handlers)
