"""The request header `Idempotency-Key`: one text that marks repetitions of one request."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from edge.http.faults import Fault
from edge.http.json import NO_STORE
from edge.http.parameters import BODY
from edge.http.problems import Problem, invalid_parameters
from edge.storage.database import Database, Scope, Transaction
from shared.db.queries import beside
from shared.organizations.sealing import seal, sealing_key, unseal
from shared.settings.settings import Settings

FIELD = "Idempotency-Key"
PROBLEMS = ("idempotency-in-progress", "idempotency-key-reused")
"""The problems that a route may answer because of the header."""

_FORM = re.compile(r"[!-~]{0,255}", re.ASCII)
PARAMETER: dict[str, Any] = {
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
        raise invalid_parameters([Fault(FIELD, "must be one text of 1 to 255 visible ASCII characters")])
    return keys[0]


def digest_of(request: web.Request, organization: str | None) -> bytes:
    """Return a SHA-256 of what a request orders of an organization: its call, and its body as it was validated."""
    ordered = {
        "call": f"{request.method} {request.path}",
        "organization": organization,
        "body": request.get(BODY, {}),
    }
    return hashlib.sha256(msgspec.json.encode(ordered, order="sorted")).digest()


# The answer of an act as status and JSON text: what is kept for its repetitions and sent each time.


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of an act: status, and the body as it is sent."""

    status: int
    body: bytes = b""


def outcome_of(document: object, status: int) -> Outcome:
    """Return an answer with a document of plain values."""
    return Outcome(status, msgspec.json.encode(document))


def response_of(outcome: Outcome) -> web.Response:
    """Return the response, which no cache keeps."""
    if not outcome.body:
        return web.Response(status=outcome.status)
    return web.Response(
        status=outcome.status, body=outcome.body, content_type="application/json", headers=dict(NO_STORE)
    )


# One act for each Idempotency-Key of a person or organization. The act and its answer commit together; repetitions
# get that answer.


SQL = beside(__file__, "idempotency.sql")


Act = Callable[[Transaction], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request that may come again: its owner, its key, and a SHA-256 of what it asks for.

    The owner is the person of the scope, or where it names none, the organization.
    """

    scope: Scope
    key: str
    digest: bytes

    @property
    def owner_id(self) -> str:
        """The id of the owner."""
        owner = self.scope.person or self.scope.organization
        assert owner is not None
        return owner

    @property
    def key_digest(self) -> bytes:
        """The stored digest of the key. The key itself is part of what decrypts the answer."""
        return hashlib.sha256(self.key.encode()).digest()


class IdempotentActs:
    """Runs acts once. Raises StoreUnavailable where the database does not answer; the act may then have been done."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self.settings = settings

    async def run(self, request: IdempotentRequest, act: Act, *, wait: bool = False) -> Outcome:
        """Run the act, or return the answer of the request that ran it.

        While that one is running, raises `idempotency-in-progress`, or with `wait` waits for its end. Raises
        `idempotency-key-reused` where it asked for something else. An act that raises leaves nothing behind, so its key
        can be used again.
        """
        async with self._database.transaction(request.scope) as transaction:
            name = f"{request.owner_id} {request.key}"
            [lock] = await transaction.fetch(SQL.lock if wait else SQL.try_lock, name)
            if not lock["got"]:
                raise Problem("idempotency-in-progress", "A request with this Idempotency-Key is under way.")
            known = await self._known(transaction, request)
            return known or await self._remembered(transaction, request, act)

    async def _known(self, transaction: Transaction, request: IdempotentRequest) -> Outcome | None:
        query = SQL.known if request.scope.person else SQL.known_of_organization
        row = await transaction.fetch_row(query, request.owner_id, request.key_digest, request.digest)
        if row is None:
            return None
        if not row["same"]:
            raise Problem("idempotency-key-reused", "This Idempotency-Key was used for another request.")
        bodies = (unseal(key, row["sealed_body"]) for key in self._sealing_keys(request))
        body = next((body for body in bodies if body is not None), None)
        if body is None:  # sealed under a pepper that is not in use any more
            raise Problem("state-conflict", "The request was done, and its answer cannot be shown again.")
        return Outcome(row["status"], body)

    async def _remembered(self, transaction: Transaction, request: IdempotentRequest, act: Act) -> Outcome:
        outcome = await act(transaction)
        sealed = seal(self._sealing_keys(request)[0], outcome.body)
        values = (request.owner_id, request.key_digest, request.digest, outcome.status, sealed)
        query = SQL.remember if request.scope.person else SQL.remember_of_organization
        await transaction.fetch(query, *values, scope=request.scope)
        return outcome

    def _sealing_keys(self, request: IdempotentRequest) -> list[bytes]:
        peppers = self.settings.peppers
        return [sealing_key(pepper, "idempotent-answer", request.owner_id, request.key) for pepper in peppers]
