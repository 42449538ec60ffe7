"""A load generator that nothing must be installed for: keep-alive connections over a unix socket or to `host:port`, one
request each at a time, bounded in number. It checks every answer's status."""

import asyncio
import itertools
import re
import socket
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
        self._waiting = False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting:  # the server hung up on a request: no status is 0, and the others must not wait for this one
            self._statuses[0] += 1
            self._left[1] -= 1
            if self._left[1] == 0:
                self._done.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        found = _LENGTH.search(self._buffer, 0, end + 2)
        chunked = found is None and self._buffer[9:12] not in (b"204", b"304")  # which have no body
        if (chunked and not self._buffer.endswith(b"0\r\n\r\n")) or (
            found and len(self._buffer) < end + 4 + int(found[1])
        ):
            return
        self._waiting = False
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
        self._waiting = True
        self._transport.write(self._make(next(self._numbers)))  # type: ignore[attr-defined,operator]


async def _drive(path: str, make: object, requests: int, connections: int) -> Outcome:
    left, statuses, done = [requests, connections], Counter[int](), asyncio.Event()
    numbers = itertools.count(time.monotonic_ns())
    started = time.perf_counter()
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        caller = _Caller(numbers, make, left, statuses, done)
        if path.startswith("/"):
            await loop.create_unix_connection(lambda caller=caller: caller, path)  # type: ignore[misc]
        else:
            host, _, port = path.rpartition(":")
            await loop.create_connection(lambda caller=caller: caller, host, int(port))  # type: ignore[misc]
    await asyncio.wait_for(done.wait(), 60)
    return Outcome(sum(statuses.values()), time.perf_counter() - started, statuses)


def exchange(path: str, request: bytes) -> bytes:
    """Send one request to a unix socket and return the whole answer, which must say how long it is."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(path)
        connection.sendall(request)
        answer = b""
        while (found := _LENGTH.search(answer)) is None or len(answer) < answer.find(b"\r\n\r\n") + 4 + int(found[1]):
            piece = connection.recv(1 << 16)
            if not piece:
                raise ConnectionResetError("the server has closed the connection")
            answer += piece
    return answer


def drive(path: str, make: object, *, requests: int, connections: int = 64) -> Outcome:
    """Send so many requests and return what came back. `make` gives the bytes of the n-th request."""
    return uvloop.run(_drive(path, make, requests, connections))
