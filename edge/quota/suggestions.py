"""How many suggestions a free account may have: they cost no unit, and must not replace the searches that do."""

from functools import lru_cache

from edge.quota.limiter import Decision, RateLimiter
from shared.organizations.accounts import Plan

# A search gives 50 hits, and a word is typed in several requests, each of which gives a few names: in a day they give
# less than the searches of that day do.
_PER_DAILY_UNIT = 2
_PER_SECOND = 20


class SuggestionLimits:
    """Consumes one suggestion of an address and UTC day, where the plan counts addresses; paid plans have no limit."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter

    async def consume(self, plan: Plan, network: str, charge_id: str) -> Decision | None:
        """Count one suggestion. Returns None where the plan counts organizations."""
        if plan.counted_by == "organization":
            return None
        return await self._limiter.consume(f"suggestions:{network}", limit_of(plan), 1, charge_id)


@lru_cache(maxsize=64)
def limit_of(plan: Plan) -> Plan:
    """Return the limit of suggestions that belongs to a plan; one object for each plan, as caches compare by object."""
    return Plan(
        name="suggestions",
        title="suggestions",
        rank=plan.rank,
        counted_by="address",
        daily_units=plan.daily_units * _PER_DAILY_UNIT,
        burst_units=_PER_SECOND,
    )
