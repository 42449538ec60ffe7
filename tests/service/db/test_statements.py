"""Statements: plans, arrays, shares of connections, and a PostgreSQL that fails."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from edge.index import identifiers, lookup
from edge.storage.database import ACCOUNT, Database
from shared.db.connect import connect
from shared.db.copy_binary import text_array
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import edge_database
from tests.support.servers import Contents
from tests.support.shop import open_shop

# Array literals: PostgreSQL reads back what was written.


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


# Connections to PostgreSQL are shared out: one account's statements leave places for others.


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


# PostgreSQL plans a statement for its values this often before it compares with one plan for all values.
_PLANNED_FOR_VALUES = 5
IIDS = [mint("shop", str(number)).iid for number in range(1, 4)]


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        (lookup.SQL.records, [([iid],) for iid in IIDS] + [(IIDS,)]),
        (
            identifiers.SQL.resolved,
            [(["sku"] * n, ["1", "2", "3"][:n], [""] * n, ["shop"] * n) for n in (1, 2, 3)],
        ),
    ],
    ids=["records", "identifiers"],
)
async def test_one_plan_serves_one_key_and_many(
    settings: Settings, statement: str, arguments: list[tuple[list[str], ...]]
) -> None:
    connection = await asyncpg.connect(settings.edge_database_url)
    try:
        for _ in range(_PLANNED_FOR_VALUES):
            for given in arguments:
                rows = await connection.fetch(statement, *given)
                assert len(rows) == len(given[0])
        query = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1"
        row = await connection.fetchrow(query, statement)
    finally:
        await connection.close()
    assert row is not None
    executed = _PLANNED_FOR_VALUES * len(arguments)
    assert (row["custom_plans"], row["generic_plans"]) == (_PLANNED_FOR_VALUES, executed - _PLANNED_FOR_VALUES)
