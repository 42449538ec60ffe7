"""A charge stays where its call is counted or its order owns it, and is refunded once everywhere else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from edge.http.context import Context
from edge.http.problems import Problem
from edge.jobs.orders import JobOrders, JobSpec
from edge.jobs.waiters import JobWaiters
from edge.quota.billing import Billing, Charge
from edge.quota.decision import QuotaDecision
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import RateLimiter
from edge.storage.database import Scope, Transaction
from edge.storage.redis_client import Done, SingleNodeClient
from shared.errors import IdentifierNotFound, ItemNotFound, ItemWithdrawn, StoreUnavailable
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import Plan, Principal
from shared.redis import keys
from shared.telemetry import metrics
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


class FailingDatabase:
    """A database whose every transaction raises: the order that was to be placed in it may exist or not."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    @asynccontextmanager
    async def transaction(self, scope: Scope | None = None) -> AsyncIterator[Transaction]:
        raise self._error
        yield


class Till:
    """One caller's billing over a real state store."""

    def __init__(self, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self.billing = Billing(limiter)
        self.context = Context("r" * 8, "charge-1", "192.0.2.1")
        self.context.principal = Principal("api-key", "k", PLAN, "acme")
        self.context.account = "org:acme"

    def charge(self, units: int = UNITS) -> AbstractAsyncContextManager[Charge]:
        return self.billing.charge(self.context, units)

    async def take(self) -> None:
        """Charge a call that counts."""
        async with self.charge() as charge:
            charge.settle(web.Response())

    async def used(self) -> int:
        return (await self.limiter.usage("org:acme", PLAN)).used_day


@pytest.fixture
def till(store: SingleNodeClient) -> Till:
    return Till(RateLimiter(store, DegradedLimiter()))


async def place(till: Till, charge: Charge, error: BaseException) -> None:
    """Place an order that the charge pays for, in a transaction that raises."""
    database: Any = FailingDatabase(error)
    principal = till.context.principal
    assert principal is not None
    spec = JobSpec(EXPORT, {}, "json", "f", 1)
    await JobOrders(database, JobWaiters(), 10, Log("edge")).submit(principal, spec, charge)


@pytest.mark.parametrize(
    ("status", "used"), [(200, UNITS), (202, UNITS), (206, UNITS), (303, 0), (304, 0), (400, 0), (404, 0), (503, 0)]
)
async def test_the_status_decides_whether_a_charge_stays(till: Till, status: int, used: int) -> None:
    async with till.charge() as charge:
        assert charge.settle(web.Response(status=status)).status == status
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
    with pytest.raises(type(error)):
        async with till.charge():
            raise error
    assert await till.used() == used


async def test_a_new_order_owns_its_charge_whatever_comes_after(till: Till) -> None:
    async def fail() -> None:
        async with till.charge() as charge:
            charges.append(charge)
            await charge.hand_over(new=True)
            raise Problem("job-failed", "")

    charges: list[Charge] = []
    with pytest.raises(Problem):
        await fail()
    [charge] = charges
    assert await till.used() == UNITS
    assert (charge.account, charge.charge_id, charge.units) == ("org:acme", "charge-1", UNITS)


async def test_an_order_that_existed_costs_nothing_again(till: Till) -> None:
    async with till.charge() as charge:
        await charge.hand_over(new=False)
        assert await till.used() == 0, "at once: a call that waits for its job ends late"
        charge.settle(web.Response(status=202))
    assert await till.used() == 0
    assert till.context.units == 0


async def test_a_refused_order_costs_nothing(till: Till) -> None:
    with pytest.raises(Problem):
        async with till.charge() as charge:
            await place(till, charge, Problem("rate-limited", ""))
    assert await till.used() == 0


@pytest.mark.parametrize("error", [StoreUnavailable("database"), asyncio.CancelledError(), RuntimeError()])
async def test_an_order_of_unknown_fate_is_refunded_once_even_if_it_is_refunded_again_later(
    till: Till, error: BaseException
) -> None:
    await till.take()  # of another call, so that a second refund of this one would show
    till.context.charge_id = "charge-2"
    with pytest.raises(type(error)):
        async with till.charge() as charge:
            await place(till, charge, error)
    assert await till.used() == UNITS
    assert till.context.units == 0
    await till.limiter.refund_order(charge.account, charge.charge_id, charge.day, charge.units)
    assert await till.used() == UNITS


async def test_a_call_that_costs_nothing_leaves_the_paid_counter_alone(till: Till) -> None:
    async with till.charge(0) as charge:
        charge.settle(web.Response(status=500))
    assert (charge.units, charge.day, await till.used()) == (0, 0, 0)


async def test_a_charge_whose_call_was_cancelled_before_its_decision_is_refunded(till: Till) -> None:
    call = asyncio.create_task(till.take())
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
        def decided(decision: QuotaDecision) -> None:
            done(decision)
            call.cancel()

        consume_then(account, plan, units, charge_id, decided)

    monkeypatch.setattr(till.limiter, "consume_then", cancelled_after_the_decision)
    call = asyncio.create_task(till.take())
    with pytest.raises(asyncio.CancelledError):
        await call
    monkeypatch.undo()
    assert await till.used() == 0


async def test_a_refund_whose_reply_is_lost_is_sent_again_and_takes_effect_once(till: Till) -> None:
    await till.take()
    till.context.charge_id = "charge-2"
    decision = await till.limiter.consume("org:acme", PLAN, UNITS, "charge-3")
    store, send = till.limiter._store, till.limiter._store.send
    lost: list[bytes] = []

    def lose_the_first_reply(packed: bytes, done: Done) -> None:
        lost.append(packed)
        first = len(lost) == 1
        send(packed, lambda reply: done(StoreUnavailable("state") if first else reply))

    store.send = lose_the_first_reply  # type: ignore[method-assign]
    refunded = await till.limiter.refund(decision)
    assert (refunded.used_day, refunded.units) == (UNITS, 0)
    assert len(lost) == 2
    assert await till.used() == UNITS


async def test_a_charge_that_cannot_be_refunded_stays_for_the_caller_and_for_the_statistics(
    till: Till, store: SingleNodeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = metrics.quota_decisions.labels(PLAN.name, "not-refunded")
    before = counter._value.get()
    send = store.send
    async with till.charge() as charge:
        monkeypatch.setattr(store, "send", lambda packed, done: done(StoreUnavailable("state")))
        charge.settle(web.Response(status=503))
    monkeypatch.setattr(store, "send", send)
    assert await till.used() == UNITS
    assert till.context.units == UNITS, "what statistics of use and the log of calls count"
    assert f";r={PLAN.daily_units - UNITS};".encode() in till.context.limit_fields
    assert counter._value.get() == before + 1


async def test_a_charge_that_is_refunded_too_late_stays_for_the_caller_and_for_the_statistics(
    till: Till, store: SingleNodeClient
) -> None:
    counters = [metrics.quota_decisions.labels(PLAN.name, outcome) for outcome in ("refunded", "not-refunded")]
    before = [counter._value.get() for counter in counters]
    async with till.charge() as charge:
        assert await store.command("DEL", keys.charge_marker("org:acme", "charge-1")) == 1, "as if it had expired"
        charge.settle(web.Response(status=503))
    assert await till.used() == till.context.units == UNITS
    assert f";r={PLAN.daily_units - UNITS};".encode() in till.context.limit_fields
    assert [counter._value.get() for counter in counters] == [before[0], before[1] + 1]


async def test_a_refunded_call_that_is_repeated_is_charged_anew(till: Till) -> None:
    for status in (503, 200):
        async with till.charge() as charge:
            charge.settle(web.Response(status=status))
    assert await till.used() == till.context.units == UNITS


async def test_the_charge_of_an_order_of_unknown_fate_stays_without_the_store(
    till: Till, store: SingleNodeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = store.send

    async def place_without_stores() -> None:
        async with till.charge() as charge:
            monkeypatch.setattr(store, "send", lambda packed, done: done(StoreUnavailable("state")))
            await place(till, charge, StoreUnavailable("database"))

    with pytest.raises(StoreUnavailable):
        await place_without_stores()
    monkeypatch.setattr(store, "send", send)
    assert await till.used() == UNITS
    assert till.context.units == UNITS


async def test_a_charge_that_was_not_taken_leaves_no_units_of_a_call_that_fails(
    till: Till, store: SingleNodeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "healthy", False)
    async with till.charge() as charge:
        charge.settle(web.Response(status=503))
    assert till.context.units == 0
