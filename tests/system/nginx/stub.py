"""A stand-in for the edge behind nginx: it repeats what reached it, and misbehaves on demand."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path


class Stub:
    """Two unix sockets that answer as the edge would; the path says how."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.connections = 0
        self.frozen = 0
        self.continues = asyncio.Event()
        """Set by a test when a stream may send its second event."""
        self._servers: dict[Path, asyncio.Server] = {}
        self._open: set[asyncio.StreamWriter] = set()
        self._frozen: set[Path] = set()

    async def start(self, path: Path) -> None:
        """Listen on a socket."""
        self._servers[path] = await asyncio.start_unix_server(self._serve, str(path), limit=1 << 20, backlog=1024)

    async def stop(self, path: Path) -> None:
        """Stop listening there, as a service that has died."""
        server = self._servers.pop(path)
        server.close()
        for writer in list(self._open):
            writer.transport.abort()
        await server.wait_closed()
        path.unlink(missing_ok=True)

    def freeze(self, path: Path) -> None:
        """Take connections there and never answer, as a service whose loop is blocked."""
        self._frozen.add(path)

    async def close(self) -> None:
        """Stop all."""
        for path in list(self._servers):
            await self.stop(path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(writer)
        if Path(writer.get_extra_info("sockname")) in self._frozen:
            self.frozen += 1
            await reader.read(-1)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._answer(reader, writer):
                pass
        self._open.discard(writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(_length(head))
        self.seen.append(head + body)
        path = head.split()[1].partition(b"?")[0]
        if path.endswith(b"/hang"):
            await reader.read()
            return False
        if path.endswith(b"/die") or (path.endswith(b"/die-once") and self._times(head) == 1):
            return False
        if path.endswith(b"/cut"):
            writer.write(_reply(b"x" * 100, length=5000))
            await writer.drain()
            return False
        if path.endswith(b"/events"):
            await self._stream(writer)
            return False
        if b"-REFUSED" in path:
            writer.write(_refusal())
            return True
        if b"-KEPT" in path:
            writer.write(_reply(b"{}").replace(b"ETag:", b"Cache-Control: public, max-age=60\r\nETag:"))
            return True
        status = b"418 Odd" if path.endswith(b"/problem") else b"200 OK"
        size = 20_000 if path.endswith(b"/large") else 0
        writer.write(_reply(_echo(head, body, size), status))
        await writer.drain()
        return True

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Request-Id: from-the-edge\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(b"data: 0\n\n")
        await writer.drain()
        await self.continues.wait()
        writer.write(b"data: 1\n\n")
        await writer.drain()

    def _times(self, head: bytes) -> int:
        line = head.partition(b"\r\n")[0]
        return sum(seen.startswith(line) for seen in self.seen)


def _length(head: bytes) -> int:
    assert b"transfer-encoding" not in head.lower(), "nginx must have buffered and counted the body"
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _echo(head: bytes, body: bytes, size: int) -> bytes:
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = [line.split(": ", 1) for line in lines]
    return json.dumps({"line": first, "fields": fields, "body": body.decode("latin-1"), "more": "x" * size}).encode()


def _refusal() -> bytes:
    """Return a refusal that may be repeated for the rest of the second, as the edge marks it."""
    return _reply(b'{"status":429}', b"429 Too Many Requests").replace(b"ETag:", b"X-Accel-Expires: 1\r\nETag:")


def _reply(body: bytes, status: bytes = b"200 OK", length: int | None = None) -> bytes:
    kind = b"application/problem+json" if status.startswith(b"4") else b"application/json"
    return (
        b'HTTP/1.1 %b\r\nX-Request-Id: from-the-edge\r\nETag: W/"1"\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b'
        % (status, kind, len(body) if length is None else length, body)
    )
