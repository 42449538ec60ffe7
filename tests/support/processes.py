"""Processes of this machine, as the kernel lists them below /proc."""

import contextlib
from pathlib import Path


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    return _state(pid) not in ("", "Z")


def stands_still(pid: int) -> bool:
    """Return whether a process was stopped by a signal and not yet continued."""
    return _state(pid) == "T"


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    with contextlib.suppress(OSError):  # it may end while it is looked at
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
