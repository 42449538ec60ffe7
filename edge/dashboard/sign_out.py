"""Pages that end sessions."""

import contextlib
import secrets
from urllib.parse import urlencode

from aiohttp import web

from edge.auth.id_token import TOKEN_BYTES_MAX, InvalidToken
from edge.auth.logout_token import LOGOUT_LIFETIME_SECONDS_MAX, LogoutNotice
from edge.dashboard.browser import browser_of
from edge.dashboard.page_requests import form_of, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.problems import Problem
from shared.clock import utc_now
from shared.errors import StoreUnavailable
from shared.organizations.sessions import ListedSession

_LAST_PAGE = "/dashboard/signed-out"
_SESSIONS_PAGE = "/dashboard/sessions"


class SignOutPages(Pages):
    """Ends sessions: one's own here and at the provider, others of the person, and those that the provider ends."""

    async def sign_out(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """End the session; the last page links to the provider's sign-out, if it has one."""
        await self._sessions.end(visitor.cookie)
        response = redirect(_LAST_PAGE)
        self._cookies.drop(response, self._cookies.session)
        address = await self._provider_sign_out(visitor)
        if address is not None:
            # Not a redirect of the form itself: browsers hold that against the page's `form-action`.
            once = secrets.token_urlsafe(32)
            await self._sessions.put_flash(once, _LAST_PAGE, address)
            self._cookies.set(response, self._cookies.sign_out, once, 60)
        return response

    async def signed_out(self, request: web.Request) -> web.StreamResponse:
        """The last page."""
        once = request.cookies.get(self._cookies.sign_out)
        address = await self._sessions.take_flash(once, _LAST_PAGE) if once else None
        response = render(request, "signed_out.html", None, provider_sign_out=address)
        if once:
            self._cookies.drop(response, self._cookies.sign_out)
        return response

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The person's sessions, and forms that end them."""
        now = utc_now().timestamp()
        listed = [
            {
                "session": session,
                "browser": browser_of(session.beginning.agent),
                "current": self._sessions.is_of(session, visitor.cookie),
                "hours": int((now - session.beginning.born) // 3600),
            }
            for session in await self._sessions.list_sessions(visitor.person.id)
        ]
        return render(request, "sessions.html", visitor, listed=listed)

    async def end(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """End one session of the person, or all but this one."""
        chosen = (await form_of(request)).get("session", "")

        def ends(session: ListedSession) -> bool:
            return session.id == chosen or (chosen == "others" and not self._sessions.is_of(session, visitor.cookie))

        ended = await self._sessions.end_of(visitor.person.id, ends)
        self._log.info("sessions-ended", person=visitor.person.id, sessions=ended, by="person")
        return redirect(_SESSIONS_PAGE)

    async def back_channel(self, request: web.Request) -> web.StreamResponse:
        """End the sessions that a logout token of the provider names. Answers 200 without a body, or a problem."""
        if request.content_type != "application/x-www-form-urlencoded":
            raise Problem("unsupported-media-type", "Send the logout token as a form field, `logout_token`.")
        try:
            text = (await request.post()).get("logout_token")
        except (ValueError, LookupError):  # a charset that is none, or not that of the body
            text = None
        if not isinstance(text, str) or len(text) > TOKEN_BYTES_MAX:
            raise Problem("invalid-request", "There is no logout token in the form field `logout_token`.")
        try:
            notice = await self._users.logout_notice(text)
        except InvalidToken:
            raise Problem("invalid-request", "The logout token is not valid.") from None
        if not await self._sessions.was_obeyed(notice.id):
            await self._obey(notice)
            # Afterwards: the provider repeats a token that was not answered, which must not count as obeyed then.
            await self._sessions.note_obeyed(notice.id, 2 * LOGOUT_LIFETIME_SECONDS_MAX)
        return web.Response(headers={"Cache-Control": "no-store"})

    async def _obey(self, notice: LogoutNotice) -> None:
        person = await self._person(notice)
        sid = notice.provider_session
        if person is not None:
            ended = await self._sessions.end_of(
                person, lambda session: sid is None or session.beginning.provider_session == sid
            )
            self._log.info("sessions-ended", person=person, sessions=ended, by="provider")

    async def _person(self, notice: LogoutNotice) -> str | None:
        if notice.subject is not None:
            return await self._users.id_of(notice.subject)
        return await self._sessions.person_of_provider_session(notice.provider_session or "")

    async def _provider_sign_out(self, visitor: SignedIn) -> str | None:
        if self._users.provider is None:
            return None
        endpoint = None
        with contextlib.suppress(StoreUnavailable):  # the session here is ended all the same
            endpoint = (await self._users.provider.endpoints()).end_session
        if endpoint is None:
            return None
        requested = {
            "client_id": self._settings.oidc_client_id,
            "post_logout_redirect_uri": f"{self._services.origin}{_LAST_PAGE}",
        }
        hint = self._sessions.id_token_of(visitor.cookie, visitor.session)
        joint = "&" if "?" in endpoint else "?"
        return f"{endpoint}{joint}{urlencode({**requested, **({'id_token_hint': hint} if hint else {})})}"
