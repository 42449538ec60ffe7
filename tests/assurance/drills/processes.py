"""The processes of a drill: its workers, signals to whole families of processes, and files that cannot grow."""

import os
import resource

from deploy.local.service_process import ServiceProcess
from shared.jobs.contract import QUEUES

# For drills that look at callers: one worker for all queues is enough, and each process takes a second to start.
ONE_WORKER = (("worker", ",".join(QUEUES), 2),)


def limit_files(pid: int, size: int) -> None:
    try:
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size if size != resource.RLIM_INFINITY else hard, hard))
    except ProcessLookupError:
        return


def family_of(child: ServiceProcess) -> list[int]:
    """Return a program's processes: its own group, which has no other members."""
    assert child.process is not None
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == child.process.pid:
                    found.append(int(entry.name))
            except ProcessLookupError:
                continue
    return found


def signal_all(children: list[ServiceProcess], number: int) -> None:
    """Reach whole families: a server's own children would go on without it."""
    for child in children:
        assert child.process is not None
        try:
            os.killpg(child.process.pid, number)
        except ProcessLookupError:
            continue
