"""Hostile callers: `python -m tests.assurance.drills.attackers KIND PORT SECONDS PATH KEY`, a process for each kind.

They come from addresses of their own on loopback, are bounded in number and rate, and print at the end how often the
service cut them off, refused them or served them. They run at the lowest priority: a real attacker brings its own
processors, and must not win here by taking ours.
"""

import asyncio
import contextlib
import json
import os
import re
import resource
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

SLOW_READERS = "slow readers"
AT_ONCE = "callers at once"
FLOOD = "flood of connections"
DRY_RUNS = "flood of dry runs"
OVERSIZED = "oversized requests"
CONNECTIONS = {
    "slow heads": 2_000,
    "slow bodies": 1_000,
    SLOW_READERS: 500,
    "idle connections": 4_000,
    FLOOD: 40,
    OVERSIZED: 12,
    AT_ONCE: 2_000,
    DRY_RUNS: 50,
}
COMING_SECONDS = 1.5
# When the first and the last of them come. A flood is whole with its first connections, and takes all that the machine
# has: it begins when the others would all be there.
_COMING_SECONDS = {AT_ONCE: (0.0, 0.0), FLOOD: (COMING_SECONDS, COMING_SECONDS)}
_ADDRESSES = 20
_DRIP_SECONDS = 1.0
_CONNECT_SECONDS = 5.0
_REST_SECONDS = 0.05
_WAVE_SECONDS = 2.0
_FILES_LEFT = 200
_HEAD = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
_DRY_RUN = "/v1/index/cohorts?brand=vitasoy&dry_run=true"
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_LARGE = 4 * 1024 * 1024
_OVERSIZED = (
    b"GET /v1/health?%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"q" * 20_000),
    _HEAD + b"".join(b"X-%d: %b\r\n" % (n, b"h" * 4_000) for n in range(12)) + b"\r\n",
    b"POST /v1/index/exports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n" % _LARGE + b"b" * 200_000,
)


class Attack:
    """One kind of attack on one port, for some seconds."""

    def __init__(self, kind: str, port: int, seconds: float, path: str, key: str) -> None:
        self._kind = kind
        self._port = port
        self._path = path
        self._key = key
        self._ends = asyncio.get_running_loop().time() + seconds
        self.met: Counter[str] = Counter()

    async def run(self) -> None:
        """Attack until the time is over."""
        acts: dict[str, Callable[[int], Awaitable[None]]] = {
            "slow heads": lambda n: self._drip(n, _HEAD, b"A: b\r\n"),
            "slow bodies": lambda n: self._drip(
                n, b"POST /v1/index/exports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n", b"b"
            ),
            SLOW_READERS: self._read_slowly,
            "idle connections": lambda n: self._drip(n, b"", b""),
            FLOOD: self._flood,
            OVERSIZED: self._oversize,
            AT_ONCE: self._ask_at_once,
            DRY_RUNS: self._ask_for_prices,
        }
        number = min(CONNECTIONS[self._kind], _files_max() - _FILES_LEFT)
        # They come one after the other: what is tried is how it is when they are there.
        first, last = _COMING_SECONDS.get(self._kind, (0.0, COMING_SECONDS))
        waits = (first + n / number * (last - first) for n in range(number))
        await asyncio.gather(*(self._again(acts[self._kind], n, wait) for n, wait in enumerate(waits)))

    @property
    def _over(self) -> bool:
        return asyncio.get_running_loop().time() >= self._ends

    async def _again(self, act: Callable[[int], Awaitable[None]], number: int, wait_seconds: float) -> None:
        """Attack once at least: a busy machine may take longer than the attack is to last until all of them have come."""
        await asyncio.sleep(wait_seconds)
        while True:
            try:
                await act(number)
            except (OSError, asyncio.IncompleteReadError):
                self.met["cut off"] += 1
                await asyncio.sleep(_REST_SECONDS)
            if self._over:
                return

    async def _connect(self, number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(sock=self._connected(number), limit=4_096)

    def _connected(self, number: int) -> socket.socket:
        """Return a connected socket that does not block from then on.

        Loopback connects at once. If this waited its turn, a whole crowd would be connected before the first of it
        sends, and on a busy machine nginx would close the connections of those whose requests come that late.
        """
        line = socket.socket()
        if self._kind == SLOW_READERS:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        line.bind((f"127.0.1.{number % _ADDRESSES + 1}", 0))
        line.settimeout(_CONNECT_SECONDS)
        try:
            line.connect(("127.0.0.1", self._port))
        except OSError:
            line.close()
            raise
        line.setblocking(False)
        return line

    async def _drip(self, number: int, first: bytes, then: bytes) -> None:
        """Send so slowly that it never ends; count when the service has had enough."""
        reader, writer = await self._connect(number)
        writer.write(first)
        try:
            while not self._over:
                with contextlib.suppress(TimeoutError):
                    await self._record_answer(await asyncio.wait_for(reader.read(64), _DRIP_SECONDS))
                    return
                writer.write(then)
        finally:
            writer.transport.abort()

    async def _read_slowly(self, number: int) -> None:
        reader, writer = await self._connect(number)
        head = f"GET {self._path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ApiKey {self._key}\r\n\r\n"
        writer.write(head.encode())
        try:
            while not self._over:
                if not await reader.read(16):
                    raise ConnectionResetError
                await asyncio.sleep(_DRIP_SECONDS)
        finally:
            writer.transport.abort()

    async def _flood(self, number: int) -> None:
        """Connect and hang up, or send what is no request: as many as fit, each on a connection of its own."""
        reader, writer = await self._connect(number)
        try:
            if number % 2:
                writer.write(b"\x16\x03\x01 is no request\r\n\r\n")
                await self._record_answer(await reader.read(64))
            else:
                self.met["hung up"] += 1
        finally:
            writer.transport.abort()

    async def _oversize(self, number: int) -> None:
        reader, writer = await self._connect(number)
        try:
            writer.write(_OVERSIZED[number % len(_OVERSIZED)])
            await self._record_answer(await reader.read(64))
        finally:
            writer.transport.abort()
        await asyncio.sleep(_REST_SECONDS)

    async def _ask_at_once(self, number: int) -> None:
        """Ask on a connection of one's own; all of them wait for the last one, and come again together."""
        loop = asyncio.get_running_loop()
        with self._connected(number) as line:  # no stream, which would send only when all others are connected
            await loop.sock_sendall(line, b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            await self._record_answer(await loop.sock_recv(line, 64))
        await asyncio.sleep(_WAVE_SECONDS - asyncio.get_running_loop().time() % _WAVE_SECONDS)

    async def _ask_for_prices(self, number: int) -> None:
        """Ask for the price of a report, which costs no unit, as fast as the answers come."""
        reader, writer = await self._connect(number)
        head = f"GET {_DRY_RUN} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ApiKey {self._key}\r\n\r\n".encode()
        try:
            while not self._over:
                writer.write(head)
                answer = await reader.readuntil(b"\r\n\r\n")
                await self._record_answer(answer)
                length = _LENGTH.search(answer)
                await reader.readexactly(int(length[1]) if length else 0)
        finally:
            writer.transport.abort()

    async def _record_answer(self, answer: bytes) -> None:
        if not answer:
            self.met["cut off"] += 1
            await asyncio.sleep(_REST_SECONDS)
        else:
            self.met["served" if answer[9:10] == b"2" else f"refused {answer[9:12].decode()}"] += 1


def _files_max() -> int:
    """Allow this process as many connections as the host lets it have; return how many."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20


KINDS = tuple(CONNECTIONS)


async def _main(kind: str, port: int, seconds: float, path: str, key: str) -> None:
    attack = Attack(kind, port, seconds, path, key)
    await attack.run()
    print(json.dumps(attack.met))


if __name__ == "__main__":
    os.nice(19)
    asyncio.run(_main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], sys.argv[5]))
