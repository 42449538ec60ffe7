"""Charges the calls whose price is fixed, and limits calls about organizations by person.

Where the price depends on the request, the handler charges as soon as it knows it.
"""

from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from edge.http.context import CONTEXT
from edge.http.routing import Rule, rule_of
from edge.quota.billing import Billing
from edge.quota.headers import limit_fields
from edge.quota.people import PersonLimits
from edge.storage.fair_share import ACCOUNT


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
