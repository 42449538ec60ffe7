"""What calls cost, statistics of use, and the request log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from edge.http.context import Context
from edge.http.problems import Problem
from edge.quota.billing import Billing, Charge
from edge.quota.limiter import Decision, DegradedLimiter, RateLimiter
from edge.quota.usage import RequestLog, UsageRecorder
from edge.storage.database import Database
from edge.storage.redis_client import Done, SingleNodeClient
from shared.db.connect import Connection, connect
from shared.errors import IdentifierNotFound, ItemNotFound, ItemWithdrawn, StoreUnavailable
from shared.organizations.accounts import SQL, Plan, Principal
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.support.accounts import BRAND, api_key

# Statistics of use count each call once, also when PostgreSQL fails between two statements.


FREE = Plan(name="free", title="Free", rank=1, counted_by="ip", daily_units=12, burst_units=5)


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
        usage.note(caller, "192.0.2.1", "brands", 200, 1, 0.01, "0" * 32)
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
        usage.note(caller, "192.0.2.1", "brands", 200, 1, 0.01, "0" * 32)
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
        usage.note(Principal("public-token", "abcdefghij", FREE), "192.0.2.1", "lookup", 200, 1, 0.01, "0" * 32)
        with monkeypatch.context() as patched:
            patched.setattr(Database, "fetch", lambda *arguments, **options: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                await usage.flush()
        await usage.flush()
        assert connection.execute("SELECT sum(calls) FROM usage").fetchone() == (1,)


async def test_an_edge_that_stops_loses_no_calls_that_are_on_their_way(settings: Settings) -> None:
    async with recorder(settings, deadline_seconds=5.0, flush_seconds=0.0) as (usage, connection):
        connection.execute("LOCK TABLE usage")
        usage.note(Principal("public-token", "abcdefghij", FREE), "192.0.2.1", "lookup", 200, 1, 0.01, "0" * 32)
        usage.start()
        async with asyncio.timeout(5):
            while not connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                await asyncio.sleep(0.01)
        stopping = asyncio.create_task(usage.stop())
        await asyncio.sleep(0)
        connection.rollback()
        await stopping
        assert connection.execute("SELECT sum(calls) FROM usage WHERE account = 'token:abcdefghij'").fetchone() == (1,)


# A charge stays where its call is counted or its order owns it, and is refunded once everywhere else.


PLAN = Plan(
    name="brand",
    title="Brand",
    rank=1,
    counted_by="organization",
    daily_units=100,
    burst_units=100,
    jobs_running=1,
    jobs_queued=1,
    batch_iids_max=1,
)

UNITS = 10


class Order(NamedTuple):
    """An order as it was placed."""

    new: bool


class Till:
    """One caller's billing over a real state store."""

    def __init__(self, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self.billing = Billing(limiter)
        self.context = Context("r" * 8, "charge-1", "192.0.2.1")
        self.context.principal = Principal("api-key", "k", PLAN, "acme")
        self.context.account = "org:acme"

    async def charge(self) -> Charge:
        return await self.billing.charge(self.context, UNITS)

    async def used(self) -> int:
        return (await self.limiter.usage("org:acme", PLAN)).used_day


@pytest.fixture
def till(store: SingleNodeClient) -> Till:
    return Till(RateLimiter(store, DegradedLimiter()))


async def responded(status: int) -> web.StreamResponse:
    return web.Response(status=status)


async def raised(error: BaseException) -> web.StreamResponse:
    raise error


async def placed(*, new: bool) -> Order:
    return Order(new)


async def unplaced(error: BaseException) -> Order:
    raise error


@pytest.mark.parametrize(
    ("status", "used"), [(200, UNITS), (202, UNITS), (206, UNITS), (303, 0), (304, 0), (400, 0), (404, 0), (503, 0)]
)
async def test_the_status_decides_whether_a_charge_stays(till: Till, status: int, used: int) -> None:
    charge = await till.charge()
    assert (await charge.settle(responded(status))).status == status
    assert await till.used() == used
    assert till.context.units == used
    assert f";r={PLAN.daily_units - used};".encode() in till.context.limit_fields


@pytest.mark.parametrize(
    ("error", "used"),
    [
        (ItemNotFound(), UNITS),
        (IdentifierNotFound(), UNITS),
        (Problem("several-items", ""), UNITS),
        (ItemWithdrawn(), 0),
        (Problem("not-acceptable", ""), 0),
        (StoreUnavailable("database"), 0),
        (asyncio.CancelledError(), 0),
        (RuntimeError(), 0),
    ],
)
async def test_of_all_errors_only_those_that_answer_a_valid_question_are_counted(
    till: Till, error: BaseException, used: int
) -> None:
    charge = await till.charge()
    with pytest.raises(type(error)):
        await charge.settle(raised(error))
    assert await till.used() == used


async def test_a_new_order_owns_its_charge_whatever_comes_after(till: Till) -> None:
    charge = await till.charge()
    assert (await charge.pay_for(placed(new=True))).new
    with pytest.raises(Problem):
        await charge.settle(raised(Problem("job-failed", "")))
    assert await till.used() == UNITS
    assert (charge.account, charge.charge_id, charge.units) == ("org:acme", "charge-1", UNITS)


async def test_an_order_that_existed_costs_nothing_again(till: Till) -> None:
    charge = await till.charge()
    await charge.pay_for(placed(new=False))
    await charge.settle(responded(202))
    assert await till.used() == 0
    assert till.context.units == 0


async def test_a_refused_order_costs_nothing(till: Till) -> None:
    charge = await till.charge()

    async def submit() -> web.StreamResponse:
        await charge.pay_for(unplaced(Problem("rate-limited", "")))
        return web.Response()

    with pytest.raises(Problem):
        await charge.settle(submit())
    assert await till.used() == 0


@pytest.mark.parametrize("error", [StoreUnavailable("database"), asyncio.CancelledError(), RuntimeError()])
async def test_an_order_of_unknown_fate_is_refunded_once_even_if_it_is_refunded_again_later(
    till: Till, error: BaseException
) -> None:
    await till.charge()  # of another call, so that a second refund of this one would show
    till.context.charge_id = "charge-2"
    charge = await till.charge()

    async def submit() -> web.StreamResponse:
        await charge.pay_for(unplaced(error))
        return web.Response()

    with pytest.raises(type(error)):
        await charge.settle(submit())
    assert await till.used() == UNITS
    assert till.context.units == 0
    await till.limiter.refund_order(charge.account, charge.charge_id, charge.day, charge.units)
    assert await till.used() == UNITS


async def test_a_call_that_costs_nothing_leaves_the_paid_counter_alone(till: Till) -> None:
    charge = await till.billing.charge(till.context, 0)
    await charge.settle(responded(500))
    assert (charge.units, charge.day, await till.used()) == (0, 0, 0)


async def test_a_charge_whose_call_was_cancelled_before_its_decision_is_refunded(till: Till) -> None:
    call = asyncio.create_task(till.charge())
    await asyncio.sleep(0)  # the charge is on its way
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(5):
        await till.used()  # one connection: the decision has arrived before this answer, and its refund is sent
        assert await till.used() == 0


async def test_a_charge_whose_call_was_cancelled_just_after_its_decision_is_refunded(
    till: Till, monkeypatch: pytest.MonkeyPatch
) -> None:
    consume_then = till.limiter.consume_then

    def cancelled_after_the_decision(account: str, plan: Plan, units: int, charge_id: str, done: Any) -> None:
        def decided(decision: Decision) -> None:
            done(decision)
            call.cancel()

        consume_then(account, plan, units, charge_id, decided)

    monkeypatch.setattr(till.limiter, "consume_then", cancelled_after_the_decision)
    call = asyncio.create_task(till.charge())
    with pytest.raises(asyncio.CancelledError):
        await call
    monkeypatch.undo()
    assert await till.used() == 0


async def test_a_refund_whose_reply_is_lost_is_sent_again_and_takes_effect_once(till: Till) -> None:
    await till.charge()
    till.context.charge_id = "charge-2"
    decision = await till.limiter.consume("org:acme", PLAN, UNITS, "charge-3")
    store, send = till.limiter._store, till.limiter._store.send
    lost: list[bytes] = []

    def lose_the_first_reply(packed: bytes, done: Done) -> None:
        lost.append(packed)
        first = len(lost) == 1
        send(packed, lambda reply: done(StoreUnavailable("state") if first else reply))

    store.send = lose_the_first_reply  # type: ignore[method-assign]
    assert (await till.limiter.refund(decision)).used_day == UNITS
    assert len(lost) == 2
    assert await till.used() == UNITS


# The log of requests: the newest calls of each organization alone, without secrets; off by a setting.


def note(log: RequestLog, organization: str, *ids: int) -> None:
    for number in ids:
        log.note(organization, "api-key:abc", "lookup", 200, 1, 0.001, f"{number:032x}")


async def test_the_newest_calls_are_kept_and_another_organization_sees_none_of_them(cache: SingleNodeClient) -> None:
    first, second = RequestLog(cache, 5), RequestLog(cache, 5)  # two processes
    note(first, "acme", *range(4))
    note(second, "acme", *range(4, 8))
    note(second, "other", 99)
    await first.flush()
    await second.flush()
    calls = await first.read("acme")
    assert [int(call.request_id, 16) for call in calls] == [7, 6, 5, 4, 3]
    assert {(call.endpoint, call.status, call.units) for call in calls} == {("lookup", 200, 1)}
    assert [int(call.request_id, 16) for call in await first.read("other")] == [99]


async def test_one_organizations_many_calls_cost_another_none_of_its_own(cache: SingleNodeClient) -> None:
    log = RequestLog(cache, 1_000)
    lost = metrics.request_log_lost._value.get()
    for number in range(30):
        note(log, f"busy-{number}", *range(1_000))
    note(log, "busy-0", *range(1_000, 21_000))
    note(log, "calm", *range(3))
    await log.flush()
    assert [int(call.request_id, 16) for call in await log.read("calm")] == [2, 1, 0]
    assert int((await log.read("busy-0"))[0].request_id, 16) == 20_999
    assert min([len(await log.read(f"busy-{number}")) for number in range(30)]) >= 500
    assert metrics.request_log_lost._value.get() > lost


async def test_with_the_setting_at_none_nothing_is_kept(cache: SingleNodeClient) -> None:
    log = RequestLog(cache, 0)
    note(log, "silent", 1)
    await log.flush()
    assert await RequestLog(cache, 5).read("silent") == []


async def test_an_outage_of_the_cache_store_drops_the_log_and_raises_for_its_reader(settings: Settings) -> None:
    away = RequestLog(SingleNodeClient(settings.cache_url, name="cache", deadline_seconds=0.2, log=Log("tests")), 5)
    note(away, "acme", 1)
    await away.flush()
    with pytest.raises(StoreUnavailable):
        await away.read("acme")
