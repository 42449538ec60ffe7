"""The processor time of other processes."""

import time


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and all its threads; 0 if it has ended.

    The process's own clock (clock_getcpuclockid) counts nanoseconds, where /proc/…/stat counts ticks of ten milliseconds,
    longer than a round of dear calls.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0
