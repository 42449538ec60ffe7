"""On a cluster, too, never more than the limit is served: through a crash, a lost replica, a slot on its way."""

import asyncio
import itertools
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from edge.quota.decision import NOT_COUNTED
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import RateLimiter
from edge.storage.cluster_slots import slot_of
from edge.storage.redis_cluster import ClusterClient
from shared.organizations.accounts import Plan
from shared.redis import keys
from shared.telemetry.log import Log
from tests.support.quota_model import compare_with_model
from tests.support.valkey_cluster import Node, ValkeyCluster

pytestmark = pytest.mark.xdist_group("cluster")

LIMIT = 4_000

PLAN = Plan(
    name="brand",
    title="",
    rank=2,
    counted_by="organization",
    daily_units=LIMIT,
    burst_units=10**9,
    jobs_running=0,
    jobs_queued=0,
    batch_iids_max=0,
)

EDGES, CALLERS = 2, 8

_RUNS = itertools.count()


@dataclass
class Load:
    """Callers of several accounts at several edges, and their answers."""

    meters: list[RateLimiter]
    accounts: list[str]
    served: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    uncounted: int = 0
    on: bool = True

    async def run(self, edge: int, account: str, caller: int) -> None:
        """Call until stopped."""
        for n in itertools.count():
            decision = await self.meters[edge].consume(account, PLAN, 1, f"{edge}-{caller}-{n}")
            self.served[account] += decision.allowed
            self.refused[account] += decision.outcome == 0
            self.uncounted += decision.outcome == NOT_COUNTED
            if not self.on:
                return


@asynccontextmanager
async def edges(cluster: ValkeyCluster, *, acked: bool = True) -> AsyncIterator[list[RateLimiter]]:
    """What each edge process has of its own: a client of the cluster, and a meter."""
    clients = [
        ClusterClient(cluster.url, name="state", deadline_seconds=1.0, hold_seconds=20.0, acked=acked, log=Log("tests"))
        for _ in range(EDGES)
    ]
    for client in clients:
        await client.start()
    yield [RateLimiter(client, DegradedLimiter(closed=True)) for client in clients]
    for client in clients:
        await client.close()


@asynccontextmanager
async def load(meters: list[RateLimiter], accounts: list[str]) -> AsyncIterator[Load]:
    """Keep calling for as long as the block lasts, and wait for every answer."""
    now = Load(meters, accounts)
    async with asyncio.TaskGroup() as group:
        for edge, account, caller in itertools.product(range(len(meters)), accounts, range(CALLERS)):
            group.create_task(now.run(edge, account, caller))
        yield now
        now.on = False


def accounts_of(cluster: ValkeyCluster) -> list[str]:
    """Return one new account for each shard."""
    found: dict[int, str] = {}
    for n in itertools.count(next(_RUNS) * 1000):
        account = f"org:{n}"
        found.setdefault(cluster.primary_of(slot(account)).port, account)
        if len(found) == 3:
            return list(found.values())
    raise AssertionError


def slot(account: str) -> int:
    return slot_of(keys.quota_prefix(account).encode())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not holds():
            await asyncio.sleep(0.02)


async def test_a_killed_primary_costs_no_caller_a_call_and_gives_none_away(cluster: ValkeyCluster) -> None:
    accounts = accounts_of(cluster)
    hottest = accounts[0]
    async with edges(cluster) as meters, load(meters, accounts) as calls:
        await until(lambda: calls.served[hottest] > LIMIT / 10)
        cluster.primary_of(slot(hottest)).kill()
        at_the_crash = calls.served[hottest]
        await until(lambda: all(calls.refused[account] > 100 for account in accounts))
    assert at_the_crash < LIMIT
    assert calls.served == dict.fromkeys(accounts, LIMIT)
    assert not calls.uncounted


@pytest.mark.parametrize("acked", [True, False])
async def test_a_call_that_a_replica_has_not_seen_was_not_served(cluster: ValkeyCluster, acked: bool) -> None:
    """The twin does not wait for the replicas, and serves some calls twice: once for each primary."""
    account = accounts_of(cluster)[0]
    primary = cluster.primary_of(slot(account))
    replica = cluster.replica_of(primary)
    async with edges(cluster, acked=acked) as meters, load(meters, [account]) as calls:
        await until(lambda: calls.served[account] > LIMIT / 10)
        cut(primary, replica)
        seen, counted = calls.served[account], offset(primary)
        # The replica misses what the primary has counted since; without the wait for it, calls were served by then.
        await until(lambda: offset(primary) > counted and (acked or calls.served[account] > seen))
        primary.kill()
        mend(replica)
        refused = calls.refused[account]
        await until(lambda: calls.refused[account] > refused + 100)
    assert seen < LIMIT
    if acked:
        assert calls.served[account] == LIMIT
        assert not calls.uncounted
    else:
        assert calls.served[account] > LIMIT


@pytest.mark.parametrize("way", ["key by key", "at once"])
async def test_a_slot_that_moves_costs_no_caller_a_call(cluster: ValkeyCluster, way: str) -> None:
    account = accounts_of(cluster)[0]
    source = cluster.primary_of(slot(account))
    target = next(node for node in cluster.nodes if node.role() == "master" and node is not source)
    async with edges(cluster) as meters, load(meters, [account]) as calls:
        await until(lambda: calls.served[account] > LIMIT / 10)
        await asyncio.to_thread(
            cluster.move if way == "key by key" else cluster.move_at_once, slot(account), source, target
        )
        on_its_way = calls.served[account]
        await until(lambda: calls.refused[account] > 100)
    assert on_its_way < LIMIT
    assert cluster.primary_of(slot(account)) is target
    assert calls.served[account] == LIMIT
    assert not calls.uncounted


async def test_a_replica_that_dies_stops_nothing(cluster: ValkeyCluster) -> None:
    account = accounts_of(cluster)[0]
    async with edges(cluster) as meters, load(meters, [account]) as calls:
        await until(lambda: calls.served[account] > LIMIT / 10)
        cluster.replica_of(cluster.primary_of(slot(account))).kill()
        await until(lambda: calls.refused[account] > 100)
    assert calls.served[account] == LIMIT
    assert not calls.uncounted


async def test_a_primary_that_hangs_and_wakes_up_serves_nothing_more(cluster: ValkeyCluster) -> None:
    account = accounts_of(cluster)[0]
    primary = cluster.primary_of(slot(account))
    assert primary.child.process is not None
    async with edges(cluster) as meters, load(meters, [account]) as calls:
        await until(lambda: calls.served[account] > LIMIT / 10)
        primary.child.process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.to_thread(cluster.wait_for_failover, primary)
        finally:
            primary.child.process.send_signal(signal.SIGCONT)
        await until(lambda: calls.refused[account] > 100)
    assert calls.served[account] == LIMIT
    assert not calls.uncounted


async def test_a_primary_that_is_back_before_its_replica_takes_over_knows_what_it_knew(cluster: ValkeyCluster) -> None:
    account = accounts_of(cluster)[0]
    async with edges(cluster) as meters, load(meters, [account]) as calls:
        await until(lambda: calls.served[account] > LIMIT / 10)
        primary = cluster.primary_of(slot(account))
        primary.kill()
        primary.child.start()
        await until(lambda: calls.refused[account] > 100)
    assert calls.served[account] == LIMIT
    assert not calls.uncounted


def cut(primary: Node, replica: Node) -> None:
    """Part a replica from its primary, while the cluster believes that all is well."""
    replica.ask("CONFIG", "SET", "primaryuser", "unknown", "primaryauth", "nothing")
    primary.ask("CLIENT", "KILL", "TYPE", "replica")


def offset(primary: Node) -> int:
    """Return how much a primary has written for its replicas, in bytes."""
    return int(primary.ask("ROLE")[1])


def mend(replica: Node) -> None:
    replica.ask("CONFIG", "SET", "primaryuser", "", "primaryauth", "")


def test_a_cluster_keeps_to_the_model_of_the_limits(cluster: ValkeyCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    client = ClusterClient(
        cluster.url, name="state", deadline_seconds=2.0, hold_seconds=20.0, acked=True, log=Log("tests")
    )
    compare_with_model(client, monkeypatch, examples=8, steps=20)
