"""Charging of calls: prepare, charge, respond; the headers of limits, refusals, and the calls that cost no unit.

The middleware charges the calls whose price is fixed, and limits calls about organizations by person and sign-ins by
address.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from edge.http.context import CONTEXT, Context
from edge.http.problems import Problem, unavailable
from edge.http.routing import Rule, rule_of
from edge.quota.limiter import NOT_COUNTED, Decision, RateLimiter
from shared.clock import rfc3339
from shared.errors import ItemNotFound, StoreUnavailable
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings

# The limit headers of a response: `RateLimit-Policy` and `RateLimit`, structured fields.
# Source: IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers).


def limit_fields(decision: Decision) -> bytes:
    """Return both as header lines; empty if nothing was counted, because the numbers are then unknown."""
    if not decision.verified:
        return b""
    return _form(decision.plan) % (decision.remaining_day, decision.ends_in_seconds, decision.remaining_second)


@lru_cache(maxsize=64)
def _form(plan: Plan) -> bytes:
    """Return both lines of a plan, with places for the units left today, the seconds of it, the units left now."""
    daily, burst = (name.replace("%", "%%") for name in (plan.daily_policy, plan.burst_policy))
    policy = f'"{daily}";q={plan.daily_units};w=86400, "{burst}";q={plan.burst_units};w=1'
    left = f'"{daily}";r=%d;t=%d, "{burst}";r=%d;t=1'
    return f"RateLimit-Policy: {policy}\r\nRateLimit: {left}\r\n".encode()


_UPGRADE_HINTS = {
    "anonymous": "Free sign-up has a higher limit; the Brand plan counts your organization, not your address.",
    "free": "The Brand plan has a higher limit and counts your organization, not your address.",
    "brand": "The Institutional plan has higher limits.",
    "institutional": "Ask us for a higher limit.",
    "person": "This limit protects the service; no plan raises it.",
    "sign-in": "This limit protects the service; no plan raises it.",
    "unmetered": "A higher plan has a higher limit.",
    "suggestions": "Enter what you search for. The Brand plan has no such limit.",
}

# The limits that count calls, not units.
_COUNTS_CALLS = {"person", "sign-in", "unmetered", "suggestions"}


def refusal(decision: Decision, network: str) -> Problem:
    """Make the problem `rate-limited`, or `service-unavailable` where nothing was counted."""
    if decision.outcome == NOT_COUNTED:
        return unavailable(StoreUnavailable("state", decision.retry_after_seconds))
    plan = decision.plan
    counted_as = network if plan.counted_by in ("ip", "address") else decision.account
    seconds = decision.retry_after_seconds
    resets_at = rfc3339(decision.resets_at)
    if decision.window == "burst":
        limit, policy = plan.burst_units, plan.burst_policy
        unit = plan.title if plan.name in _COUNTS_CALLS else "unit" if limit == 1 else "units"
        detail = f"Limit of {limit} {unit} a second reached; it resets in 1 s."
    elif plan.counted_by in ("person", "address"):
        limit, policy = plan.daily_units, plan.daily_policy
        detail = f"Daily limit of {limit} {plan.title} reached; it resets at {resets_at}."
    elif plan.counted_by == "ip":
        limit, policy = plan.daily_units, plan.daily_policy
        used = f"{min(decision.used_day, limit)}"
        detail = f"Daily free-tier limit for lookups reached ({used} of {limit} used); it resets at {resets_at}."
    else:
        limit, policy = plan.daily_units, plan.daily_policy
        used = f"{decision.used_day} of {limit} units used"
        detail = f"Daily limit of your organization reached ({used}); it resets at {resets_at}."
    extra = {
        "retry_after": seconds,
        "policy": policy,
        "limit": limit,
        "resets_at": resets_at,
        "counted_as": counted_as,
        "lifted_by": _UPGRADE_HINTS.get(plan.name, "A higher plan has higher limits."),
    }
    return Problem("rate-limited", detail, extra=extra, fields={"Retry-After": str(seconds)})


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
        self._held = 0

    async def consume(self, account: str, plan: Plan, network: str, charge_id: str) -> None:
        """Count one call. Raises the problem `rate-limited`, after a pause, if this second's calls are used up."""
        decision = await self._limiter.consume(f"calls:{account}", burst_of(plan), 1, charge_id)
        if not decision.allowed:
            released = asyncio.Event()
            self._hold(released.set)
            await released.wait()
            raise refusal(decision, network)

    def consume_then(self, account: str, plan: Plan, charge_id: str, done: Callable[[Decision], None]) -> None:
        """Count one call, and call `done` with the decision; after a pause if this second's calls are used up."""

        def decided(decision: Decision) -> None:
            if decision.allowed:
                done(decision)
            else:
                self._hold(lambda: done(decision))

        self._limiter.consume_then(f"calls:{account}", burst_of(plan), 1, charge_id, decided)

    def _hold(self, release: Callable[[], None]) -> None:
        """Call `release` after the pause; at once where as many refusals are held as may be."""
        if self._held >= _HELD_MAX:
            release()
            return

        def passed() -> None:
            self._held -= 1
            release()

        self._held += 1
        asyncio.get_running_loop().call_later(_HOLD_SECONDS, passed)


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


# 300 lists the items to choose from.
COUNTED = frozenset({200, 202, 206, 300})


class Placed(Protocol):
    """An order as it was placed."""

    @property
    def new(self) -> bool:
        """Whether this request made it."""


Order = TypeVar("Order", bound=Placed)


class Charge:
    """The charge of one call. `units` is 0, and `day` with it, for a call that cost nothing or was not counted."""

    def __init__(self, limiter: RateLimiter, context: Context, decision: Decision | None = None) -> None:
        assert context.account is not None
        counted = decision is not None and decision.verified
        self.account: str = context.account
        self.charge_id = context.charge_id
        self.endpoint = context.endpoint
        self.day = decision.day if decision and counted else 0
        self.units = decision.units if decision and counted else 0
        self._decision = decision
        self._limiter = limiter
        self._context = context
        self._owned_by_order = False

    async def settle(self, answering: Awaitable[web.StreamResponse]) -> web.StreamResponse:
        """Await the response and return it; refund the charge unless the response counts or an order owns it."""
        try:
            response = await answering
        except BaseException as error:
            await self._finish(counts=_is_answer(error))
            raise
        await self._finish(counts=response.status in COUNTED)
        return response

    async def pay_for(self, placing: Awaitable[Order]) -> Order:
        """Await the placing of an order and return it; a new one owns the charge and its refund from then on.

        An order that is not new was paid before, so this charge is refunded: now, because a call that waits for its job
        ends when the charge can be refunded no more. After an error that is no answer the order
        may exist or not: the charge is refunded in the order's name, so that a later refund of the order gives nothing.
        """
        try:
            order = await placing
        except Problem:  # the order was refused
            raise
        except BaseException:  # a stopping edge cancels what is being placed
            self._owned_by_order, self._context.units = True, 0
            if self.units:
                # Without the state store the charge stays. Its error must not hide that the call was cancelled.
                with contextlib.suppress(StoreUnavailable):
                    await self._limiter.refund_order(self.account, self.charge_id, self.day, self.units)
            raise
        self._owned_by_order = order.new
        if not order.new:
            await self._refund()
        return order

    async def _finish(self, *, counts: bool) -> None:
        if not counts and not self._owned_by_order:
            await self._refund()

    async def _refund(self) -> None:
        if self._decision is not None:
            decision, self._decision, self._context.units = self._decision, None, 0
            self._context.limit_fields = limit_fields(await self._limiter.refund(decision))


class Billing:
    """Charges the caller of a request; units and limit headers are kept in the context."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter
        self._unmetered = UnmeteredLimits(limiter)

    async def charge(self, context: Context, units: int) -> Charge:
        """Charge units, or count a call that costs none. Raises the problem `rate-limited` where a limit is reached."""
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

    async def count_call(self, context: Context) -> None:
        """Count a call that costs no unit, before its work. Raises the problem `rate-limited`.

        Only organizations are counted so: a person's calls have limits of their own, a free caller's address has
        nginx's.
        """
        principal, account = context.principal, context.account
        if principal is not None and account is not None and principal.plan.counted_by == "organization":
            await self._unmetered.consume(account, principal.plan, context.network, context.charge_id)


def _is_answer(error: BaseException) -> bool:
    """Return whether an error answers a valid question: there is no such item, or there are several."""
    return isinstance(error, ItemNotFound) or (isinstance(error, Problem) and error.type.status in COUNTED)


class PersonLimits:
    """Consumes one call at a time. During an outage of the state store a few calls of each person are allowed."""

    def __init__(self, limiter: RateLimiter, settings: Settings) -> None:
        self._limiter = limiter
        self._calls = Plan(
            name="person",
            title="calls about organizations",
            rank=1,
            counted_by="person",
            daily_units=settings.person_calls_per_day,
            burst_units=settings.person_calls_per_second,
        )
        self._sign_ins = Plan(
            name="sign-in",
            title="sign-ins",
            rank=0,
            counted_by="address",
            daily_units=settings.sign_ins_per_day,
            burst_units=settings.sign_ins_per_second,
        )

    async def consume_call(self, person_id: str, network: str, charge_id: str) -> Decision:
        """Count one call of a person. Raises the problem `rate-limited` where the limit is reached."""
        return _allowed(await self._limiter.consume(f"person:{person_id}", self._calls, 1, charge_id), network)

    async def consume_sign_in(self, network: str, charge_id: str) -> Decision:
        """Count one started sign-in of an address. Raises the problem `rate-limited`."""
        return _allowed(await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id), network)


def _allowed(decision: Decision, network: str) -> Decision:
    if not decision.allowed:
        raise refusal(decision, network)
    return decision


def person_limit(limits: PersonLimits) -> Any:
    """Return the aiohttp middleware that counts calls of people. It precedes validation: each of these calls reads
    PostgreSQL to find the person's organizations, those with wrong parameters too.
    """

    @web.middleware
    async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
        if rule_of(request).per_person:
            context = request[CONTEXT]
            assert context.person is not None
            decision = await limits.consume_call(context.person.id, context.network, context.charge_id)
            context.limit_fields = limit_fields(decision)
        return await handler(request)

    return count


def rate_limit(billing: Billing) -> Any:
    """Return the aiohttp middleware that charges the units of a rule; a rule with a price leaves it to the handler."""

    @web.middleware
    async def charge(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await charged(billing, rule_of(request), request, handler)

    return charge


async def charged(billing: Billing, rule: Rule, request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return the handler's response, charged by the rule. Raises `rate-limited`, and what the handler raises."""
    context = request[CONTEXT]
    if rule.price is not None:
        return await handler(request)
    if not rule.units:
        await billing.count_call(context)
        return await handler(request)
    charge = await billing.charge(context, rule.units)
    return await charge.settle(handler(request))
