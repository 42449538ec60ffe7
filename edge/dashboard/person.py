"""Pages of a person: the public token, choosing and creating an organization, accepting an invitation."""

from aiohttp import web

from edge.composition import Services
from edge.dashboard.one_time import OneTimeSecrets
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.dashboard.sessions import Sessions
from edge.dashboard.usage import plot_by_day
from edge.organizations.service import as_dicts, usage_range

_TOKEN_PAGE = "/dashboard/token"  # noqa: S105 - an address


class PersonPages:
    def __init__(self, services: Services, secret: OneTimeSecrets, sessions: Sessions) -> None:
        self._acts = services.organizations
        self._secret = secret
        self._credentials = services.resources.credentials
        self._sessions = sessions
        self._notices = services.resources.plan_notices
        self._base_url = services.settings.base_url
        self._plans_at_once = services.settings.plan_approval == "none"

    async def token(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show the person's public token and its use; a new one is shown once."""
        new_token = await self._secret.take(visitor, _TOKEN_PAGE)
        token = await self._acts.token(visitor.person)
        first, last = usage_range(None, None)
        rows = (
            as_dicts(await self._acts.usage_of_token(visitor.person, token["token_id"], first, last)) if token else []
        )
        return render(
            request,
            "token.html",
            visitor,
            token=token,
            new_token=new_token,
            base_url=self._base_url,
            free=await self._credentials.plan("free"),
            plot=plot_by_day(rows, first, last),
        )

    async def issue_token(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Issue a token; the next page shows it, once."""
        return await self._secret.make(request, visitor, _TOKEN_PAGE, lambda acts: acts.issue_token(visitor.person))

    async def revoke_token(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Revoke the token."""
        await self._acts.revoke_token(visitor.person)
        return see(_TOKEN_PAGE)

    async def new_organization(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form for a new organization, with the plans."""
        return await self._form(request, visitor, {}, None)

    async def _form(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], fault: str | None
    ) -> web.StreamResponse:
        """Show the form as it was filled in, and the fault of the name."""
        await self._credentials.plan("free")  # the plans are read together
        plans = [plan for plan in self._credentials.plans.values() if plan.counted_by == "organization"]
        values = {"plans": plans, "plans_at_once": self._plans_at_once, "given": given, "fault": fault}
        return render(request, "new_organization.html", visitor, 400 if fault else 200, **values)

    async def create_organization(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Create it, and work in it from now on."""
        form = await form_of(request)
        name = form.get("name", "").strip()
        if not 1 <= len(name) <= 200 or not name.isprintable():
            return await self._form(request, visitor, form, "Enter a name of 1 to 200 printable characters.")
        made = await self._acts.create(visitor.person, name, form.get("plan", ""))
        self._notices.wake()
        await self._sessions.choose(visitor.cookie, visitor.session, made.id)
        return see("/dashboard" if made.requested_plan else "/dashboard/key")

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

    async def accept_invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Join the organization."""
        secret = (await form_of(request)).get("secret", "")[:100]
        joined = await self._acts.accept_invitation(visitor.person, secret)
        await self._sessions.choose(visitor.cookie, visitor.session, joined)
        return see("/dashboard")
