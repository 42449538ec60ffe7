"""PostgreSQL's clock steps under jobs: whatever a step does to leases and pauses, each job ends, once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.assurance.drills.clock_skew_stores import shadow_clock, step_database
from tests.service.jobs.test_jobs import sweep
from tests.support.client import running_edge
from tests.support.database import execute
from tests.support.exports import column
from tests.support.workers import RecordedMessages, indexing, order, run, services_of
from workers.dispatcher.dispatch import Dispatcher
from workers.jobs.job_handler import JobContext
from workers.jobs.leases import SQL as LEASE
from workers.jobs.leases import claim, succeed

HOUR = 3_600

Step = Callable[[int], None]


@pytest.fixture
def step(settings: Settings) -> Step:
    """Steps the clock of the test's own database."""
    shadow_clock(settings)
    return lambda seconds: step_database(settings, seconds)


def worker(settings: Settings) -> Connection:
    return connect(settings.worker_database_url, application="tests", autocommit=True)


def settle(settings: Settings) -> None:
    with worker(settings) as connection:
        Dispatcher(services_of(settings)).settle_clock(connection)


def test_the_shadow_reaches_statements_defaults_and_functions(settings: Settings, step: Step) -> None:
    step(HOUR)
    job = order(settings)
    for moment in ("created_at", "not_before", "now()", "clock_timestamp()", "statement_timestamp()"):
        ahead = column(settings, job, f"extract(epoch FROM {moment} - pg_catalog.clock_timestamp())::float8")
        assert ahead == pytest.approx(HOUR, abs=60), moment


def test_a_clock_an_hour_ahead_lapses_a_lease_and_only_the_next_attempt_publishes(
    settings: Settings, step: Step, messages: RecordedMessages
) -> None:
    job = order(settings)
    with worker(settings) as connection:
        first = claim(connection, job, 30)
        step(HOUR)
        assert sweep(settings, messages) == 1
        second = claim(connection, job, 30)
        assert first is not None
        assert second is not None
        assert not succeed(connection, first, {"by": "first"})
        assert succeed(connection, second, {"by": "second"})
    assert (column(settings, job, "result"), column(settings, job, "attempt")) == ({"by": "second"}, 2)
    assert messages.jobs == [job]


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_job_that_runs_across_a_step_is_published_once(
    settings: Settings, step: Step, messages: RecordedMessages, seconds: int
) -> None:
    job, began, go_on = order(settings), threading.Event(), threading.Event()

    def make(context: JobContext) -> dict[str, Any]:
        began.set()
        go_on.wait(10)
        return {"attempt": context.job.attempt}

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, settings, job, indexing(make))
        assert began.wait(10)
        step(seconds)
        sweep(settings, messages)
        go_on.set()
        states = [running.result(), run(settings, job, indexing(make))]
    assert states.count("succeeded") == 1
    assert column(settings, job, "result") == {"attempt": column(settings, job, "attempt")}


def test_a_job_ordered_while_the_clock_was_ahead_is_due_when_it_is_set_back(
    settings: Settings, step: Step, messages: RecordedMessages
) -> None:
    step(HOUR)
    job = order(settings)
    step(0)
    assert sweep(settings, messages) == 0
    settle(settings)
    assert sweep(settings, messages) == 1
    assert messages.jobs == [job]


def test_a_message_that_was_lost_while_the_clock_was_ahead_is_sent_again(
    settings: Settings, step: Step, messages: RecordedMessages
) -> None:
    step(HOUR)
    job = order(settings)
    assert sweep(settings, messages) == 1
    step(0)
    settle(settings)
    assert sweep(settings, messages, resend_seconds=0) == 1
    assert messages.jobs == [job, job]


def test_a_lease_of_a_dead_worker_lapses_after_the_clock_was_set_back(
    settings: Settings, step: Step, messages: RecordedMessages
) -> None:
    job = order(settings)
    step(HOUR)
    with worker(settings) as connection:
        assert claim(connection, job, settings.lease_ttl_seconds) is not None
    step(0)
    settle(settings)
    left = column(settings, job, "extract(epoch FROM lease_until - statement_timestamp())::float8")
    assert 0 < left <= settings.lease_ttl_seconds
    assert column(settings, job, "state") == "running"
    step(settings.lease_ttl_seconds + 1)
    assert sweep(settings, messages) == 1
    assert column(settings, job, "state") == "queued"


def test_webhooks_are_called_again_when_the_clock_is_set_back(settings: Settings, step: Step) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as owner, worker(settings) as connection:
        owner.execute("INSERT INTO organizations (name, plan) VALUES ('Acme', 'brand')")
        insert = (
            "INSERT INTO webhook_endpoints (organization_id, url, sealed_secret, position, failures, due_at)"
            " SELECT id, 'https://example.org/' || $1, 'x', 0, $2, statement_timestamp() + make_interval(secs => $3)"
            " FROM organizations"
        )
        owner.execute(insert, ("pauses as it should", 12, 90_000))
        step(HOUR)
        owner.execute(insert, ("failed", 2, 30))
        owner.execute(insert, ("held", 0, 0))
        lease = "UPDATE webhook_endpoints SET lease_until = statement_timestamp() + interval '30 seconds'"
        connection.execute(f"{lease} WHERE url LIKE '%held'")
        step(0)
        settle(settings)
        left = "greatest(due_at, lease_until) - statement_timestamp()"
        rows = connection.execute(f"SELECT extract(epoch FROM {left})::float8 FROM webhook_endpoints ORDER BY url")
        failed, held, pauses = (row[0] for row in rows)
    assert (failed <= 0, 0 < held <= 30, 80_000 < pauses <= 90_000) == (True, True, True)


def test_moments_of_a_clock_that_was_never_off_are_left_alone(settings: Settings) -> None:
    waiting, running = order(settings, "1"), order(settings, "2")
    with worker(settings) as connection:
        claim(connection, waiting, 30)
        connection.execute(LEASE.retry_later, (waiting, 1, None))
        claim(connection, running, settings.lease_ttl_seconds)
    before = [column(settings, job, "row(not_before, lease_until)::text") for job in (waiting, running)]
    settle(settings)
    assert [column(settings, job, "row(not_before, lease_until)::text") for job in (waiting, running)] == before


def test_a_job_that_was_put_off_very_often_still_fails_with_a_pause_of_a_minute(settings: Settings) -> None:
    job = order(settings)
    execute(settings, "UPDATE jobs SET attempt = 2000, attempts_max = 2003")
    with worker(settings) as connection:
        taken = claim(connection, job, 30)
        assert taken is not None
        assert connection.execute(LEASE.fail, (job, taken.attempt, None, False)).fetchone() == ("queued",)
    assert column(settings, job, "not_before <= statement_timestamp() + interval '1 minute'")


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_readiness_is_degraded_while_postgresqls_clock_is_off(
    settings: Settings, step: Step, tmp_path: Path, seconds: int
) -> None:
    step(seconds)
    async with running_edge(settings, tmp_path) as edge:
        answer = await edge.get("/ready")
    document = answer.json
    clock = next(part for part in document["parts"] if part["name"] == "clock")
    assert (answer.status, document["status"], clock["state"]) == (200, "degraded", "off")
    assert ("behind" if seconds > 0 else "ahead of") in clock["detail"]
