"""Sessions of the dashboard: in the state store, under the hash of a random cookie; ended by time or by hand."""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.redis import keys
from shared.sealing import seal, sealing_key, unseal

_SIGN_IN_SECONDS = 600
_FLASH_SECONDS = 300
_PAUSES_SECONDS = (0.1, 0.3, 0.6)


class Session(msgspec.Struct, frozen=True):
    """What is kept of a visit. `csrf` is in every form; `organization` is the one chosen, None for the first joined."""

    person_id: str
    csrf: str
    born: float
    organization: str | None = None


class SignIn(msgspec.Struct, frozen=True):
    """What must come back from the provider, and where the visitor wanted to go."""

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

    @property
    def sign_in(self) -> str:
        """Name of the cookie that binds a sign-in to the browser that began it."""
        return f"{self.session}-sign-in"

    def set(self, response: web.StreamResponse, name: str, value: str, seconds: int | None = None) -> None:
        """Set a cookie for the dashboard alone."""
        response.set_cookie(name, value, max_age=seconds, path="/dashboard", httponly=True, secure=self.secure,
                            samesite="Lax")  # fmt: skip

    def drop(self, response: web.StreamResponse, name: str) -> None:
        """Take a cookie back."""
        response.del_cookie(name, path="/dashboard", httponly=True, secure=self.secure, samesite="Lax")


class Sessions:
    """Begins, finds and ends sessions. Raises StoreUnavailable while the state store is down."""

    def __init__(
        self, store: RedisClient, *, idle_seconds: int, seconds_max: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._idle_seconds = idle_seconds
        self._seconds_max = seconds_max
        self._clock = clock

    async def begin(self, person_id: str) -> str:
        """Begin a session and return its cookie: always a new one, so that nobody can plant a session beforehand."""
        cookie = secrets.token_urlsafe(32)
        await self._write(cookie, Session(person_id, secrets.token_urlsafe(32), self._clock()))
        return cookie

    async def find(self, cookie: str) -> Session | None:
        """Return a session that goes on, and let it go on for another while."""
        packed = await self._ask("GETEX", _session_key(cookie), "EX", self._idle_seconds)
        if not isinstance(packed, bytes):
            return None
        session = msgspec.json.decode(packed, type=Session)
        if self._clock() - session.born > self._seconds_max:
            await self.end(cookie)
            return None
        return session

    async def choose(self, cookie: str, session: Session, organization: str | None) -> None:
        """Remember which organization the visitor works in."""
        await self._write(cookie, msgspec.structs.replace(session, organization=organization))

    async def end(self, cookie: str) -> None:
        """End a session; its cookie is worth nothing from now on."""
        await self._ask("DEL", _session_key(cookie))

    async def put_flash(self, cookie: str, page: str, text: str) -> None:
        """Keep a text that a page of this session shows once, for five minutes; the store cannot read it."""
        sealed = seal(_flash_key(cookie), text.encode())
        await self._ask("SET", keys.flash(_digest(cookie), page), sealed, "EX", _FLASH_SECONDS)

    async def take_flash(self, cookie: str, page: str) -> str | None:
        """Return the text kept for a page, once."""
        sealed = await self._ask("GETDEL", keys.flash(_digest(cookie), page))
        plain = unseal(_flash_key(cookie), sealed) if isinstance(sealed, bytes) else None
        return plain.decode() if plain is not None else None

    async def remember_sign_in(self, state: str, sign_in: SignIn) -> None:
        """Keep what must come back, for ten minutes."""
        await self._ask("SET", _sign_in_key(state), msgspec.json.encode(sign_in), "EX", _SIGN_IN_SECONDS)

    async def take_sign_in(self, state: str) -> SignIn | None:
        """Return what was kept under a state, once."""
        packed = await self._ask("GETDEL", _sign_in_key(state))
        return msgspec.json.decode(packed, type=SignIn) if isinstance(packed, bytes) else None

    async def _ask(self, *command: str | bytes | int) -> Any:
        """Ask the store, and again: its deadline is made for look-ups, and a person at a page can wait a second."""
        for pause in _PAUSES_SECONDS:
            try:
                return await self._store.command(*command)
            except StoreUnavailable:
                await asyncio.sleep(pause)
        return await self._store.command(*command)

    async def _write(self, cookie: str, session: Session) -> None:
        await self._ask("SET", _session_key(cookie), msgspec.json.encode(session), "EX", self._idle_seconds)


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode(errors="replace")).hexdigest()


def _flash_key(cookie: str) -> bytes:
    return sealing_key(cookie, "flash")


def _session_key(cookie: str) -> str:
    return keys.session(_digest(cookie))


def _sign_in_key(state: str) -> str:
    return keys.sign_in(_digest(state))
