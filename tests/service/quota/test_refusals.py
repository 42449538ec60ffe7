"""A caller who is refused until midnight costs the store almost nothing, and is served as soon as units come back."""

import asyncio
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from edge.quota.decision import REFUSED_DAY, REFUSED_SECOND, QuotaDecision
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.known_refusals import KnownRefusals
from edge.quota.limiter import RateLimiter
from edge.quota.unmetered_limits import burst_of
from edge.storage.redis_client import SingleNodeClient
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from tests.support.accounts import ANONYMOUS as PLAN
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.database import execute
from tests.support.outages import refusing
from tests.support.servers import Contents
from tests.support.shop import open_shop


def _process(store: SingleNodeClient) -> RateLimiter:
    """Return a limiter as another process has one: with a memory of its own."""
    return RateLimiter(store, DegradedLimiter())


async def _consume(limiter: RateLimiter, account: str, units: int, charge_id: str, plan: Plan = PLAN) -> QuotaDecision:
    """Charge for a request that begins now; a request later than a refusal is what the memory is for."""
    future: asyncio.Future[QuotaDecision] = asyncio.get_running_loop().create_future()
    limiter.consume_then(account, plan, units, charge_id, future.set_result, time.time())
    return await future


async def _scripts_run(store: SingleNodeClient) -> int:
    statistics = (await store.command("INFO", "commandstats")).decode()
    [line] = [line for line in statistics.splitlines() if line.startswith("cmdstat_evalsha:")]
    return int(line.partition("calls=")[2].partition(",")[0])


async def test_a_refused_caller_does_not_cost_the_store_a_call_each_time(store: SingleNodeClient) -> None:
    limiter = _process(store)
    for n in range(4):
        await _consume(limiter, "ip:a", 1, f"a{n}")
    before = await _scripts_run(store)
    refused = [await _consume(limiter, "ip:a", 1, f"b{n}") for n in range(500)]
    assert {(one.outcome, one.used_day, one.verified) for one in refused} == {(REFUSED_DAY, 3, True)}
    assert await _scripts_run(store) - before <= 50


async def test_a_refund_of_another_process_lifts_a_refusal_within_a_second(store: SingleNodeClient) -> None:
    here, there = _process(store), _process(store)
    taken = [await _consume(there, "ip:b", 1, f"b{n}") for n in range(3)]
    assert not (await _consume(here, "ip:b", 1, "refused")).allowed
    await there.refund(taken[0])
    refunded = time.time()
    while (began := time.time()) and not (await _consume(here, "ip:b", 1, "again")).allowed:
        assert began < refunded + 1.0
        await asyncio.sleep(0.01)
    assert not (await _consume(there, "ip:b", 1, "one too many")).allowed


async def test_a_refund_of_the_same_process_lifts_a_refusal_at_once(store: SingleNodeClient) -> None:
    limiter = _process(store)
    taken = [await _consume(limiter, "ip:c", 1, f"c{n}") for n in range(3)]
    assert not (await _consume(limiter, "ip:c", 1, "refused")).allowed
    await limiter.refund(taken[0])
    assert (await _consume(limiter, "ip:c", 1, "again")).allowed


async def test_another_plan_or_fewer_units_are_decided_by_the_store(store: SingleNodeClient) -> None:
    limiter = _process(store)
    await _consume(limiter, "ip:d", 2, "d1")
    assert not (await _consume(limiter, "ip:d", 2, "d2")).allowed
    assert (await _consume(limiter, "ip:d", 1, "d3")).allowed
    assert not (await _consume(limiter, "ip:d", 1, "d4")).allowed
    assert (await _consume(limiter, "ip:d", 1, "d5", replace(PLAN, daily_units=100))).allowed


async def test_many_at_once_with_refunds_between_are_never_more_than_the_limit(store: SingleNodeClient) -> None:
    processes = [_process(store) for _ in range(3)]
    plan = replace(PLAN, daily_units=20)

    async def caller(n: int) -> int:
        kept = 0
        for turn in range(20):
            limiter = processes[(n + turn) % 3]
            decision = await _consume(limiter, "ip:e", 1, f"e{n}-{turn}", plan)
            if decision.allowed and turn % 2:
                await limiter.refund(decision)
            elif decision.allowed:
                kept += 1
        return kept

    kept = sum(await asyncio.gather(*(caller(n) for n in range(30))))
    used = await processes[0].usage("ip:e", plan)
    assert kept == used.used_day <= 20


@pytest.mark.parametrize(
    ("outcome", "ends_in", "seconds", "known"),
    [
        (REFUSED_DAY, 86_400, 0.5, True),
        (REFUSED_DAY, 86_400, 0.75, False),
        (REFUSED_DAY, 2, 0.5, True),
        (REFUSED_DAY, 1, 0.0, False),  # the store's clock may begin a new day meanwhile
        (REFUSED_SECOND, 86_400, 0.0, False),
        (1, 86_400, 0.0, False),
    ],
)
def test_only_refusals_of_the_day_are_known_and_only_for_the_rest_of_their_second(
    outcome: int, ends_in: int, seconds: float, known: bool
) -> None:
    now = [1000.25]
    refusals = KnownRefusals(lambda: now[0])
    refusals.note(QuotaDecision("ip:f", "1", PLAN, 1, outcome, 3, 0, 20_000, ends_in))
    now[0] += seconds
    assert (refusals.find("ip:f", PLAN, 1, began=1000.251) is not None) == known


async def test_a_second_attempt_at_a_charged_call_is_allowed_though_its_account_is_refused(
    store: SingleNodeClient,
) -> None:
    limiter, began = _process(store), time.time()
    for n in range(3):
        await _consume(limiter, "ip:g", 1, f"g{n}")
    assert not (await _consume(limiter, "ip:g", 1, "refused")).allowed
    future: asyncio.Future[QuotaDecision] = asyncio.get_running_loop().create_future()
    limiter.consume_then("ip:g", PLAN, 1, "g0", future.set_result, began)
    assert (await future).allowed


DRY_RUN = "/index/cohorts?brand=vita&dry_run=true"


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def test_the_burst_of_calls_that_cost_nothing_ends_in_429_and_charges_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    execute(settings, "UPDATE plans SET burst_units = 4 WHERE name = 'brand'")
    greedy, other = api_key(settings), api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        answers = await asyncio.gather(*(edge.get(DRY_RUN, key=greedy) for _ in range(60)))
        refused = [answer for answer in answers if answer.status == 429]
        assert {answer.status for answer in answers} == {200, 429}
        assert refused[0].json["policy"] == "unmetered-burst"
        assert (refused[0].json["limit"], refused[0].head["Retry-After"]) == (8, "1")
        assert "8 calls without units a second" in refused[0].json["detail"]
        assert (await edge.get(DRY_RUN, key=other)).status == 200
        # The paid burst is still whole: other counters.
        paid = await edge.get("/index/lookup/IID-99D2F-46WJ3-4S6N3", key=greedy)
        assert paid.status in (200, 404)
        assert "r=3;t=1" in paid.head["RateLimit"]


async def test_a_refused_dry_run_needs_no_database(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The edge knows the key throughout, however slow the machine: what is left to ask the database is the dry run.
    monkeypatch.setattr("edge.auth.credentials._HOLDS_SECONDS", 60.0)
    monkeypatch.setattr("edge.auth.credentials._OUTAGE_SECONDS", 60.0)
    execute(settings, "UPDATE plans SET burst_units = 1 WHERE name = 'brand'")
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        assert (await edge.get(DRY_RUN, key=key)).status == 200  # the edge remembers the key
        with refusing(settings):
            began = time.monotonic()
            answers = await asyncio.gather(*(edge.get(DRY_RUN, key=key) for _ in range(60)))
            seconds = int(time.monotonic() - began) + 2  # the first and the last of them are begun, not whole
    found = Counter(answer.status for answer in answers)
    assert set(found) == {503, 429} and found[503] <= 2 * seconds


def test_limits_of_plans_that_were_replaced_are_not_kept() -> None:
    plans = [
        Plan(name="p", title="P", rank=2, counted_by="organization", daily_units=1, burst_units=1) for _ in "x" * 500
    ]
    assert all(burst_of(plan) is burst_of(plan) for plan in plans)
    assert burst_of.cache_info().currsize < len(plans)
