"""One act for each `Idempotency-Key`: the act and its answer commit together, and repetitions get that answer."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import asyncpg
import msgspec
from aiohttp import web

from edge.http.faults import Fault
from edge.http.json import NO_STORE
from edge.http.problems import Problem, invalid_parameters
from edge.http.validation import BODY
from edge.storage.database import Database, Scope, Transaction
from shared.db.queries import load_queries
from shared.organizations.sealing import seal, sealing_key, unseal
from shared.settings.settings import Settings

FIELD = "Idempotency-Key"
PROBLEMS = ("idempotency-in-progress", "idempotency-key-reused")
"""The problems that a route may answer because of the header."""

_FORM = re.compile(r"[!-~]{0,255}", re.ASCII)
PARAMETER: dict[str, object] = {
    "in": "header",
    "name": FIELD,
    "schema": {"type": "string", "pattern": f"^{_FORM.pattern}$"},
    "required": False,
}
"""How the OpenAPI document describes the header."""


def idempotency_key_of(request: web.Request) -> str | None:
    """Return the request's key, or None where it carries none; raise `invalid-parameter` for a malformed one."""
    keys = request.headers.getall(FIELD, [])
    if not any(keys):  # nginx drops an empty header, so an empty one that arrives another way is ignored as well
        return None
    if len(keys) > 1 or not _FORM.fullmatch(keys[0]):
        raise invalid_parameters([Fault(FIELD, "must be 1 to 255 visible ASCII characters, sent once")])
    return keys[0]


def digest_of(request: web.Request, organization: str | None) -> bytes:
    """Return a SHA-256 of what a request orders of an organization: its call, and its body as it was validated."""
    ordered = {
        "call": f"{request.method} {request.path}",
        "organization": organization,
        "body": request.get(BODY, {}),
    }
    return hashlib.sha256(msgspec.json.encode(ordered, order="sorted")).digest()


@dataclass(frozen=True, slots=True)
class ActOutcome:
    """The answer of an act: status, and the body as it is sent."""

    status: int
    body: bytes = b""


def _response(outcome: ActOutcome) -> web.Response:
    """Return the response, which no cache keeps."""
    if not outcome.body:
        return web.Response(status=outcome.status)
    return web.Response(
        status=outcome.status, body=outcome.body, content_type="application/json", headers=dict(NO_STORE)
    )


SQL = load_queries(__file__, "idempotency.sql")


class Transactional(Protocol):
    """A service whose acts can be part of a transaction."""

    def within(self, database: Database | Transaction) -> Self:
        """Return the service whose acts are part of a transaction, where it is given one."""
        ...


Service = TypeVar("Service", bound=Transactional)
ActInTransaction = Callable[[Transaction], Awaitable[ActOutcome]]


class IdempotentActs:
    """Runs acts once for each owner and key: the person of a scope, or where it names none, its organization.

    Raises StoreUnavailable where the database does not answer; the act may then have been done.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self.settings = settings

    async def respond(
        self,
        request: web.Request,
        owner: Scope,
        service: Service,
        act: Callable[[Service], Awaitable[object]],
        status: int,
        organization: str | None = None,
    ) -> web.Response:
        """Run what a request orders of an organization, and answer with what the act returns; None is no body.

        Under an Idempotency-Key it runs once for all its repetitions.
        """

        async def outcome(database: Database | Transaction) -> ActOutcome:
            document = await act(service.within(database))
            return ActOutcome(status, b"" if document is None else msgspec.json.encode(document))

        key = idempotency_key_of(request)
        if key is None:
            return _response(await outcome(self._database))
        return _response(await self.once(owner, key, digest_of(request, organization), outcome))

    async def once(
        self, owner: Scope, key: str, digest: bytes, act: ActInTransaction, *, wait: bool = False
    ) -> ActOutcome:
        """Run the act, or return the answer that it had under this key.

        While it runs for another request, raises `idempotency-in-progress`, or with `wait` waits for its end. Raises
        `idempotency-key-reused` where the digest is another one. An act that raises leaves nothing behind, so its key
        can be used again.
        """
        owner_id = owner.person or owner.organization
        assert owner_id is not None
        known, remember = _OF_PEOPLE if owner.person else _OF_ORGANIZATIONS
        # The table has a digest of the key. The key itself is part of what decrypts the answer.
        key_digest = hashlib.sha256(key.encode()).digest()
        sealing_keys = [sealing_key(pepper, "idempotent-answer", owner_id, key) for pepper in self.settings.peppers]
        async with self._database.transaction(owner) as transaction:
            await lock_key(transaction, owner_id, key, wait=wait)
            row = await transaction.fetch_row(known, owner_id, key_digest, digest)
            if row is not None:
                require_same(row, "request")
                return ActOutcome(row["status"], _unseal_body(row["sealed_body"], sealing_keys))
            outcome = await act(transaction)
            sealed = seal(sealing_keys[0], outcome.body)
            await transaction.fetch(remember, owner_id, key_digest, digest, outcome.status, sealed, scope=owner)
            return outcome

    async def is_done(self, owner: Scope, key: str) -> bool:
        """Return whether a person did an act under the key within a day."""
        values = owner.person, hashlib.sha256(key.encode()).digest(), b""
        return await self._database.fetch_row(SQL.known, *values, scope=owner) is not None


_OF_PEOPLE = (SQL.known, SQL.remember)
_OF_ORGANIZATIONS = (SQL.known_of_organization, SQL.remember_of_organization)


async def lock_key(transaction: Transaction, owner: str, key: str, *, wait: bool = False) -> None:
    """Let no other transaction act under the key until this one ends. Raises `idempotency-in-progress`."""
    [lock] = await transaction.fetch(SQL.lock if wait else SQL.try_lock, f"{owner} {key}")
    if not lock["got"]:
        raise Problem(
            "idempotency-in-progress", "A request with this Idempotency-Key is still running. Wait, then repeat it."
        )


def require_same(known: asyncpg.Record, act: str) -> None:
    """Raise `idempotency-key-reused` where the key was used before with another digest."""
    if not known["same"]:
        raise Problem(
            "idempotency-key-reused",
            f"This Idempotency-Key was used for another {act}. Send a new key with a new request.",
        )


def _unseal_body(sealed: bytes, keys: Iterable[bytes]) -> bytes:
    body = next((body for body in (unseal(key, sealed) for key in keys) if body is not None), None)
    if body is None:  # sealed under a pepper that is not in use any more
        raise Problem("state-conflict", "The request was carried out, but its response is no longer available.")
    return body
