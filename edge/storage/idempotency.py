"""One act for each Idempotency-Key of a person or organization.

The act and its answer commit together; repetitions get that answer.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from edge.http.outcome import Outcome
from edge.http.problems import Problem
from edge.storage.database import Database, Scope, Transaction
from shared.config import Settings
from shared.db.queries import beside
from shared.sealing import seal, sealing_key, unseal

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
