"""The identity provider: its endpoints and signing keys, cached for minutes.

Sources: OpenID Connect Discovery 1.0; RFC 8414; RFC 7517.
"""

import asyncio
import time
from dataclasses import dataclass

import aiohttp
import msgspec

from edge.auth import id_token
from edge.auth.id_token import VerificationKey
from shared.errors import StoreUnavailable
from shared.settings.settings import Settings
from shared.telemetry.log import Log

_ANSWER_BYTES_MAX = 256 * 1024
_REFRESH_SECONDS = 600.0
_FETCH_SECONDS = 30.0
_KEPT_SECONDS = 86_400.0
_RETRY_AFTER_SECONDS = 5
# Calls of one process that wait for the provider. Anybody can send tokens that name a key which nobody has.
_WAITING_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The endpoints from discovery. `end_session` is None if the provider has none; `registers`: it says that it knows
    `prompt=create` (Initiating User Registration via OpenID Connect 1.0, section 4).
    """

    authorization: str
    token: str
    jwks: str
    end_session: str | None
    registers: bool = False


class OidcProvider:
    """One issuer. Raises StoreUnavailable("identity") where it is needed and does not answer."""

    def __init__(
        self,
        settings: Settings,
        log: Log,
        *,
        refresh_seconds: float = _REFRESH_SECONDS,
        fetch_seconds: float = _FETCH_SECONDS,
    ) -> None:
        self._refresh_seconds, self._fetch_seconds = refresh_seconds, fetch_seconds
        self.issuer = settings.oidc_issuer
        self._deadline_seconds = settings.oidc_timeout_seconds
        self._log = log
        self._session: aiohttp.ClientSession | None = None
        self._endpoints: Endpoints | None = None
        self._keys: list[VerificationKey] = []
        self._good_at = float("-inf")
        self._asked_at = float("-inf")
        self._unknown_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._waiting = 0
        self._down = False

    async def open(self) -> None:
        """Open the client; nothing is requested yet."""
        timeout = aiohttp.ClientTimeout(total=self._deadline_seconds)
        self._session = aiohttp.ClientSession(timeout=timeout, trust_env=False, cookie_jar=aiohttp.DummyCookieJar())

    async def close(self) -> None:
        """Close the client."""
        if self._fetching is not None:
            self._fetching.cancel()
        if self._session is not None:
            await self._session.close()

    async def endpoints(self) -> Endpoints:
        """Return where the provider's endpoints are."""
        await self._refresh_if_old(wait=self._endpoints is None)
        if self._endpoints is None:
            raise self._unavailable()
        return self._endpoints

    async def keys_for(self, token: id_token.Unverified) -> list[VerificationKey]:
        """Return the keys that may have signed a token; none where the provider has no such key."""
        await self._refresh_if_old(wait=not self._keys)
        if not self._keys or time.monotonic() - self._good_at > _KEPT_SECONDS:
            raise self._unavailable()
        keys = id_token.select(token, self._keys)
        if not keys and time.monotonic() - self._unknown_at > self._fetch_seconds:
            # The provider may have a new key. Random kids must not make us ask it more often than this.
            self._unknown_at = time.monotonic()
            await self._refresh(wait=True)
            keys = id_token.select(token, self._keys)
        elif not keys and self._fetching is not None:
            await self._wait_for(self._fetching)
            keys = id_token.select(token, self._keys)
        if not keys and self._down and time.monotonic() - self._good_at > self._refresh_seconds:
            raise self._unavailable()  # the key may be new and the provider is unavailable: not the caller's fault
        return keys

    async def fetch(
        self, method: str, url: str, form: dict[str, str] | None = None, head: dict[str, str] | None = None
    ) -> object:
        """Ask the provider for a JSON document, bounded in time and size, following no redirect."""
        assert self._session is not None
        try:
            async with self._session.request(method, url, data=form, headers=head, allow_redirects=False) as answer:
                body = await answer.content.read(_ANSWER_BYTES_MAX + 1)
                while len(body) <= _ANSWER_BYTES_MAX and (more := await answer.content.read(_ANSWER_BYTES_MAX)):
                    body += more
                if answer.status >= 500 or len(body) > _ANSWER_BYTES_MAX:
                    raise self._unavailable()
                return msgspec.json.decode(body) if answer.status == 200 else None
        except (
            aiohttp.ClientError,
            TimeoutError,
            OSError,
            RecursionError,
            msgspec.DecodeError,
            UnicodeDecodeError,
        ) as error:
            raise self._unavailable() from error

    async def _refresh_if_old(self, *, wait: bool) -> None:
        """Fetch what is older than ten minutes or was never fetched, once in 30 s however many callers ask."""
        if (
            time.monotonic() - self._good_at > self._refresh_seconds
            and time.monotonic() - self._asked_at > self._fetch_seconds
        ):
            self._asked_at = time.monotonic()
            await self._refresh(wait=wait)
        elif wait and self._fetching is not None:
            await self._wait_for(self._fetching)

    async def _refresh(self, *, wait: bool) -> None:
        """Fetch, one fetch at a time; without `wait` in the background."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch_all())
            self._fetching.add_done_callback(lambda task: setattr(self, "_fetching", None))
        if wait:
            await self._wait_for(self._fetching)

    async def _wait_for(self, fetching: asyncio.Task[None]) -> None:
        """Wait until a fetch has ended. Raises StoreUnavailable where as many wait as may."""
        if self._waiting >= _WAITING_MAX:
            raise self._unavailable()
        self._waiting += 1
        try:
            await asyncio.shield(fetching)
        finally:
            self._waiting -= 1

    async def _fetch_all(self) -> None:
        """Read discovery and the keys that it names; a failure leaves the last good state."""
        try:
            endpoints = await self._discover()
            keys = id_token.usable_keys(await self.fetch("GET", endpoints.jwks))
            self._endpoints = endpoints
        except StoreUnavailable:
            keys = []
        if keys:
            self._keys, self._good_at = keys, time.monotonic()
        if self._down != (not keys):
            self._down = not keys
            if self._down:
                self._log.warning("store-down", store="identity")
            else:
                self._log.info("store-back", store="identity")

    async def _discover(self) -> Endpoints:
        document = await self.fetch("GET", f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        # The document must name the very issuer that was asked, or another one could pose as it.
        if not isinstance(document, dict) or document.get("issuer") != self.issuer:
            raise self._unavailable()
        endpoints = _endpoints(document)
        if endpoints is None:
            raise self._unavailable()
        return endpoints

    def _unavailable(self) -> StoreUnavailable:
        return StoreUnavailable("identity", retry_after_seconds=_RETRY_AFTER_SECONDS)


def _endpoints(document: dict[str, object]) -> Endpoints | None:
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint")
    authorization, token, jwks, end_session = (_url(document.get(name)) for name in names)
    prompts = document.get("prompt_values_supported")
    registers = isinstance(prompts, list) and "create" in prompts
    return Endpoints(authorization, token, jwks, end_session, registers) if authorization and token and jwks else None


def _url(value: object) -> str | None:
    return value if isinstance(value, str) and value.startswith(("https://", "http://")) else None
