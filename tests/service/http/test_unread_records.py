"""What memory does not have is read on the fast path: the same bytes, charged once; records, and prices of an item."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from edge.index.record import LAYOUT, ItemRecord, ItemState, RecordCache
from edge.quota.decision import QuotaDecision
from edge.quota.limiter import RateLimiter
from shared.db.connect import connect
from shared.errors import StoreUnavailable
from shared.index.iid import mint
from shared.redis import keys
from shared.settings.settings import Settings
from shared.telemetry.metrics import REGISTRY
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.kept_answers import used
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from tests.support.wire import OTHER, comparable, exchange, head

SOY, CUSTARD, DRINK, MERGED = (mint("shop", number).iid for number in ("1", "2", "3", "4"))


def shop(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    load_rows(settings, folder, "4,Flan,Maison,Desserts,Custard,,2026-07-01,NORTH,3,\n", name="more.csv")
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE iid = $1", (DRINK,))
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, MERGED))


@pytest.fixture
def contents() -> Contents:
    return shop


async def _ask(edge: Edge, key: str, number: int, iid: str, extra: str = "", path: str = "lookup") -> bytes:
    request = head(edge, number, f"/v1/index/{path}/{iid}", address="192.0.2.1", credential=key, extra=extra)
    return (await exchange(edge, request))[0]


async def test_prices_that_were_read_before_a_load_ended_are_not_kept_after_it(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await _ask(edge, key, 1, CUSTARD)
        read = edge.resources.database.fetch_row

        async def with_a_load_meanwhile(*arguments: Any, **named: Any) -> Any:
            row = await read(*arguments, **named)
            edge.resources.answers.clear()
            return row

        monkeypatch.setattr(edge.resources.database, "fetch_row", with_a_load_meanwhile)
        assert (await _ask(edge, key, 2, SOY, path="pricing")).startswith(b"HTTP/1.1 200")
        assert taken == [False, True]
        assert len(edge.resources.answers) == 0


@pytest.mark.parametrize("path", ["lookup", "pricing"])
async def test_while_postgresql_is_down_an_unread_record_is_503_and_costs_nothing(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"

    async def down(*arguments: object, **named: object) -> None:
        raise StoreUnavailable("database", 5)

    async with running_edge(settings, tmp_path) as edge:
        await _ask(edge, key, 1, CUSTARD)
        before = await used(edge, key)
        with monkeypatch.context() as patch:
            patch.setattr(edge.resources.database, "fetch", down)
            answers = [await _ask(edge, key, 2, SOY, path=path), await _ask(edge, key, 3, SOY, OTHER, path)]
        assert await used(edge, key) == before
        assert (await _ask(edge, key, 4, SOY, path=path)).startswith(b"HTTP/1.1 200")
        edge.resources.access_log.flush()
    assert taken == [False, True, False, True]
    assert answers[0].startswith(b"HTTP/1.1 503 ")
    assert comparable(answers[0]) == comparable(answers[1])
    lines = [
        re.sub(r'"(ts|us|span_id)":("[^"]+"|\d+)', "", line)
        for line in Path(settings.access_log).read_text().splitlines()
    ]
    assert lines[1] == lines[2]


async def test_a_charge_that_cannot_be_refunded_counts_on_both_ways(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"

    async def down(*arguments: object, **named: object) -> None:
        raise StoreUnavailable("database", 5)

    async def stays(limiter: RateLimiter, decision: QuotaDecision) -> QuotaDecision:
        return decision

    async with running_edge(settings, tmp_path) as edge:
        await _ask(edge, key, 1, CUSTARD)
        await edge.resources.usage.flush()
        with monkeypatch.context() as patch:
            patch.setattr(edge.resources.database, "fetch", down)
            patch.setattr(RateLimiter, "refund", stays)
            for number, form in ((2, ""), (3, OTHER)):
                assert (await _ask(edge, key, number, SOY, form)).startswith(b"HTTP/1.1 503 ")
        await edge.resources.usage.flush()
    assert taken == [False, True, False]
    with connect(settings.database_url, application="tests") as connection:
        rows = connection.execute("SELECT units FROM usage WHERE units > 0 ORDER BY units").fetchall()
    assert rows == [(1,), (2,)], "one that counts, and two whose charge stays"


async def test_a_caller_who_has_used_the_day_up_makes_postgresql_read_nothing(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    token = f"X-Service-Public-Token: {settings.anonymous_token}"
    async with running_edge(settings, tmp_path) as edge:
        answers = [await _ask(edge, token, number, CUSTARD) for number in range(4)]
        assert answers[-1].startswith(b"HTTP/1.1 429")
        assert (await _ask(edge, token, 5, SOY)).startswith(b"HTTP/1.1 429")
        assert taken[-1]
        assert edge.resources.records.peek(SOY) is None


async def test_records_that_many_miss_at_once_are_few_queries_and_each_is_read_once(edge: Edge) -> None:
    asked: list[list[str]] = []

    async def read(iids: Sequence[str]) -> dict[str, ItemRecord]:
        asked.append(list(iids))
        await asyncio.sleep(0)
        return {iid: ItemRecord(ItemState.RECORD, iid.encode(), '"1"') for iid in iids}

    stores = edge.resources
    records = RecordCache(stores.cache, stores.version, read, bytes_max=10**6, ttl_seconds=60)
    iids = [mint("many", str(number)).iid for number in range(100)]
    found = await asyncio.gather(*(records.find(iid) for iid in [*iids, *iids]))
    assert [record.body.decode() for record in found] == [*iids, *iids]
    assert sorted(iid for one in asked for iid in one) == sorted(iids)
    assert len(asked) < 20


async def test_one_waiter_that_fails_leaves_no_other_waiting(edge: Edge) -> None:
    records = RecordCache(edge.resources.cache, edge.resources.version, _as_written, bytes_max=10**6, ttl_seconds=60)

    def broken(outcome: object) -> None:
        raise RuntimeError("a fault of ours")

    records.read_then(SOY, broken)
    async with asyncio.timeout(10):
        assert (await records.find(SOY)).body == b"of PostgreSQL"


async def test_a_query_that_fails_fails_for_all_that_wait_and_for_no_other(edge: Edge) -> None:
    broken = True

    async def read(iids: Sequence[str]) -> dict[str, ItemRecord]:
        if broken:
            raise StoreUnavailable("database")
        return {iid: ItemRecord(ItemState.RECORD, b"{}", '"1"') for iid in iids}

    stores = edge.resources
    records = RecordCache(stores.cache, stores.version, read, bytes_max=10**6, ttl_seconds=60)
    iids = [mint("broken", str(number)).iid for number in range(5)]
    failed = await asyncio.gather(*(records.find(iid) for iid in [*iids, *iids]), return_exceptions=True)
    assert [str(one) for one in failed] == ["the database store is not responding"] * 10
    assert [type(one) for one in failed] == [StoreUnavailable] * 10
    # Of one object, each who raises it would hold the frames of all others for as long as one of them is kept.
    assert len({id(one) for one in failed}) == 10
    broken = False
    assert [(await records.find(iid)).state for iid in iids] == ["+"] * 5


async def test_a_read_that_began_before_a_load_gives_nothing_to_those_who_ask_after_it(edge: Edge) -> None:
    began, version = [asyncio.Event(), asyncio.Event()], edge.resources.version
    go_on = asyncio.Event()
    await version.stop()  # a read of its own would take the version back that this test sets

    async def read(iids: Sequence[str]) -> dict[str, ItemRecord]:
        body = b"%d" % version.current
        began[body != b"%d" % before].set()
        await go_on.wait()
        return {iid: ItemRecord(ItemState.RECORD, body, '"1"') for iid in iids}

    before = version.current
    records = RecordCache(edge.resources.cache, version, read, bytes_max=10**6, ttl_seconds=60)
    early = asyncio.create_task(records.find(SOY))
    await began[0].wait()
    version.current, version.snapshot = before + 1, "later"
    late = asyncio.create_task(records.find(SOY))
    async with asyncio.timeout(10):
        await began[1].wait()
    go_on.set()
    assert [(await early).body, (await late).body] == [b"%d" % before, b"%d" % (before + 1)]


def _unreadable() -> float:
    return REGISTRY.get_sample_value("itemindex_cache_unreadable_total", {"kind": "record"}) or 0.0


async def _as_written(iids: Sequence[str]) -> dict[str, ItemRecord]:
    return {iid: ItemRecord(ItemState.RECORD, b"of PostgreSQL", '"1"') for iid in iids}


async def test_an_entry_that_cannot_be_read_is_a_miss_is_counted_and_is_replaced(edge: Edge) -> None:
    cache, version = edge.resources.cache, edge.resources.version
    for bytes_found in (b"", b"+", b"\xff\n\n\n"):
        records = RecordCache(cache, version, _as_written, bytes_max=10**6, ttl_seconds=60)
        many = RecordCache(cache, version, _as_written, bytes_max=10**6, ttl_seconds=60)
        name, before = keys.record(LAYOUT, version.snapshot, SOY), _unreadable()
        await cache.command("SET", name, bytes_found)
        async with asyncio.timeout(10):
            assert [one.body for one in await asyncio.gather(records.find(SOY), records.find(SOY))] == [
                b"of PostgreSQL"
            ] * 2
            assert _unreadable() == before + 1, bytes_found
            assert ItemRecord.unpack(await cache.command("GET", name)).body == b"of PostgreSQL", bytes_found
            await cache.command("SET", name, bytes_found)
            assert {iid: one.body for iid, one in (await many.find_many([SOY])).items()} == {SOY: b"of PostgreSQL"}, (
                bytes_found
            )
        assert _unreadable() == before + 2, bytes_found


async def test_a_query_that_leaves_a_key_out_fails_for_it_alone(edge: Edge) -> None:
    async def read(iids: Sequence[str]) -> dict[str, ItemRecord]:
        return {iid: ItemRecord(ItemState.RECORD, b"", '"1"') for iid in iids if iid == SOY}

    records = RecordCache(edge.resources.cache, edge.resources.version, read, bytes_max=10**6, ttl_seconds=60)
    async with asyncio.timeout(10):
        found, failed = await asyncio.gather(records.find(SOY), records.find(CUSTARD), return_exceptions=True)
    assert isinstance(found, ItemRecord) and isinstance(failed, LookupError)


async def test_after_a_restore_a_record_of_before_it_is_not_served_under_the_same_number(
    settings: Settings, tmp_path: Path
) -> None:
    """The database is restored to before its last load, and another load takes the number of that one."""
    async with running_edge(settings, tmp_path) as edge:
        before = (await edge.ask("GET", f"/index/lookup/{SOY}")).json["name"]
        await edge.resources.cache.command("PING")
        number = edge.resources.version.current
        with connect(settings.database_url, application="tests") as connection:
            connection.execute("UPDATE items SET name = 'Of the other database' WHERE iid = $1", (SOY,))
            connection.execute(
                "UPDATE data_versions SET committed_at = committed_at + interval '1 second' WHERE version = $1",
                (number,),
            )
        assert await edge.resources.version.read()
        assert edge.resources.version.current == number
        after = (await edge.ask("GET", f"/index/lookup/{SOY}")).json["name"]
    assert (before == after, after) == (False, "Of the other database")
