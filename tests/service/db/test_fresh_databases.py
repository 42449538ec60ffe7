"""A database that a test has only read serves the next test; one in which anything was written is dropped."""

import psycopg
import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.servers import Servers


def _after(servers: Servers, statement: str) -> bool:
    """Return whether the next block has the database in which this statement was tried."""
    with servers.fresh() as settings:
        before = settings.database_url
        with connect(before, application="tests") as connection:
            try:
                connection.execute(statement)
            except psycopg.Error:
                connection.rollback()
    with servers.fresh() as settings:
        return settings.database_url == before


@pytest.mark.parametrize("statement", ["SELECT * FROM plans", "SELECT count(*) FROM items", "CREATE nothing"])
def test_what_was_only_read_is_used_again(servers: Servers, statement: str) -> None:
    assert _after(servers, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO organizations (name, plan) VALUES ('Acme', 'brand')",
        "INSERT INTO organizations (name, plan) VALUES ('Acme', 'brand'); SELECT 1 / 0",
        "UPDATE plans SET daily_units = daily_units",
        "DELETE FROM plans WHERE name = 'free'",
        "TRUNCATE usage",
        "SELECT nextval('event_numbers')",
        "SELECT nextval('event_numbers'); SELECT 1 / 0",
        "SELECT setval('event_numbers', 7)",
        "CREATE TABLE further ()",
        "ALTER TABLE usage SET (fillfactor = 50)",
        "SELECT lo_create(0)",
        "ANALYZE plans",
        "NOTIFY accounts",
    ],
)
def test_what_was_written_is_not_even_if_it_was_taken_back(servers: Servers, statement: str) -> None:
    assert not _after(servers, statement)


def test_what_a_session_has_begun_ends_with_its_test(servers: Servers) -> None:
    with servers.fresh() as settings:
        left = connect(settings.database_url, application="tests")
        left.execute("SELECT pg_advisory_lock(1)")
        left.execute("INSERT INTO organizations (name, plan) VALUES ('Acme', 'brand')")
    with pytest.raises(psycopg.OperationalError):
        left.execute("SELECT 1")
    left.close()
    with servers.fresh() as settings, connect(settings.database_url, application="tests") as connection:
        assert connection.execute("SELECT pg_try_advisory_lock(1), count(*) FROM organizations").fetchall() == [
            (True, 0)
        ]


def test_two_tests_at_a_time_never_have_the_same(servers: Servers, settings: Settings) -> None:
    with servers.fresh() as one, servers.fresh() as two:
        assert len({settings.database_url, one.database_url, two.database_url}) == 3
    with servers.fresh() as one, servers.fresh() as two:
        assert len({settings.database_url, one.database_url, two.database_url}) == 3
