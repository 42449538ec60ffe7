"""Callers on kept connections while nginx reloads, and what they lose."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol

_REQUEST = b"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n"
_CALLERS = 16


class Reloadable(Protocol):
    """An nginx that callers reach and that can be reloaded."""

    port: int
    context: ssl.SSLContext | None

    def reload(self) -> None:
        """Have nginx read its configuration again and replace its workers."""

    def workers(self) -> set[str]:
        """Return the process numbers of its workers."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds."""


class Caller:
    """Asks again and again over a connection that is kept, and opens another one where nginx says so."""

    def __init__(self, front: Reloadable, pause_seconds: float) -> None:
        self.front, self.pause_seconds = front, pause_seconds
        self.answered = 0
        self.lost: list[str] = []
        self.over = False

    async def run(self) -> None:
        """Ask until it is over. A connection that ends without `Connection: close` costs a request."""
        while not self.over:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.front.port, ssl=self.front.context)
            try:
                while await self._asked(reader, writer):
                    await asyncio.sleep(self.pause_seconds)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                self.lost.append(repr(error))
            writer.close()

    async def _asked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Ask once and return whether the connection can be used again."""
        writer.write(_REQUEST)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        self.answered += 1
        return not self.over and b"\r\nconnection: close" not in head


async def reload_under_load(
    front: Reloadable, reloads: int, requests: int, before_each: Callable[[], object] | None = None
) -> tuple[int, list[str]]:
    """Reload nginx so often, evenly among so many requests; return how many were answered, and what was lost."""
    # Different pauses: what is lost is lost in the moment between an answer and the next request.
    callers = [Caller(front, 0.0005 * number) for number in range(_CALLERS)]
    running = [asyncio.ensure_future(caller.run()) for caller in callers]
    for number in range(reloads):
        if before_each:
            before_each()
        workers = front.workers()
        front.reload()
        await front.until(lambda before=workers: bool(front.workers() - before))
        await _answered(callers, requests * (number + 1) // reloads)
    for caller in callers:
        caller.over = True
    await asyncio.gather(*running)
    return sum(caller.answered for caller in callers), [loss for caller in callers for loss in caller.lost]


async def _answered(callers: list[Caller], wanted: int) -> None:
    while sum(caller.answered for caller in callers) < wanted:
        await asyncio.sleep(0.01)
