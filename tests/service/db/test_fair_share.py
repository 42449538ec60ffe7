"""Connections to PostgreSQL are shared out: one account's statements leave places for others."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from edge.storage.database import ACCOUNT, Database
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.client import edge_database

_WAIT = "SELECT true AS got FROM pg_advisory_xact_lock(4711)"


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    async with edge_database(settings, connections_max=2) as opened:
        yield opened


async def test_statements_of_one_account_that_hang_leave_a_connection_for_others(
    database: Database, settings: Settings
) -> None:
    async def ask(account: str, query: str) -> bool:
        ACCOUNT.set(account)
        [row] = await database.fetch(query)
        return bool(row["got"])

    with connect(settings.database_url, application="tests") as connection:
        connection.execute("SELECT pg_advisory_lock(4711)")
        hanging = [asyncio.create_task(ask("org:greedy", _WAIT)) for _ in range(4)]
        while not any(row[0] for row in connection.execute("SELECT NOT granted FROM pg_locks WHERE objid = 4711")):
            await asyncio.sleep(0)
        assert await asyncio.create_task(ask("org:other", "SELECT true AS got"))
        connection.execute("SELECT pg_advisory_unlock(4711)")
        assert await asyncio.gather(*hanging) == [True] * 4
