"""A dispatcher over rows that it cannot handle: it passes over each, counts it, and does all the rest."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
import redis

from deploy.local.part_commands import DISPATCHER_COMMAND
from deploy.local.paths import free_port
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.db.connect import connect
from shared.objects.directory import DirectoryStore
from shared.redis import keys
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.accounts import organization
from tests.support.database import execute
from tests.support.workers import RecordedMessages, order, services_of
from workers.dispatcher.dispatch import Dispatcher
from workers.dispatcher.maintenance import Maintenance
from workers.jobs.failed_rows import FailedRows

ACCOUNT, HURT = "org:fine", "org:hurt"
DAY = 20_000


@pytest.fixture
def store(settings: Settings) -> Iterator["redis.Redis[bytes]"]:
    with closing(redis.Redis.from_url(settings.state_url)) as client:
        yield client


def succeeded(settings: Settings, kind: str, result: str, *, missing_seconds: int = 3_600) -> str:
    """Write the row of a job whose result an edge has reported missing; return its id."""
    [(job,)] = execute(
        settings,
        "INSERT INTO jobs (kind, queue, fingerprint, data_version, state, result, expires_at, missing_since) VALUES "
        "($1, 'reports', gen_random_uuid()::text, 1, 'succeeded', $2::jsonb, now() + interval '1 day', "
        " now() - make_interval(secs => $3)) RETURNING id::text",
        kind,
        result,
        missing_seconds,
    )
    return str(job)


MANIFEST = (
    '{"key": "%s/1/cohorts.json", "format": "json", "media_type": "application/json", "rows": 1, "bytes": 7,'
    ' "sha256": "", "result_sha256": "", "data_version": 1, "meta": "{}"}'
)
UNREADABLE = ("{}", "null", "[]", '"text"', '{"key": 7}', MANIFEST.replace("%s", "x").replace("7", '"seven"'))


def owes(settings: Settings, account: str, day: int, *, charge: str = "charge") -> str:
    """Write an order that is to be refunded; return its id."""
    [(made,)] = execute(
        settings,
        "INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units, refund_due, endpoint) "
        "SELECT $1::uuid, $2::uuid, $3, $4, $5, 10, true, 'cohorts' RETURNING id::text",
        order(settings, uuid4().hex),
        organization(settings),
        account,
        charge,
        day,
    )
    return str(made)


def poison(settings: Settings, store: "redis.Redis[bytes]") -> None:
    """Write rows and objects of each kind that a dispatcher reads, none of which can be what it should be."""
    for number, result in enumerate(UNREADABLE):
        succeeded(settings, "export" if number % 2 else "cohorts", result)
    store.set(keys.quota(HURT, DAY), "no counters")
    for number in range(105):
        owes(settings, HURT, DAY, charge=f"hurt {number}")
    store.hset(keys.quota(HURT, 10**15), mapping={"n": 50})
    owes(settings, HURT, 10**15)  # a day that no calendar has
    insert = (
        "INSERT INTO jobs (kind, queue, fingerprint, traceparent, relayed_at, created_at, lease_until, state, attempt) "
    )
    execute(
        settings, insert + "VALUES ('search-index', 'maintenance', '2', '00-x', '-infinity', now(), NULL, 'queued', 0)"
    )
    execute(
        settings, insert + "VALUES ('search-index', 'maintenance', '3', NULL, NULL, '-infinity', NULL, 'queued', 0)"
    )
    execute(settings, insert + "VALUES ('of another release', 'elsewhere', '4', '', NULL, now(), NULL, 'queued', 0)")
    execute(settings, insert + "VALUES ('lost', 'reports', '5', 'x', NULL, now(), '-infinity', 'running', 2147483647)")
    execute(
        settings,
        "INSERT INTO feeds (name, directory, source, mapping, every_seconds, due_at) "
        "VALUES ('f', '/', 's', 'm', 60, '-infinity')",
    )
    execute(
        settings,
        "INSERT INTO webhook_endpoints (organization_id, url, sealed_secret, position, due_at, failures) "
        "SELECT id, 'gopher://[', '', 0, '-infinity', 1000000 FROM organizations LIMIT 1",
    )
    execute(settings, "INSERT INTO data_versions (version) VALUES (1)")
    execute(
        settings,
        "INSERT INTO releases (dataset, data_version, kept_as, columns, rows, bytes, expires_at) "
        "VALUES ('items', 1, 'weekly', '[7]', 1, 1, 'infinity')",
    )
    for attempt in ("²", "9" * 30, "-1", "x"):
        (settings.results_dir / str(uuid4()) / attempt).mkdir(parents=True)
    (settings.results_dir / "no job" / "1").mkdir(parents=True)


@pytest.fixture
def dispatcher(settings: Settings, tmp_path: Path) -> Iterator[ServiceProcess]:
    environment = {**settings.environment(), "METRICS_LISTEN": f"127.0.0.1:{free_port()}"}
    child = ServiceProcess(
        Program(
            name="dispatcher",
            command=DISPATCHER_COMMAND,
            log=tmp_path / "log",
            environment=environment,
            stop_seconds=30,
        )
    )
    yield child
    child.stop()


def until(child: ServiceProcess, condition: Callable[[], bool], seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert child.alive and time.monotonic() < ends, tail(child.program.log, 20)
        time.sleep(0.05)


def value(settings: Settings, query: str, *values: object) -> object:
    [row] = execute(settings, query, *values)
    return row[0]


def test_a_dispatcher_over_rows_of_every_kind_that_it_cannot_handle_does_all_the_rest(
    settings: Settings, dispatcher: ServiceProcess, store: "redis.Redis[bytes]"
) -> None:
    poison(settings, store)
    job = order(settings, "the one that is fine")
    store.hset(keys.quota(ACCOUNT, DAY), mapping={"n": 50})
    refund = owes(settings, ACCOUNT, DAY)
    lost = succeeded(settings, "cohorts", MANIFEST % uuid4(), missing_seconds=3_000)
    objects = DirectoryStore(settings.results_dir)
    unnamed = f"{uuid4()}/1/unnamed.json"
    with objects.create(unnamed) as file:
        file.write(b"of a worker that died")
    dispatcher.start()
    until(dispatcher, lambda: value(settings, "SELECT relayed_at IS NOT NULL FROM jobs WHERE id = $1", job) is True)
    until(
        dispatcher,
        lambda: value(settings, "SELECT refunded_at IS NOT NULL FROM job_orders WHERE id = $1", refund) is True,
    )
    assert store.hget(keys.quota(ACCOUNT, DAY), "n") == b"40"
    given = "SELECT units FROM usage WHERE account = $1 AND outcome = 'refunded'"
    assert execute(settings, given, ACCOUNT) == [(-10,)]
    until(dispatcher, lambda: value(settings, "SELECT state FROM jobs WHERE id = $1", lost) == "expired")
    until(dispatcher, lambda: objects.size(unnamed) is None)
    assert dispatcher.alive and dispatcher.restarts == 0
    unreadable = "SELECT count(*) FROM jobs WHERE missing_since IS NOT NULL AND state = 'succeeded'"
    assert value(settings, unreadable) == len(UNREADABLE), "none is called lost that could not be read"
    assert value(settings, "SELECT count(*) FROM job_orders WHERE refund_due") == 106
    until(dispatcher, lambda: '"step":"catalogue"' in dispatcher.program.log.read_text())
    events = set(re.findall(r'"event":\s*"([\w-]+)"', dispatcher.program.log.read_text()))
    assert {"row-set-aside", "step-failed", "job-refunded", "result-lost"} <= events


def test_more_unreadable_results_than_are_looked_at_at_once_keep_no_other_from_its_turn(settings: Settings) -> None:
    for _ in range(101):
        succeeded(settings, "cohorts", "{}")
    lost = succeeded(settings, "cohorts", MANIFEST % uuid4(), missing_seconds=3_000)
    DirectoryStore(settings.results_dir).create("x").__enter__()  # a store that nobody wrote to counts as not mounted
    maintenance = Maintenance(services_of(settings))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        states = []
        for seconds in (0.0, 31.0):
            maintenance.run_due(connection, seconds)
            states.append(value(settings, "SELECT state FROM jobs WHERE id = $1", lost))
    assert states == ["succeeded", "expired"]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_row_that_failed_is_tried_again_later_and_an_outage_is_raised(settings: Settings) -> None:
    clock = Clock()
    failed = FailedRows("refund", Log("tests", level="error"), again_seconds=600.0, clock=clock)
    with failed.handle("one"):
        raise ValueError
    assert failed.keys == ["one"]
    clock.now = 601.0
    assert failed.keys == []
    with pytest.raises(ConnectionError), failed.handle("two"):
        raise ConnectionError
    assert failed.keys == []


def test_a_step_that_fails_keeps_no_other_from_running_and_a_sweep_without_dispatch_is_none(settings: Settings) -> None:
    messages = RecordedMessages()
    dispatcher = Dispatcher(services_of(settings, messages=messages))
    job = order(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        execute(settings, "ALTER TABLE job_orders RENAME COLUMN refund_due TO was_due")
        assert dispatcher.sweep(connection) == 1
        assert messages.jobs == [job]
        execute(settings, "ALTER TABLE jobs RENAME COLUMN relayed_at TO was_relayed_at")
        assert dispatcher.sweep(connection) is None
