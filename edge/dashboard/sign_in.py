"""Signing in with the provider, by authorization code with PKCE, state and nonce; ending sessions here and there.

Sources: OpenID Connect Core 1.0, section 3.1; RFC 6749; RFC 7636 (PKCE); RFC 9207 (`iss` in the answer); RFC 9700;
OpenID Connect RP-Initiated Logout 1.0; OpenID Connect Back-Channel Logout 1.0; Initiating User Registration via OpenID
Connect 1.0.
"""

import hashlib
import hmac
import re
import secrets
from urllib.parse import quote_plus, urlencode

import aiohttp
from aiohttp import web

from edge.auth.id_token import InvalidToken
from edge.auth.oidc_provider import Endpoints, OidcProvider
from edge.dashboard.page_requests import PageError, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.sessions import IdToken, SignIn, digest_of
from edge.http.context import CONTEXT
from shared.printable import base64url
from shared.settings.checks import SIGN_UP_BY_PROMPT, SIGN_UP_CLOSED

HOME = "/dashboard"
_CALLBACK = f"{HOME}/sign-in/callback"
_DESTINATION = re.compile(
    r"/dashboard(?:/(?!\.+(?:[/?]|$))[A-Za-z0-9_.%-]{1,400}){0,3}(?:\?[A-Za-z0-9_.~%&=+,:;@/?*!'()$-]{0,2000})?",
    re.ASCII,
)
_PARAMETER_MAX = 4_096
# Of one browser at the same time: their cookies must leave room for the others in its requests.
_SIGN_INS_MAX = 5
_AGAIN = "Sign-in failed. Try again."


class SignInPages(Pages):
    """The handlers of the way to the provider and back."""

    async def begin(self, request: web.Request) -> web.StreamResponse:
        """Send the visitor to the provider."""
        endpoints = await self._endpoints(request)
        return await self._to_provider(request, endpoints.authorization, {})

    async def begin_registration(self, request: web.Request) -> web.StreamResponse:
        """Send the visitor to the provider to register, from where they come back signed in."""
        way = self._settings.oidc_sign_up
        if way == SIGN_UP_CLOSED:
            raise PageError(404, "Nobody can register here. Ask the operator for an account.")
        endpoints = await self._endpoints(request)
        if way == SIGN_UP_BY_PROMPT or (not way and endpoints.registers):
            return await self._to_provider(request, endpoints.authorization, {"prompt": "create"})
        return await self._to_provider(request, way or endpoints.authorization, {})

    async def _endpoints(self, request: web.Request) -> Endpoints:
        provider, context = self._provider(), request[CONTEXT]
        await self._services.person_limits.consume_sign_in(context.network, context.charge_id)
        return await provider.endpoints()

    async def _to_provider(self, request: web.Request, address: str, more: dict[str, str]) -> web.StreamResponse:
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
            **more,
        }
        joint = "&" if "?" in address else "?"
        response = redirect(f"{address}{joint}{urlencode(requested)}")
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
            return redirect(HOME)
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
        response = redirect(sign_in.destination)
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
