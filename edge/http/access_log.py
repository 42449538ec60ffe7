"""The access log: one line of JSON for each request."""

import asyncio
import os
import time
from pathlib import Path

from edge.http.context import Context
from edge.http.redaction import without_credentials
from shared.printable import json_line
from shared.telemetry import metrics
from shared.telemetry.line_writer import LineWriter

_FLUSH_SECONDS = 0.25
_BUFFER_BYTES_MAX = 1 << 20


class AccessLog:
    """Writes one line for each request. A full or failing disk loses lines, never requests."""

    def __init__(self, target: str) -> None:
        self._writer = LineWriter(_open(target), metrics.access_lines_lost) if target else None
        self._buffer = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._second = -1
        self._second_text = b""

    def write(self, method: str, route: str, path: str, status: int, seconds: float, context: Context) -> None:
        """Record one request. The query is left out, because callers put credentials there by mistake."""
        if self._writer is None:
            return
        line = {
            "ts": self.stamp().decode(),
            "request_id": context.request_id,
            "method": method,
            "route": route,
            "path": without_credentials(path.partition("?")[0])[:200],
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
        if self._writer is None:
            return
        if len(self._buffer) + len(line) > _BUFFER_BYTES_MAX:  # the writer takes as many bytes at once
            metrics.access_lines_lost.inc()
            return
        self._buffer += line
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self._hand_over)

    def stamp(self) -> bytes:
        """Return the present moment for a line; the text up to the second is made once a second."""
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second, self._second_text = second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)).encode()
        return b"%b%03dZ" % (self._second_text, (now - second) * 1000)

    def flush(self) -> None:
        """Wait until everything so far is written, a second at most."""
        self._hand_over()
        if self._writer is not None:
            self._writer.drain()

    def close(self) -> None:
        """Write the remaining lines and close the file."""
        self._hand_over()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _hand_over(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writer is not None and self._buffer:
            self._writer.write(bytes(self._buffer))
            self._buffer.clear()


def _open(target: str) -> int:
    if target == "-":
        return 1
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    return os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
