"""Writes lines to a file from a thread, so that no event loop waits for the disk."""

import contextlib
import os
import threading

from prometheus_client import Counter

_BYTES_MAX = 1 << 20
_DRAIN_SECONDS = 1.0


class LineWriter:
    """Writes in the order in which lines are added. Lines that find no place are dropped and counted in `lost`."""

    def __init__(self, file: int, lost: Counter) -> None:
        self._file = file
        self._lost = lost
        self._changed = threading.Condition()
        self._pending = bytearray()
        self._writing = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def write(self, lines: bytes | str) -> None:
        """Add whole lines; never waits for the file."""
        added = lines.encode() if isinstance(lines, str) else lines
        with self._changed:
            # A closed file's number may be that of another file, or of a connection.
            if self._closed or len(self._pending) + len(added) > _BYTES_MAX:
                self._lost.inc(added.count(b"\n"))
                return
            self._pending += added
            if self._thread is None:  # at the first line, because a process that forks would leave its threads behind
                self._thread = threading.Thread(target=self._run, name="line-writer", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self) -> None:
        """Do nothing: each line is on its way to the file already, and a logger that flushes must not wait."""

    def drain(self) -> bool:
        """Wait until everything is written, a second at most; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending and not self._writing, _DRAIN_SECONDS)

    def close(self) -> None:
        """Write what is left and close the file; drop and count lines that come later, or took over a second."""
        drained = self.drain()
        with self._changed:
            self._closed = True
            self._lost.inc(self._pending.count(b"\n"))
            self._pending.clear()
            self._changed.notify_all()
        if drained and self._file > 2:
            os.close(self._file)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._closed)
                if not self._pending:
                    return
                lines, self._pending = self._pending, bytearray()
                self._writing = True
            written = 0
            with contextlib.suppress(OSError):
                written = os.write(self._file, lines)
            self._lost.inc(lines.count(b"\n", written))  # of a part that was written the rest is lost too
            with self._changed:
                self._writing = False
                self._changed.notify_all()
