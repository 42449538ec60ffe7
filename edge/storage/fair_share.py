"""A fair share of the connections to PostgreSQL: one account never holds all of them while others wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

ACCOUNT: ContextVar[str | None] = ContextVar("account", default=None)
"""The account that the current request is counted against; None for what no account asks for."""


class FairShare:
    """Lets each account use so many connections at a time; its other statements wait in their order."""

    def __init__(self, connections_max: int) -> None:
        self._connections_max = connections_max
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}

    @asynccontextmanager
    async def slot(self, account: str | None, deadline_seconds: float) -> AsyncIterator[None]:
        """Hold a slot of the account. Raises TimeoutError where none is free within the deadline."""
        if account is None:
            yield
            return
        gate = self._gates.setdefault(account, asyncio.Semaphore(self._connections_max))
        self._users[account] = self._users.get(account, 0) + 1
        try:
            async with asyncio.timeout(deadline_seconds):
                await gate.acquire()
            try:
                yield
            finally:
                gate.release()
        finally:
            self._users[account] -= 1
            if not self._users[account]:
                del self._users[account], self._gates[account]
