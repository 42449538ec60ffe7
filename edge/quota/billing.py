"""Charges calls, and refunds those that are not counted. The middleware charges the calls whose price is fixed."""

import contextlib
from collections.abc import AsyncIterator

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from edge.http.context import CONTEXT, Context
from edge.http.problems import Problem
from edge.http.routing import Rule, rule_of
from edge.quota.decision import QuotaDecision, limit_fields
from edge.quota.limiter import RateLimiter
from edge.quota.refusals import refusal
from edge.quota.unmetered_limits import UnmeteredLimits
from shared.errors import ItemNotFound, StoreUnavailable

# 300 lists the items to choose from.
COUNTED = frozenset({200, 202, 206, 300})


class Charge:
    """The charge of one call. `units` is 0, and `day` with it, for a call that cost nothing or was not counted."""

    def __init__(self, limiter: RateLimiter, context: Context, decision: QuotaDecision | None = None) -> None:
        assert context.account is not None
        counted = decision is not None and decision.verified
        self.account: str = context.account
        self.charge_id = context.charge_id
        self.endpoint = context.endpoint
        self.day = decision.day if decision and counted else 0
        self.units = decision.units if decision and counted else 0
        self.status: int | None = None
        self._decision = decision
        self._limiter = limiter
        self._context = context
        self._owned_by_order = False

    def settle(self, response: web.StreamResponse) -> web.StreamResponse:
        """Note the response to the call, whose status decides whether the charge stays, and return it."""
        self.status = response.status
        return response

    async def hand_over(self, *, new: bool) -> None:
        """Hand the charge over to the order that was placed; a new one owns it and its refund from then on.

        An order that is not new was paid before, so this charge is refunded: now, because a call that waits for its job
        ends when the charge can be refunded no more.
        """
        self._owned_by_order = new
        if not new:
            await self._refund()

    async def refund_order(self) -> None:
        """Refund the charge in the name of an order that may exist or not: a later refund of it then gives nothing."""
        self._owned_by_order = True
        # Without the state store the charge stays. Its error must not hide that the call was cancelled.
        with contextlib.suppress(StoreUnavailable):
            if self.units:
                await self._limiter.refund_order(self.account, self.charge_id, self.day, self.units)
            self._context.units = 0

    async def close(self, *, counts: bool) -> None:
        """Refund the charge unless the call counts or an order owns it."""
        if not counts and not self._owned_by_order:
            await self._refund()

    async def _refund(self) -> None:
        """Refund the charge once; one that cannot be refunded stays, for the caller, the statistics and the log."""
        if self._decision is not None:
            decision, self._decision = self._decision, None
            decision = await self._limiter.refund(decision)
            self._context.units = decision.units
            self._context.limit_fields = limit_fields(decision)


class Billing:
    """Charges the caller of a request; units and limit headers are kept in the context."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter
        self._unmetered = UnmeteredLimits(limiter)

    @contextlib.asynccontextmanager
    async def charge(self, context: Context, units: int) -> AsyncIterator[Charge]:
        """Charge units before the block, or count a call that costs none, and refund them unless the response counts.

        The block gives its response to `Charge.settle`, or raises. Raises the problem `rate-limited` where a limit is
        reached.
        """
        charge = await self._consume(context, units)
        try:
            yield charge
        except BaseException as error:
            await charge.close(counts=_is_answer(error))
            raise
        assert charge.status is not None
        await charge.close(counts=charge.status in COUNTED)

    async def count_call(self, context: Context) -> None:
        """Count a call that costs no unit, before its work. Raises the problem `rate-limited`.

        Only organizations are counted so: a person's calls have limits of their own, a free caller's address has
        nginx's.
        """
        principal, account = context.principal, context.account
        if principal is not None and account is not None and principal.plan.counted_by == "organization":
            await self._unmetered.consume(account, principal.plan, context.network, context.charge_id)

    async def _consume(self, context: Context, units: int) -> Charge:
        if not units:
            await self.count_call(context)
            return Charge(self._limiter, context)
        assert context.principal is not None
        assert context.account is not None
        decision = await self._limiter.consume(context.account, context.principal.plan, units, context.charge_id)
        context.limit_fields = limit_fields(decision)
        if not decision.allowed:
            raise refusal(decision, context.network)
        context.units = units
        return Charge(self._limiter, context, decision)


def _is_answer(error: BaseException) -> bool:
    """Return whether an error answers a valid question: there is no such item, or there are several."""
    return isinstance(error, ItemNotFound) or (isinstance(error, Problem) and error.type.status in COUNTED)


def rate_limit(billing: Billing) -> Middleware:
    """Return the aiohttp middleware that charges the units of a rule; a rule with a price leaves it to the handler."""

    @web.middleware
    async def charge(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await charge_and_respond(billing, rule_of(request), request, handler)

    return charge


async def charge_and_respond(
    billing: Billing, rule: Rule, request: web.Request, handler: Handler
) -> web.StreamResponse:
    """Return the handler's response, charged by the rule. Raises `rate-limited`, and what the handler raises."""
    context = request[CONTEXT]
    if rule.price is not None:
        return await handler(request)
    if not rule.units:
        await billing.count_call(context)
        return await handler(request)
    async with billing.charge(context, rule.units) as charge:
        return charge.settle(await handler(request))
