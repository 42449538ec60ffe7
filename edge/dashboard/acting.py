"""For which organization a person acts on a page, and which account is charged for the page."""

from dataclasses import replace

from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.dashboard.session_guard import SUSPENDED, PageError, SignedIn, read_only
from edge.events.watches import Actor
from edge.http.context import CONTEXT
from edge.quota.billing import Billing, Charge
from shared.organizations.accounts import BRAND, Plan, Principal, may


def acting_of(visitor: SignedIn) -> Actor:
    """Return the organization that the visitor works in, with the person's name for its audit log."""
    actor = visitor.acting
    return Actor(actor.membership.organization_id, actor.person.name, actor.person.id)


class PlanRights:
    """The acts that the plan of the visitor's organization and the visitor's role allow together."""

    def __init__(self, credentials: CredentialStore) -> None:
        self._credentials = credentials

    async def refusal(self, visitor: SignedIn, right: str) -> str | None:
        """Return in a sentence why the visitor may not act, None where the visitor may."""
        membership = visitor.acting.membership
        if membership.state != "active":
            return SUSPENDED
        plan = await self._credentials.plan(membership.plan)
        if plan.rank < BRAND:
            return f"The {plan.title} plan does not include this. Upgrade the organization's plan."
        if not may(membership.role, right):
            return read_only(membership.role)
        return None

    async def require(self, visitor: SignedIn, right: str) -> None:
        """Raise PageError (403) where the visitor may not act."""
        text = await self.refusal(visitor, right)
        if text is not None:
            raise PageError(403, text)


class PageBilling:
    """Charges and counts as the API does."""

    def __init__(self, credentials: CredentialStore, billing: Billing) -> None:
        self._credentials = credentials
        self._billing = billing

    async def plan(self, visitor: SignedIn) -> Plan:
        """Return the plan that counts for a person: the organization's if their role may call the API, else `free`."""
        if visitor.actor and not visitor.barred:
            return await self._credentials.plan(visitor.actor.membership.plan)
        return await self._credentials.plan("free")

    async def includes(self, visitor: SignedIn, rank: int) -> bool:
        """Return whether the plan that counts for a person includes what asks for this rank."""
        return (await self.plan(visitor)).rank >= rank

    async def principal(self, visitor: SignedIn, rank_min: int = 0) -> Principal:
        """Return the person as a caller. Raises PageError where the plan's rank is below `rank_min`."""
        plan, actor = await self.plan(visitor), visitor.actor
        if plan.rank < rank_min:
            lacking = f"The {plan.title} plan does not include this. Use an organization on a higher plan."
            raise PageError(403, visitor.barred or lacking)
        return Principal("bearer", visitor.person.id, plan, actor.membership.organization_id if actor else None)

    async def charge(self, request: web.Request, principal: Principal, units: int) -> Charge:
        """Charge units, or count a call that costs none. Raises the problem `rate-limited` where a limit is reached."""
        context = request[CONTEXT]
        context.act_as(principal)
        return await self._billing.charge(context, units)

    async def count(self, request: web.Request, principal: Principal) -> None:
        """Count a part of a page that a browser asks for again and again: it costs nothing and is no call of the usage.

        Raises the problem `rate-limited` where the limit of calls that cost nothing is reached.
        """
        asked = replace(request[CONTEXT])
        asked.act_as(principal)
        await self._billing.count_call(asked)
