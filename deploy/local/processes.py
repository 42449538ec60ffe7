"""Processes of this machine, as the kernel lists them below /proc."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_OUTPUTS = ("fd/1", "fd/2")
_WAIT_SECONDS = 5.0
_LOOK_SECONDS = 0.02
_STATE, _GROUP = 0, 2  # fields of /proc/PID/stat behind the command's name


def group_lives(group: int) -> bool:
    """Return whether a process group has a member that still runs; a zombie does not."""
    return any(fields[_GROUP] == str(group) for _, fields in _running())


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
    for pid, _ in _running():
        for name in _OUTPUTS:
            with contextlib.suppress(OSError):  # it has ended, or it belongs to another user
                if pid != os.getpid() and str((_PROC / str(pid) / name).readlink()).startswith(prefix):
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


def _running() -> Iterator[tuple[int, list[str]]]:
    """Yield each process that is not a zombie with the fields of its stat line from the state on."""
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()
            if fields[_STATE] not in ("Z", "X"):
                yield int(entry.name), fields
