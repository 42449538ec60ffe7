"""Every named query is valid SQL for the schema, and says why it is there."""

import re
from pathlib import Path

import psycopg
import pytest

from shared.db import migrate
from shared.db.connect import connect
from shared.db.queries import Queries, Query, parse
from shared.settings.settings import Settings
from tests.laws.sources import COMMENT, FOLDERS, PROJECT, SOURCES
from tests.support.schema import KEPT, dump
from workers.ingest.load.merge import SQL as MERGE
from workers.ingest.load.stage import SQL as STAGE
from workers.provenance.items import SQL as ITEMS

FILES = sorted(
    path
    for folder in FOLDERS
    for path in (PROJECT / folder).rglob("*.sql")
    if path.parent.name != "migrations" and path != KEPT and not path.name.endswith(".duckdb.sql")
)

# A literal that begins like a statement. What follows is a fragment that a named statement is put together with, the
# bookkeeping of migrations themselves, or runs before there is a schema.
INLINE = re.compile(r"""["'](?:SELECT|INSERT|UPDATE|DELETE|WITH|TRUNCATE|MERGE)\s""")

MAY_BE_INLINE = {
    "shared/db/migrate.py",
    "deploy/local/postgres.py",
    "workers/operators/organizations.py",
    "edge/bulk/export_estimate.py",
    "edge/storage/notices.py",
    "workers/search/job.py",
    "workers/analytics/rollups/refresh.py",
    "workers/ingest/load/merge.py",
    "workers/provenance/items.py",
    "workers/provenance/reindex.py",
    "workers/provenance/undo.py",
}

# Tables that exist only inside a load's transaction.
TEMPORARY = (
    "new_items",
    "merged",
    "changed_observations",
    "stage_items",
    "stage_impacts",
    "stage_observations",
)

# Made of a query that differs by caller.
IDENTIFYING = "CREATE TEMP TABLE identifying (item_id bigint)"
READING = "CREATE TEMP TABLE reading (item_id bigint)"

TABLES_OF_A_LOAD = [query.sql for query in STAGE if query.sql.startswith("CREATE")]
LOAD_SETUP = ("newest_staged", "resolved", "observations")


def _statements() -> list[tuple[str, Query]]:
    return [(str(path.relative_to(PROJECT)), query) for path in FILES for query in Queries(path)]


def test_each_query_can_be_prepared(settings: Settings) -> None:
    assert len(FILES) > 50
    for path in FILES:
        prepare(settings, path)


def prepare(settings: Settings, path: Path) -> None:
    """Prepare every query of a file, beside what it has in its transaction."""
    with connect(settings.database_url, application="laws") as connection:
        connection.execute("SELECT 1")  # begins the one transaction that temporary tables live in
        if path.name in ("merge.sql", "undo.sql"):
            for query in TABLES_OF_A_LOAD:
                connection.execute(query)
            for statement in (ITEMS.seeds, ITEMS.affected, ITEMS.refreshing):
                connection.execute(statement)
        if path.name == "identifiers.sql":
            connection.execute(IDENTIFYING)
        if path.name == "stated_contents.sql":
            connection.execute(READING)
        if path.match("workers/events/watches.sql"):
            for statement in (*TABLES_OF_A_LOAD, MERGE.observations):
                connection.execute(statement)
        for n, query in enumerate(Queries(path)):
            statement = query.sql.replace("{table}", "observations")
            if statement.startswith("SET "):  # some only where a transaction begins, and none can be prepared
                with connect(settings.database_url, application="laws") as fresh:
                    fresh.execute(statement)
                continue
            if statement.lstrip().startswith(("CREATE", "ANALYZE")):
                values = (None,) * max((int(number) for number in re.findall(r"\$([0-9]+)", statement)), default=0)
                with connection.transaction():
                    connection.execute(statement, values or None)
                continue
            connection.execute(f"PREPARE q{n} AS {statement}")


def test_no_statement_is_hidden_in_code() -> None:
    found = {str(path.relative_to(PROJECT)) for path, text in SOURCES.items() if INLINE.search(text)}
    assert found - MAY_BE_INLINE == set(), "put the statement into the .sql file beside the module"
    assert MAY_BE_INLINE - found == set(), "this exception is no longer needed"


def test_the_schema_as_kept_is_what_the_migrations_make(settings: Settings) -> None:
    assert KEPT.read_text() == dump(settings.database_url), "run `make schema` and read what changed"


def test_names_are_unique_and_reasons_are_given() -> None:
    assert _statements()
    for origin, query in _statements():
        assert len(query.why) > 10, f"{origin}: {query.name}"
    with pytest.raises(ValueError, match="no reason"):
        parse("-- name: a\nSELECT 1", "here")


# The function of the schema, or the file of statements, that takes a lock of a fixed key; releasing it takes none.
LOCKING = re.compile(r"pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?\((\d+)\)")


def test_each_fixed_advisory_key_has_one_purpose() -> None:
    """Two purposes under one key wait for one another: a commit for an hour's build of a release, once."""
    texts = {str(path.relative_to(PROJECT)): path.read_text() for path in FILES}
    for body in KEPT.read_text().split("CREATE FUNCTION ")[1:]:
        texts[body.partition("(")[0]] = body
    takers: dict[int, set[str]] = {migrate._LOCK_KEY: {"shared/db/migrate.py"}}
    for name, text in texts.items():
        for key in LOCKING.findall(COMMENT.sub("", text)):
            takers.setdefault(int(key), set()).add(name)
    assert len(takers) > 4
    assert {key: names for key, names in takers.items() if len(names) > 1} == {}


def test_migrations_applied_twice_are_applied_once(settings: Settings) -> None:
    with connect(settings.database_url, application="laws") as connection:
        assert migrate.migrate(connection) == []
        assert migrate.pending_migrations(connection) == []


def test_the_edges_role_can_read_and_not_write(settings: Settings) -> None:
    with connect(settings.edge_database_url, application="laws") as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (0,)
        for statement in (
            "DELETE FROM items",
            "UPDATE plans SET rank = 9",
            "SELECT * FROM rejects",
            "DROP TABLE items",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


# What would outlive a statement's transaction: the edge's pool does not clean a session up between two borrowers.
SESSION_STATE = re.compile(
    r"\b(LISTEN|UNLISTEN|DISCARD|PREPARE|DECLARE|TEMP|TEMPORARY|set_config|pg_(?:try_)?advisory_lock(?:_shared)?)\b"
    r"|\bSET\s+SESSION\b",
    re.IGNORECASE,
)


def test_no_statement_of_the_edge_leaves_anything_in_its_session() -> None:
    files = [path for path in FILES if path.is_relative_to(PROJECT / "edge")]
    assert len(files) > 10
    code = {path: re.sub(r"--[^\n]*", "", path.read_text()) for path in files}
    assert [path.name for path, text in code.items() if SESSION_STATE.search(text)] == []
    assert SESSION_STATE.search("SELECT pg_advisory_lock(1)")
    assert not SESSION_STATE.search("SELECT pg_advisory_xact_lock(1)")
