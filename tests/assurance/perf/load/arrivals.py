"""An open-loop generator: calls arrive at random moments whatever the service does, from many loopback addresses.

A caller that waits for its answer before it calls again would spare a slow service exactly when it is slow. Here a call
is due at its moment, and its time counts from then. Everything is bounded: rate, seconds, calls under way.
"""

import asyncio
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from tests.assurance.perf.load.outcome import Step
from tests.assurance.perf.load.scenario import Call

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_UNDER_WAY_MAX = 4_000
_LAST_ANSWERS_SECONDS = 5.0
_TICK_SECONDS = 0.001


class Request(NamedTuple):
    """One call with its bytes."""

    call: Call
    head: bytes


class _Connection(asyncio.Protocol):
    """One keep-alive connection, one call at a time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._answered: Callable[[int], None] | None = None
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def send(self, head: bytes, answered: Callable[[int], None]) -> None:
        """Send a call; `answered` is called with its status, or 0 if the connection ends first."""
        self._answered = answered
        self._transport.write(head)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not _is_whole(self._buffer):
            return
        status, self._buffer = int(self._buffer[9:12]), bytearray()
        self._finish(status)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self._finish(0)

    def close(self) -> None:
        self._transport.close()

    def _finish(self, status: int) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            answered(status)


class OpenLoop:
    """Sends calls to one server from so many addresses of 127.0.0.0/8."""

    def __init__(self, host: str, port: int, addresses: int, seed: int) -> None:
        self._host, self._port = host, port
        self._addresses = [f"127.0.{n // 250 + 1}.{n % 250 + 1}" for n in range(addresses)]
        self._idle: dict[str, list[_Connection]] = defaultdict(list)
        self._random = random.Random(seed)
        self._under_way = 0
        self._connecting: set[asyncio.Task[None]] = set()

    async def run(self, step: Step, seconds: int, next_request: Callable[[random.Random], Request]) -> None:
        """Run one step: arrivals at `step.rate` for so many seconds; writes what came of them into the step."""
        began, processor = time.perf_counter(), time.process_time()
        due = began
        while due < began + seconds:
            now = time.perf_counter()
            while due <= now and due < began + seconds:
                self._arrive(step, next_request(self._random), due, now)
                due += self._random.expovariate(step.rate)
            await asyncio.sleep(min(max(due - time.perf_counter(), 0.0), _TICK_SECONDS))
        step.generator_cpu = (time.process_time() - processor) / (time.perf_counter() - began)
        ends = time.perf_counter() + _LAST_ANSWERS_SECONDS
        while self._under_way and time.perf_counter() < ends:
            await asyncio.sleep(0.01)
        step.seconds = float(seconds)
        step.unanswered += self._under_way
        await self._renew()

    def _arrive(self, step: Step, request: Request, due: float, now: float) -> None:
        step.late_ms.append(1000 * (now - due))
        if self._under_way >= _UNDER_WAY_MAX:
            step.unanswered += 1
            return
        self._under_way += 1
        address = self._random.choice(self._addresses)
        idle = self._idle[address]
        while idle:
            connection = idle.pop()
            if not connection.closed:
                self._send(step, request, due, address, connection)
                return
        task = asyncio.get_running_loop().create_task(self._connect(step, request, due, address))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, step: Step, request: Request, due: float, address: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(_Connection, self._host, self._port, local_addr=(address, 0))
        except OSError as error:
            self._under_way -= 1
            step.wrong[f"{request.call.name}: {type(error).__name__}"] += 1
            return
        self._send(step, request, due, address, connection)

    def _send(self, step: Step, request: Request, due: float, address: str, connection: _Connection) -> None:
        def answered(status: int) -> None:
            self._under_way -= 1
            step.took_ms[request.call.name].append(1000 * (time.perf_counter() - due))
            if status not in request.call.expect:
                step.wrong[f"{request.call.name}: {status or 'connection closed'}"] += 1
            if not connection.closed:
                self._idle[address].append(connection)

        connection.send(request.head, answered)

    async def _renew(self) -> None:
        """Close every connection, so that what one step left behind cannot answer into the next."""
        for task in self._connecting:
            task.cancel()
        for idle in self._idle.values():
            for connection in idle:
                connection.close()
        self._idle.clear()
        self._under_way = 0
        await asyncio.sleep(0.05)


def _is_whole(buffer: bytearray) -> bool:
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return False
    status = bytes(buffer[9:12])
    if status in (b"204", b"304"):
        return True
    found = _LENGTH.search(buffer, 0, end + 2)
    return len(buffer) >= end + 4 + int(found[1]) if found else buffer.endswith(b"0\r\n\r\n")
