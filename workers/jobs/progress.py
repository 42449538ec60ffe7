"""Whether a worker makes progress: its event loop turns, and the processes of its pool are not stopped.

The main process has a thread that judges both. It touches HEARTBEAT_FILE for a supervisor, answers /health, and kills a
process of the pool that is blocked, so that the pool starts another one.
"""

import mmap
import os
import signal
import struct
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from shared.telemetry import metrics
from shared.telemetry.log import Log, repeat_in_thread

_log = Log("worker")
PROCESSES_MAX = 256
_BEAT_SECONDS = 1.0
# Longer than the broker's socket time-out: a loop that waits for a broker that hangs is not stuck.
LOOP_SECONDS_MAX = 60.0
# Three leases: a process that holds the interpreter for so long has lost its job already.
PROCESS_SECONDS_MAX = 30.0
_BEAT = struct.Struct("d")


class WorkerProgress:
    """The beats of one worker. Made before the pool forks, so that main process and pool share its memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beats = mmap.mmap(-1, _BEAT.size * PROCESSES_MAX)
        self._looked_at = clock()
        self._turned_at: float | None = None
        self.watched = False

    def note_turn(self) -> None:
        """Note that the event loop turns."""
        self._turned_at = self._clock()

    def note_loop_end(self) -> None:
        """Note that no event loop runs: the worker starts, ends, or waits for its broker to come back."""
        self._turned_at = None

    def beat(self, index: int) -> None:
        """Note that the pool's process of this index runs; called in that process."""
        _BEAT.pack_into(self._beats, _BEAT.size * (index % PROCESSES_MAX), self._clock())

    @property
    def healthy(self) -> bool:
        """Whether the event loop turns, or none runs because the broker is unavailable."""
        return self._turned_at is None or self._clock() - self._turned_at <= LOOP_SECONDS_MAX

    def stuck(self, processes: Iterable[tuple[int, int]]) -> list[int]:
        """Return the numbers of the pool's processes (index, number) that stand still.

        A late look judges none: this whole process was blocked then.
        """
        now = self._clock()
        late = now - self._looked_at > PROCESS_SECONDS_MAX / 2
        self._looked_at = now
        listed = list(processes)
        if late:
            for index, _ in listed:
                self.beat(index)
        return [pid for index, pid in listed if 0.0 < self._at(index) < now - PROCESS_SECONDS_MAX]

    def _at(self, index: int) -> float:
        """Return when a process last beat; 0 before its first beat."""
        at: float = _BEAT.unpack_from(self._beats, _BEAT.size * (index % PROCESSES_MAX))[0]
        return at


def beat_until_end(progress: WorkerProgress, index: int) -> None:
    """Beat for a process of the pool, from a thread of it."""
    _in_background("beat", lambda: progress.beat(index))


def watch(progress: WorkerProgress, processes: Callable[[], list[tuple[int, int]]], heartbeat: Path | None) -> None:
    """Watch the worker from a thread of its main process. `processes` returns index and number of each in the pool."""
    _in_background("progress", lambda: kill_stuck(progress, processes()))
    touch_while(lambda: progress.healthy, heartbeat)


def kill_stuck(progress: WorkerProgress, processes: Iterable[tuple[int, int]]) -> None:
    """Kill and count the processes of the pool that stand still; the pool starts others."""
    for pid in progress.stuck(processes):
        metrics.worker_processes_killed.inc()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def touch_while(healthy: Callable[[], bool], heartbeat: Path | None, beat_seconds: float = _BEAT_SECONDS) -> None:
    """Touch a file from a thread, as long as its process is healthy, so that a supervisor sees a standstill."""
    if heartbeat is not None:
        _in_background("heartbeat", lambda: heartbeat.touch() if healthy() else None, beat_seconds)


def _in_background(name: str, act: Callable[[], object], seconds: float = _BEAT_SECONDS) -> None:
    repeat_in_thread(name, act, seconds, _log)
