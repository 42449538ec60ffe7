"""Two borrowers of one connection to PostgreSQL: nothing is sent between them, and nothing is left behind."""

from collections.abc import AsyncIterator
from contextlib import nullcontext

import pytest

from edge.storage.database import Database, Scope
from shared.settings.settings import Settings
from tests.support.client import edge_database
from tests.support.database import execute

LAST = "SELECT query FROM pg_stat_activity WHERE application_name = 'itemindex-edge' AND datname = current_database()"


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """One connection."""
    async with edge_database(settings, connections_max=1) as opened:
        yield opened


async def test_a_connection_goes_back_to_the_pool_without_a_statement(settings: Settings, database: Database) -> None:
    await database.fetch("SELECT 1 AS the_last_statement")
    assert execute(settings, LAST) == [("SELECT 1 AS the_last_statement",)]


async def test_nothing_of_a_failed_or_finished_transaction_is_left(database: Database) -> None:
    for failing in (True, False):
        with pytest.raises(RuntimeError) if failing else nullcontext():
            async with database.transaction(Scope(task="jobs")) as transaction:
                await transaction.fetch("SELECT pg_advisory_xact_lock(1)")
                if failing:
                    raise RuntimeError
        task = "SELECT coalesce(current_setting('itemindex.task', true), '') AS task, txid_current_if_assigned() AS tx"
        [row] = await database.fetch(task)
        assert (row["task"], row["tx"]) == ("", None)
        [held] = await database.fetch(
            "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        )
        assert held["n"] == 0
