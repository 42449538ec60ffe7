"""Asks an edge both ways, from memory and anew, and compares the answers byte for byte."""

import asyncio
from collections.abc import Callable

from tests.support.client import Edge
from tests.support.wire import OTHER, comparable, exchange, head

FORMATS = ("", "Accept: */*\r\n", "Accept: application/json\r\n", "Accept: text/csv;q=0.9, application/json;q=0.5\r\n")
ONLY_PAID = ("Accept: text/csv\r\n", "Accept: application/x-ndjson\r\n", "Accept: application/vnd.apache.parquet\r\n")


class Asker:
    """Asks both ways, each call from an address of its own."""

    def __init__(self, edge: Edge, taken: list[bool]) -> None:
        self.edge = edge
        self.taken = taken
        self._calls = 0

    async def ask(self, target: str, credential: str, extra: str = "") -> bytes:
        """Return one answer without what differs between two moments."""
        self._calls += 1
        n = self._calls
        address = f"10.1.{n >> 8}.{n & 255}"
        [answer] = await exchange(
            self.edge, head(self.edge, n, target, address=address, credential=credential, extra=extra)
        )
        return comparable(answer).replace(address.encode(), b"-")

    async def both(self, target: str, credential: str, extra: str = "") -> bytes:
        """Return the answer from memory; assert that it is the one that the ordinary way makes."""
        fresh = await self.ask(target, credential, OTHER + extra)
        self.taken.clear()
        again = await self.ask(target, credential, extra)
        assert again == fresh, (target, extra)
        if again.startswith((b"HTTP/1.1 200", b"HTTP/1.1 304")) and not self.taken[0]:
            # The credential was forgotten meanwhile, as a notice came late: this call has read it again.
            again = await self.ask(target, credential, extra)
            assert (again, self.taken) == (fresh, [False, True]), (target, extra)
        return again


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


async def used(edge: Edge, credential: str) -> int:
    """Return the units that the organization of a brand or institutional key has used today."""
    plan = await edge.resources.credentials.plan("brand")
    principal = edge.resources.credentials.peek(credential.rpartition(" ")[2])
    assert principal is not None
    return (await edge.resources.limiter.usage(f"org:{principal.organization_id}", plan)).used_day
