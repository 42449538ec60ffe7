"""Pages about the visitor and the visitor's organization: token, overview, key, members, audit log; and their forms."""

from datetime import date
from typing import NamedTuple
from urllib.parse import urlencode

from aiohttp import web
from multidict import MultiDict

from edge.auth.actor import Actor
from edge.dashboard.forms import Form
from edge.dashboard.pages import Pages
from edge.dashboard.session_guard import PageError, SignedIn, form_of, id_in, render, see
from edge.dashboard.usage import plot_by_day
from edge.http.problems import Problem
from edge.organizations.handlers import invitation_link
from edge.organizations.schemas import NewInvitation, NewOrganization
from edge.organizations.service import AuditFilter, usage_range
from edge.quota.page import windows_of
from edge.storage.database import Transaction
from shared.organizations.accounts import GRACE_SECONDS, INSTITUTIONAL, ROLES, Plan
from shared.organizations.credentials import KEY_PREFIX

_AUDIT_ROWS = 100
_EMAIL = {
    "label": "Email address",
    "sentence": "For example `name@example.org`.",
    "missing": "Enter an email address.",
    "attributes": {"type": "email", "maxlength": 254, "autocomplete": "off"},
}
INVITATION = Form.over(NewInvitation(), ("email", "role"), {"email": _EMAIL})
_NAME = {"missing": "Enter a name.", "attributes": {"maxlength": 200, "autocomplete": "organization"}, "wide": True}
NEW_ORGANIZATION = Form.over(
    NewOrganization(), ("name", "plan"), {"name": _NAME, "plan": {"missing": "Choose a plan."}}
)
HOME_PAGE, _KEY_PAGE, _MEMBERS_PAGE = "/dashboard", "/dashboard/key", "/dashboard/members"


class Step(NamedTuple):
    """One of the first steps of an organization: its text, whether it is done, and the page for it."""

    text: str
    done: bool
    link: str
    act: str


class OrganizationPages(Pages):
    async def overview(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Plan, remaining units of today, calls of the last 30 days."""
        if visitor.membership is None:
            free = await self._credentials.plan("free")
            return render(request, "welcome.html", visitor, token=await self._acts.token(visitor.person), free=free)
        membership, actor = visitor.member, visitor.acting
        plan = await self._credentials.plan(membership.plan)
        decision = await self._services.resources.limiter.usage(f"org:{membership.organization_id}", plan)
        first, last = usage_range(None, None)
        rows = await self._acts.usage(actor, first, last)
        keys = await self._acts.keys(actor)
        called = any(row["credential"].startswith("api-key:") for row in rows)
        colleagues = len(await self._acts.members(actor)) + len(await self._acts.invitations(actor)) - 1
        return render(
            request,
            "overview.html",
            visitor,
            plan=plan,
            limits=windows_of(decision),
            plot=plot_by_day(rows, first, last),
            refusals=sum(r["calls"] for r in rows if r["outcome"] == "refused"),
            calls=sum(r["calls"] for r in rows),
            keys=keys,
            steps=_first_steps(bool(keys), called, colleagues == 0),
            requested_plan=await self._requested_plan(actor),
            higher_plans=self._higher_plans(plan) if actor.may("manage-plan") else [],
        )

    def _higher_plans(self, plan: Plan) -> list[Plan]:
        """Return the plans that an organization with this one may request."""
        higher = [other for other in self._credentials.plans.values() if other.rank > plan.rank]
        return [other for other in higher if other.self_service or not self._acts.plans_at_once]

    async def request_plan(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Request another plan; the overview says that it is awaiting approval."""
        await self._acts.request_plan(visitor.acting, (await form_of(request)).get("plan", ""))
        self._services.resources.plan_notices.wake()
        return see(HOME_PAGE)

    async def _requested_plan(self, actor: Actor) -> Plan | None:
        name = await self._acts.requested_plan(actor)
        return await self._credentials.plan(name) if name else None

    async def key(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The key's state and its forms; a new key is shown once."""
        actor = visitor.acting
        return render(
            request,
            "key.html",
            visitor,
            keys=await self._acts.keys(actor),
            new_key=await self._secret(visitor, _KEY_PAGE),
            prefix=KEY_PREFIX,
            base_url=self._base_url,
            graces=GRACE_SECONDS,
            may_manage=actor.may("manage-key"),
            bulk_data=(await self._credentials.plan(visitor.member.plan)).rank >= INSTITUTIONAL,
        )

    async def issue_key(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Issue a key; the next page shows it, once."""
        return await self._once(
            request, visitor, _KEY_PAGE, lambda transaction: self._acts.within(transaction).issue_key(visitor.acting)
        )

    async def rotate_key(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Replace the key; the next page shows the new one, once."""
        grace = (await form_of(request)).get("grace", "")
        if grace not in GRACE_SECONDS:
            raise PageError(400, "Choose how long the old key keeps working.")
        return await self._once(
            request,
            visitor,
            _KEY_PAGE,
            lambda transaction: self._acts.within(transaction).rotate_key(visitor.acting, grace),
        )

    async def revoke_keys(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Revoke every key that works."""
        await self._acts.revoke_keys(visitor.acting)
        return see(_KEY_PAGE)

    async def members(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The people, and open invitations; the link of a new one is shown once."""
        return await self._members(
            request, visitor, await self._secret(visitor, _MEMBERS_PAGE), INVITATION.sent(MultiDict(role="member"))
        )

    async def _members(
        self, request: web.Request, visitor: SignedIn, link: str | None, form: Form
    ) -> web.StreamResponse:
        """Show the page with the form of an invitation."""
        actor = visitor.acting
        return render(
            request,
            "members.html",
            visitor,
            400 if form.faults else 200,
            form=form,
            members=await self._acts.members(actor),
            link=link,
            roles=ROLES,
            invitations=await self._acts.invitations(actor),
            may_manage=actor.may("manage-members"),
            may_manage_owners=actor.may("manage-owners"),
        )

    async def invite(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Invite an address; the next page shows the link, once."""
        form = INVITATION.sent(await form_of(request))
        try:
            wanted = form.load()

            async def invite(transaction: Transaction) -> str:
                secret, _ = await self._acts.within(transaction).invite(visitor.acting, wanted["email"], wanted["role"])
                return invitation_link(self._services.origin, secret)

            return await self._once(request, visitor, _MEMBERS_PAGE, invite)
        except Problem as problem:
            return await self._members(request, visitor, None, form.refused(problem))

    async def change_role(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Give a member another role."""
        form = await form_of(request)
        if form.get("role") not in ROLES:
            raise PageError(400, "Choose a role.")
        await self._acts.change_role(visitor.acting, form.get("person", ""), form["role"])
        return see(_MEMBERS_PAGE)

    async def remove_member(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Remove a member. A person who leaves sees the overview next, which needs no organization."""
        person = (await form_of(request)).get("person", "")
        await self._acts.remove_member(visitor.acting, person)
        return see(HOME_PAGE if person == visitor.person.id else _MEMBERS_PAGE)

    async def withdraw_invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make an invitation's link stop working."""
        await self._acts.withdraw_invitation(visitor.acting, (await form_of(request)).get("invitation", ""))
        return see(_MEMBERS_PAGE)

    async def audit(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The audit log, a page at a time; the address can narrow it to an act, an actor and a day."""
        given = {name: request.query.get(name, "") for name in ("act", "person", "day")}
        wanted = AuditFilter(given["act"] or None, given["person"] or None, _day(given["day"]))
        entries = await self._acts.audit(visitor.acting, id_in(request, "before"), _AUDIT_ROWS + 1, wanted)
        acts, actors = await self._acts.audit_choices(visitor.acting)
        last = entries[_AUDIT_ROWS - 1]["id"] if len(entries) > _AUDIT_ROWS else None
        return render(
            request,
            "audit.html",
            visitor,
            entries=entries[:_AUDIT_ROWS],
            plans=self._credentials.plans,
            older=urlencode({**{k: v for k, v in given.items() if v}, "before": last}) if last else None,
            given=given,
            acts=acts,
            actors=actors,
        )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise PageError(400, "Enter the day as YYYY-MM-DD, such as 2026-07-31.") from None


def _first_steps(key: bool, called: bool, alone: bool) -> list[Step]:
    """Return the first steps of a new organization in their order; none once all are done."""
    steps = [
        Step("Issue an API key", key, "/dashboard/key", "Issue key"),
        Step("Make the first call with it", called, "/v1/docs", "First calls"),
        Step("Invite a colleague", not alone, "/dashboard/members", "Invite"),
    ]
    return [] if all(step.done for step in steps) else steps


_TOKEN_PAGE = "/dashboard/token"  # noqa: S105 - an address


class PersonPages(Pages):
    async def token(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show the person's public token and its use; a new one is shown once."""
        token = await self._acts.token(visitor.person)
        first, last = usage_range(None, None)
        rows = await self._acts.usage_of_token(visitor.person, token["token_id"], first, last) if token else []
        return render(
            request,
            "token.html",
            visitor,
            token=token,
            new_token=await self._secret(visitor, _TOKEN_PAGE),
            base_url=self._base_url,
            free=await self._credentials.plan("free"),
            plot=plot_by_day(rows, first, last),
        )

    async def issue_token(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Issue a token; the next page shows it, once."""
        return await self._once(
            request,
            visitor,
            _TOKEN_PAGE,
            lambda transaction: self._acts.within(transaction).issue_token(visitor.person),
        )

    async def revoke_token(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Revoke the token."""
        await self._acts.revoke_token(visitor.person)
        return see(_TOKEN_PAGE)

    async def new_organization(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form for a new organization, with the plans."""
        return await self._form(request, visitor, NEW_ORGANIZATION)

    async def _form(self, request: web.Request, visitor: SignedIn, form: Form) -> web.StreamResponse:
        await self._credentials.plan("free")  # the plans are read together
        plans = [plan for plan in self._credentials.plans.values() if plan.counted_by == "organization"]
        values = {"plans": plans, "plans_at_once": self._acts.plans_at_once, "form": form}
        return render(request, "new_organization.html", visitor, 400 if form.faults else 200, **values)

    async def create_organization(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Create it, and work in it from now on."""
        form = NEW_ORGANIZATION.sent(await form_of(request))
        try:
            wanted = form.load()

            async def make(transaction: Transaction) -> None:
                made = await self._acts.within(transaction).create(visitor.person, wanted["name"], wanted["plan"])
                await self._sessions.choose(visitor.cookie, visitor.session, made.id)

            page = _KEY_PAGE if self._acts.plans_at_once or wanted["plan"] == "free" else HOME_PAGE
            response = await self._once(request, visitor, page, make)
        except Problem as problem:
            return await self._form(request, visitor, form.refused(problem))
        self._services.resources.plan_notices.wake()
        return response

    async def choose_organization(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Work in another organization of the visitor's."""
        chosen = (await form_of(request)).get("organization", "")
        if visitor.person.membership(chosen) is None:
            raise PageError(404, "You are not a member of this organization.")
        await self._sessions.choose(visitor.cookie, visitor.session, chosen)
        return see("/dashboard")

    async def invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The page that an invitation's link opens; its script puts the fragment into the form."""
        return render(request, "invitation.html", visitor)

    def invited(self, request: web.Request) -> web.Response:
        """The same for a visitor who signs in first: a redirect would lose the fragment at the provider's form."""
        return render(request, "invitation.html", None)

    async def accept_invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Join the organization."""
        secret = (await form_of(request)).get("secret", "")[:100]

        async def join(transaction: Transaction) -> None:
            joined = await self._acts.within(transaction).accept_invitation(visitor.person, secret)
            await self._sessions.choose(visitor.cookie, visitor.session, joined)

        return await self._once(request, visitor, HOME_PAGE, join)
