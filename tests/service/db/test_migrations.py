"""Migrations beside callers: they take a lock when it is free, and no caller waits behind one that waits."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from shared.db import migrate
from shared.db.connect import connect
from shared.db.migrate import LockPatience, Migration
from shared.errors import MigrationRefused
from shared.settings.settings import Settings

OURS = migrate.available()

GROWS = Migration(9001, "9001_grows", "expand", "ALTER TABLE items ADD COLUMN later integer NOT NULL DEFAULT 0")

INDEX = Migration(9002, "9002_index", "expand", "CREATE INDEX CONCURRENTLY items_later ON items (updated_at)")

SHRINKS = Migration(9003, "9003_shrinks", "contract", "ALTER TABLE items DROP COLUMN product_type")


@contextmanager
def reading(settings: Settings) -> Iterator[None]:
    """A transaction that reads items and does not end."""
    with connect(settings.worker_database_url, application="report") as report:
        report.execute("SELECT count(*) FROM items")
        yield


def migrated(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    *steps: Migration,
    contract: bool = True,
    patience: LockPatience = LockPatience(),  # noqa: B008 - it is frozen
) -> list[str]:
    monkeypatch.setattr(migrate, "available", lambda: [*OURS, *steps])
    with connect(settings.database_url, application="migrate") as connection:
        return [step.name for step in migrate.migrate(connection, contract=contract, patience=patience)]


def test_a_long_report_delays_a_migration_and_no_other_statement(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    migrating = threading.Thread(target=lambda: done.extend(migrated(settings, monkeypatch, GROWS)))
    with reading(settings):
        migrating.start()
        with connect(settings.edge_database_url, application="edge", autocommit=True) as caller:
            caller.execute("SET lock_timeout = '1s'")
            for _ in range(20):
                migrating.join(0.05)
                caller.execute("SELECT count(*) FROM items")
        assert migrating.is_alive()
    migrating.join(30)
    assert done == [GROWS.name]


def test_the_twin_that_waits_for_its_lock_blocks_all_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = {"patience": LockPatience(timeout="30s")}
    migrating = threading.Thread(target=migrated, args=(settings, monkeypatch, GROWS), kwargs=patient)
    with connect(settings.edge_database_url, application="edge", autocommit=True) as caller:
        caller.execute("SET lock_timeout = '1s'")
        with reading(settings):
            migrating.start()
            with pytest.raises(psycopg.errors.LockNotAvailable):  # noqa: PT012 - sooner or later it meets the waiting one
                while True:
                    migrating.join(0.05)
                    caller.execute("SELECT count(*) FROM items")
    migrating.join(30)


def test_a_table_that_is_never_free_is_reported(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with reading(settings), pytest.raises(MigrationRefused, match="9001_grows"):
        migrated(settings, monkeypatch, GROWS, patience=LockPatience(seconds_max=0.5))


def test_a_contracting_migration_waits_for_its_option(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert migrated(settings, monkeypatch, GROWS, SHRINKS, contract=False) == [GROWS.name]
    assert migrated(settings, monkeypatch, GROWS, SHRINKS) == [SHRINKS.name]


def test_an_index_is_built_beside_its_writers(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert migrated(settings, monkeypatch, INDEX) == [INDEX.name]
    assert migrated(settings, monkeypatch, INDEX) == []


def test_two_at_once_do_not_wait_for_each_other(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    both = [threading.Thread(target=lambda: done.extend(migrated(settings, monkeypatch, INDEX))) for _ in range(2)]
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock($1)", (migrate._LOCK_KEY,))
        for one in both:
            one.start()
        asking = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'itemindex-migrate'"
        while connection.execute(asking).fetchone() != (2,):
            both[0].join(0.05)
        both[0].join(0.3)  # until both have asked for the lock
    for one in both:
        one.join(30)
    assert done == [INDEX.name]


def test_what_an_interrupted_build_has_left_is_built_anew(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for sql in (INDEX.sql, INDEX.sql.replace("CONCURRENTLY", "CONCURRENTLY IF NOT EXISTS")):
        step = INDEX._replace(sql=sql)
        with connect(settings.database_url, application="tests") as connection:
            connection.execute(sql.replace("CONCURRENTLY", ""))
            connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'items_later'::regclass")
        assert migrated(settings, monkeypatch, step) == [INDEX.name]
        with connect(settings.database_url, application="tests") as connection:
            valid = connection.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = 'items_later'::regclass")
            assert valid.fetchone() == (True,)
            connection.execute("DROP INDEX items_later")
            connection.execute("DELETE FROM schema_migrations WHERE number = $1", (INDEX.number,))


def test_every_index_that_is_built_beside_its_writers_is_known_by_name() -> None:
    steps = [step.sql for step in OURS if "CONCURRENTLY" in step.sql]
    assert steps
    assert all(migrate._CONCURRENT_INDEX.search(sql) for sql in steps)
