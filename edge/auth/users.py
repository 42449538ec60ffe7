"""The people behind ID tokens and sessions, with their organizations, cached for seconds."""

import hashlib
import time
from dataclasses import replace

import asyncpg

from edge.auth import id_token, logout_token
from edge.auth.id_token import Identity, InvalidToken
from edge.auth.logout_token import LogoutNotice
from edge.auth.oidc_provider import OidcProvider
from edge.storage.database import Database, Scope
from shared.organizations.accounts import SQL, Membership, Person
from shared.settings.settings import Settings

_REMEMBERED_SECONDS = 5.0
_REMEMBERED_MAX = 10_000
_SIGN_IN = Scope(task="sign-in")


class UserService:
    """Finds the person behind an ID token or a session."""

    def __init__(
        self,
        provider: OidcProvider | None,
        database: Database,
        settings: Settings,
    ) -> None:
        self.provider = provider
        self._database = database
        self._client_id = settings.oidc_client_id
        self._emails_verified = settings.oidc_email_verified == "always"
        self._known: dict[bytes, tuple[float, Person]] = {}

    async def authenticate(self, text: str, *, fresh: bool = False) -> Person:
        """Return the person behind an ID token; with `fresh`, with the memberships that the database holds now.

        Without it they are a few seconds old at most. A person who has just created an organization asks another edge
        next, which may not have heard of it. Raises InvalidToken or ExpiredToken; StoreUnavailable where the provider
        or the database is needed and unavailable.
        """
        if self.provider is None or len(text) > id_token.TOKEN_BYTES_MAX:
            raise InvalidToken
        digest = hashlib.sha256(text.encode(errors="surrogateescape")).digest()
        known = self._known  # another one after `invalidate`: what was read before it is not kept
        entry = known.get(digest)
        if entry is None or entry[0] <= time.monotonic():
            identity, left = await self.verify_id_token(text)
            person = await self.get_or_create(identity)
            if len(known) >= _REMEMBERED_MAX:
                known.clear()
            entry = (time.monotonic() + min(left, _REMEMBERED_SECONDS), person)
            known[digest] = entry
        elif fresh:
            return replace(entry[1], memberships=await self._memberships(entry[1].id))
        return entry[1]

    async def verify_id_token(self, text: str, nonce: str | None = None) -> tuple[Identity, float]:
        """Return the person of a token and for how many seconds it is valid; with `nonce`, only one made for it."""
        assert self.provider is not None
        token = id_token.parse(text)
        id_token.verify(token, await self.provider.keys_for(token))
        now = time.time()
        identity = id_token.check_claims(token.claims, issuer=self.provider.issuer, client_id=self._client_id, now=now)
        if nonce is not None and token.claims.get("nonce") != nonce:
            raise InvalidToken
        return identity, id_token.moment_of(token.claims, "exp") + id_token.LEEWAY_SECONDS - now

    async def logout_notice(self, text: str) -> LogoutNotice:
        """Return what a logout token of the provider says. Raises InvalidToken."""
        if self.provider is None:
            raise InvalidToken
        token = id_token.parse(text, logout_token.TYPES)
        id_token.verify(token, await self.provider.keys_for(token))
        return logout_token.check_logout_claims(
            token.claims, issuer=self.provider.issuer, client_id=self._client_id, now=time.time()
        )

    async def id_of(self, subject: str) -> str | None:
        """Return the id of the provider's person, or None for one who has never signed in."""
        assert self.provider is not None
        row = await self._database.fetch_row(SQL.person, self.provider.issuer, subject, scope=_SIGN_IN)
        return str(row["id"]) if row else None

    async def get_or_create(self, identity: Identity) -> Person:
        """Return the person, created at the first call.

        Nothing is written for a person whose name and address are known already, so that they can still be read while
        PostgreSQL accepts no changes.
        """
        subject = (identity.issuer, identity.subject)
        verified = identity.email is not None and (identity.email_verified or self._emails_verified)
        known = (identity.email, identity.name, verified)
        row = await self._database.fetch_row(SQL.person, *subject, scope=_SIGN_IN)
        if row is None or (row["email"], row["name"], row["email_verified"]) != known:
            row = await self._database.fetch_row(SQL.join_person, *subject, *known, scope=_SIGN_IN)
            row = row or await self._database.fetch_row(SQL.person, *subject, scope=_SIGN_IN)
        assert row is not None
        return await self._with_memberships(row)

    async def by_id(self, person_id: str) -> Person | None:
        """Return the person of a session, or None if there is none any more."""
        row = await self._database.fetch_row(SQL.person_by_id, person_id, scope=Scope(person=person_id))
        return await self._with_memberships(row) if row else None

    def invalidate(self) -> None:
        """Invalidate the cache: roles or organizations have changed."""
        self._known = {}

    async def _with_memberships(self, person: asyncpg.Record) -> Person:
        memberships = await self._memberships(person["id"])
        return Person(
            person["id"], person["name"], person["email"], memberships, email_verified=person["email_verified"]
        )

    async def _memberships(self, person_id: str) -> tuple[Membership, ...]:
        rows = await self._database.fetch(SQL.memberships, person_id, scope=Scope(person=person_id))
        return tuple(Membership(r["id"], r["name"], r["plan"], r["state"], r["role"]) for r in rows)
