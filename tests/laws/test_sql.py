"""Every named query is valid SQL for the schema, and says why it is there."""

import re
from pathlib import Path

import psycopg
import pytest

from shared.db import migrate
from shared.db.connect import connect
from shared.db.queries import Queries, Query, parse
from shared.settings.settings import Settings
from tests.support.schema import KEPT, dump
from workers.ingest.merge import SQL as MERGE
from workers.ingest.stage import SQL as STAGE
from workers.provenance.items import SQL as ITEMS

PROJECT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("edge", "workers", "shared", "deploy")
    for path in (PROJECT / folder).rglob("*.sql")
    if path.parent.name != "migrations" and path != KEPT
)
# A literal that begins like a statement. What follows is a fragment that a named statement is put together with, the
# bookkeeping of migrations themselves, or runs before there is a schema.
INLINE = re.compile(r"""["'](?:SELECT|INSERT|UPDATE|DELETE|WITH|TRUNCATE|MERGE)\s""")
MAY_BE_INLINE = {
    "shared/db/migrate.py",
    "deploy/local/postgres.py",
    "deploy/ctl/accounts.py",
    "edge/bulk/export_service.py",
    "edge/storage/monitor.py",
    "workers/search/job.py",
    "workers/analytics/rollups/refresh.py",
    "workers/ingest/merge.py",
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
LOAD_SETUP = ("newest_staged", "resolved", "observations")


def _statements() -> list[tuple[str, Query]]:
    return [(str(path.relative_to(PROJECT)), query) for path in FILES for query in Queries(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_each_query_can_be_prepared(settings: Settings, path: Path) -> None:
    with connect(settings.database_url, application="laws") as connection:
        connection.execute("SELECT 1")  # begins the one transaction that temporary tables live in
        if path.name in ("merge.sql", "undo.sql"):
            for query in STAGE:
                connection.execute(query.sql)
            for statement in (ITEMS.seeds, ITEMS.affected, ITEMS.refreshing):
                connection.execute(statement)
        if path.name == "identifiers.sql":
            connection.execute(IDENTIFYING)
        if path.match("workers/events/watches.sql"):
            for statement in (*(query.sql for query in STAGE), MERGE.observations):
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
    sources = {
        str(path.relative_to(PROJECT)): path.read_text()
        for folder in ("edge", "workers", "shared", "deploy")
        for path in (PROJECT / folder).rglob("*.py")
    }
    found = {name for name, text in sources.items() if INLINE.search(text)}
    assert found - MAY_BE_INLINE == set(), "put the statement into the .sql file beside the module"
    assert MAY_BE_INLINE - found == set(), "this exception is no longer needed"


def test_the_schema_as_kept_is_what_the_migrations_make(settings: Settings) -> None:
    assert KEPT.read_text() == dump(settings.database_url), "run `make schema` and read what changed"


def test_a_wrong_query_would_be_found(settings: Settings) -> None:
    [query] = parse("-- name: wrong\n-- to see the law bite\nSELECT nothing FROM items", "here")
    with (
        connect(settings.database_url, application="laws") as connection,
        pytest.raises(psycopg.errors.UndefinedColumn),
    ):
        connection.execute(f"PREPARE q AS {query.sql}")


def test_names_are_unique_and_reasons_are_given() -> None:
    assert _statements()
    for origin, query in _statements():
        assert len(query.why) > 10, f"{origin}: {query.name}"
    with pytest.raises(ValueError, match="no reason"):
        parse("-- name: a\nSELECT 1", "here")


def test_migrations_applied_twice_are_applied_once(settings: Settings) -> None:
    with connect(settings.database_url, application="laws") as connection:
        assert migrate.migrate(connection) == []
        assert migrate.pending(connection) == []


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
