"""The processes of a stack as the kernel reports them: memory and time of each part, its children included."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class Effort(NamedTuple):
    """The memory that a part holds and the CPU time that it has used."""

    processes: int
    resident_bytes: int
    cpu_seconds: float
    at: float


class _Process(NamedTuple):
    parent: int
    resident_bytes: int
    cpu_seconds: float


def efforts(parts: Mapping[str, int], proc: Path = _PROC) -> dict[str, Effort]:
    """Return the effort of each part, named by its first process; one that has ended, or no /proc, is left out."""
    processes = _all(proc)
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    result = {}
    for name, root in parts.items():
        family, queue = [], [root] if root in processes else []
        while queue:
            pid = queue.pop()
            family.append(processes[pid])
            queue.extend(children.get(pid, ()))
        if family:
            memory, cpu = sum(p.resident_bytes for p in family), sum(p.cpu_seconds for p in family)
            result[name] = Effort(len(family), memory, cpu, time.monotonic())
    return result


def _all(proc: Path) -> dict[int, _Process]:
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    processes = {}
    for folder in proc.glob("[0-9]*"):
        try:
            # The name of a program may hold blanks and brackets; what follows its last bracket is numbers.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        cpu = (int(fields[11]) + int(fields[12])) / tick
        processes[int(folder.name)] = _Process(int(fields[1]), int(fields[21]) * page, cpu)
    return processes
