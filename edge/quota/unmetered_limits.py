"""The limit of calls that cost no unit: calls a second of an organization."""

import asyncio
from collections.abc import Callable
from functools import lru_cache

from edge.quota.decision import QuotaDecision
from edge.quota.limiter import RateLimiter
from edge.quota.refusals import refusal
from shared.organizations.accounts import Plan

NAME = "unmetered"
_CALLS_PER_SECOND_FACTOR = 2
_DAY_SECONDS = 86_400
# A client that repeats a refused call at once would otherwise do so thousands of times a second at all others' expense.
# Bounded, so that held refusals cannot use up the connections.
_HOLD_SECONDS = 0.25
_HELD_MAX = 64


class UnmeteredLimits:
    """Consumes one call of an account: twice as many in a second as its plan has units, and no daily limit.

    While the state store is down an organization's calls are served, as its paid ones are.
    """

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter
        self._waiting = 0

    async def consume(self, account: str, plan: Plan, network: str, charge_id: str) -> None:
        """Count one call. Raises the problem `rate-limited`, after a pause, if this second's calls are used up."""
        decision = await self._limiter.consume(f"calls:{account}", burst_of(plan), 1, charge_id)
        if not decision.allowed:
            released = asyncio.Event()
            self._hold(released.set)
            await released.wait()
            raise refusal(decision, network)

    def consume_then(self, account: str, plan: Plan, charge_id: str, done: Callable[[QuotaDecision], None]) -> None:
        """Count one call, and call `done` with the decision; after a pause if this second's calls are used up."""

        def resolve(decision: QuotaDecision) -> None:
            if decision.allowed:
                done(decision)
            else:
                self._hold(lambda: done(decision))

        self._limiter.consume_then(f"calls:{account}", burst_of(plan), 1, charge_id, resolve)

    def _hold(self, release: Callable[[], None]) -> None:
        """Call `release` after the pause; at once where as many refusals are held as may be."""
        if self._waiting >= _HELD_MAX:
            release()
            return

        def end_pause() -> None:
            self._waiting -= 1
            release()

        self._waiting += 1
        asyncio.get_running_loop().call_later(_HOLD_SECONDS, end_pause)


@lru_cache(maxsize=64)
def burst_of(plan: Plan) -> Plan:
    """Return a plan's limit of such calls; one object for each plan, because caches of plans compare by object.

    Bounded, because each change of an account makes new objects of all plans.
    """
    calls = plan.burst_units * _CALLS_PER_SECOND_FACTOR
    return Plan(
        name=NAME,
        title="calls without units",
        rank=plan.rank,
        counted_by=plan.counted_by,
        daily_units=calls * _DAY_SECONDS,
        burst_units=calls,
    )
