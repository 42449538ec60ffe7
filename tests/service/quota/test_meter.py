"""The rate limiter is exact: never one more than the limit under concurrency, and a refusal uses nothing up."""

import asyncio
from collections import Counter

import hiredis
import pytest

from edge.quota import limiter as meters
from edge.quota.decision import QuotaDecision
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import RateLimiter
from edge.quota.refusals import refusal
from edge.storage.redis_client import SingleNodeClient
from shared.organizations.accounts import Plan
from shared.redis import keys
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.accounts import ANONYMOUS
from tests.support.quota_model import DAY_SECONDS, PLANS, Model, compare_with_model

CLIENTS, CALLERS, ROUNDS = 3, 40, 12


class Naive(RateLimiter):
    """The twin without the guard: reads the counter, then writes it."""

    async def consume(self, account: str, plan: Plan, units: int, charge_id: str) -> QuotaDecision:
        key = keys.quota(account, 0)
        used = int(await self._store.command("GET", key) or 0)
        if used + units > plan.daily_units:
            return QuotaDecision(account, charge_id, plan, units, 0, used, 0, 0, 1)
        await self._store.command("INCRBY", key, units)
        return QuotaDecision(account, charge_id, plan, units, 1, used + units, 0, 0, 1)


async def _served(url: str, kind: type[RateLimiter], limit: int) -> list[int]:
    """Let the callers of several clients, each with a connection of its own, ask at once; return how many were served."""
    plan = Plan(**{**{s: getattr(ANONYMOUS, s) for s in Plan.__slots__}, "daily_units": limit, "burst_units": 10**6})
    names = [str(number) for number in range(CLIENTS)]
    clients = [SingleNodeClient(url, name="state", deadline_seconds=5.0, log=Log("tests")) for _ in names]
    for client in clients:
        await client.start()
    meters_of_clients = {name: kind(client, DegradedLimiter()) for name, client in zip(names, clients, strict=True)}
    totals = []
    for number in range(ROUNDS):
        account = f"ip:{kind.__name__}-{limit}-{number}"
        decisions = await asyncio.gather(
            *(
                meter.consume(account, plan, 1, f"{name}-{caller}")
                for caller in range(CALLERS)
                for name, meter in meters_of_clients.items()
            )
        )
        totals.append(sum(decision.allowed for decision in decisions))
    for client in clients:
        await client.close()
    return totals


async def test_exactly_the_limit_is_served_in_every_round(settings: Settings) -> None:
    """A twin that reads the counter and then writes it shows that the callers do meet."""
    for limit in (3, 100):
        assert await _served(settings.state_url, RateLimiter, limit) == [limit] * ROUNDS, limit
    assert max(await _served(settings.state_url, Naive, 3)) > 3


async def test_a_refusal_burns_nothing(store: SingleNodeClient) -> None:
    meter = RateLimiter(store, DegradedLimiter())
    await meter.consume("ip:a", ANONYMOUS, 2, "1")
    refused = await meter.consume("ip:a", ANONYMOUS, 2, "2")
    assert (refused.allowed, refused.used_day) == (False, 2)
    assert (await meter.consume("ip:a", ANONYMOUS, 1, "3")).allowed


async def test_the_second_window_refuses_without_charging_the_day(store: SingleNodeClient) -> None:
    meter = RateLimiter(store, DegradedLimiter())
    plan = Plan(**{**{s: getattr(ANONYMOUS, s) for s in Plan.__slots__}, "daily_units": 1000, "burst_units": 5})
    decisions = [await meter.consume("ip:b", plan, 1, str(n)) for n in range(12)]
    refused = [decision for decision in decisions if not decision.allowed]
    assert refused
    assert {decision.window for decision in refused} == {"burst"}
    assert {decision.retry_after_seconds for decision in refused} == {1}
    assert (await meter.usage("ip:b", plan)).used_day == 12 - len(refused)


async def test_the_same_charge_twice_is_taken_once(store: SingleNodeClient) -> None:
    meter = RateLimiter(store, DegradedLimiter())
    outcomes = [(await meter.consume("ip:c", ANONYMOUS, 1, "same")).outcome for _ in range(5)]
    assert outcomes == [1, 2, 2, 2, 2]
    assert (await meter.usage("ip:c", ANONYMOUS)).used_day == 1


async def test_a_charge_is_refunded_once_and_never_below_zero(store: SingleNodeClient) -> None:
    meter = RateLimiter(store, DegradedLimiter())
    decision = await meter.consume("ip:d", ANONYMOUS, 1, "1")
    used = [(await meter.refund(decision)).used_day for _ in range(3)]
    assert used == [0, 0, 0]
    assert (await meter.usage("ip:d", ANONYMOUS)).used_day == 0


async def test_a_store_that_lost_its_scripts_is_taught_them_again(store: SingleNodeClient) -> None:
    meter = RateLimiter(store, DegradedLimiter())
    await meter.consume("ip:f", ANONYMOUS, 1, "1")
    await store.command("SCRIPT", "FLUSH")
    assert (await meter.consume("ip:f", ANONYMOUS, 1, "2")).used_day == 2


@pytest.mark.parametrize(("before", "after"), [(86_399, 86_400), (20_778 * 86_400 - 1, 20_778 * 86_400)])
async def test_midnight_opens_a_new_day_and_not_before(
    store: SingleNodeClient, monkeypatch: pytest.MonkeyPatch, before: int, after: int
) -> None:
    async def at(second: int, charge_id: str) -> QuotaDecision:
        source = meters.TAKE.source.replace(b"tonumber(redis.call('TIME')[1])", str(second).encode())
        assert source != meters.TAKE.source
        digest = await store.command("SCRIPT", "LOAD", source)
        monkeypatch.setattr(meters.TAKE, "digest", digest.decode())
        return await RateLimiter(store, DegradedLimiter()).consume("ip:e", ANONYMOUS, 1, charge_id)

    evening = [await at(before, f"e{n}") for n in range(4)]
    morning = [await at(after, f"m{n}") for n in range(4)]
    assert [d.allowed for d in evening + morning] == [True, True, True, False] * 2
    assert evening[-1].retry_after_seconds == 1
    assert morning[-1].retry_after_seconds == 86_400


async def test_a_lost_reply_is_asked_again_and_charged_once(store: SingleNodeClient) -> None:
    # A busy machine connects again later than it would be asked.
    meter = RateLimiter(store, DegradedLimiter(), retry_seconds=0.5)
    await meter.consume("ip:g", ANONYMOUS, 1, "0")
    asked = asyncio.create_task(meter.consume("ip:g", ANONYMOUS, 1, "lost"))
    await asyncio.sleep(0)
    assert store._connection is not None
    store._connection._flush()
    store._connection.abort()  # the store has the command, and its reply is lost
    decision = await asked
    assert decision.verified
    assert decision.allowed
    assert (await meter.usage("ip:g", ANONYMOUS)).used_day == 2


async def test_without_the_store_a_little_is_served_and_no_number_is_stated(settings: Settings) -> None:
    down = SingleNodeClient("unix:///nowhere/at/all.sock", name="state", deadline_seconds=0.1, log=Log("tests"))
    await down.start()
    meter = RateLimiter(down, DegradedLimiter())
    signed_up = Plan(**{**{s: getattr(ANONYMOUS, s) for s in Plan.__slots__}, "name": "free", "daily_units": 100})
    paid = Plan(**{**{s: getattr(ANONYMOUS, s) for s in Plan.__slots__}, "name": "brand", "counted_by": "organization"})
    served = Counter()
    for name, plan in (("anonymous", ANONYMOUS), ("free", signed_up), ("brand", paid)):
        for n in range(50):
            decision = await meter.consume(f"ip:{name}", plan, 1, str(n))
            assert not decision.verified
            served[name] += decision.allowed
    await down.close()
    assert served == {"anonymous": 1, "free": 12, "brand": 50}


async def test_without_the_store_no_caller_is_served_where_that_was_chosen(settings: Settings) -> None:
    down = SingleNodeClient("unix:///nowhere/at/all.sock", name="state", deadline_seconds=0.1, log=Log("tests"))
    await down.start()
    decision = await RateLimiter(down, DegradedLimiter(closed=True)).consume("ip:a", ANONYMOUS, 1, "1")
    await down.close()
    assert (decision.allowed, decision.verified, decision.retry_after_seconds) == (False, False, 2)
    assert refusal(decision, "192.0.2.1").type.slug == "service-unavailable"


def test_hiredis_speaks_of_errors_as_the_meter_expects() -> None:
    reader = hiredis.Reader()
    reader.feed(b"-NOSCRIPT No matching script.\r\n")
    assert isinstance(reader.gets(), hiredis.ReplyError)


def test_the_meter_keeps_to_its_model(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SingleNodeClient(settings.state_url, name="state", deadline_seconds=2.0, log=Log("tests"))
    compare_with_model(store, monkeypatch, examples=20, steps=30)


def test_the_model_refunds_a_unit_only_to_the_second_it_was_taken_in() -> None:
    model, plan = Model(), PLANS["org"]
    assert model.charge("org:a", "first", 10, plan)
    model.second += 1
    assert model.charge("org:a", "second", 10, plan)
    model.refund("org:a", "first", model.second // DAY_SECONDS)
    assert not model.charge("org:a", "third", 10, plan)
