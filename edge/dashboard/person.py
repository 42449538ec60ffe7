"""Pages of a person: the public token, new organizations and invitations."""

from aiohttp import web

from edge.dashboard.forms import Form
from edge.dashboard.organization import HOME_PAGE, KEY_PAGE, NEW_ORGANIZATION, RIGHTS
from edge.dashboard.page_requests import PageError, form_of, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.usage import plot_by_day
from edge.dashboard.visitor import SignedIn
from edge.http.problems import Problem
from edge.organizations.service import usage_range
from edge.storage.database import Transaction
from shared.organizations.roles import may

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
        return redirect(_TOKEN_PAGE)

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

            page = KEY_PAGE if self._acts.plans_at_once or wanted["plan"] == "free" else HOME_PAGE
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
        return redirect("/dashboard")

    async def invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The page that an invitation's link opens; its script puts the fragment into the form."""
        return render(request, "invitation.html", visitor)

    def invited(self, request: web.Request) -> web.Response:
        """The same for a visitor who signs in first: a redirect would lose the fragment at the provider's form."""
        return render(request, "invitation.html", None)

    async def invitation_details(self, request: web.Request) -> web.StreamResponse:
        """The part of that page which says what the invitation is for; its secret proves who asks."""
        invitation = await self._acts.show_invitation((await form_of(request)).get("secret", "")[:100])
        if invitation is None:
            raise PageError(404, "This invitation was used or withdrawn, or has expired. Ask for a new one.")
        rights = [words.lower() for words, right in RIGHTS if right is None or may(invitation["role"], right)]
        return render(request, "invitation_details.html", None, invitation=invitation, rights=rights)

    async def accept_invitation(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Join the organization."""
        secret = (await form_of(request)).get("secret", "")[:100]

        async def join(transaction: Transaction) -> None:
            joined = await self._acts.within(transaction).accept_invitation(visitor.person, secret)
            await self._sessions.choose(visitor.cookie, visitor.session, joined)

        return await self._once(request, visitor, HOME_PAGE, join)
