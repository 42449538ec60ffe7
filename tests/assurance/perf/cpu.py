"""The processor time of other processes, and the memory of this one."""

import os
import time
from pathlib import Path

from tests.support.servers import Servers


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and all its threads; 0 if it has ended.

    The process's own clock (clock_getcpuclockid) counts nanoseconds, where /proc/…/stat counts ticks of ten milliseconds,
    longer than a round of dear calls.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def server_seconds(servers: Servers) -> float:
    """Return the processor time of all processes of PostgreSQL, those that have ended too, in seconds (proc(5))."""
    postmaster = int((servers.paths.root / "postgres" / "postmaster.pid").read_text().split()[0])
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
    alive = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return ended + sum(map(cpu_seconds, (postmaster, *map(int, alive))))


def peak_mib() -> float:
    """Return the most memory that this process has had; `ru_maxrss` counts the process that it was forked from."""
    [peak] = [
        line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    ]
    return int(peak) / 1024
