"""Signing in with the provider, by authorization code with PKCE, state and nonce; ending sessions here and there.

Sources: OpenID Connect Core 1.0, section 3.1; RFC 6749; RFC 7636 (PKCE); RFC 9207 (`iss` in the answer); RFC 9700;
OpenID Connect RP-Initiated Logout 1.0; OpenID Connect Back-Channel Logout 1.0.
"""

import contextlib
import hashlib
import hmac
import re
import secrets
from urllib.parse import quote_plus, urlencode

import aiohttp
from aiohttp import web

from edge.auth.id_token import LOGOUT_LIFETIME_SECONDS_MAX, TOKEN_BYTES_MAX, InvalidToken, LogoutNotice
from edge.auth.oidc_provider import OidcProvider
from edge.dashboard.pages import Pages
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.dashboard.sessions import IdToken, SignIn, digest_of
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from shared.clock import utc_now
from shared.errors import StoreUnavailable
from shared.organizations.accounts import ListedSession
from shared.printable import base64url

HOME = "/dashboard"
_CALLBACK = f"{HOME}/sign-in/callback"
_DESTINATION = re.compile(
    r"/dashboard(?:/[A-Za-z0-9_-]{1,80}){0,3}(?:\?[A-Za-z0-9_.~%&=+,:;@/?*!'()$-]{0,2000})?", re.ASCII
)
_PARAMETER_MAX = 4_096
# Of one browser at the same time: their cookies must leave room for the others in its requests.
_SIGN_INS_MAX = 5
_AGAIN = "Sign-in failed. Try again."


class SignInPages(Pages):
    """The handlers of the way to the provider and back."""

    async def begin(self, request: web.Request) -> web.StreamResponse:
        """Send the visitor to the provider."""
        provider, context = self._provider(), request[CONTEXT]
        await self._services.person_limits.consume_sign_in(context.network, context.charge_id)
        endpoints = await provider.endpoints()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        destination = destination_of(request.query.get("next"))
        await self._sessions.remember_sign_in(state, SignIn(nonce, verifier, destination))
        requested = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": f"{self._services.origin}{_CALLBACK}",
            "scope": "openid profile email",
            "state": state,
            "nonce": nonce,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in endpoints.authorization else "?"
        response = see(f"{endpoints.authorization}{joint}{urlencode(requested)}")
        for name in self._cookies.sign_ins(request.cookies)[: 1 - _SIGN_INS_MAX]:
            self._cookies.drop(response, name)
        self._cookies.set(response, self._cookies.sign_in(digest_of(state)), digest_of(state), 600)
        return response

    async def finish(self, request: web.Request) -> web.StreamResponse:
        """Take the visitor back from the provider and begin a session."""
        provider, query = self._provider(), request.query
        state, code = query.get("state", ""), query.get("code", "")
        if not 0 < len(state) <= _PARAMETER_MAX or len(code) > _PARAMETER_MAX:
            raise self._refused("no state of ours")
        # The cookie proves that this browser began: else an attacker could sign a victim in to the attacker's account.
        binding = self._cookies.sign_in(digest_of(state))
        if not hmac.compare_digest(request.cookies.get(binding, "").encode(), digest_of(state).encode()):
            raise self._refused("another browser began it")
        sign_in = await self._sessions.take_sign_in(state)
        if sign_in is None:
            # A person who clicks twice comes back twice, and sees only the answer to the second call: it begins no
            # session, but leads to the one that the first call began.
            self._log.info("sign-in-refused", reason="the state was used or has expired")
            return see(HOME)
        if query.get("iss", provider.issuer) != provider.issuer:
            raise self._refused("another issuer answered")
        if "error" in query or not code:
            raise PageError(403, "The identity provider did not sign you in. Try again, or contact its administrator.")
        token = await self._redeem(provider, code, sign_in)
        try:
            identity, _ = await self._users.verify_id_token(token, sign_in.nonce)
        except InvalidToken:
            raise self._refused("the ID token is not valid") from None
        person = await self._users.get_or_create(identity)
        await self._services.person_limits.consume_call(person.id, request[CONTEXT].network, request[CONTEXT].charge_id)
        old = request.cookies.get(self._cookies.session)
        if old:
            await self._sessions.end(old)
        response = see(sign_in.destination)
        begun = IdToken(token, identity.provider_session)
        agent = request.headers.get("User-Agent", "")
        cookie = await self._sessions.begin(person.id, request[CONTEXT].network, agent, begun)
        self._cookies.set(response, self._cookies.session, cookie)
        self._cookies.drop(response, binding)
        self._log.info("signed-in", person=person.id)
        return response

    async def _redeem(self, provider: OidcProvider, code: str, sign_in: SignIn) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{self._services.origin}{_CALLBACK}",
            "code_verifier": sign_in.verifier,
            "client_id": self._settings.oidc_client_id,
        }
        head = {}
        if self._settings.oidc_client_secret:
            # RFC 6749, 2.3.1: both are form-encoded before they become a header.
            client, secret = map(quote_plus, (self._settings.oidc_client_id, self._settings.oidc_client_secret))
            head["Authorization"] = aiohttp.encode_basic_auth(client, secret)
        endpoints = await provider.endpoints()
        answer = await provider.fetch("POST", endpoints.token, form, head)
        token = answer.get("id_token") if isinstance(answer, dict) else None
        if not isinstance(token, str):
            raise self._refused("the provider did not redeem the code")
        return token

    def _refused(self, reason: str) -> PageError:
        """Return the page of a sign-in that did not work; the reason is for operators alone."""
        self._log.info("sign-in-refused", reason=reason)
        return PageError(400, _AGAIN)

    def _provider(self) -> OidcProvider:
        if self._users.provider is None:
            raise PageError(503, "Sign-in is not available: no identity provider is configured (OIDC_ISSUER).")
        return self._users.provider


def destination_of(text: str | None) -> str:
    """Return the page to show after signing in: one of ours, never an address from outside."""
    return text if text and _DESTINATION.fullmatch(text) else HOME


def _challenge(verifier: str) -> str:
    return base64url(hashlib.sha256(verifier.encode()).digest())


# The first that is named counts: most browsers also name those that they descend from.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("HeadlessChrome", "Chrome"),
    ("Chrome", "Chrome"),
    ("Version", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
_SHOWN_MAX = 60


def browser_of(agent: str) -> str:
    """Return the browser and its system, as `Firefox 128 on Linux`; of other programs the beginning of the header."""
    browser = next(
        (f"{name} {version[1]}" for token, name in _BROWSERS if (version := re.search(rf"\b{token}/(\d+)", agent))),
        None,
    )
    if browser is None:
        return agent[:_SHOWN_MAX] or "unknown"
    system = next((name for token, name in _SYSTEMS if token in agent), None)
    return f"{browser} on {system}" if system else browser


_LAST_PAGE = "/dashboard/signed-out"
_SESSIONS_PAGE = "/dashboard/sessions"


class SignOutPages(Pages):
    """Ends sessions: one's own here and at the provider, others of the person, and those that the provider ends."""

    async def sign_out(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """End the session; the last page links to the provider's sign-out, if it has one."""
        await self._sessions.end(visitor.cookie)
        response = see(_LAST_PAGE)
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
            for session in await self._sessions.listed(visitor.person.id)
        ]
        return render(request, "sessions.html", visitor, listed=listed)

    async def end(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """End one session of the person, or all but this one."""
        chosen = (await form_of(request)).get("session", "")

        def ends(session: ListedSession) -> bool:
            return session.id == chosen or (chosen == "others" and not self._sessions.is_of(session, visitor.cookie))

        ended = await self._sessions.end_of(visitor.person.id, ends)
        self._log.info("sessions-ended", person=visitor.person.id, sessions=ended, by="person")
        return see(_SESSIONS_PAGE)

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
