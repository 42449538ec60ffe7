"""Pages about the visitor's organization: key, members, audit log; and their forms."""

import re
from collections.abc import Mapping
from datetime import date
from urllib.parse import urlencode

from aiohttp import web
from multidict import MultiDict

from edge.dashboard.forms import Form
from edge.dashboard.page_requests import PageError, form_of, id_in, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.problems import Problem
from edge.organizations.schemas import NewInvitation, NewOrganization
from edge.organizations.service import AuditFilter
from edge.storage.database import Transaction
from shared.events.mails import invitation_link
from shared.organizations.accounts import INSTITUTIONAL
from shared.organizations.credentials import KEY_PREFIX
from shared.organizations.roles import GRACE_SECONDS, ROLES, may

_AUDIT_ROWS = 100
_ID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
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
RIGHTS = (
    ("Look at everything", None),
    ("Ask, export and watch, which costs units", "call"),
    ("Manage the key, webhooks and people", "manage-members"),
    ("Manage owners", "manage-owners"),
    ("Request a plan", "manage-plan"),
)
"""What the roles differ by, in words of people; None is a right of all."""
HOME_PAGE, KEY_PAGE, _MEMBERS_PAGE = "/dashboard", "/dashboard/key", "/dashboard/members"


class OrganizationPages(Pages):
    async def key(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The key's state and its forms; a new key is shown once."""
        actor = visitor.acting
        return render(
            request,
            "key.html",
            visitor,
            keys=await self._acts.keys(actor),
            new_key=await self._secret(visitor, KEY_PAGE),
            prefix=KEY_PREFIX,
            base_url=self._base_url,
            graces=GRACE_SECONDS,
            may_manage=actor.may("manage-key"),
            bulk_data=(await self._credentials.plan(visitor.member.plan)).rank >= INSTITUTIONAL,
        )

    async def issue_key(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Issue a key; the next page shows it, once."""
        return await self._once(
            request, visitor, KEY_PAGE, lambda transaction: self._acts.within(transaction).issue_key(visitor.acting)
        )

    async def rotate_key(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Replace the key; the next page shows the new one, once."""
        grace = (await form_of(request)).get("grace", "")
        if grace not in GRACE_SECONDS:
            raise PageError(400, "Choose how long the old key keeps working.")
        return await self._once(
            request,
            visitor,
            KEY_PAGE,
            lambda transaction: self._acts.within(transaction).rotate_key(visitor.acting, grace),
        )

    async def revoke_keys(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Revoke every key that works."""
        await self._acts.revoke_keys(visitor.acting)
        return redirect(KEY_PAGE)

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
            rights=RIGHTS,
            may=may,
            invitations=await self._acts.invitations(actor),
            invitation_mails=await self._acts.invitation_mails(actor),
            mail_offered=self._services.mails.offered,
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
        return redirect(_MEMBERS_PAGE)

    async def remove_member(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Remove a member. A person who leaves sees the overview next, which needs no organization."""
        person = (await form_of(request)).get("person", "")
        await self._acts.remove_member(visitor.acting, person)
        return redirect(HOME_PAGE if person == visitor.person.id else _MEMBERS_PAGE)

    async def withdraw_invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make an invitation's link stop working."""
        await self._acts.withdraw_invitation(visitor.acting, (await form_of(request)).get("invitation", ""))
        return redirect(_MEMBERS_PAGE)

    async def audit(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The audit log, a page at a time; the address can narrow it to an act, an actor and a day."""
        given = {name: request.query.get(name, "") for name in ("act", "person", "day")}
        wanted = AuditFilter(given["act"] or None, given["person"] or None, _day(given["day"]))
        entries = await self._acts.audit(visitor.acting, id_in(request, "before"), _AUDIT_ROWS + 1, wanted)
        acts, actors = await self._acts.audit_choices(visitor.acting)
        people = {row["id"]: row["name"] for row in await self._acts.members(visitor.acting)}
        last = entries[_AUDIT_ROWS - 1]["id"] if len(entries) > _AUDIT_ROWS else None
        return render(
            request,
            "audit.html",
            visitor,
            entries=entries[:_AUDIT_ROWS],
            plans=self._credentials.plans,
            subjects={entry["subject"]: subject_words(entry["subject"], people) for entry in entries},
            older=urlencode({**{k: v for k, v in given.items() if v}, "before": last}) if last else None,
            given=given,
            acts=acts,
            actors=actors,
        )


def subject_words(subject: str, people: Mapping[str, str]) -> str:
    """Return what an act was of, with the names of members for their ids; one that is not a member's is cut."""
    return _ID.sub(lambda found: people.get(found[0], f"{found[0][:8]}…"), subject)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise PageError(400, "Enter the day as YYYY-MM-DD, such as 2026-07-31.") from None
