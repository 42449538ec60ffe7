"""What suggestions cost: a unit for several where the plan counts addresses, else nothing within its burst limit."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache

from edge.http.context import Context
from edge.http.problems import Problem
from edge.quota.billing import Billing, Charge
from edge.quota.decision import limit_fields
from edge.quota.limiter import RateLimiter
from edge.quota.refusals import refusal
from shared.organizations.accounts import Plan

# A word is typed in several requests.
_PER_SECOND = 20
_DAY_SECONDS = 86_400


class SuggestionBilling:
    """Counts suggestions, and charges a unit for the first of each `per_unit` of an address and UTC day."""

    def __init__(self, limiter: RateLimiter, billing: Billing, per_unit: int) -> None:
        self._per_unit = per_unit
        self._limiter = limiter
        self._billing = billing

    @asynccontextmanager
    async def charge(self, context: Context) -> AsyncIterator[Charge]:
        """Count one suggestion before the block, and charge a unit where one is due.

        As `Billing.charge`: the block gives its response to `Charge.settle`, or raises. Raises the problem
        `rate-limited`.
        """
        async with AsyncExitStack() as stack:
            yield await self._begin(context, stack)

    async def _begin(self, context: Context, stack: AsyncExitStack) -> Charge:
        principal, account = context.principal, context.account
        assert principal is not None
        assert account is not None
        by_organization = principal.plan.counted_by == "organization"
        counted_as = account if by_organization else context.network
        limit = limit_of(principal.plan, self._per_unit)
        count = await self._limiter.consume(f"suggestions:{counted_as}", limit, 1, context.charge_id)
        if not count.allowed:
            raise refusal(count, context.network)
        if by_organization:
            return Charge(self._limiter, context)
        if count.verified and count.used_day % self._per_unit != 1:
            context.limit_fields = limit_fields(await self._limiter.usage(account, principal.plan))
            return Charge(self._limiter, context)
        try:
            return await stack.enter_async_context(self._billing.charge(context, 1))
        except Problem:
            # The next suggestion is the one that must be paid for again.
            await self._limiter.refund(count)
            raise


@lru_cache(maxsize=64)
def limit_of(plan: Plan, per_unit: int) -> Plan:
    """Return the limit of suggestions that belongs to a plan; one object for each plan, as caches compare by object."""
    by_organization = plan.counted_by == "organization"
    return Plan(
        name="suggestions",
        title="suggestions",
        rank=plan.rank,
        counted_by=plan.counted_by if by_organization else "address",
        daily_units=plan.burst_units * _DAY_SECONDS if by_organization else plan.daily_units * per_unit,
        burst_units=plan.burst_units if by_organization else _PER_SECOND,
    )
