"""For which organization a person acts on a page, what they may do there, and which account is charged."""

from dataclasses import replace

from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.dashboard.session_guard import NO_ORGANIZATION, PageError, SignedIn
from edge.http.context import CONTEXT
from edge.quota.billing import Billing, Charge
from shared.organizations.accounts import Plan, Principal


class PageBilling:
    """Charges and counts as the API does."""

    def __init__(self, credentials: CredentialStore, billing: Billing) -> None:
        self._credentials = credentials
        self._billing = billing

    async def plan(self, visitor: SignedIn) -> Plan:
        """Return the plan that counts for a person: the organization's if their role may call the API, else `free`."""
        if visitor.membership and not visitor.barred:
            return await self._credentials.plan(visitor.membership.plan)
        return await self._credentials.plan("free")

    async def includes(self, visitor: SignedIn, rank: int) -> bool:
        """Return whether the plan that counts for a person includes what asks for this rank."""
        return (await self.plan(visitor)).rank >= rank

    async def refusal(self, visitor: SignedIn, rank_min: int, right: str = "call") -> str | None:
        """Return in a sentence why the visitor's role or plan does not allow an act, None where they do."""
        plan = await self.plan(visitor)
        barred = visitor.barred_from(right)
        if barred or plan.rank >= rank_min:
            return barred
        upgrade = (
            f"The {plan.title} plan does not include this. "
            "An owner requests a higher plan on the Overview or from the operator."
        )
        return upgrade if visitor.membership else NO_ORGANIZATION

    async def principal(self, visitor: SignedIn, rank_min: int = 0, right: str = "call") -> Principal:
        """Return the person as a caller. Raises PageError (403) where the role or the plan does not allow the act."""
        refusal = await self.refusal(visitor, rank_min, right) if rank_min else None
        if refusal is not None:
            raise PageError(403, refusal)
        return Principal("bearer", visitor.person.id, await self.plan(visitor), visitor.organization or None)

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
