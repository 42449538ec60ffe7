"""The worker's application with the drill's report in it; production's workers never load this."""

import os
import signal
from typing import Any

from deploy.drill import questions
from shared.db.connect import Connection
from workers.app import app as app
from workers.reports.registry import MAKERS, Told
from workers.reports.result import Answer


def make(connection: Connection, parameters: dict[str, Any], told: Told) -> Answer:
    """Answer a question of the drill, slowly; die of a poisoned one, as a worker dies of memory."""
    if questions.is_poison(parameters):
        os.kill(os.getpid(), signal.SIGKILL)
    steps = questions.pauses(parameters)
    for done, seconds in enumerate(steps):
        told("drilling", done, len(steps))
        connection.execute("SELECT pg_sleep($1)", (seconds,))
    return questions.answer(parameters)


MAKERS[questions.KIND] = make
