"""Array literals: PostgreSQL reads back what was written."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from edge.storage.database import ACCOUNT, Database
from shared.db.connect import connect
from shared.db.copy_binary import text_array
from shared.settings.settings import Settings
from tests.support.client import edge_database


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([], id="empty"),
        pytest.param(["one", "two"], id="plain"),
        pytest.param(["", " ", "NULL", "null"], id="texts that mean something without quotes"),
        pytest.param(['"', "\\", '\\"', "a\\", "{}", "{,}", "a,b"], id="the syntax's own signs"),
        pytest.param(["\t", "\r\n", "\x7f", "\u2028", "羽", "a\u0301"], id="white space and other scripts"),
    ],
)
def test_postgresql_reads_the_same_texts(settings: Settings, texts: list[str]) -> None:
    with connect(settings.database_url, application="tests") as connection:
        row = connection.execute("SELECT $1::text::text[]", (text_array(texts),)).fetchone()
    assert row == (texts,)


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
