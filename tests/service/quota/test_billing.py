"""A charge stays where its call is counted or its order owns it, and is refunded once everywhere else."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from edge.http.context import Context
from edge.http.problems import Problem
from edge.quota.billing import Billing, Charge
from edge.quota.limiter import DegradedLimiter, RateLimiter
from edge.quota.policy import Decision
from edge.storage.redis_client import Done, SingleNodeClient
from shared.errors import IdentifierNotFound, ItemNotFound, ItemWithdrawn, StoreUnavailable
from shared.organizations.accounts import Plan, Principal
from shared.settings.settings import Settings
from shared.telemetry.log import Log

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
async def till(settings: Settings) -> AsyncIterator[Till]:
    client = SingleNodeClient(settings.state_url, name="state", deadline_seconds=2.0, log=Log("tests"))
    await client.start()
    yield Till(RateLimiter(client, DegradedLimiter()))
    await client.close()


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
