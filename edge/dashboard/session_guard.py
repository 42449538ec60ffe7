"""The guard of dashboard pages: it finds the session of a request and checks forms."""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from aiohttp import web

from edge.composition import Services
from edge.dashboard.failure_page import OpenPage, show_failure, with_failure_page
from edge.dashboard.page_requests import PageError, SessionEnded, form_of, redirect_to_sign_in, refuse_nul
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import SignedIn
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from shared.errors import ItemIndexError

Page = Callable[[web.Request, SignedIn], Awaitable[web.StreamResponse]]


class LongForm(Protocol):
    """A form whose body is read as it arrives."""

    async def token(self) -> str:
        """Return the token in its first field."""


Form = TypeVar("Form", bound=LongForm)
UploadPage = Callable[[web.Request, SignedIn, Form], Awaitable[web.StreamResponse]]
Permit = Callable[[web.Request, SignedIn], AbstractContextManager[Form]]


class SessionGuard:
    """Finds the session of a request, guards forms, and shows every failure as a page."""

    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies) -> None:
        self._users = services.resources.users
        self._limits = services.person_limits
        self._sessions = sessions
        self._cookies = cookies
        self._origin = services.origin
        self._staff = services.settings.staff_addresses

    def open(self, page: OpenPage) -> OpenPage:
        """Make a handler for a page that needs no session."""
        return with_failure_page(page)

    def page(self, page: Page, unsigned: Callable[[web.Request], web.Response] | None = None) -> OpenPage:
        """Make a handler for signed-in visitors; others are sent to sign in first, or see the page `unsigned`."""

        async def show(request: web.Request, visitor: SignedIn) -> web.StreamResponse:
            refuse_nul(request)
            return await page(request, visitor)

        return self._guarded(show, unsigned or redirect_to_sign_in)

    def form(self, page: Page, *, personal: bool = False) -> OpenPage:
        """Make a handler for a form of ours, sent from a page of ours.

        Unless it is `personal`, it acts on the organization that its page shows, or on none.
        """

        async def receive(request: web.Request, visitor: SignedIn) -> web.StreamResponse:
            await self._admit(request, visitor, (await form_of(request)).get("csrf", ""), personal=personal)
            return await page(request, visitor)

        return self._guarded(receive, _refuse_unsigned)

    def upload(self, page: UploadPage[Form], permit: Permit[Form]) -> OpenPage:
        """Make a handler for a form of ours with a file. Its first field proves that; the page reads what follows.

        `permit` opens the form, or raises PageError before anything of the body is awaited: a body lasts as long as
        its sender likes.
        """

        async def receive(request: web.Request, visitor: SignedIn) -> web.StreamResponse:
            with permit(request, visitor) as form:
                await self._admit(request, visitor, await form.token(), personal=True)
                return await page(request, visitor, form)

        guarded = self._guarded(receive, _refuse_unsigned)

        async def handler(request: web.Request) -> web.StreamResponse:
            response = await guarded(request)
            if response.status >= 400:
                response.force_close()  # the rest of the file is not read
            return response

        return handler

    def _guarded(self, page: Page, unsigned: Callable[[web.Request], web.Response]) -> OpenPage:
        async def handler(request: web.Request) -> web.StreamResponse:
            visitor: SignedIn | None = None
            try:
                visitor = await self.visitor(request)
                return await page(request, visitor) if visitor else unsigned(request)
            except (PageError, ItemIndexError, Problem) as error:
                return show_failure(request, error, visitor, signed_in=self._cookies.session in request.cookies)

        return handler

    async def visitor(self, request: web.Request) -> SignedIn | None:
        """Return the visitor whose session a request's cookie names."""
        cookie = request.cookies.get(self._cookies.session)
        session = await self._sessions.find(cookie) if cookie else None
        person = await self._users.by_id(session.person_id) if session else None
        if cookie is None or session is None or person is None:
            return None
        membership = person.membership(session.organization) or person.membership(None)
        request[CONTEXT].person = person
        staff = person.email_verified and (person.email or "").lower() in self._staff
        return SignedIn(cookie, session, person, membership, staff)

    async def _admit(self, request: web.Request, visitor: SignedIn, token: str, *, personal: bool) -> None:
        """Raise PageError unless a form came from a page of the visitor's; count it against the person's limits.

        The page may be in a tab that was open before another tab switched the organization.
        """
        origin = request.headers.get("Origin")
        csrf, _, organization = token.partition(".")
        own = hmac.compare_digest(csrf.encode(), visitor.session.csrf.encode())
        if (origin is not None and origin != self._origin) or not own:
            raise PageError(403, "This form could not be verified. Go back and try again.")
        if not personal and organization != visitor.organization:
            member = visitor.membership
            now = f"You now work in {member.name}." if member else "You left this organization."
            raise PageError(409, f"{now} Open this page again.")
        context = request[CONTEXT]
        await self._limits.consume_call(visitor.person.id, context.network, context.charge_id)


async def unknown_page(_request: web.Request, _visitor: SignedIn) -> web.StreamResponse:
    """Refuse an address that no page has, with the navigation around the refusal."""
    raise PageError(404, "There is no page at this address.")


def _refuse_unsigned(request: web.Request) -> web.Response:
    raise SessionEnded
