"""A clock of the state store that steps gives no allowance twice: each day of it has one, whichever way it is reached."""

import hashlib
from collections.abc import Callable

import pytest

from edge.quota import limiter as meters
from edge.quota.decision import QuotaDecision
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import LuaScript, RateLimiter
from edge.storage.redis_client import SingleNodeClient
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from tests.assurance.drills.clock_skew_stores import seconds_to_noon, step_state_store, with_steps
from tests.support.quota_model import DAY_SECONDS

LIMIT = 5

PLAN = Plan(
    name="brand",
    title="",
    rank=0,
    counted_by="organization",
    daily_units=LIMIT,
    burst_units=1000,
    jobs_running=0,
    jobs_queued=0,
    batch_iids_max=0,
)

HOUR = 3_600

MIDNIGHT = DAY_SECONDS // 2

Step = Callable[[int], None]


@pytest.fixture
def step(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Step:
    """Sets the store's clock so many seconds past noon; it begins at noon, where an hour crosses no midnight."""
    script = LuaScript("take.lua")
    script.source = with_steps(script.source)
    script.digest = hashlib.sha1(script.source, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(meters, "TAKE", script)
    noon = seconds_to_noon()
    step_state_store(settings, noon)
    return lambda seconds: step_state_store(settings, noon + seconds)


@pytest.fixture
def meter(store: SingleNodeClient) -> RateLimiter:
    return RateLimiter(store, DegradedLimiter())


async def _ask(meter: RateLimiter, name: str, times: int = LIMIT + 3) -> list[QuotaDecision]:
    return [await meter.consume("org:a", PLAN, 1, f"{name}-{n}") for n in range(times)]


def _served_stepped_clock(decisions: list[QuotaDecision]) -> int:
    return sum(decision.allowed for decision in decisions)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR, 61, -61])
async def test_a_step_within_the_day_leaves_the_count_exact(meter: RateLimiter, step: Step, seconds: int) -> None:
    before = await _ask(meter, "before", 2)
    step(seconds)
    during = await _ask(meter, "during", 2)
    step(0)
    assert _served_stepped_clock(before + during + await _ask(meter, "after")) == LIMIT


async def test_a_clock_that_crosses_midnight_and_goes_back_gives_one_further_allowance(
    meter: RateLimiter, step: Step
) -> None:
    first = await _ask(meter, "evening")
    rounds = []
    for n in range(5):
        step(MIDNIGHT + 60)
        rounds.append(await _ask(meter, f"morning-{n}"))
        step(0)
        rounds.append(await _ask(meter, f"evening-{n}"))
    assert [_served_stepped_clock(first), *map(_served_stepped_clock, rounds)] == [LIMIT, LIMIT, *[0] * 9]


async def test_a_refusal_asks_to_wait_for_one_second_to_one_day(meter: RateLimiter, step: Step) -> None:
    for seconds in (HOUR, -HOUR, MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + 1, -MIDNIGHT, -MIDNIGHT - 1):
        step(seconds)
        decisions = await _ask(meter, str(seconds))
        refused = [decision for decision in decisions if not decision.allowed]
        assert refused, seconds
        assert all(decision.verified and 1 <= decision.retry_after_seconds <= DAY_SECONDS for decision in refused), (
            seconds
        )
