"""Sessions of the dashboard: in the state store, under the hash of a random cookie; ended by time or by the person."""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.organizations.sealing import seal, sealing_key, unseal
from shared.organizations.sessions import SESSION_ID_CHARACTERS, ListedSession, Session, SessionBeginning
from shared.redis import keys

_SIGN_IN_SECONDS = 600
_AGENT_CHARACTERS_MAX = 200
_FLASH_SECONDS = 300
_PAUSES_SECONDS = (0.1, 0.3, 0.6)


@dataclass(frozen=True, slots=True)
class IdToken:
    """The verified ID token of a sign-in, and the provider's session that it names (`sid`), if any."""

    text: str
    provider_session: str | None = None


class SignIn(msgspec.Struct, frozen=True):
    """A sign-in at the provider: its nonce, its PKCE verifier, and the page to show afterwards."""

    nonce: str
    verifier: str
    destination: str


@dataclass(frozen=True, slots=True)
class Cookies:
    """How our cookies are set: out of reach of scripts, of other sites' forms, and of plain HTTP where there is TLS."""

    secure: bool

    @property
    def session(self) -> str:
        """Name of the session's cookie; with TLS its prefix makes browsers insist on Secure."""
        return "__Secure-itemindex" if self.secure else "itemindex"

    def sign_in(self, digest: str) -> str:
        """Name of the cookie that binds a sign-in to the browser that began it.

        Each sign-in has its own: people begin in two tabs at once, and the later answer must not undo the earlier one.
        """
        return f"{self._sign_in_prefix}{digest[:16]}"

    def sign_ins(self, given: Iterable[str]) -> list[str]:
        """Return those of a request's cookies that bind sign-ins, in their order: browsers give the oldest first."""
        return [name for name in given if name.startswith(self._sign_in_prefix)]

    @property
    def _sign_in_prefix(self) -> str:
        return f"{self.session}-sign-in-"

    @property
    def sign_out(self) -> str:
        """Name of the cookie by which the last page finds the way to the provider's sign-out."""
        return f"{self.session}-sign-out"

    def set(self, response: web.StreamResponse, name: str, value: str, seconds: int | None = None) -> None:
        """Set a cookie for the dashboard alone."""
        response.set_cookie(
            name, value, max_age=seconds, path="/dashboard", httponly=True, secure=self.secure, samesite="Lax"
        )

    def drop(self, response: web.StreamResponse, name: str) -> None:
        """Take a cookie back."""
        response.del_cookie(name, path="/dashboard", httponly=True, secure=self.secure, samesite="Lax")


class Sessions:
    """Begins, finds and ends sessions. Raises StoreUnavailable while the state store is down."""

    def __init__(self, store: RedisClient, *, idle_seconds: int, seconds_max: int) -> None:
        self._store = store
        self._idle_seconds = idle_seconds
        self._seconds_max = seconds_max

    async def begin(self, person_id: str, network: str, agent: str, signed_in: IdToken) -> str:
        """Begin a session and return its cookie: always a new one, so that a session cannot be planted beforehand."""
        cookie, now = secrets.token_urlsafe(32), time.time()
        sealed = seal(sealing_key(cookie, "id-token"), signed_in.text.encode())
        session = Session(person_id, secrets.token_urlsafe(32), now, sealed_id_token=sealed)
        await self._ask("SET", _session_key(cookie), msgspec.json.encode(session), "EX", self._idle_seconds)
        beginning = SessionBeginning(now, network, agent[:_AGENT_CHARACTERS_MAX], signed_in.provider_session)
        listed = keys.sessions_of(person_id)
        await self._ask("HSET", listed, digest_of(cookie), msgspec.json.encode(beginning))
        await self._ask("EXPIRE", listed, self._seconds_max)
        if signed_in.provider_session is not None:
            name = keys.provider_session(digest_of(signed_in.provider_session))
            await self._ask("SET", name, person_id, "EX", self._seconds_max)
        return cookie

    async def find(self, cookie: str) -> Session | None:
        """Return a running session, and renew its idle time; None if it has ended."""
        packed = await self._ask("GETEX", _session_key(cookie), "EX", self._idle_seconds)
        if not isinstance(packed, bytes):
            return None
        session = msgspec.json.decode(packed, type=Session)
        if time.time() - session.born > self._seconds_max:
            await self.end(cookie)
            return None
        return session

    async def choose(self, cookie: str, session: Session, organization: str | None) -> None:
        """Remember which organization the visitor works in. A session that has ended meanwhile stays ended."""
        packed = msgspec.json.encode(msgspec.structs.replace(session, organization=organization))
        await self._ask("SET", _session_key(cookie), packed, "XX", "EX", self._idle_seconds)

    async def end(self, cookie: str) -> None:
        """End a session; its cookie is worth nothing from now on."""
        packed = await self._ask("GETDEL", _session_key(cookie))
        if isinstance(packed, bytes):
            session = msgspec.json.decode(packed, type=Session)
            await self._ask("HDEL", keys.sessions_of(session.person_id), digest_of(cookie))

    async def list_sessions(self, person_id: str) -> list[ListedSession]:
        """Return the sessions of a person, the newest first; those that have ended by time are forgotten."""
        packed = await self._ask("HGETALL", keys.sessions_of(person_id))
        listed = []
        for name, value in zip(packed[::2], packed[1::2], strict=True):
            digest, left = name.decode(), await self._ask("TTL", keys.session(name.decode()))
            if left < 0:
                await self._ask("HDEL", keys.sessions_of(person_id), digest)
                continue
            beginning = msgspec.json.decode(value, type=SessionBeginning)
            idle = max(0, self._idle_seconds - left)
            listed.append(ListedSession(digest[:SESSION_ID_CHARACTERS], digest, beginning, idle))
        return sorted(listed, key=lambda session: -session.beginning.born)

    async def end_of(self, person_id: str, chosen: Callable[[ListedSession], bool]) -> int:
        """End the person's sessions that are chosen; return how many there were."""
        ended = [session for session in await self.list_sessions(person_id) if chosen(session)]
        for session in ended:
            await self._ask("DEL", keys.session(session.digest))
            await self._ask("HDEL", keys.sessions_of(person_id), session.digest)
        return len(ended)

    async def person_of_provider_session(self, sid: str) -> str | None:
        """Return the person who signed in within a session of the provider, if one of ours began there."""
        person = await self._ask("GET", keys.provider_session(digest_of(sid)))
        return person.decode() if isinstance(person, bytes) else None

    async def was_obeyed(self, notice: str) -> bool:
        """Return whether a logout token is one that was obeyed."""
        return await self._ask("GET", keys.logout_notice(digest_of(notice))) is not None

    async def note_obeyed(self, notice: str, seconds: int) -> None:
        """Remember a logout token that was obeyed, for as long as it could be repeated."""
        await self._ask("SET", keys.logout_notice(digest_of(notice)), 1, "EX", seconds)

    def is_of(self, session: ListedSession, cookie: str) -> bool:
        """Return whether a listed session is the one of this cookie."""
        return hmac.compare_digest(session.digest, digest_of(cookie))

    def id_token_of(self, cookie: str, session: Session) -> str | None:
        """Return the ID token that the session began with."""
        plain = unseal(sealing_key(cookie, "id-token"), session.sealed_id_token)
        return plain.decode() if plain else None

    async def put_flash(self, cookie: str, page: str, text: str) -> None:
        """Keep a text that a page of this session shows once, for five minutes; the store cannot read it."""
        sealed = seal(_flash_key(cookie), text.encode())
        await self._ask("SET", keys.flash(digest_of(cookie), page), sealed, "EX", _FLASH_SECONDS)

    async def take_flash(self, cookie: str, page: str) -> str | None:
        """Return the text kept for a page, once."""
        sealed = await self._take(keys.flash(digest_of(cookie), page), _FLASH_SECONDS)
        plain = unseal(_flash_key(cookie), sealed) if sealed is not None else None
        return plain.decode() if plain is not None else None

    async def remember_sign_in(self, state: str, sign_in: SignIn) -> None:
        """Keep a sign-in under its state, for ten minutes."""
        await self._ask("SET", _sign_in_key(state), msgspec.json.encode(sign_in), "EX", _SIGN_IN_SECONDS)

    async def take_sign_in(self, state: str) -> SignIn | None:
        """Return the sign-in of a state, once."""
        packed = await self._take(_sign_in_key(state), _SIGN_IN_SECONDS)
        return msgspec.json.decode(packed, type=SignIn) if packed is not None else None

    async def _take(self, key: str, seconds: int) -> bytes | None:
        """Return a value that is kept for so many seconds, to one caller, and delete it.

        GETDEL would lose the value with its reply: sent again, it finds nothing.
        """
        value = await self._ask("GET", key)
        if not isinstance(value, bytes) or not await self._is_first(keys.single_use(value), seconds):
            return None
        await self._ask("DEL", key)
        return value

    async def _is_first(self, marker: str, seconds: int) -> bool:
        """Return whether this is the first call for a marker. A lost reply changes nothing."""
        caller = secrets.token_bytes(16)
        holder = await self._ask("SET", marker, caller, "NX", "GET", "EX", seconds)
        return holder is None or holder == caller

    async def _ask(self, *command: str | bytes | int) -> Any:
        """Ask the store, and again: its deadline is made for lookups, and a person at a page can wait a second."""
        for pause in _PAUSES_SECONDS:
            try:
                return await self._store.command(*command)
            except StoreUnavailable:
                await asyncio.sleep(pause)
        return await self._store.command(*command)


def digest_of(secret: str) -> str:
    """Return what is stored of a cookie, or another random text, in its place."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _flash_key(cookie: str) -> bytes:
    return sealing_key(cookie, "flash")


def _session_key(cookie: str) -> str:
    return keys.session(digest_of(cookie))


def _sign_in_key(state: str) -> str:
    return keys.sign_in(digest_of(state))
