"""A load generator that nothing must be installed for: keep-alive connections over a unix socket, one request each at a
time, bounded in number. It checks every answer's status."""

import asyncio
import itertools
import re
import time
from collections import Counter
from dataclasses import dataclass

import uvloop

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    requests: int
    seconds: float
    statuses: Counter[int]


class _Caller(asyncio.Protocol):
    def __init__(
        self, heads: "itertools.count[int]", make: object, left: list[int], statuses: Counter[int], done: asyncio.Event
    ) -> None:
        self._numbers, self._make, self._left, self._statuses, self._done = heads, make, left, statuses, done
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        found = _LENGTH.search(self._buffer, 0, end + 2)
        chunked = found is None
        if (chunked and not self._buffer.endswith(b"0\r\n\r\n")) or (
            found and len(self._buffer) < end + 4 + int(found[1])
        ):
            return
        self._statuses[int(self._buffer[9:12])] += 1
        self._buffer = b""
        self._next()

    def _next(self) -> None:
        if self._left[0] <= 0:
            self._left[1] -= 1
            if self._left[1] == 0:
                self._done.set()
            self._transport.close()
            return
        self._left[0] -= 1
        self._transport.write(self._make(next(self._numbers)))  # type: ignore[attr-defined,operator]


async def _drive(path: str, make: object, requests: int, connections: int) -> Outcome:
    left, statuses, done = [requests, connections], Counter[int](), asyncio.Event()
    numbers = itertools.count(time.monotonic_ns())
    started = time.perf_counter()
    for _ in range(connections):
        await asyncio.get_running_loop().create_unix_connection(
            lambda: _Caller(numbers, make, left, statuses, done), path
        )
    await asyncio.wait_for(done.wait(), 120)
    return Outcome(sum(statuses.values()), time.perf_counter() - started, statuses)


def drive(path: str, make: object, *, requests: int, connections: int = 64) -> Outcome:
    """Send so many requests and return what came back. `make` gives the bytes of the n-th request."""
    return uvloop.run(_drive(path, make, requests, connections))
