"""The project's own nginx.conf, in front of the stub."""

import asyncio
import json
import os
import signal
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.local.nginx import binary, render
from deploy.local.paths import free_port
from tests.system.nginx.stub import Stub

ERRORS = "http://localhost/v1/errors"
ANONYMOUS_TOKEN = "iixp_anon_printed"


@dataclass
class Answer:
    """One answer as it came over the wire."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes
    raw: bytes = field(repr=False, default=b"")

    @property
    def reason(self) -> str:
        """Return the reason phrase of the status line."""
        return self.raw.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)[2]

    def get(self, name: str) -> str | None:
        """Return a header that may be there at most once."""
        found = [value for key, value in self.fields if key.lower() == name.lower()]
        assert len(found) <= 1, found
        return found[0] if found else None

    @property
    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.body)


class Front:
    """A running nginx, and the stub behind it; or another edge, where its socket is given."""

    def __init__(self, folder: Path, sockets: Path, edge: Path | None = None, /, **values: str | Path) -> None:
        self.folder, self.port, self.metrics_port = folder, free_port(), free_port()
        self.edges = (edge, edge) if edge else (sockets / "a", sockets / "b")
        self.stub = Stub()
        self._stubs = () if edge else self.edges
        self.values = values
        self.context: ssl.SSLContext | None = None
        self._nginx: asyncio.subprocess.Process | None = None

    def conf(self) -> str:
        """Render nginx.conf for this front."""
        return render(
            {
                "RUN_DIR": self.folder,
                "LOG_DIR": self.folder,
                "PROBLEM_BASE_URL": ERRORS,
                "ANONYMOUS_TOKEN": ANONYMOUS_TOKEN,
                "LISTEN": f"127.0.0.1:{self.port}",
                "METRICS_LISTEN": f"127.0.0.1:{self.metrics_port}",
                "EDGE_A": self.edges[0],
                "EDGE_B": self.edges[1],
                "STATIC_DIR": self.folder / "static",
                "STORED_DIR": self.folder / "stored",
                "USER": "user root;" if os.getuid() == 0 else "",
                "HEADER_TIMEOUT": "10s",
                "BODY_TIMEOUT": "10s",
                "SEND_TIMEOUT": "10s",
                "UPSTREAM_TIMEOUT": "10s",
                "FREE_READ_TIMEOUT": "10s",
                "RETRY_TIMEOUT": "20s",
                "WORKERS": "1",
                **self.values,
            }
        )

    async def start(self, conf: str | None = None) -> None:
        """Start the stub, then nginx; wait until its workers run."""
        for path in self._stubs:
            await self.stub.start(path)
        (self.folder / "static").mkdir(exist_ok=True)
        (self.folder / "static" / "style.css").write_text("a {}")
        (self.folder / "nginx.conf").write_text(conf or self.conf(), encoding="utf-8")
        log = self.folder / "error.log"
        with log.open("ab") as stderr:
            self._nginx = await asyncio.create_subprocess_exec(
                binary(),
                "-p",
                str(self.folder),
                "-c",
                str(self.folder / "nginx.conf"),
                "-e",
                str(log),
                "-g",
                "daemon off;",
                stderr=stderr,
            )
        for _ in range(500):
            if self.workers():  # it listens before it handles signals: a reload sent by then would be lost
                return
            assert self._nginx.returncode is None, (self.folder / "error.log").read_text()
            await asyncio.sleep(0.02)
        raise AssertionError("nginx has started no worker")

    def reload(self) -> None:
        """Have nginx read its configuration again and replace its workers."""
        assert self._nginx is not None
        self._nginx.send_signal(signal.SIGHUP)

    def workers(self) -> set[str]:
        """Return the process numbers of nginx's workers, those included that finish what they have begun."""
        assert self._nginx is not None
        pid = self._nginx.pid
        return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds, ten seconds at most."""
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Stop nginx, then the stub."""
        if self._nginx and self._nginx.returncode is None:
            self._nginx.send_signal(signal.SIGTERM)
            await asyncio.wait_for(self._nginx.wait(), 10)
        await self.stub.close()

    async def raw(
        self, sent: bytes, *, port: int | None = None, seconds: float = 10.0, source: str | None = None
    ) -> bytes:
        """Send bytes and return all that comes until nginx closes."""
        local = (source, 0) if source else None
        reader, writer = await asyncio.open_connection("127.0.0.1", port or self.port, local_addr=local)
        writer.write(sent)
        received = b""
        with suppress(ConnectionResetError):
            async with asyncio.timeout(seconds):
                while chunk := await reader.read(65536):
                    received += chunk
        writer.close()
        return received

    async def ask(
        self,
        target: str = "/v1/x",
        *lines: str,
        method: str = "GET",
        body: bytes = b"",
        port: int | None = None,
        host: str = "localhost",
        seconds: float = 10.0,
        source: str | None = None,
    ) -> Answer:
        """Send one ordinary request and return its answer."""
        head = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *lines]
        if body:
            head.append(f"Content-Length: {len(body)}")
        sent = "\r\n".join([*head, "", ""]).encode("latin-1") + body
        return parsed(await self.raw(sent, port=port, seconds=seconds, source=source))

    @property
    def error_log(self) -> str:
        """What nginx itself has written so far."""
        return (self.folder / "error.log").read_text(errors="surrogateescape")

    def logged(self) -> list[dict[str, Any]]:
        """Return the lines of nginx's own access log."""
        return [json.loads(line) for line in (self.folder / "refused.log").read_text().splitlines()]


def parsed(raw: bytes) -> Answer:
    """Take one answer apart."""
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), raw[:200]
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
    return Answer(int(first.split()[1]), fields, body, raw)


def reported(front: Front) -> list[tuple[str, str]]:
    """Return the header lines of the last request at the stub."""
    lines = front.stub.seen[-1].partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


HOST = b"Host: localhost\r\nConnection: close\r\n"


def get(*lines: bytes) -> bytes:
    return b"\r\n".join([b"GET /v1/x HTTP/1.1", b"Host: localhost", b"Connection: close", *lines, b"", b""])


def post(length: bytes, body: bytes = b"abcde", path: bytes = b"/v1/x") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Length:" + length + b"\r\n\r\n" + body
