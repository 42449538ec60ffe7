"""Limits of jobs hold for concurrent orders; each lock has a twin without it, which lets one too many in."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest

from edge.jobs.orders import SQL as ORDERS
from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.support.accounts import organization
from tests.support.database import execute
from workers.dispatcher.dispatch import SQL as RELAY

BACKLOG_MAX = 10_000


@pytest.fixture
def acme(settings: Settings) -> str:
    return organization(settings)


@contextmanager
def two(url: str) -> Iterator[tuple[Connection, Connection]]:
    """Two connections, each in a transaction of its own, that wait for no lock longer than a moment."""
    with ExitStack() as stack:
        pair = tuple(stack.enter_context(connect(url, application="tests")) for _ in range(2))
        for connection in pair:
            connection.execute("SET lock_timeout = '300ms'")
            connection.commit()
        yield pair  # type: ignore[misc]


def work_for(connection: Connection, organization_id: str) -> None:
    """Begin a transaction as the edge does when it places an order."""
    connection.execute(f"SET LOCAL itemindex.organization = '{organization_id}'")
    connection.execute(b"SET LOCAL itemindex.task = 'jobs'")


def place(connection: Connection, acme: str, fingerprint: str, limit: int) -> bool:
    """Order another job for the organization; tell whether its queue had room."""
    values = (
        "cohorts",
        "reports",
        "{}",
        fingerprint,
        1,
        3,
        acme,
        "json",
        limit,
        f"org:{acme}",
        fingerprint,
        1,
        10,
        None,
        BACKLOG_MAX,
        "cohorts",
        None,
        None,
    )
    work_for(connection, acme)
    return connection.execute(ORDERS.submit, values).fetchone() is not None


def lock(connection: Connection, acme: str) -> None:
    connection.execute(ORDERS.lock, (acme,))


def test_two_orders_at_once_fill_a_queue_of_one_once(settings: Settings, acme: str) -> None:
    with two(settings.edge_database_url) as (first, second):
        lock(first, acme)
        assert place(first, acme, "1", 1)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            lock(second, acme)
        second.rollback()
        first.commit()
        lock(second, acme)
        assert not place(second, acme, "2", 1)


def test_the_twin_without_the_lock_fills_it_twice(settings: Settings, acme: str) -> None:
    with two(settings.edge_database_url) as (first, second):
        assert place(first, acme, "1", 1)
        assert place(second, acme, "2", 1)
        first.commit()
        second.commit()
        work_for(first, acme)
        row = first.execute("SELECT count(*) FROM jobs WHERE state = 'queued'").fetchone()
    assert row == (2,)


def queued(settings: Settings, acme: str, fingerprint: str, age: str) -> None:
    """Put a job into the queue that was ordered so long ago."""
    execute(
        settings,
        "WITH made AS (INSERT INTO jobs (kind, queue, organization_id, fingerprint, created_at, not_before) "
        "VALUES ('cohorts', 'reports', $1, $2, now() - $3::interval, now() - $3::interval) RETURNING id) "
        "INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units) "
        "SELECT id, $1, 'org:x', $2, 1, 10 FROM made",
        acme,
        fingerprint,
        age,
    )


def take(connection: Connection) -> list[Any]:
    return connection.execute(RELAY.select_dispatchable, (10, 8, 3)).fetchall()


def test_what_is_sent_is_counted_once_and_not_for_each_job_that_waits(settings: Settings) -> None:
    with connect(settings.worker_database_url, application="tests") as connection:
        plan = connection.execute(f"EXPLAIN {RELAY.select_dispatchable}", (10, 8, 3)).fetchall()
    assert not [line for (line,) in plan if "SubPlan" in line]


def test_whether_a_job_may_be_seen_is_asked_of_its_own_orders_alone(settings: Settings, acme: str) -> None:
    queued(settings, acme, "there", "1 minute")
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(
            "WITH made AS (INSERT INTO jobs (kind, queue, fingerprint) "
            "SELECT 'cohorts', 'reports', 'f' || n FROM generate_series(1, 5000) n RETURNING id) "
            "INSERT INTO job_orders (job_id, organization_id, account, charge_id, charged_day, units, cancelled_at) "
            "SELECT id, $1, 'org:x', 'x', 1, 10, now() FROM made",
            (acme,),
        )
        connection.execute("ANALYZE jobs, job_orders")
        row = connection.execute("SELECT id::text FROM jobs WHERE fingerprint = 'there'").fetchone()
    assert row is not None
    with connect(settings.edge_database_url, application="tests") as connection:
        work_for(connection, acme)
        plan = connection.execute(f"EXPLAIN SELECT state FROM jobs WHERE id = '{row[0]}'").fetchall()
    assert any("job_orders_job " in line for (line,) in plan), plan


@pytest.fixture
def one_at_a_time(settings: Settings, acme: str) -> None:
    execute(settings, "UPDATE plans SET jobs_running = 1")
    queued(settings, acme, "late", "1 minute")


@pytest.mark.usefixtures("one_at_a_time")
def test_two_dispatchers_at_once_give_one_job_to_an_organization_that_may_run_one(
    settings: Settings, acme: str
) -> None:
    with two(settings.worker_database_url) as (first, second):
        first.execute(RELAY.dispatch_lock)
        assert len(take(first)) == 1
        queued(settings, acme, "early", "2 minutes")  # its transaction began before, and is seen only now
        with pytest.raises(psycopg.errors.LockNotAvailable):
            second.execute(RELAY.dispatch_lock)
        second.rollback()
        first.commit()
        second.execute(RELAY.dispatch_lock)
        assert take(second) == []


@pytest.mark.usefixtures("one_at_a_time")
def test_the_twin_without_the_lock_gives_two(settings: Settings, acme: str) -> None:
    with two(settings.worker_database_url) as (first, second):
        assert len(take(first)) == 1
        queued(settings, acme, "early", "2 minutes")
        assert len(take(second)) == 1


def test_no_job_is_added_to_a_backlog_that_is_too_long_but_an_equal_one_is_joined(
    settings: Settings, acme: str
) -> None:
    queued(settings, acme, "there", "1 minute")
    other = organization(settings)
    with connect(settings.edge_database_url, application="tests") as connection:
        work_for(connection, other)
        for fingerprint, placed in (("there", True), ("new", False)):
            order = ("cohorts", "reports", "{}", fingerprint, 1, 3, other, "json", 20, f"org:{other}")
            values = (*order, fingerprint, 1, 10, None, 1, "cohorts", None, None)
            assert (connection.execute(ORDERS.submit, values).fetchone() is not None) is placed
        row = connection.execute(ORDERS.backlog_full, (1,)).fetchone()
    assert row == (True,)
