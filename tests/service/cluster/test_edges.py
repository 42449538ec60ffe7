"""Whole edges on a cluster: what callers see while a primary dies, and what a cache without one of its nodes does."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from deploy.ctl.doctor import look_at
from edge.dashboard.sessions import IdToken, Sessions
from edge.index.record import LAYOUT, ItemRecord, ItemState, RecordCache
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import RateLimiter
from edge.storage.cluster_slots import slot_of
from edge.storage.redis_cluster import ClusterClient
from shared.errors import StoreUnavailable
from shared.index.iid import mint
from shared.jobs.contract import Refunder, refund_arguments
from shared.redis import keys
from shared.redis.connect import connect_store
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.cluster.test_cluster import PLAN, until
from tests.support.client import Edge, running_edge
from tests.support.database import execute
from tests.support.servers import Contents, begins_with
from tests.support.shop import open_shop
from tests.support.valkey_cluster import ValkeyCluster, wait_for

pytestmark = pytest.mark.xdist_group("cluster")

SOY = mint("shop", "1").iid
LIMIT, ADDRESSES, CALLERS = 40, 12, 2
RECORDS = 200


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def on_cluster(settings: Settings, cluster: ValkeyCluster) -> Settings:
    """Settings whose stores are a cluster, with a shop, and with a daily limit that a test can reach."""
    execute(settings, f"UPDATE plans SET daily_units = {LIMIT}, burst_units = 1000000 WHERE name = 'anonymous'")
    cluster.forget_everything()
    return replace(
        settings,
        state_url=cluster.url,
        cache_url=cluster.url,
        quota_fail_mode="closed",
        state_timeout_seconds=1.0,
        database_timeout_seconds=10.0,
        state_failover_seconds=20.0,
    )


@asynccontextmanager
async def two_edges(settings: Settings, folder: Path) -> AsyncIterator[list[Edge]]:
    async with AsyncExitStack() as stack:
        edges = []
        for name in ("a", "b"):
            (folder / name).mkdir()
            own = replace(settings, access_log=str(folder / name / "access.log"))
            edges.append(await stack.enter_async_context(running_edge(own, folder / name)))
        yield edges


async def test_callers_see_a_pause_and_no_error_when_a_primary_is_killed(
    on_cluster: Settings, cluster: ValkeyCluster, tmp_path: Path
) -> None:
    answers: Counter[tuple[str, int]] = Counter()
    addresses = [f"198.51.100.{n}" for n in range(ADDRESSES)]
    hottest = addresses[0]
    primary = cluster.primary_of(slot_of(keys.quota_prefix(f"ip:{hottest}").encode()))

    async def call(edge: Edge, address: str) -> None:
        while answers[address, 429] < 2 * CALLERS:
            answer = await edge.get(f"/index/lookup/{SOY}", address=address)
            assert answer.status in (200, 429), answer
            answers[address, answer.status] += 1

    async with two_edges(on_cluster, tmp_path) as edges, asyncio.TaskGroup() as group:
        for edge, address, _ in itertools.product(edges, addresses, range(CALLERS)):
            group.create_task(call(edge, address))
        await until(lambda: answers[hottest, 200] > LIMIT / 4)
        primary.kill()
        served = answers[hottest, 200]
    assert served < LIMIT
    assert {address: answers[address, 200] for address in addresses} == dict.fromkeys(addresses, LIMIT)


async def test_readiness_names_a_cluster_of_which_one_primary_is_full(
    on_cluster: Settings, cluster: ValkeyCluster, tmp_path: Path
) -> None:
    async with running_edge(on_cluster, tmp_path) as edge:

        async def state() -> str:
            return {part["name"]: part["state"] for part in (await edge.get("/ready")).json["parts"]}["state"]

        assert await state() == "ok"
        primary = cluster.primary_of(0)
        primary.ask("CONFIG", "SET", "maxmemory", "1")
        try:
            assert await state() == "read-only"
        finally:
            primary.ask("CONFIG", "SET", "maxmemory", "0")
        assert await state() == "ok"


async def test_the_cache_continues_without_one_of_its_nodes(cluster: ValkeyCluster) -> None:
    read: Counter[str] = Counter()

    async def from_database(iids: Sequence[str]) -> dict[str, ItemRecord]:
        read.update(iids)
        return dict.fromkeys(iids, ItemRecord(ItemState.RECORD, b"{}", '"1"'))

    client = ClusterClient(cluster.url, name="cache", deadline_seconds=1, hold_seconds=0, acked=False, log=Log("tests"))
    await client.start()
    version = cast("Any", SimpleNamespace(snapshot=str(time.time_ns()), on_change=lambda changed: None))
    records = RecordCache(client, version, from_database, bytes_max=0, ttl_seconds=60)
    iids = [mint("cache", str(n)).iid for n in range(RECORDS)]
    for iid in iids:
        await records.find(iid)
    dead = cluster.primary_of(0)
    owners = {iid: cluster.primary_of(slot_of(keys.record(LAYOUT, version.snapshot, iid).encode())) for iid in iids}
    read.clear()
    dead.kill()
    for iid in iids:
        assert (await records.find(iid)).state == "+"
    assert read
    assert {owners[iid].port for iid in read} == {dead.port}
    await whole_again(client)
    read.clear()
    for iid in iids:
        await records.find(iid)
    await client.close()
    assert not read


async def whole_again(client: ClusterClient) -> None:
    """Wait until every primary that the client knows answers, as /ready asks."""
    async with asyncio.timeout(60):
        while True:
            try:
                await client.command("PING")
                return
            except StoreUnavailable:
                await asyncio.sleep(0.1)


async def test_sessions_and_the_workers_refunds_find_their_keys(cluster: ValkeyCluster) -> None:
    client = ClusterClient(cluster.url, name="state", deadline_seconds=1, hold_seconds=20, acked=True, log=Log("tests"))
    await client.start()
    sessions, meter = (
        Sessions(client, idle_seconds=60, seconds_max=60),
        RateLimiter(client, DegradedLimiter(closed=True)),
    )
    cookies = [await sessions.begin(f"person-{n}", "192.0.2.1", "tests", IdToken("token")) for n in range(20)]
    days = {n: (await meter.consume(f"org:refund-{n}", PLAN, 5, "job")).day for n in range(20)}
    cluster.primary_of(0).kill()
    found = await asyncio.gather(*(sessions.find(cookie) for cookie in cookies))
    assert [session.person_id for session in found if session] == [f"person-{n}" for n in range(20)]
    store = await asyncio.to_thread(connect_store, cluster.url, deadline_seconds=2.0)
    for n, day in days.items():
        askers: tuple[Refunder, ...] = ("dispatcher", "dispatcher", "edge")
        paid = [store.eval(*refund_arguments(f"org:refund-{n}", "job", day, 5, asker)) for asker in askers]
        assert [bool(one) for one in paid] == [True, True, False]
        assert (await meter.usage(f"org:refund-{n}", PLAN)).used_day == 0
    store.close()
    await client.close()


def test_the_doctor_sees_a_shard_without_a_replica(cluster: ValkeyCluster) -> None:
    well = look_at("state", cluster.url, must_keep=True)
    assert well.ok and well.found.startswith("a cluster, 3 primaries, 3 replicas, Valkey ")
    primary = cluster.primary_of(0)
    cluster.replica_of(primary).kill()
    wait_for(lambda: primary.ask("ROLE")[2] == [], primary)
    lacking = look_at("state", cluster.url, must_keep=True)
    assert (lacking.ok, lacking.found) == (False, f"the primary on port {primary.port} has no replica")


@begins_with(None)
def test_the_doctor_distinguishes_the_state_store_from_the_cache_store(settings: Settings) -> None:
    assert look_at("state", settings.state_url, must_keep=True).found.startswith("one server, Valkey ")
    assert look_at("cache", settings.cache_url, must_keep=False).ok
    assert look_at("cache", settings.cache_url, must_keep=True).found == "it evicts (allkeys-lfu)"
    for gone in ("redis://127.0.0.1:1", "valkey://127.0.0.1:1", "redis+cluster://127.0.0.1:1"):
        assert not look_at("state", gone, must_keep=True).ok


@begins_with(None)
def test_the_doctor_sees_a_store_that_refuses_writes(settings: Settings) -> None:
    with connect_store(settings.state_url, deadline_seconds=5.0) as store:
        before = store.config_get("maxmemory")["maxmemory"]
        store.config_set("maxmemory", 1)
        try:
            full = look_at("state", settings.state_url, must_keep=True)
        finally:
            store.config_set("maxmemory", before)
    assert not full.ok and full.found.startswith("refuses writes: ") and "maxmemory" in full.remedy
