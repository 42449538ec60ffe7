"""Acts by an organization's key that its caller may repeat under an Idempotency-Key."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from edge.http.idempotency_key import digest_of, idempotency_key_of
from edge.http.outcome import Outcome
from edge.storage.database import Database, Scope, Transaction
from edge.storage.idempotency import IdempotentActs, IdempotentRequest

Act = Callable[[Database | Transaction], Awaitable[Outcome]]


class RepeatableActs:
    """Runs acts; under an Idempotency-Key once for all repetitions by any key of the organization within a day."""

    def __init__(self, database: Database, idempotent: IdempotentActs) -> None:
        self._database = database
        self._idempotent = idempotent

    async def run(self, request: web.Request, organization: str, act: Act) -> Outcome:
        """Run the act, or return the answer that it had.

        Raises `idempotency-in-progress`, `idempotency-key-reused`, and what the act raises.
        """
        key = idempotency_key_of(request)
        if key is None:
            return await act(self._database)
        repeatable = IdempotentRequest(Scope(organization=organization), key, digest_of(request, organization))
        return await self._idempotent.run(repeatable, act)
