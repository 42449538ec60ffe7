"""The edge's own access lines: JSON, gathered in memory, written once per tick of the event loop's clock."""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from edge.http.context import Context
from shared.printable import json_line

_FLUSH_SECONDS = 0.25
_BUFFER_BYTES_MAX = 1 << 20
_CREDENTIAL = re.compile(r"(iix[a-z]_[a-z]{1,8}_)[0-9A-Za-z]+", re.ASCII)


class AccessLog:
    """Writes one line for each request. A full or failing disk loses lines, never requests."""

    def __init__(self, target: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._file = _open(target)
        self._buffer = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._second = -1
        self._second_text = b""
        self.lost = 0

    def write(self, method: str, route: str, path: str, status: int, seconds: float, context: Context) -> None:
        """Record one request. The query is left out, because callers put credentials there by mistake."""
        if self._file < 0:
            return
        line = {
            "ts": self.stamp().decode(),
            "request_id": context.request_id,
            "method": method,
            "route": route,
            "path": _without_secrets(path.partition("?")[0])[:200],
            "status": status,
            "us": int(seconds * 1_000_000),
            "network": context.network,
            "account": context.account,
            **context.caller,
            "problem": context.problem_slug,
            **context.trace,
        }
        self.append(json_line(line))

    def append(self, line: bytes) -> None:
        """Append a finished line; the fast path formats the same line with less work."""
        if self._file < 0:
            return
        if len(self._buffer) > _BUFFER_BYTES_MAX:
            self.lost += 1
            return
        self._buffer += line
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def stamp(self) -> bytes:
        """Return the present moment for a line; the text up to the second is made once a second."""
        now = self._clock()
        second = int(now)
        if second != self._second:
            self._second, self._second_text = second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)).encode()
        return b"%b%03dZ" % (self._second_text, (now - second) * 1000)

    def flush(self) -> None:
        """Write what was gathered, in one call."""
        self._timer = None
        written = 0
        with contextlib.suppress(OSError):
            written = os.write(self._file, self._buffer)
        self.lost += self._buffer.count(b"\n", written)  # of a part that was written the rest is lost too
        self._buffer.clear()

    def close(self) -> None:
        """Write what is left and close the file."""
        if self._timer is not None:
            self._timer.cancel()
        if self._buffer:
            self.flush()
        if self._file > 2:
            os.close(self._file)
        self._file = -1


def _without_secrets(path: str) -> str:
    """Replace the secret of a credential that was put into a path; its form stays visible."""
    return _CREDENTIAL.sub(r"\1…", path) if "iix" in path else path


def _open(target: str) -> int:
    if not target:
        return -1
    if target == "-":
        return 1
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    return os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
