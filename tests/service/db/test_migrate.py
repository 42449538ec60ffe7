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
            caller.execute("SET statement_timeout = '1s'")  # as long as an edge waits
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
        caller.execute("SET statement_timeout = '1s'")
        with reading(settings):
            migrating.start()
            with pytest.raises(psycopg.errors.QueryCanceled):  # noqa: PT012 - sooner or later it meets the waiting one
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
