"""Links: what stands between our parts and what they stand on, so that the way can fail. A process of its own.

`python -m tests.assurance.drills.fault_proxy CONTROL NAME=LISTEN>TARGET …`; a place is a unix socket's path or a port on loopback; a
target may be HOST:PORT. Who writes `NAME MILLISECONDS` to the control socket adds so much to that link, each way;
`NAME stall` lets nothing through, `NAME cut` ends its connections and takes no new ones, `NAME pass` undoes both.
"""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.paths import Paths
from deploy.local.service_process import Program

_CHUNK_BYTES = 64 * 1024
# Bytes that may be in transit in one direction of one connection; a sender of more waits, as on a wire.
_CHUNKS_MAX = 64
_CONTROL_SECONDS = 5.0


def program(paths: Paths, links: Mapping[str, tuple[str, str]]) -> Program:
    """Return the process as a program; `links` are the place that each listens at, and the one it leads to."""
    control = _control(paths)
    named = [f"{name}={listen}>{target}" for name, (listen, target) in links.items()]
    return Program(
        name="links",
        command=[sys.executable, "-m", "tests.assurance.drills.fault_proxy", str(control), *named],
        log=paths.log("links"),
        ready=control.exists,
    )


def turn(paths: Paths, name: str, state: str | int) -> None:
    """Make a link slow by so many milliseconds, with 0 as quick as it was; or `stall`, `cut`, `pass` as above."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_CONTROL_SECONDS)
        line.connect(str(_control(paths)))
        line.sendall(f"{name} {state}\n".encode())
        line.recv(1)


def _control(paths: Paths) -> Path:
    return paths.run / "links.sock"


@dataclass
class Link:
    """One way. Bytes leave it in their order, each after its delay."""

    listen: str
    target: str
    delay_seconds: float = 0.0
    is_cut: bool = False
    passing: asyncio.Event = field(default_factory=asyncio.Event)
    lines: set[asyncio.StreamWriter] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.passing.set()

    async def open(self) -> asyncio.Server:
        """Listen."""
        if self.listen.isdigit():
            return await asyncio.start_server(self._accept, "127.0.0.1", int(self.listen))
        return await asyncio.start_unix_server(self._accept, self.listen)

    def turn(self, state: str) -> None:
        """Do what `NAME state` asks for."""
        if state.isdigit():
            self.delay_seconds = int(state) / 1000
            return
        self.is_cut = state == "cut"
        if state == "pass":
            self.passing.set()
        elif state == "stall":
            self.passing.clear()
        for line in list(self.lines) if self.is_cut else []:
            line.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            try:
                far_reader, far_writer = await self._connect()
            except OSError:
                writer.transport.abort()  # nothing listens: as near to a refusal as an accepted connection can be
                return
            self.lines.add(writer)
            ways = [asyncio.create_task(self._carry(*ends)) for ends in ((reader, far_writer), (far_reader, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:  # the loop may end before the connection does
                for way in ways:
                    way.cancel()
                self.lines.discard(writer)
                for end in (writer, far_writer):
                    end.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.is_cut:
            raise ConnectionRefusedError(self.target)
        host, _, port = self.target.rpartition(":")
        if port.isdigit():
            return await asyncio.open_connection(host or "127.0.0.1", int(port))
        return await asyncio.open_unix_connection(self.target)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_CHUNKS_MAX)

        async def receive() -> None:
            with contextlib.suppress(OSError):
                while chunk := await reader.read(_CHUNK_BYTES):
                    await under_way.put((loop.time() + self.delay_seconds, chunk))
            await under_way.put((loop.time() + self.delay_seconds, b""))

        receiving = asyncio.create_task(receive())
        try:
            while True:
                due, chunk = await under_way.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                await self.passing.wait()
                if not chunk:
                    return
                writer.write(chunk)
                await writer.drain()
        except OSError:
            return
        finally:
            receiving.cancel()


async def serve(control: str, links: Mapping[str, Link]) -> None:
    """Carry until the process ends."""
    servers = [await link.open() for link in links.values()]

    async def obey(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name, state = (await reader.readline()).decode().split()
        links[name].turn(state)
        writer.write(b".")
        writer.close()

    servers.append(await asyncio.start_unix_server(obey, control))
    await asyncio.gather(*(server.serve_forever() for server in servers))


def main(arguments: list[str]) -> None:
    """Read the links from the command line and carry."""
    links = {}
    for text in arguments[1:]:
        name, _, way = text.partition("=")
        listen, _, target = way.partition(">")
        links[name] = Link(listen, target)
    for path in (arguments[0], *(link.listen for link in links.values() if not link.listen.isdigit())):
        Path(path).unlink(missing_ok=True)
    asyncio.run(serve(arguments[0], links))


if __name__ == "__main__":
    main(sys.argv[1:])
