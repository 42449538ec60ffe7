"""Limits that count calls of a person, and sign-ins of an address."""

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from edge.http.context import CONTEXT
from edge.http.routing import rule_of
from edge.quota.decision import QuotaDecision, limit_fields
from edge.quota.limiter import RateLimiter
from edge.quota.refusals import refusal
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

    async def consume_call(self, person_id: str, network: str, charge_id: str) -> QuotaDecision:
        """Count one call of a person. Raises the problem `rate-limited` where the limit is reached."""
        return _require_allowed(await self._limiter.consume(f"person:{person_id}", self._calls, 1, charge_id), network)

    async def consume_sign_in(self, network: str, charge_id: str) -> QuotaDecision:
        """Count one started sign-in of an address. Raises the problem `rate-limited`."""
        return _require_allowed(
            await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id), network
        )


def _require_allowed(decision: QuotaDecision, network: str) -> QuotaDecision:
    if not decision.allowed:
        raise refusal(decision, network)
    return decision


def person_limit(limits: PersonLimits) -> Middleware:
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
