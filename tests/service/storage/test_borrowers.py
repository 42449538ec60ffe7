"""Two borrowers of one connection to PostgreSQL: nothing is sent between them, and nothing is left behind."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from edge.storage.database import Scope
from shared.config import Settings
from shared.db.connect import connect
from tests.support.client import running_edge

LAST = "SELECT query FROM pg_stat_activity WHERE application_name = 'itemindex-edge' AND datname = current_database()"


async def test_a_connection_goes_back_to_the_pool_without_a_statement(settings: Settings, tmp_path: Path) -> None:
    async with running_edge(replace(settings, database_pool_max=1), tmp_path) as edge:
        await edge.resources.database.fetch("SELECT 1 AS the_last_statement")
        with connect(settings.database_url, application="tests") as connection:
            assert connection.execute(LAST).fetchall() == [("SELECT 1 AS the_last_statement",)]


async def test_nothing_of_a_failed_or_finished_transaction_is_left(settings: Settings, tmp_path: Path) -> None:
    async with running_edge(replace(settings, database_pool_max=1), tmp_path) as edge:
        database = edge.resources.database
        for failing in (True, False):
            with pytest.raises(RuntimeError) if failing else nullcontext():
                async with database.transaction(Scope(task="jobs")) as transaction:
                    await transaction.fetch("SELECT pg_advisory_xact_lock(1)")
                    if failing:
                        raise RuntimeError
            task = (
                "SELECT coalesce(current_setting('itemindex.task', true), '') AS task, txid_current_if_assigned() AS tx"
            )
            [row] = await database.fetch(task)
            assert (row["task"], row["tx"]) == ("", None)
            [held] = await database.fetch("SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'")
            assert held["n"] == 0
