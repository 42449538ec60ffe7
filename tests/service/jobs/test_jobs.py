"""A job's row is the truth: whatever happens to doorbells and workers, it is done once or fails with a reason."""

import errno
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from shared.config import Settings
from shared.db.connect import connect
from shared.errors import ItemIndexError, StoreUnavailable
from shared.jobs.contract import SQL as JOBS
from shared.telemetry.log import Log
from tests.support.shop import load_rows
from workers.dispatch import dispatcher as dispatchers
from workers.dispatch.dispatcher import Dispatcher
from workers.leases import SQL as LEASE
from workers.leases import Lease, LeaseLost, claim, succeed
from workers.search.job import make_index
from workers.tasks import run


def order(settings: Settings, fingerprint: str = "1", attempts: int = 3) -> str:
    with connect(settings.database_url, application="tests") as connection:
        values = ("search-index", "maintenance", None, Jsonb({}), fingerprint, 1, attempts)
        row = connection.execute(JOBS.join, values).fetchone()
    assert row is not None
    return str(row[0])


def column(settings: Settings, job: str, name: str) -> Any:
    with connect(settings.database_url, application="tests") as connection:
        row = connection.execute(f"SELECT {name} FROM jobs WHERE id = $1", (job,)).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every doorbell that was rung; the broker is somebody else's business here."""
    seen: list[str] = []
    monkeypatch.setattr(dispatchers.app, "send_task", lambda name, args, queue, retry: seen.append(args[0]))
    return seen


def sweep(settings: Settings) -> int:
    with connect(settings.worker_database_url, application="dispatcher", autocommit=True) as connection:
        return Dispatcher(settings, Log("tests")).sweep(connection)


def test_equal_requests_under_way_are_one_job(settings: Settings) -> None:
    first = order(settings)
    assert order(settings) == first
    assert order(settings, "2") != first
    assert run(settings, first, {"search-index": lambda s, j, lease: {}}) == "succeeded"
    assert order(settings) != first


def test_three_doorbells_at_once_do_the_job_once(settings: Settings) -> None:
    job, made = order(settings), []

    def make(settings: Settings, job: dict[str, Any], lease: Lease) -> dict[str, Any]:
        made.append(job["attempt"])
        time.sleep(0.2)
        return {"attempt": job["attempt"]}

    with ThreadPoolExecutor(3) as pool:
        states = list(pool.map(lambda n: run(settings, job, {"search-index": make}), range(3)))
    assert sorted(states, key=str) == [None, None, "succeeded"]
    assert made == [1]


def test_a_doorbell_that_was_lost_is_rung_again(
    settings: Settings, rung: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = order(settings)
    assert sweep(settings) == 1
    assert sweep(settings) == 0
    monkeypatch.setattr(dispatchers, "_RING_AGAIN_SECONDS", 0)
    assert sweep(settings) == 1
    assert rung == [job, job]


def test_a_broker_that_is_down_loses_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    job = order(settings)

    def refuse(*arguments: Any, **options: Any) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(dispatchers.app, "send_task", refuse)
    assert sweep(settings) == 0
    assert column(settings, job, "relayed_at") is None
    assert column(settings, job, "state") == "queued"


def test_two_relays_share_the_rows(settings: Settings, rung: list[str]) -> None:
    jobs = {order(settings, str(n)) for n in range(40)}
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(lambda n: sweep(settings), range(2))) == 40
    assert sorted(rung) == sorted(jobs)


def test_a_relay_that_falls_silent_in_the_middle_holds_the_others_up_for_seconds_only(
    settings: Settings, rung: list[str]
) -> None:
    order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as silent:
        silent.execute(dispatchers.SQL.let_go.replace("5s", "300ms"))
        silent.execute("BEGIN")
        silent.execute(dispatchers.SQL.alone)
        assert sweep(settings) == 1
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            silent.execute("SELECT 1")


def test_a_job_whose_worker_died_is_taken_up_and_given_up_after_three(settings: Settings, rung: list[str]) -> None:
    job = order(settings)
    for attempt in (1, 2, 3):
        with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
            taken = claim(connection, job, 0)
            assert taken is not None
            assert taken["attempt"] == attempt
        time.sleep(0.01)
        sweep(settings)
    assert column(settings, job, "state") == "failed"
    assert column(settings, job, "error")["slug"] == "job-lost"


def test_a_stale_finisher_writes_nothing_and_its_twin_without_the_fence_would(
    settings: Settings, rung: list[str]
) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        stale = claim(connection, job, 0)
        assert stale is not None
        time.sleep(0.01)
        sweep(settings)
        current = claim(connection, job, 30)
        assert current is not None
        assert not succeed(connection, job, stale["attempt"], {"by": "stale"})
        unfenced = LEASE.succeed.replace("AND attempt = $2", "AND $2::integer IS NOT NULL")
        with connection.transaction(force_rollback=True):
            assert connection.execute(unfenced, (job, stale["attempt"], Jsonb({}))).fetchone() is not None
        assert succeed(connection, job, current["attempt"], {"by": "current"})
    assert column(settings, job, "result") == {"by": "current"}


def test_cancel_wins_over_a_late_finish(settings: Settings) -> None:
    job, began, go_on = order(settings), threading.Event(), threading.Event()

    def make(settings: Settings, job: dict[str, Any], lease: Lease) -> dict[str, Any]:
        began.set()
        go_on.wait(5)
        return {}

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, settings, job, {"search-index": make})
        began.wait(5)
        with connect(settings.database_url, application="tests") as connection:
            connection.execute(JOBS.cancel, (job,))
        go_on.set()
        assert running.result() is None
    assert column(settings, job, "state") == "cancelled"


def test_a_lease_that_was_taken_away_stops_its_worker(settings: Settings) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        taken = claim(connection, job, 1)
        assert taken is not None
        with Lease(settings.worker_database_url, job, taken["attempt"], 1) as lease:
            with connect(settings.database_url, application="tests") as operator:
                operator.execute(JOBS.cancel, (job,))
            assert lease.lost.wait(5)
            with pytest.raises(LeaseLost):
                lease.check()


def test_the_beat_of_a_stale_attempt_keeps_no_lease(settings: Settings) -> None:
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        taken = claim(connection, job, 60)
        assert taken is not None
        until = column(settings, job, "lease_until")
        connection.execute("UPDATE jobs SET attempt = 2 WHERE id = $1", (job,))  # another worker has it now
        for attempt, kept in ((taken["attempt"], False), (2, True)):
            values = (job, attempt, 600, 0.5, "late", 1, 2)
            assert (connection.execute(LEASE.beat, values).fetchone() is not None) == kept
            assert (column(settings, job, "lease_until") > until) == kept


def test_a_job_that_always_fails_ends_with_its_reason_and_no_secret(settings: Settings) -> None:
    job = order(settings)

    def own(settings: Settings, job: dict[str, Any], lease: Lease) -> dict[str, Any]:
        raise ItemIndexError("there is nothing to index")

    def foreign(settings: Settings, job: dict[str, Any], lease: Lease) -> dict[str, Any]:
        raise RuntimeError(f"could not reach {settings.database_url}")

    assert run(settings, job, {"search-index": own}) == "queued"
    assert column(settings, job, "error")["detail"] == "there is nothing to index"
    assert run(settings, job, {"search-index": foreign}) == "queued"
    assert run(settings, job, {"search-index": foreign}) == "failed"
    assert column(settings, job, "error") == {"slug": "job-failed", "detail": "RuntimeError"}


def test_a_load_orders_its_search_index_and_the_job_builds_it(settings: Settings, tmp_path: Path) -> None:
    summary = load_rows(settings, tmp_path)
    assert summary.job_id is not None
    assert run(settings, summary.job_id) == "succeeded"
    assert column(settings, summary.job_id, "result") == {"data_version": 1, "items": 3}
    assert column(settings, summary.job_id, "progress_fraction") == 1
    assert make_index(settings.worker_database_url, settings.search_dir)["items"] == 3


def full(settings: Settings, job: dict[str, Any], lease: Lease) -> dict[str, Any]:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_store_that_is_full_costs_a_job_no_attempt(settings: Settings) -> None:
    job = order(settings, attempts=2)
    for _ in range(5):
        assert run(settings, job, {"search-index": full}) == "queued"
    assert column(settings, job, "error") == {"slug": "job-failed", "detail": "OSError"}
    assert column(settings, job, "not_before > now() + interval '1 second'")
    assert run(settings, job, {"search-index": lambda s, j, lease: {}}) == "succeeded"
    assert column(settings, job, "attempt") == 6


def test_a_store_that_is_full_for_an_hour_fails_what_waits(settings: Settings) -> None:
    job = order(settings, attempts=1)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE jobs SET created_at = now() - interval '61 minutes'")
    assert run(settings, job, {"search-index": full}) == "failed"


def test_a_relay_goes_on_ringing_while_the_store_of_results_is_away(settings: Settings, rung: list[str]) -> None:
    job, dispatcher = (
        order(settings),
        Dispatcher(replace(settings, s3_bucket="none", s3_endpoint="http://127.0.0.1:9"), Log("t")),
    )
    dispatcher._results.attempts = away  # type: ignore[method-assign]
    with connect(settings.worker_database_url, application="dispatcher", autocommit=True) as connection:
        dispatcher._keep_house(connection, time.monotonic())
        assert dispatcher.sweep(connection) == 1
    assert rung == [job]


def away() -> Any:
    raise StoreUnavailable("results")
