"""Processes of this machine: what the kernel lists, and one supervised program with all that it starts."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any

from deploy.local.paths import PROJECT, Paths
from shared.db.connect import OVERRIDING
from shared.errors import ConfigurationError, ItemIndexError
from shared.settings.settings import Settings

# Processes of this machine, as the kernel lists them below /proc.


PROC = Path("/proc")
_OUTPUTS = ("fd/1", "fd/2")
_WAIT_SECONDS = 5.0
_LOOK_SECONDS = 0.02
_STATE, _GROUP = 0, 2


def group_lives(group: int) -> bool:
    """Return whether a process group has a member that still runs; a zombie does not."""
    return any(fields[_GROUP] == str(group) for _, fields in running())


def signal_group(group: int, number: int) -> None:
    """Send a signal to each member of a process group; an empty group is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def writing_below(folder: Path) -> list[int]:
    """Return the processes whose standard output or error is a file below a folder, this process excepted.

    A part of a stack is recognized by its log rather than by its number, which another program may have by now.
    """
    prefix = f"{folder}/"
    pids = []
    for pid, _ in running():
        for name in _OUTPUTS:
            with contextlib.suppress(OSError):  # it has ended, or it belongs to another user
                if pid != os.getpid() and str((PROC / str(pid) / name).readlink()).startswith(prefix):
                    pids.append(pid)
                    break
    return pids


def end_all_writing_below(folder: Path) -> list[int]:
    """Kill the processes that write below a folder, wait until they have ended, and return their numbers."""
    ended: list[int] = []
    ends = time.monotonic() + _WAIT_SECONDS
    while (left := writing_below(folder)) and time.monotonic() < ends:
        ended += [pid for pid in left if pid not in ended]
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_SECONDS)
    return ended


def running(proc: Path = PROC) -> Iterator[tuple[int, list[str]]]:
    """Yield each process that is not a zombie with the fields of its stat line from the state on."""
    for entry in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            # The name of a program may hold blanks and brackets; what follows its last bracket has none.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[_STATE] not in ("Z", "X"):
                yield int(entry.name), fields


# One supervised program: it never outlives its supervisor, and no process of it outlives its main process.


_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_STEADY_SECONDS = 30.0
_BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
# So long the rest of a dead program may take to finish its requests before it is killed.
_GROUP_SECONDS = 3.0


# What Celery, gunicorn and PostgreSQL, the server too, would take in place of a part's settings.
_OF_OTHER_PROGRAMS = ("CELERY_", "GUNICORN_", "PGCLIENTENCODING", *OVERRIDING)


def environment_of_parts() -> dict[str, str]:
    """Return this process's environment without what is meant for other programs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHER_PROGRAMS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to run. `ready` returns True once it can be used; `stop_signal` asks it to end in order.

    A program that touches `heartbeat` and then does not for `heartbeat_seconds` is killed and started anew.
    """

    name: str
    command: list[str]
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] = lambda: True
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
        identity: dict[str, Any] = {}
        if program.user is not None:
            identity = {"user": program.user, "group": program.user, "extra_groups": []}
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
                **identity,
            )
        self.started_at = time.monotonic()

    def wait_ready(self, seconds: float) -> bool:
        """Wait until the program can be used; False when it died or took too long."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and self.alive:
            if self.program.ready():
                return True
            time.sleep(0.05)
        return False

    def revive(self) -> bool:
        """Start the process again if it died, its pause is over and its group has ended; return whether it started.

        A child that outlives its main process (nginx's workers do) keeps the port or the socket, so that no successor
        could start. It is asked to end first, and killed after a few seconds.
        """
        now = time.monotonic()
        if self.alive or not self._group_ended(now) or now < self._not_before:
            return False
        steady = now - self.started_at > _STEADY_SECONDS
        self._failures = 0 if steady else self._failures + 1
        self._not_before = now + _BACKOFF_SECONDS[min(self._failures, len(_BACKOFF_SECONDS) - 1)]
        self.restarts += 1
        self.start()
        return True

    def _group_ended(self, now: float) -> bool:
        """Return whether nothing of a dead program runs any more; see to it, without waiting."""
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
        beat = _modified(self.program.heartbeat)
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
        """Ask the process to end, and see to it."""
        self.ask_to_end()
        self.see_ended()

    def see_ended(self) -> None:
        """Give the process its time to end, then end it and whatever it has started."""
        if self.process is None:
            return
        if self.alive:
            try:
                self.process.wait(self.program.stop_seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        # The child leads a session and group of its own; what is left in it was started by it.
        signal_group(self.process.pid, signal.SIGKILL)


def tail(path: Path, lines: int = 5) -> str:
    """Return the last lines of a log, to show why a program did not start."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def _modified(path: Path | None) -> int | None:
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


# A data directory's running stack, as other processes see it: its lock, its state file, what it left behind.


class StackError(ItemIndexError):
    """The stack cannot start or continue; the text says why and what to do."""


@contextmanager
def locked(paths: Paths) -> Iterator[None]:
    """Hold the stack's lock; raise StackError that names the running one where another holds it."""
    with paths.lock.open("a") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except OSError:
            running = read_state(paths)
            where = f"pid {running['pid']}, {running['base_url']}" if running else "it is just starting or stopping"
            raise StackError(f"a stack already runs on {paths.root} ({where}); stop it with `itemindex down`") from None
        yield


def end_left_behind(paths: Paths) -> list[int]:
    """End every part of a stack that has no supervisor, and return the numbers of these processes.

    Call it under the stack's lock: a part is known by its log, which the parts of a running stack write as well.
    """
    return end_all_writing_below(paths.root / "log")


def read_state(paths: Paths) -> dict[str, Any] | None:
    """Return the state of the running stack, or None if none runs. A stale file counts as none."""
    try:
        document: dict[str, Any] = json.loads(paths.state.read_text())
    except (OSError, ValueError):
        return None
    return document if supervised(paths) else None


def supervised(paths: Paths) -> bool:
    """Return whether a supervisor lives. By its lock: its number may stay for a while after it has ended."""
    try:
        file = paths.lock.open("rb")
    except FileNotFoundError:
        return False
    with file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except OSError:
            return True
    return False


def settings_of(paths: Paths) -> Settings:
    """Return the settings of the running stack; raise ConfigurationError where none runs."""
    state = read_state(paths)
    if state is None:
        raise ConfigurationError(
            "no stack runs here; start one with `itemindex up`, or set DATABASE_URL and the others"
        )
    return Settings.from_environment(
        {**state["environment"], **{k: v for k, v in os.environ.items() if k == "LOG_LEVEL"}}
    )


# How parts are started: by the same commands in the embedded stack and by `itemindex edge`, `worker`, `dispatcher`.


EDGE_MODULE, WORKER_MODULE = "gunicorn", "workers"
DISPATCHER_COMMAND = [sys.executable, "-m", WORKER_MODULE, "dispatcher"]


def edge_command(module: str = EDGE_MODULE) -> list[str]:
    """Return the command of an edge, whose address is EDGE_BIND."""
    return [
        sys.executable,
        "-m",
        module,
        "-c",
        str(PROJECT / "deploy" / "gunicorn.conf.py"),
        "edge.server:create_runner",
    ]


def worker_command(queues: str, concurrency: int, *, module: str = WORKER_MODULE) -> list[str]:
    """Return the command of a worker for these queues (comma-separated) with so many processes."""
    name = queues.replace(",", "-")
    return [sys.executable, "-m", module, "-Q", queues, "-c", str(concurrency), "-n", f"{name}@%h"]
