"""Random sequences of charges, repeats, refunds and plan changes against a model of twenty lines."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import settings as options
from hypothesis import strategies as st

from edge.quota.limiter import DegradedLimiter, RateLimiter
from edge.quota.policy import Decision
from edge.storage.redis_client import SingleNodeClient
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from shared.telemetry.log import Log

LIMITS = {"anonymous": 3, "free": 12}
PLANS = {
    name: Plan(
        name=name,
        title="",
        rank=0,
        counted_by="ip",
        daily_units=limit,
        burst_units=10**6,
        jobs_running=0,
        jobs_queued=0,
        batch_iids_max=0,
    )
    for name, limit in LIMITS.items()
}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("charge"), st.sampled_from(sorted(PLANS)), st.integers(1, 4)),
        st.tuples(st.just("repeat"), st.sampled_from(sorted(PLANS)), st.integers(0, 9)),
        st.tuples(st.just("refund"), st.just("anonymous"), st.integers(0, 9)),
    ),
    max_size=40,
)


class Model:
    """What the meter promises, said as plainly as possible."""

    def __init__(self) -> None:
        self.used = 0
        self.taken: dict[str, int] = {}

    def charge(self, charge_id: str, units: int, limit: int) -> bool:
        if charge_id in self.taken:
            return True
        if self.used + units > limit:
            return False
        self.used += units
        self.taken[charge_id] = units
        return True

    def refund(self, charge_id: str) -> None:
        self.used -= self.taken.pop(charge_id, 0)


async def _walk(url: str, account: str, steps: list[tuple[str, str, int]]) -> None:
    store = SingleNodeClient(url, name="state", deadline_seconds=2.0, log=Log("tests"))
    await store.start()
    while not store.healthy:  # a busy machine may not connect at the first attempt
        await asyncio.sleep(0.01)
    meter, model, decisions = RateLimiter(store, DegradedLimiter()), Model(), list[Decision]()
    try:
        for n, (act, plan, number) in enumerate(steps):
            known = decisions[number % len(decisions)] if decisions else None
            if act == "charge":
                decision = await meter.consume(account, PLANS[plan], number, f"c{n}")
                assert decision.allowed == model.charge(f"c{n}", number, LIMITS[plan])
                decisions.append(decision)
            elif act == "repeat" and known is not None:
                again = await meter.consume(account, PLANS[plan], known.units, known.charge_id)
                assert again.allowed == model.charge(known.charge_id, known.units, LIMITS[plan])
            elif act == "refund" and known is not None and known.allowed:
                await meter.refund(known)
                model.refund(known.charge_id)
            assert (await meter.usage(account, PLANS["free"])).used_day == model.used
    finally:
        await store.close()


def test_the_meter_keeps_to_its_model(settings: Settings) -> None:
    count = iter(range(10**6))

    @options(max_examples=150, suppress_health_check=list(HealthCheck), database=None)
    @given(STEPS)
    def walk(steps: Any) -> None:
        asyncio.run(_walk(settings.state_url, f"ip:model-{next(count)}", steps))

    walk()
