"""The worker's application with the drill's report in it; production's workers never load this."""

import os
import signal
from typing import Any

from shared.db.connect import Connection
from shared.results.layout import Manifest
from tests.drills import workload
from workers import tasks
from workers.app import app as app
from workers.reports.publish import publish as published
from workers.reports.registry import MAKERS, Told
from workers.reports.result import Answer


def make(connection: Connection, parameters: dict[str, Any], told: Told) -> Answer:
    """Answer a question of the drill, slowly; die of a poisoned one, as a worker dies of memory."""
    if workload.is_poison(parameters):
        os.kill(os.getpid(), signal.SIGKILL)
    steps = workload.pauses(parameters)
    for done, seconds in enumerate(steps):
        told("drilling", done, len(steps))
        connection.execute("SELECT pg_sleep($1)", (seconds,))
    return workload.answer(parameters)


def publish(connection: Connection, job: dict[str, Any], manifest: Manifest) -> bool:
    """Publish; of one question the first attempt stands still before it, as a process without a processor does.

    By then it has looked at its lease for the last time: only the fence of the publishing statement is left.
    """
    if workload.is_stale(job["parameters"]) and job["attempt"] == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    return published(connection, job, manifest)


tasks.publish = publish  # type: ignore[attr-defined]  # a place of the drill in the way of each job
MAKERS[workload.KIND] = make
