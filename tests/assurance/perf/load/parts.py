"""Processor time of a running stack, by part."""

import os
from pathlib import Path
from typing import Any

PARTS = ("nginx", "edge", "state", "cache", "postgres", "dispatcher", "worker")
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(status: dict[str, Any]) -> dict[str, float]:
    """Return the seconds that each part's processes have used so far, of what `itemindex status --json` names.

    Time of a process that has ended counts where its parent has waited for it.
    """
    children = _children()
    used = dict.fromkeys(PARTS, 0.0)
    for child in status["children"]:
        part = child["name"].partition("-")[0]
        if part in used and child["pid"] is not None:
            used[part] += sum(_used(pid) for pid in _family(child["pid"], children))
    return used


def _family(pid: int, children: dict[int, list[int]]) -> list[int]:
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            fields = _stat(int(path.name))
            if fields:
                found.setdefault(int(fields[1]), []).append(int(path.name))
    return found


def _used(pid: int) -> float:
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat behind the name, which may hold spaces; nothing for one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
