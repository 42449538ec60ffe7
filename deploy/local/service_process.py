"""One supervised program: it never outlives its supervisor, and no process of it outlives its main process."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.process_table import group_listens, group_lives, signal_group
from shared.db.connect import OVERRIDING

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_STEADY_SECONDS = 30.0
_BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
# So long the rest of a dead program may take to finish its requests before it is killed.
_GROUP_SECONDS = 3.0


# What Celery, gunicorn and PostgreSQL, the server too, would take in place of a part's settings.
_OF_OTHER_PROGRAMS = ("CELERY_", "GUNICORN_", "PGCLIENTENCODING", *OVERRIDING)


def environment_of_parts() -> dict[str, str]:
    """Return this process's environment without the variables of other programs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHER_PROGRAMS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to run. `ready` returns True once it can be used; `stop_signal` asks it to end in order.

    A program with a `port` is ready only when it holds it: another program there might answer in its place.

    A program that touches `heartbeat` and then does not for `heartbeat_seconds` is killed and started anew.
    """

    name: str
    command: list[str]
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] = lambda: True
    port: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0
    user: int | None = None
    heartbeat: Path | None = None
    heartbeat_seconds: float = 1.0


class ServiceProcess:
    """A program and its process; restarted with growing pauses when it dies by itself."""

    def __init__(self, program: Program, clock: Callable[[], float] = time.monotonic) -> None:
        self.program = program
        self._clock = clock
        self.process: subprocess.Popen[bytes] | None = None
        self.restarts = 0
        self.started_at = 0.0
        self._failures = 0
        self._not_before = 0.0
        self._group_killed_at: float | None = None
        self._beat: int | None = None
        self._beat_at = self._looked_at = 0.0

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the process; its output is appended to its log."""
        program = self.program
        self._beat = None
        if program.heartbeat is not None:
            program.heartbeat.unlink(missing_ok=True)
        with program.log.open("ab") as log:
            self.process = subprocess.Popen(
                program.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**environment_of_parts(), **program.environment},
                preexec_fn=_die_with_parent(os.getpid(), program.stop_signal),  # noqa: PLW1509 - no threads here
                start_new_session=True,  # a Ctrl-C at the terminal is the supervisor's to hear, not the children's
                user=program.user,
                group=program.user,
                extra_groups=None if program.user is None else [],
            )
        self.started_at = time.monotonic()

    def wait_ready(self, seconds: float) -> bool:
        """Wait until the program can be used; False when it died or took too long."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and self.alive:
            if self.program.ready() and self._holds_port():
                return True
            time.sleep(0.05)
        return False

    def _holds_port(self) -> bool:
        port, process = self.program.port, self.process
        return port is None or (process is not None and group_listens(process.pid, port))

    def revive(self) -> bool:
        """Start the process again if it died, its pause is over and its group has ended; return whether it started.

        A child that outlives its main process (nginx's workers do) keeps the port or the socket, so that no successor
        could start. It is asked to end first, and killed after a few seconds.
        """
        now = time.monotonic()
        if self.alive or not self._end_group(now) or now < self._not_before:
            return False
        steady = now - self.started_at > _STEADY_SECONDS
        self._failures = 0 if steady else self._failures + 1
        self._not_before = now + _BACKOFF_SECONDS[min(self._failures, len(_BACKOFF_SECONDS) - 1)]
        self.restarts += 1
        self.start()
        return True

    def _end_group(self, now: float) -> bool:
        """Return whether the group of a dead program has ended; stop it otherwise, without waiting."""
        if self.process is None or not group_lives(self.process.pid):
            self._group_killed_at = None
            return True
        if self._group_killed_at is None:
            self._group_killed_at = now + _GROUP_SECONDS
            signal_group(self.process.pid, self.program.stop_signal)
        elif now >= self._group_killed_at:
            signal_group(self.process.pid, signal.SIGKILL)
        return False

    def end_if_stuck(self) -> bool:
        """Kill the process and its group if its heartbeat has stopped; return whether it was killed.

        A late look judges nothing: this whole machine was stopped then.
        """
        now, seconds_max = self._clock(), self.program.heartbeat_seconds
        late, self._looked_at = now - self._looked_at > seconds_max / 2, now
        beat = _modified_at(self.program.heartbeat)
        if late or beat is None or beat != self._beat:
            self._beat, self._beat_at = beat, now
            return False
        if self.process is None or not self.alive or now - self._beat_at <= seconds_max:
            return False
        signal_group(self.process.pid, signal.SIGKILL)
        return True

    def hold(self, seconds: float) -> None:
        """Leave the process dead for so long when it dies: a drill wants to see what others do without it."""
        self._not_before = time.monotonic() + seconds

    def ask_to_end(self) -> None:
        """Ask the process to end in order. Asked twice, a Celery worker would drop what it does."""
        if self.process is not None and self.alive:
            self.process.send_signal(self.program.stop_signal)

    def stop(self) -> None:
        """Stop the process: ask it to end, and kill it after its time."""
        self.ask_to_end()
        self.ensure_ended()

    def ensure_ended(self) -> None:
        """Give the process its time to end, then end it and whatever it has started."""
        if self.process is None:
            return
        if self.alive:
            try:
                self.process.wait(self.program.stop_seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        # The child leads a session and a group: every process left in them was started by it.
        signal_group(self.process.pid, signal.SIGKILL)


def tail(path: Path, lines: int = 5) -> str:
    """Return the last lines of a log, to show why a program did not start."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def _modified_at(path: Path | None) -> int | None:
    try:
        return None if path is None else path.stat().st_mtime_ns
    except FileNotFoundError:  # it has not beaten yet
        return None


def _die_with_parent(parent: int, stop_signal: signal.Signals) -> Callable[[], None]:
    def ask_the_kernel() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, stop_signal, 0, 0, 0)
        if os.getppid() != parent:  # the supervisor died between fork and here
            os._exit(1)

    return ask_the_kernel
