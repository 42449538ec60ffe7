"""A stand-in for a node of a cluster: answers what a test tells it to, and remembers what it was asked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import hiredis

Answers = Callable[["Stub", list[bytes]], bytes | None]


@dataclass
class Stub:
    """A node on loopback. `answer` returns the reply to a command as it goes over the wire, None for no reply at all."""

    answer: Answers
    port: int = 0
    asked: list[list[bytes]] = field(default_factory=list)
    lines: list[asyncio.StreamWriter] = field(default_factory=list)

    def names(self) -> list[str]:
        """Return the names of the commands, in order."""
        return [command[0].decode() for command in self.asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        parser = hiredis.Reader()
        self.lines.append(writer)
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                parser.feed(data)
                while (command := parser.gets()) is not False:
                    self.asked.append(command)
                    reply = b"+PONG\r\n" if command == [b"PING"] else self.answer(self, command)
                    if reply is not None:
                        writer.write(reply)
        writer.close()


@asynccontextmanager
async def stubs(*answers: Answers) -> AsyncIterator[list[Stub]]:
    """Run a node for each way of answering."""
    nodes, servers = [Stub(answer) for answer in answers], []
    for node in nodes:
        server = await asyncio.start_server(node.serve, "127.0.0.1", 0)
        node.port = server.sockets[0].getsockname()[1]
        servers.append(server)
    try:
        yield nodes
    finally:
        for server in servers:
            server.close()
        for writer in (writer for node in nodes for writer in node.lines):
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


def table(*ranges: tuple[int, int, list[int]]) -> bytes:
    """Write the reply to CLUSTER SLOTS: ranges of slots, each with its primary's and its replicas' ports."""
    reported = b"*%d\r\n" % len(ranges)
    for first, last, ports in ranges:
        reported += b"*%d\r\n:%d\r\n:%d\r\n" % (2 + len(ports), first, last)
        for port in ports:
            reported += b"*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$2\r\nid\r\n" % port
    return reported
