"""Reports from a streaming replica: the same bytes, never older than what was ordered, and never lost with it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shared.db.connect import Connection, connect
from shared.jobs.contract import SQL as JOBS
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry import metrics
from tests.service.reports import market
from tests.support.replica import Pair, in_recovery, ordered
from tests.support.reports import answer
from tests.support.shop import ROWS, load_rows, open_shop
from tests.support.weights import store_weights
from tests.support.workers import reporting, run, worker
from workers.analytics.reports.publish import COMPUTATIONS, Make
from workers.analytics.reports.query import ReportProgress
from workers.analytics.reports.result import Answer

pytestmark = pytest.mark.xdist_group("replica")
MORE = ROWS.replace("2026-07", "2026-08").replace("10.90", "99.90")
SPRING = {"from": "2026-03-01", "to": "2026-06-30"}
OWN_QUESTIONS: list[tuple[str, dict[str, Any], *tuple[str, ...]]] = [
    ("cohorts", {"brand": ["vita", "alco"], "granularity": "week", **SPRING}, "json", "csv", "parquet"),
    ("cohorts", {"category": ["food"], "group_by": ["brand", "channel"], **SPRING}, "json"),
    ("category-insights", {}, "csv"),
    ("brand-insights", {"brand": ["vita"]}, "json"),
    ("price-index", {"category": ["food"], "granularity": "month", "method": "geks-jevons", **SPRING}, "json"),
    ("sustainability-rollup", SPRING, "parquet"),
]
# Every other report is asked for all that there is, but one, which needs a table of weights.
BY_WEIGHTS = "aggregate-index"
QUESTIONS = [
    *OWN_QUESTIONS,
    *(
        (kind, SPRING, "json")
        for kind in sorted(COMPUTATIONS.keys() - {BY_WEIGHTS, *(kind for kind, *_ in OWN_QUESTIONS)})
    ),
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with Pair.running(tmp_path_factory.mktemp("pair")) as running:
        yield running


@pytest.fixture
def primary(pair: Pair, tmp_path: Path) -> Iterator[Settings]:
    with pair.primary.fresh(tmp_path) as settings:
        open_shop(settings, tmp_path)
        pair.catch_up()
        yield settings


@pytest.fixture
def paused(pair: Pair, primary: Settings) -> Iterator[None]:
    """The replica receives and does not replay."""
    pair.on_replica("SELECT pg_wal_replay_pause()")
    while pair.on_replica("SELECT pg_get_wal_replay_pause_state()") != [("paused",)]:
        pass
    yield
    pair.on_replica("SELECT CASE WHEN pg_is_wal_replay_paused() THEN pg_wal_replay_resume() END")


def counted() -> dict[str, float]:
    """Return how often each outcome was counted so far."""
    outcomes = ("replica", "behind", "away", "conflict", "rested")
    return {outcome: metrics.replica_reads.labels(outcome)._value.get() for outcome in outcomes}


def since(before: dict[str, float]) -> dict[str, float]:
    """Return what was counted since."""
    return {outcome: value - before[outcome] for outcome, value in counted().items() if value != before[outcome]}


def made(settings: Settings, job: str) -> tuple[dict[str, Any], bytes]:
    """Return a job's manifest and the bytes of its result."""
    with connect(settings.database_url, application="tests") as connection:
        row = connection.execute("SELECT result FROM jobs WHERE id = $1 AND state = 'succeeded'", (job,)).fetchone()
    assert row is not None
    return row[0], (settings.results_dir / row[0]["key"]).read_bytes()


def telling_where(told_where: list[bool], then: Make | None = None) -> Make:
    """Make a report that notes whether it was read from the replica; `then` may go wrong there."""

    def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
        told_where.append(in_recovery(connection))
        return then(connection, parameters, report_progress) if then and told_where[-1] else answer()

    return make


def test_every_report_is_the_same_to_the_last_byte(pair: Pair, tmp_path: Path) -> None:
    with market.opened(pair.primary, tmp_path) as settings:
        weights = store_weights(settings, [("food", "", "1")], date(2026, 3, 1))
        pair.catch_up()
        by_weights = (BY_WEIGHTS, {**SPRING, **weights, "currency": "HKD"}, "json")
        before, both = counted(), []
        for source in (settings, pair.settings(settings)):
            results = []
            for kind, parameters, *formats in (*QUESTIONS, by_weights):
                for format in formats:
                    job = ordered(settings, kind, format, **parameters)
                    assert run(source, job) == "succeeded", (kind, parameters)
                    manifest, content = made(settings, job)
                    assert manifest["rows"] > 0
                    results.append((content, manifest["data_version"], manifest["result_sha256"]))
            both.append(results)
        assert both[0] == both[1]
        assert since(before) == {"replica": len(both[1])}


def test_its_role_reads_what_reports_read_and_nothing_else(pair: Pair, primary: Settings) -> None:
    with connect(pair.settings(primary).replica_database_url, application="tests", autocommit=True) as connection:
        assert in_recovery(connection)
        for table in (
            "api_keys",
            "organizations",
            "people",
            "jobs",
            "audit",
            "usage",
            "public_tokens",
            "rejects",
            "loads",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT 1 FROM {table}")


@pytest.mark.usefixtures("paused")
def test_a_lagging_replica_never_answers_for_a_newer_load(pair: Pair, primary: Settings, tmp_path: Path) -> None:
    settings, before = pair.settings(primary, wait_seconds=0.2), counted()
    one = worker(settings)
    load_rows(primary, tmp_path, MORE)
    for outcome in ("behind", "rested"):  # the second job does not wait for it again
        job = ordered(primary, brand=["vita"], **{"from": "2026-08-01", "to": "2026-08-31"})
        assert one.run(job) == "succeeded"
        manifest, content = made(primary, job)
        assert manifest["data_version"] == 2
        assert b'"max":"99.90"' in content
        assert since(before).pop(outcome) == 1
    assert "replica" not in since(before)


@pytest.mark.usefixtures("paused")
def test_a_report_waits_for_the_load_that_it_was_ordered_after(pair: Pair, primary: Settings, tmp_path: Path) -> None:
    settings, before = pair.settings(primary, wait_seconds=60), counted()
    load_rows(primary, tmp_path, MORE)
    job = ordered(primary, brand=["vita"], **{"from": "2026-08-01", "to": "2026-08-31"})
    resume = threading.Timer(0.5, pair.on_replica, ("SELECT pg_wal_replay_resume()::text",))
    resume.start()
    assert run(settings, job) == "succeeded"
    resume.join()
    manifest, content = made(primary, job)
    assert (manifest["data_version"], since(before)) == (2, {"replica": 1})
    assert b'"max":"99.90"' in content


def test_a_job_of_the_old_data_may_be_read_from_a_replica_that_lags(
    pair: Pair, primary: Settings, tmp_path: Path
) -> None:
    settings, before = pair.settings(primary), counted()
    first = ordered(primary, brand=["vita"])
    assert run(settings, first) == "succeeded"
    job = ordered(primary, brand=["vita"])
    pair.on_replica("SELECT pg_wal_replay_pause()::text")
    try:
        load_rows(primary, tmp_path, MORE)
        assert run(settings, job) == "succeeded"
    finally:
        pair.on_replica("SELECT pg_wal_replay_resume()::text")
    assert since(before) == {"replica": 2}
    assert made(primary, job)[1] == made(primary, first)[1]  # it says that it is of the old data, and is


@pytest.fixture
def impatient(pair: Pair) -> Iterator[None]:
    """The replica puts replaying before reading."""
    pair.set("max_standby_streaming_delay", "50ms")
    yield
    pair.set("max_standby_streaming_delay", "30s")


@contextmanager
def churning(primary: Settings) -> Iterator[None]:
    """Remove rows of brands on the primary, again and again: one VACUUM spares rows that a reader there may still see."""
    enough = threading.Event()

    def churn() -> None:
        with connect(primary.database_url, application="tests", autocommit=True) as other:
            while not enough.wait(0.1):
                other.execute("UPDATE brands SET item_count = item_count + 1")
                other.execute("VACUUM brands")

    working = threading.Thread(target=churn)
    working.start()
    try:
        yield
    finally:
        enough.set()
        working.join()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("conflicts", "outcome"), [(1, "replica"), (2, "conflict")])
def test_a_recovery_conflict_is_tried_again_then_left_to_the_primary(
    pair: Pair, primary: Settings, conflicts: int, outcome: str
) -> None:
    """What the replica must replay removes rows that the report's snapshot still sees: the server cancels the query."""
    where: list[bool] = []

    def be_cancelled(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
        if len(where) <= conflicts:
            connection.execute("SELECT count(*) FROM brands")
            try:
                with churning(primary):
                    connection.execute("SELECT pg_sleep(60)")
            finally:
                pair.catch_up()  # what is left to replay could cancel the next try before the report begins
            raise AssertionError("nothing was in conflict")
        return answer()

    settings, before, job = pair.settings(primary), counted(), ordered(primary)
    assert run(settings, job, reporting(settings, telling_where(where, be_cancelled))) == "succeeded"
    assert where == ([True, True] if outcome == "replica" else [True, True, False])
    assert since(before) == {outcome: 1}


def test_a_replica_that_dies_under_a_report_costs_nothing_but_time(pair: Pair, primary: Settings) -> None:
    where: list[bool] = []

    def die(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
        pair.kill()
        connection.execute("SELECT 1")
        raise AssertionError("a dead server answered")

    before, settings = counted(), pair.settings(primary)
    try:
        job = ordered(primary)
        assert run(settings, job, reporting(settings, telling_where(where, die))) == "succeeded"
        assert where == [True, False]
        job = ordered(primary)  # and a worker that has never seen it finds no server
        assert run(settings, job, reporting(settings, telling_where(where))) == "succeeded"
        assert (where.pop(), since(before)) == (False, {"away": 2})
        with connect(primary.database_url, application="tests") as connection:
            attempts = connection.execute("SELECT max(attempt) FROM jobs").fetchone()
        assert attempts == (1,)
    finally:
        pair.start()
    assert run(settings, ordered(primary), reporting(settings, telling_where(where))) == "succeeded"
    assert where.pop()


def test_a_cancelled_report_stops_on_the_replica(pair: Pair, primary: Settings) -> None:
    job, began = ordered(primary), threading.Event()

    def sleep(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
        assert in_recovery(connection)
        began.set()
        connection.execute("SELECT pg_sleep(300) AS long_report")
        raise AssertionError("it was not cancelled")

    ended: list[str | None] = []
    settings = pair.settings(primary)
    working = threading.Thread(target=lambda: ended.append(run(settings, job, reporting(settings, sleep))), daemon=True)
    working.start()
    assert began.wait(30)
    with connect(primary.database_url, application="tests") as connection:
        connection.execute(JOBS.cancel, (job,))
    working.join(30)
    assert ended == [None]
    running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%long_report' AND state = 'active'"
    assert pair.on_replica(running) == [(0,)]
    assert list(open_object_store(primary).attempts()) == []
