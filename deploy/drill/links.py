"""Links: what stands between our parts and what they stand on, so that the way can become slow. A process of its own.

`python -m deploy.drill.links CONTROL NAME=LISTEN>TARGET …`; a place is a unix socket's path, or a port on loopback.
Who writes `NAME MILLISECONDS` to the control socket adds so much to that link, each way, until told otherwise.
"""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.local.child import Program
from deploy.local.places import Places

_CHUNK_BYTES = 64 * 1024
# What may be on its way in one direction of one connection; whoever sends more waits, as on a wire.
_CHUNKS_MAX = 64
_CONTROL_SECONDS = 5.0


def program(places: Places, links: Mapping[str, tuple[str, str]]) -> Program:
    """Return the process as a program; `links` are the place that each listens at, and the one it leads to."""
    control = _control(places)
    named = [f"{name}={listen}>{target}" for name, (listen, target) in links.items()]
    return Program(
        name="links", command=[sys.executable, "-m", "deploy.drill.links", str(control), *named],
        log=places.log("links"), ready=control.exists,
    )  # fmt: skip


def delay(places: Places, name: str, milliseconds: int) -> None:
    """Make a link slow, or with 0 as quick as it was."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_CONTROL_SECONDS)
        line.connect(str(_control(places)))
        line.sendall(f"{name} {milliseconds}\n".encode())
        line.recv(1)


def _control(places: Places) -> Path:
    return places.run / "links.sock"


@dataclass
class Link:
    """One way. Bytes leave it in their order, each after its delay."""

    listen: str
    target: str
    delay_seconds: float = 0.0

    async def open(self) -> asyncio.Server:
        """Listen."""
        if self.listen.isdigit():
            return await asyncio.start_server(self._accept, "127.0.0.1", int(self.listen))
        return await asyncio.start_unix_server(self._accept, self.listen)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            try:
                far_reader, far_writer = await self._connect()
            except OSError:
                writer.transport.abort()  # nobody is there: as near to a refusal as an accepted connection can be
                return
            ways = [asyncio.create_task(self._carry(*ends)) for ends in ((reader, far_writer), (far_reader, writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            for end in (writer, far_writer):
                end.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.target.isdigit():
            return await asyncio.open_connection("127.0.0.1", int(self.target))
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
        name, milliseconds = (await reader.readline()).split()
        links[name.decode()].delay_seconds = int(milliseconds) / 1000
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
