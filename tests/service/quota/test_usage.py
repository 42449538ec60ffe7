"""Statistics of use count each call once, also when PostgreSQL fails between two statements."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from edge.http.answered_call import AnsweredCall
from edge.quota.request_log import RequestLog
from edge.quota.usage import UsageRecorder
from edge.storage.database import Database
from edge.storage.redis_client import SingleNodeClient
from shared.db.connect import Connection, connect
from shared.organizations.accounts import SQL, Plan, Principal
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.accounts import BRAND, api_key

FREE = Plan(name="free", title="Free", rank=1, counted_by="ip", daily_units=12, burst_units=5)
BRANDS_CALL = AnsweredCall("brands", 200, 1, 0.01, "0" * 32)
LOOKUP_CALL = AnsweredCall("lookup", 200, 1, 0.01, "0" * 32)


@asynccontextmanager
async def recorder(
    settings: Settings, *, deadline_seconds: float, flush_seconds: float
) -> AsyncIterator[tuple[UsageRecorder, Connection]]:
    """Make a recorder that waits so long for the test's database, and a connection to that; no call is logged."""
    database = Database(settings.edge_database_url, connections_max=1, deadline_seconds=deadline_seconds)
    await database.open()
    cache = SingleNodeClient(settings.cache_url, name="cache", deadline_seconds=1.0, log=Log("tests"))
    with connect(settings.database_url, application="tests") as connection:
        yield UsageRecorder(database, RequestLog(cache, 0), Log("tests"), flush_seconds), connection
    await database.close()


async def test_an_outage_behind_the_statistics_counts_no_call_twice(settings: Settings) -> None:
    async with recorder(settings, deadline_seconds=1.0, flush_seconds=60.0) as (usage, connection):
        made = connection.execute(SQL.create_organization_as_operator, ("Acme", "brand", "op")).fetchone()
        connection.commit()
        assert made is not None
        caller = Principal("api-key", "abcdefghij", BRAND, made[0], "Acme")
        usage.note(caller, "192.0.2.1", BRANDS_CALL)
        connection.execute("LOCK TABLE api_keys")
        await usage.flush()  # the statistics are kept; when the key was last used cannot be noted
        connection.rollback()
        await usage.flush()
        assert connection.execute("SELECT sum(calls), sum(units) FROM usage").fetchone() == (1, 1)


async def test_an_outage_keeps_the_counts_and_the_last_use_of_each_key(settings: Settings) -> None:
    key = api_key(settings)
    with connect(settings.database_url, application="tests") as connection:
        found = connection.execute("SELECT key_id, organization_id::text FROM api_keys").fetchone()
    assert key
    assert found is not None
    async with recorder(settings, deadline_seconds=1.0, flush_seconds=60.0) as (usage, connection):
        caller = Principal("api-key", found[0], BRAND, found[1], "Acme")
        usage.note(caller, "192.0.2.1", BRANDS_CALL)
        connection.execute("LOCK TABLE usage, api_keys")
        await usage.flush()
        connection.rollback()
        used = "SELECT last_used_at IS NOT NULL FROM api_keys WHERE key_id = $1"
        assert connection.execute(used, (found[0],)).fetchone() == (False,)
        connection.rollback()
        await usage.flush()
        assert connection.execute("SELECT sum(calls) FROM usage").fetchone() == (1,)
        assert connection.execute(used, (found[0],)).fetchone() == (True,)


async def test_an_error_that_is_no_outage_keeps_them_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async with recorder(settings, deadline_seconds=1.0, flush_seconds=60.0) as (usage, connection):
        usage.note(Principal("public-token", "abcdefghij", FREE), "192.0.2.1", LOOKUP_CALL)
        with monkeypatch.context() as patched:
            patched.setattr(Database, "fetch", lambda *arguments, **options: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                await usage.flush()
        await usage.flush()
        assert connection.execute("SELECT sum(calls) FROM usage").fetchone() == (1,)


async def test_an_edge_that_stops_loses_no_calls_that_are_on_their_way(settings: Settings) -> None:
    async with recorder(settings, deadline_seconds=5.0, flush_seconds=0.0) as (usage, connection):
        connection.execute("LOCK TABLE usage")
        usage.note(Principal("public-token", "abcdefghij", FREE), "192.0.2.1", LOOKUP_CALL)
        usage.start()
        async with asyncio.timeout(5):
            while not connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                await asyncio.sleep(0.01)
        stopping = asyncio.create_task(usage.stop())
        await asyncio.sleep(0)
        connection.rollback()
        await stopping
        assert connection.execute("SELECT sum(calls) FROM usage WHERE account = 'token:abcdefghij'").fetchone() == (1,)
