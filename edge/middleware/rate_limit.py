"""The quota gate: charges before the handler, by the rule of the route, and gives back what is not counted."""

from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from edge.http.context import CONTEXT, Context
from edge.http.parameters import QUERY
from edge.http.routing import rule_of
from edge.quota.headers import limit_fields
from edge.quota.limiter import RateLimiter
from edge.quota.people import PersonLimits
from edge.quota.refusal import refusal
from edge.quota.unmetered import UnmeteredLimits
from edge.storage.fair_share import ACCOUNT
from shared.errors import ItemNotFound

COUNTED = frozenset({200, 202, 206})
_DRY_RUNS = ("dry_run", "preview")


class RateLimit:
    """Charges the account of the context. A request that is not counted leaves the counters as they were."""

    def __init__(self, meter: RateLimiter, people: PersonLimits) -> None:
        self._meter = meter
        self._people = people
        self._unmetered = UnmeteredLimits(meter)

    def person_middleware(self) -> Any:
        """Return the aiohttp middleware that counts calls of people. It stands before the gate of parameters: each of
        these calls reads PostgreSQL to find the person's organizations, those with wrong parameters too.
        """

        @web.middleware
        async def person_calls(request: web.Request, handler: Handler) -> web.StreamResponse:
            if rule_of(request).per_person:
                await self._count_person(request[CONTEXT])
            return await handler(request)

        return person_calls

    def middleware(self) -> Any:
        """Return the aiohttp middleware that charges units."""

        @web.middleware
        async def quota(request: web.Request, handler: Handler) -> web.StreamResponse:
            rule, context = rule_of(request), request[CONTEXT]
            ACCOUNT.set(context.account)
            # A dry run is known to cost no unit before its price is looked up. If it were counted afterwards, each
            # refused one would still cost the queries that find the price.
            dry_run = any(request.get(QUERY, {}).get(name) for name in _DRY_RUNS)
            if dry_run:
                await self._count_unmetered(context)
            asked = rule.units(request) if callable(rule.units) else rule.units
            units = asked if isinstance(asked, int) else await asked
            if units:
                return await self._charged(request, handler, units)
            if not dry_run:
                await self._count_unmetered(context)
            return await handler(request)

        return quota

    async def _count_person(self, context: Context) -> None:
        assert context.person is not None
        decision = await self._people.consume_call(context.person.id, context.network, context.charge_id)
        context.limit_fields = limit_fields(decision)

    async def _count_unmetered(self, context: Context) -> None:
        principal, account = context.principal, context.account
        if principal is None or account is None or principal.plan.counted_by != "organization":
            return  # a person's calls have their own limit; a free caller's address has the front's
        await self._unmetered.consume(account, principal.plan, context.network, context.charge_id)

    async def _charged(self, request: web.Request, handler: Handler, units: int) -> web.StreamResponse:
        context = request[CONTEXT]
        assert context.principal is not None
        assert context.account is not None
        decision = await self._meter.charge(context.account, context.principal.plan, units, context.charge_id)
        context.limit_fields = limit_fields(decision)
        if not decision.allowed:
            raise refusal(decision, context.network)
        context.units = units
        if decision.verified:
            context.charged_day, context.charged_units = decision.day, units
        try:
            response = await handler(request)
        except ItemNotFound:  # counted: the question was good and was answered
            raise
        except BaseException:
            if context.charge != "kept":
                await self._give_back(context, decision)
            raise
        if context.charge == "returned" or (context.charge == "by-status" and response.status not in COUNTED):
            await self._give_back(context, decision)
        return response

    async def _give_back(self, context: Context, decision: Any) -> None:
        context.units = 0
        context.limit_fields = limit_fields(await self._meter.refund(decision))
