"""Reports whose makers are known to the last byte, and a worker that does what is queued when a test says so."""

import asyncio
from datetime import date
from typing import Any

import pyarrow as pa

from shared.analytics.results import Rows
from shared.db.connect import Connection
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.workers import reporting, services_of
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.publish import Make
from workers.analytics.reports.query import ReportProgress
from workers.analytics.reports.result import Answer
from workers.jobs.runner import JobRunner
from workers.jobs.services import WorkerServices

SCHEMA = pa.schema([("period", pa.date32()), ("items", pa.int64())])  # what the rows of every kind have


def answer(rows: int = 3) -> Answer:
    """Make an answer of so many rows."""
    listed = [{"period": date(2026, 7, 1), "items": n} for n in range(rows)]
    days = Range(date(2026, 7, 1), date(2026, 7, 2), None)
    seen = {number(days.first), number(days.last)}
    return Answer(Rows.of(listed, SCHEMA), days, seen, {"items": "items"}, "Counted.", {})


def quick(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Make a report at once."""
    report_progress("counting", 1, 2)
    return answer()


def quiet(stage: str, done: int, total: int | None) -> None:
    """Take a report of progress, which must be possible."""
    assert total is None or 0 <= done <= total


def queued(settings: Settings) -> list[str]:
    """Return the jobs that wait, in their order."""
    query = "SELECT id::text FROM jobs WHERE state = 'queued' AND queue = 'reports' ORDER BY id"
    return [job for (job,) in execute(settings, query)]


async def work(settings: Settings, make: Make = quick, *, services: WorkerServices | None = None) -> list[str | None]:
    """Wait until a report is queued, and do all that are."""
    while not (jobs := await asyncio.to_thread(queued, settings)):
        await asyncio.sleep(0.01)
    worker = JobRunner(services or services_of(settings), reporting(settings, make))
    return [await asyncio.to_thread(worker.run, job) for job in jobs]
