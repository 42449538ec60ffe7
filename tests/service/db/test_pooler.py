"""The edge behind PgBouncer in transaction mode: each transaction may have another connection to PostgreSQL."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from edge.storage.database import Database
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.pgbouncer import MISSING, pgbouncer
from tests.support.reports import work
from tests.support.shop import open_shop

pytestmark = pytest.mark.skipif(bool(MISSING) and not os.environ.get("CI"), reason=MISSING or "it is installed")
_CONNECTIONS = 3


@pytest.fixture
def pooled(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    open_shop(settings, tmp_path)
    folder = tmp_path / "pgbouncer"
    folder.mkdir()
    with pgbouncer(folder, settings.edge_database_url, _CONNECTIONS) as address:
        yield replace(settings, edge_pooler_url=address, database_timeout_seconds=20.0)


async def test_a_session_is_in_utc_whatever_the_servers_time_zone_is(pooled: Settings) -> None:
    with psycopg.connect(pooled.database_url) as plain, connect(pooled.database_url, application="tests") as ours:
        zones = [one.execute("SHOW timezone").fetchall()[0][0] for one in (plain, ours)]
    assert zones == ["Pacific/Kiritimati", "UTC"]
    for url in (pooled.edge_database_url, pooled.edge_pooler_url):
        database = Database(url, connections_max=1, deadline_seconds=20, pooled=url == pooled.edge_pooler_url)
        await database.open()
        row = await database.fetch_row("SHOW timezone")
        await database.close()
        assert row is not None and row[0] == "UTC"


def test_what_variables_of_libpq_say_of_a_session_does_not_count(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PGTZ", "Asia/Tokyo"), ("PGDATESTYLE", "German"), ("PGCLIENTENCODING", "LATIN1")):
        monkeypatch.setenv(name, value)
    with connect(settings.database_url, application="tests") as connection:
        found = connection.execute("SELECT now()::text, current_setting('client_encoding')").fetchone()
        assert found is not None and found[1] == "UTF8"
        assert datetime.fromisoformat(found[0]).utcoffset() == timedelta(0)


async def test_the_first_calls_of_many_callers_are_answered_over_few_connections(
    pooled: Settings, tmp_path: Path
) -> None:
    keys = [api_key(pooled) for _ in range(12)]
    async with running_edge(pooled, tmp_path) as edge:

        async def called(number: int) -> list[int]:
            key = keys[number]
            answers = [
                await edge.get("/index/brands", key=key),
                await edge.get("/index/search?q=soy", key=key),
                await edge.get("/watches", key=key),
                await edge.get(
                    f"/index/cohorts?brand=vita&from=2026-0{1 + number % 6}-01&to=2026-07-31",
                    key=key,
                    head={"Prefer": "wait=0"},
                ),
                await edge.get("/quota", key=key),
            ]
            return [answer.status for answer in answers]

        found = await asyncio.gather(*(called(number) for number in range(12)))
        assert found == [[200, 200, 200, 202, 200]] * len(keys)
        assert edge.resources.database.answering
        assert set(await work(pooled)) == {"succeeded"}
        again = await edge.get("/index/cohorts?brand=vita&from=2026-01-01&to=2026-07-31", key=keys[0])
        assert again.status == 200
        # Notices come past the pooler: a session that listens would have no connection of its own there.
        assert edge.resources.listener.connected


async def test_a_statement_is_prepared_and_run_on_one_connection_of_the_server(pooled: Settings) -> None:
    database = Database(pooled.edge_pooler_url, connections_max=8, deadline_seconds=20.0, pooled=True)
    await database.open()
    try:
        queries = [f"SELECT $1::int + {number} AS sum" for number in range(5)]
        asked = [(number, queries[number % 5]) for number in range(200)]
        rows = await asyncio.gather(*(database.fetch_row(query, number) for number, query in asked))
    finally:
        await database.close()
    found = [row["sum"] for row in rows if row is not None]
    assert found == [number + number % 5 for number, _ in asked]
