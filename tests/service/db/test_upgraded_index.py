"""An index of before events were numbered becomes event 0: nothing of it is lost, and what comes later can be undone."""

from typing import Any

import psycopg
import pytest

from deploy.local import postgres
from shared.db import migrate
from shared.db.connect import Connection, connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.servers import Servers
from workers.provenance import item_acts
from workers.provenance.undo import NothingToUndo, undo

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
