"""Who pays for what a visitor looks at: the organization worked in, else the visitor's address as after sign-up."""

from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.dashboard.session_guard import PageError, SignedIn
from edge.http.context import CONTEXT
from edge.jobs.service import Charge
from edge.quota.limiter import RateLimiter
from edge.quota.refusal import refusal
from shared.accounts import Principal, account_of
from shared.organizations.roles import may
from shared.plans import Plan


class Billing:
    """Charges as the API does, and notes it in the request's context for the statistics of use."""

    def __init__(self, directory: CredentialStore, meter: RateLimiter) -> None:
        self._directory = directory
        self._meter = meter

    async def plan(self, visit: SignedIn) -> Plan:
        """Return the plan that counts for a visitor."""
        if visit.actor and visit.actor.membership.state == "active" and may(visit.actor.membership.role, "call"):
            return await self._directory.plan(visit.actor.membership.plan)
        return await self._directory.plan("free")

    async def principal(self, visit: SignedIn, rank_min: int = 0) -> Principal:
        """Return the visitor as a caller. Raises PageProblem where the plan does not reach."""
        plan, actor = await self.plan(visit), visit.actor
        if plan.rank < rank_min:
            raise PageError(403, f"The plan {plan.title} does not include this. A higher plan of an organization does.")
        return Principal("bearer", visit.person.id, plan, actor.membership.organization_id if actor else None)

    async def charge(self, request: web.Request, principal: Principal, units: int) -> Charge:
        """Charge; raise the problem `rate-limited` where the limits are used up."""
        context = request[CONTEXT]
        context.principal = principal
        context.account = account_of(principal, context.network)
        if units == 0:
            return Charge(context.account, context.charge_id, 0, 0)
        decision = await self._meter.charge(context.account, principal.plan, units, context.charge_id)
        if not decision.allowed:
            raise refusal(decision, context.network)
        context.units = units
        return Charge(context.account, context.charge_id, decision.day, units if decision.verified else 0)

    async def give_back(self, charge: Charge) -> None:
        """Give back what was charged for nothing."""
        if charge.units:
            await self._meter.settle(charge.account, charge.charge_id, charge.day, charge.units)
