"""Charges of dashboard pages: to the organization that a person works in, else to the person's address."""

from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.dashboard.session_guard import PageError, SignedIn
from edge.http.context import CONTEXT
from edge.quota.billing import Billing, Charge
from shared.accounts import Principal, account_of
from shared.organizations.roles import may
from shared.plans import Plan


class PageBilling:
    """Charges as the API does. Forms have limits of their own, so a page that costs no unit is not counted here."""

    def __init__(self, credentials: CredentialStore, billing: Billing) -> None:
        self._credentials = credentials
        self._billing = billing

    async def plan(self, visitor: SignedIn) -> Plan:
        """Return the plan that counts for a person: the organization's if their role may call the API, else `free`."""
        if visitor.actor and visitor.actor.membership.state == "active" and may(visitor.actor.membership.role, "call"):
            return await self._credentials.plan(visitor.actor.membership.plan)
        return await self._credentials.plan("free")

    async def principal(self, visitor: SignedIn, rank_min: int = 0) -> Principal:
        """Return the person as a caller. Raises PageError where the plan's rank is below `rank_min`."""
        plan, actor = await self.plan(visitor), visitor.actor
        if plan.rank < rank_min:
            raise PageError(403, f"The plan {plan.title} does not include this. A higher plan of an organization does.")
        return Principal("bearer", visitor.person.id, plan, actor.membership.organization_id if actor else None)

    async def charge(self, request: web.Request, principal: Principal, units: int) -> Charge:
        """Charge units. Raises the problem `rate-limited` where the limits are used up."""
        context = request[CONTEXT]
        context.principal = principal
        context.account = account_of(principal, context.network)
        return await self._billing.charge(context, units) if units else self._billing.free(context)
