"""Pages of organizations, of the plans that they request, of people, and of the plans themselves."""

import asyncpg
import msgspec
from aiohttp import web

from edge.dashboard.operators.console import HOME, SQL, OperatorPages
from edge.dashboard.page_requests import PageError
from edge.dashboard.visitor import SignedIn
from shared.index.iid import require_uuid
from shared.organizations.accounts import ORGANIZATION_STATES, PLAN_LIMITS
from shared.organizations.accounts import SQL as ACCOUNTS
from shared.organizations.roles import ROLES

_ORGANIZATIONS = f"{HOME}/organizations"
_AUDIT_LISTED = 25
_TITLE_CHARACTERS_MAX, _PRICE_CHARACTERS_MAX = 100, 100


class AccountPages(OperatorPages):
    """The handlers; for operators alone."""

    async def organizations(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List the organizations, and offer to create one."""
        listing = await self._list(
            request, visitor, SQL.organizations, ORGANIZATION_STATES, request.query.get("plan", "")[:100]
        )
        plans = await self._plans()
        return await self._show(
            request,
            visitor,
            "operator_organizations.html",
            listing=listing,
            states=ORGANIZATION_STATES,
            plans=plans,
            titles={plan["name"]: plan["title"] for plan in plans},
        )

    async def create(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order a new organization."""
        form = await self._form(request, visitor)
        name, plan = (form.get(field, "") for field in ("name", "plan"))
        if not name:
            raise PageError(400, "Give the organization a name.")
        return await self._order(request, visitor, _ORGANIZATIONS, "organization.create", name, name, {"plan": plan})

    async def organization(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show one organization: its plan, its state, its members, and what was done in it."""
        row, scope = await self._organization(request, visitor), self._scope(visitor)
        return await self._show(
            request,
            visitor,
            "operator_organization.html",
            organization=row,
            plans=await self._plans(),
            roles=ROLES,
            members=await self._database.fetch(ACCOUNTS.members, row["id"], scope=scope),
            entries=await self._database.fetch(
                ACCOUNTS.audit, row["id"], None, _AUDIT_LISTED, None, None, None, scope=scope
            ),
        )

    async def act(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order a change of an organization: its plan, its state, a decision on its request, a member's role."""
        row = await self._organization(request, visitor)
        form = await self._form(request, visitor)
        wanted, plan, person, role = (form.get(field, "") for field in ("wanted", "plan", "person", "role"))
        page = f"{HOME}/requests" if form.get("from") == "requests" else request.path
        arguments: dict[str, object] = {}
        if wanted == "organization.plan":
            arguments = {"plan": plan}
        elif wanted == "member.role":
            if role not in (*ROLES, "none"):
                raise PageError(400, "Choose a role.")
            arguments = {"role": role, "person": await self._person(visitor, person)}
        elif wanted not in ("plan.approve", "plan.decline", "organization.suspend", "organization.activate"):
            raise PageError(400, "Choose what to do with the organization.")
        return await self._order(request, visitor, page, wanted, row["id"], row["name"], arguments)

    async def requests(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List the plans that organizations have requested and nobody has decided on."""
        listing = await self._list(request, visitor, SQL.plan_requests)
        plans = {plan["name"]: plan for plan in await self._plans()}
        return await self._show(request, visitor, "operator_requests.html", listing=listing, plans=plans)

    async def people(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List who has signed in, with their organizations."""
        listing = await self._list(request, visitor, SQL.people)
        memberships = {row["id"]: msgspec.json.decode(row["organizations"]) for row in listing.rows}
        return await self._show(request, visitor, "operator_people.html", listing=listing, memberships=memberships)

    async def plans(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show the plans with their limits, each with its form."""
        return await self._show(request, visitor, "operator_plans.html", plans=await self._plans(), limits=PLAN_LIMITS)

    async def set_plan(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order the changes of a plan that its form makes; what it leaves as it was is not changed."""
        form = await self._form(request, visitor)
        plan = next((plan for plan in await self._plans() if plan["name"] == form.get("plan")), None)
        if plan is None:
            raise PageError(404, "There is no such plan.")
        given: dict[str, object] = {
            "title": _text(form.get("title", ""), "a title", _TITLE_CHARACTERS_MAX),
            "price": _text(form.get("price", ""), "a price", _PRICE_CHARACTERS_MAX, may_be_empty=True),
            "self_service": form.get("self_service") == "yes",
            **{name: _limit(form.get(name, ""), name, *bounds) for name, bounds in PLAN_LIMITS.items()},
        }
        changes = {name: value for name, value in given.items() if value != plan[name]}
        if not changes:
            raise PageError(400, "Nothing was changed in this plan's form.")
        return await self._order(request, visitor, f"{HOME}/plans", "plan.set", plan["name"], plan["title"], changes)

    async def _plans(self) -> list[asyncpg.Record]:
        return await self._database.fetch(ACCOUNTS.plans)

    async def _organization(self, request: web.Request, visitor: SignedIn) -> asyncpg.Record:
        scope = self._scope(visitor)
        unknown = PageError(404, "There is no such organization.")
        identifier = require_uuid(request.match_info["id"], unknown)
        row = await self._database.fetch_row(SQL.organization, identifier, scope=scope)
        if row is None:
            raise unknown
        return row

    async def _person(self, visitor: SignedIn, text: str) -> str:
        rows = await self._database.fetch(SQL.people_called, text, scope=self._scope(visitor))
        if len(rows) != 1:
            several = "Several people have this address: give the id of one."
            said = several if rows else "Nobody of this address or id has signed in yet."
            raise PageError(404, f"{said} The page People lists everybody.")
        return str(rows[0]["id"])


def _text(text: str, what: str, most: int, *, may_be_empty: bool = False) -> str | None:
    """Return a text of a form, None for an empty one. Raises PageError."""
    text = text.strip()
    if (not text and not may_be_empty) or len(text) > most or not text.isprintable():
        raise PageError(400, f"Give {what} of at most {most} printable characters.")
    return text or None


def _limit(text: str, name: str, least: int, most: int) -> int:
    """Return a limit of a form. Raises PageError."""
    digits = text.strip().replace(",", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10 and least <= int(digits) <= most):
        raise PageError(400, f"{name.replace('_', ' ').capitalize()} is a whole number from {least:,} to {most:,}.")
    return int(digits)
