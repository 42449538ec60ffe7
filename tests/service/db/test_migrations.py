"""Migrations beside callers, and of an index that is older than numbered events."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from deploy.local import postgres
from shared.db import migrate
from shared.db.connect import Connection, connect
from shared.db.migrate import LockPatience, Migration
from shared.errors import MigrationRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.servers import Servers
from workers.provenance import item_acts
from workers.provenance.undo import NothingToUndo, undo

# Migrations beside callers: they take a lock when it is free, and no caller waits behind one that waits.


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


# An index of before events were numbered becomes event 0: nothing of it is lost, and what comes later can be undone.


EVERY = migrate.available()

SOY, CUSTARD, OTHER = (mint("shop", number) for number in "123")

OLD_INDEX = f"""
INSERT INTO data_versions (version) VALUES (1);
INSERT INTO sources (name, title, license) VALUES ('shop', 'A shop', 'CC0-1.0');
INSERT INTO channels (code) VALUES ('NORTH');
INSERT INTO brands (slug, name, folded_name, item_count) VALUES ('vita', 'Vita', 'vita', 1);
INSERT INTO categories (code, path) VALUES ('drinks', '{{Drinks}}');
INSERT INTO items (id, iid, name, brand_id, category_id, identifiers, status, survivor_iid, version, first_seen_on, data_version) VALUES
    ({SOY.key}, '{SOY.iid}', 'Soy milk', 1, 1, '[{{"scheme": "sku", "value": "1"}}]', 'active', NULL, 3, '2026-07-01', 1),
    ({CUSTARD.key}, '{CUSTARD.iid}', 'Custard', 1, NULL, '[]', 'merged', '{SOY.iid}', 2, '2026-07-01', 1),
    ({OTHER.key}, '{OTHER.iid}', 'Other', NULL, NULL, '[]', 'withdrawn', NULL, 2, '2026-07-01', 1);
INSERT INTO item_sources (item_id, source_id, source_item_id, content_hash, observed_at)
SELECT id, 1, row_number() OVER (ORDER BY name DESC), 7, '2026-07-02' FROM items;
INSERT INTO impacts VALUES ({SOY.key}, 'co2e_kg', 1.25, 'measured', 'm', 1, '2026-07-01');
CREATE TABLE observations_2026_07 PARTITION OF observations FOR VALUES FROM ('2026-07-01') TO ('2026-08-01');
INSERT INTO observations VALUES ({SOY.key}, 65536, 1090, NULL, '2026-07-01', 1, 1, 1, 'l', 'HKD');
SELECT setval('sources_id_seq', 32767);
"""


def ask(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


@pytest.fixture
def upgraded(servers: Servers, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Connection:
    """A database that was filled under the schema of before, and then migrated."""
    name = "before_events"
    with psycopg.connect(servers.url(postgres.OWNER, "owner", "postgres"), autocommit=True) as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{name}"')
    connection = connect(servers.url(postgres.OWNER, "owner", name), application="tests")
    monkeypatch.setattr(migrate, "available", lambda: [step for step in EVERY if step.number < 12])
    migrate.migrate(connection)
    for statement in filter(str.strip, OLD_INDEX.split(";\n")):
        connection.execute(statement)
    connection.commit()
    monkeypatch.setattr(migrate, "available", lambda: EVERY)
    migrate.migrate(connection)
    return connection


def test_former_rows_are_claimed_by_event_0_and_stay(upgraded: Connection) -> None:
    with upgraded as connection:
        assert ask(connection, "SELECT name, status, version FROM items ORDER BY name") == [
            ("Custard", "merged", 2),
            ("Other", "withdrawn", 2),
            ("Soy milk", "active", 3),
        ]
        assert ask(connection, "SELECT no, source_item_id FROM item_claims ORDER BY 2") == [
            (0, "1"),
            (0, "2"),
            (0, "3"),
        ]
        assert ask(connection, "SELECT kind FROM events ORDER BY no")[0] == ("load",)
        assert sorted(ask(connection, "SELECT item_id, owner_id FROM inactive_items"), key=repr) == sorted(
            [(CUSTARD.key, SOY.key), (OTHER.key, None)], key=repr
        )
        with pytest.raises(NothingToUndo, match="before loads were numbered"):
            undo(connection, "0", "tests", None)


def test_numbers_that_loads_used_up_are_given_again(upgraded: Connection) -> None:
    with upgraded as connection:
        assert ask(connection, "SELECT nextval('sources_id_seq')") == [(2,)]


def test_old_merges_and_withdrawals_can_be_taken_back(upgraded: Connection) -> None:
    with upgraded as connection:
        item_acts.restore(connection, CUSTARD.iid, "tests", None)
        connection.commit()
        item_acts.restore(connection, OTHER.iid, "tests", None)
        rows = ask(connection, "SELECT name, status, identifiers <> '[]' FROM items ORDER BY name")
        assert rows == [("Custard", "active", False), ("Other", "active", False), ("Soy milk", "active", True)]
        assert ask(connection, "SELECT per_unit::text FROM impacts") == [("1.25",)]
