"""Pages about the visitor's organization: overview, key, use, members, audit; and the forms on them."""

from collections import defaultdict
from datetime import date, timedelta
from typing import Any

from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.dashboard.one_time import OneTimeSecrets
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.meta.quota import windows_of
from edge.organizations.member_handlers import invitation_link
from edge.organizations.service import Actor, OrganizationService, as_dicts
from edge.organizations.usage import usage_csv, usage_range
from edge.quota.limiter import RateLimiter
from shared.clock import utc_now
from shared.errors import InvalidParameter
from shared.organizations.roles import GRACE_SECONDS, INVITABLE, ROLES, may
from shared.plans import INSTITUTIONAL, Plan

OUTCOMES = ("served", "not-found", "not-modified", "refused", "rejected", "failed")
_DAYS = (7, 30, 90)
_AUDIT_ROWS = 100
_KEY_PAGE, _MEMBERS_PAGE = "/dashboard/key", "/dashboard/members"


class OrganizationPages:
    """The handlers."""

    def __init__(
        self,
        acts: OrganizationService,
        secret: OneTimeSecrets,
        credentials: CredentialStore,
        limiter: RateLimiter,
        origin: str,
        base_url: str,
    ) -> None:
        self._acts = acts
        self._secret = secret
        self._credentials = credentials
        self._limiter = limiter
        self._origin = origin
        self._base_url = base_url

    async def overview(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Plan, what is left of today, calls of the last 30 days."""
        if visit.actor is None:
            return render(request, "welcome.html", visit, token=await self._acts.token(visit.person))
        membership = visit.actor.membership
        plan = await self._credentials.plan(membership.plan)
        decision = await self._limiter.usage(f"org:{membership.organization_id}", plan)
        first, last = usage_range(None, None)
        rows = as_dicts(await self._acts.usage(visit.actor, first, last))
        return render(
            request,
            "overview.html",
            visit,
            plan=plan,
            limits=windows_of(decision),
            plot=plot_by_day(rows, first, last),
            refusals=sum(r["calls"] for r in rows if r["outcome"] == "refused"),
            calls=sum(r["calls"] for r in rows),
            keys=await self._acts.keys(visit.actor),
            requested_plan=await self._requested_plan(visit.actor),
        )

    async def _requested_plan(self, actor: Actor) -> Plan | None:
        name = await self._acts.requested_plan(actor)
        return await self._credentials.plan(name) if name else None

    async def key(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The key's state, and what can be done with it; a new key is shown once."""
        actor, new_key = visit.acting, await self._secret.take(visit, _KEY_PAGE)
        return render(
            request,
            "key.html",
            visit,
            keys=await self._acts.keys(actor),
            new_key=new_key,
            base_url=self._base_url,
            graces=GRACE_SECONDS,
            may_manage=may(actor.membership.role, "manage-key"),
            bulk_data=(await self._credentials.plan(actor.membership.plan)).rank >= INSTITUTIONAL,
        )

    async def issue_key(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Issue a key; the next page shows it, once."""
        return await self._secret.make(request, visit, _KEY_PAGE, lambda acts: acts.issue_key(visit.acting))

    async def rotate_key(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Replace the key; the next page shows the new one, once."""
        grace = (await form_of(request)).get("grace", "")
        if grace not in GRACE_SECONDS:
            raise PageError(400, "Choose how long the old key should go on working.")
        return await self._secret.make(request, visit, _KEY_PAGE, lambda acts: acts.rotate_key(visit.acting, grace))

    async def revoke_keys(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Revoke what works."""
        await self._acts.revoke_keys(visit.acting)
        return see(_KEY_PAGE)

    async def usage(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Calls by day, endpoint and outcome."""
        days, (first, last) = _days(request)
        rows = as_dicts(await self._acts.usage(visit.acting, first, last))
        return render(
            request,
            "usage.html",
            visit,
            days=days,
            choices=_DAYS,
            plot=plot_by_day(rows, first, last),
            by_endpoint=_summed(rows, "endpoint"),
            by_credential=_summed(rows, "credential"),
            rows=rows[:500],
        )

    async def usage_sheet(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The same as CSV."""
        _, (first, last) = _days(request)
        return usage_csv(as_dicts(await self._acts.usage(visit.acting, first, last)))

    async def members(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The people, and open invitations; the link of a new one is shown once."""
        actor, link = visit.acting, await self._secret.take(visit, _MEMBERS_PAGE)
        return render(
            request,
            "members.html",
            visit,
            members=await self._acts.members(actor),
            link=link,
            roles=ROLES,
            invitable=INVITABLE,
            invitations=await self._acts.invitations(actor),
            may_manage=may(actor.membership.role, "manage-members"),
            may_manage_owners=may(actor.membership.role, "manage-owners"),
        )

    async def invite(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Invite an address; the next page shows the link, once."""
        form = await form_of(request)
        email, role = form.get("email", "").strip(), form.get("role", "")
        if role not in INVITABLE or not 3 <= len(email) <= 254 or "@" not in email or not email.isprintable():
            raise PageError(400, "An invitation needs an e-mail address and a role.")

        async def invite(acts: OrganizationService) -> str:
            secret, _ = await acts.invite(visit.acting, email, role)
            return invitation_link(self._origin, secret)

        return await self._secret.make(request, visit, _MEMBERS_PAGE, invite)

    async def change_role(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Give a member another role."""
        form = await form_of(request)
        if form.get("role") not in ROLES:
            raise PageError(400, "Choose a role.")
        await self._acts.change_role(visit.acting, form.get("person", ""), form["role"])
        return see(_MEMBERS_PAGE)

    async def remove_member(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Take a member out."""
        await self._acts.remove_member(visit.acting, (await form_of(request)).get("person", ""))
        return see(_MEMBERS_PAGE)

    async def withdraw_invitation(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """Make an invitation's link stop working."""
        await self._acts.withdraw_invitation(visit.acting, (await form_of(request)).get("invitation", ""))
        return see(_MEMBERS_PAGE)

    async def audit(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """What was done, and by whom."""
        return render(request, "audit.html", visit, entries=await self._acts.audit(visit.acting, None, _AUDIT_ROWS))


def plot_by_day(rows: list[dict[str, Any]], first: date, last: date) -> dict[str, Any]:
    """Return calls per day and outcome in the form that the page's script draws: days without calls are zero."""
    by_day: dict[tuple[date, str], int] = defaultdict(int)
    for row in rows:
        by_day[row["day"], row["outcome"]] += row["calls"]
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    shown = [name for name in OUTCOMES if any((day, name) in by_day for day in days)] or ["served"]
    series = [{"label": name, "values": [by_day[day, name] for day in days]} for name in shown]
    return {"x": [day.isoformat() for day in days], "series": series, "kind": "bars", "unit": "calls"}


def _days(request: web.Request) -> tuple[int, tuple[date, date]]:
    asked = request.query.get("days", "30")
    days = int(asked) if asked in {str(n) for n in _DAYS} else 30
    try:
        return days, usage_range(utc_now().date() - timedelta(days=days - 1), None)
    except InvalidParameter:  # midnight passed between the two clocks
        return days, usage_range(None, None)


def _summed(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    summed: dict[str, dict[str, Any]] = {}
    for row in rows:
        entry = summed.setdefault(row[name], {"name": row[name], "calls": 0, "units": 0, "refused": 0})
        entry["calls"] += row["calls"]
        entry["units"] += row["units"]
        entry["refused"] += row["calls"] if row["outcome"] == "refused" else 0
    return sorted(summed.values(), key=lambda entry: -entry["calls"])
