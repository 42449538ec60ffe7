"""Logs of failed attempts, and what the level of the log decides."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.errors import JobRefused
from shared.settings.settings import Settings
from tests.service.jobs.test_jobs import order
from tests.support.workers import indexing, run
from workers.jobs.job_handler import JobContext

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def attempt(settings: Settings, error: Exception) -> str:
    """Make one attempt that meets the error; return the job's id."""
    job = order(settings)
    with connect(settings.database_url, application="tests") as connection:
        values = (job, f"00-{TRACE}-00f067aa0ba902b7-00")
        connection.execute("UPDATE jobs SET traceparent = $2 WHERE id = $1", values)

    def maker_that_fails(context: JobContext) -> dict[str, Any]:
        raise error

    run(settings, job, indexing(maker_that_fails))
    return job


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("error", "level"),
    [(KeyError("iixk_live_secret"), "error"), (JobRefused("brand-not-found", "No brand."), "warning")],
)
def test_a_failed_attempt_logs_where_it_failed_with_its_job_and_its_trace(
    settings: Settings, capsys: pytest.CaptureFixture[str], error: Exception, level: str
) -> None:
    job = attempt(settings, error)
    written = capsys.readouterr().err
    [failed] = [line for line in lines(written) if line["event"] == "job-attempt-failed"]
    assert (failed["level"], failed["job"], failed["trace_id"]) == (level, job, TRACE)
    assert failed["error"] == type(error).__name__
    assert any(Path(__file__).name in step and "maker_that_fails" in step for step in failed["trace"])
    assert "secret" not in written


@pytest.mark.parametrize(("level", "expected"), [("info", {"info", "error"}), ("error", {"error"})])
def test_log_level_decides_which_lines_a_worker_writes(
    settings: Settings, capsys: pytest.CaptureFixture[str], level: str, expected: set[str]
) -> None:
    attempt(replace(settings, log_level=level), KeyError("x"))
    assert {line["level"] for line in lines(capsys.readouterr().err)} == expected


def test_log_level_holds_for_what_celery_writes_in_a_worker() -> None:
    reported = (
        "import logging; from shared.settings.settings import Settings; from workers.handlers import job_handlers;"
        "from workers.worker import Worker; Worker(Settings.from_environment(), job_handlers).set_up_logging(); log = logging.getLogger('celery');"
        "log.info('an info'); log.warning('a warning'); log.error('an error')"
    )
    environment = {**os.environ, "LOG_LEVEL": "warning", "BROKER_URL": "memory://"}
    done = subprocess.run([sys.executable, "-c", reported], env=environment, capture_output=True, text=True, check=True)
    written = [(line["event"], line["level"]) for line in lines(done.stderr)]
    assert written == [("library", "warning"), ("library", "error")]
