"""Ends a gunicorn worker whose event loop is blocked."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from shared.telemetry.log import Log, repeat_in_thread

BLOCKED_SECONDS = 0.8
_LOOK_SECONDS = 0.1


class Watchdog:
    """Looks at the beats of a gunicorn master's workers. `clock` counts the seconds that the beats are given in."""

    def __init__(self, workers: Callable[[], Iterable[tuple[int, float]]], clock: Callable[[], float]) -> None:
        self._workers = workers
        self._clock = clock
        self._looked_at = clock()
        self._first: dict[int, float] = {}

    def stuck(self) -> list[int]:
        """Return the workers that beat before and do not any more.

        A worker that has not beaten twice is still starting. A look that comes late judges no worker: then the whole
        machine was stopped, and the workers have had no time to beat.
        """
        now = self._clock()
        late = now - self._looked_at > BLOCKED_SECONDS / 2
        self._looked_at = now
        beats = dict(self._workers())
        self._first = {pid: self._first.get(pid, beat) for pid, beat in beats.items()}
        if late:
            self._first = dict(beats)
        return [pid for pid, beat in beats.items() if beat != self._first[pid] and now - beat > BLOCKED_SECONDS]


def watch_workers(arbiter: Any, heartbeat: Path | None) -> None:
    """Kill the stuck workers of a gunicorn master, from a thread of it, until the master ends.

    The thread touches `heartbeat` at each look, so that a supervisor sees a master that is blocked itself.
    """

    def beats() -> Iterable[tuple[int, float]]:
        for pid, worker in list(arbiter.WORKERS.items()):
            with suppress(OSError, ValueError):  # the worker has ended
                yield pid, worker.tmp.last_update()

    watchdog = Watchdog(beats, time.monotonic)

    def look() -> None:
        for pid in watchdog.stuck():
            arbiter.log.critical("worker %s is killed: its event loop is blocked", pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if heartbeat is not None:
            heartbeat.touch()

    repeat_in_thread("watchdog", look, _LOOK_SECONDS, Log("edge"))
