"""Charges the calls whose price is fixed, and limits calls about organizations by person and sign-ins by address."""

from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from edge.http.context import CONTEXT
from edge.http.routing import Rule, rule_of
from edge.quota.billing import Billing, limit_fields, refusal
from edge.quota.limiter import Decision, RateLimiter
from edge.storage.database import ACCOUNT
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings


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


# Charges the calls whose price is fixed, and limits calls about organizations by person. Where the price depends on
# the request, the handler charges as soon as it knows it.


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
    ACCOUNT.set(context.account)
    if rule.price is not None:
        return await handler(request)
    if not rule.units:
        await billing.count_call(context)
        return await handler(request)
    charge = await billing.charge(context, rule.units)
    return await charge.settle(handler(request))
