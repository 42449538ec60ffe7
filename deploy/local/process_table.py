"""Processes of this machine, as the kernel lists them below /proc."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_OUTPUTS = ("fd/1", "fd/2")
_WAIT_SECONDS = 5.0
_LOOK_SECONDS = 0.02
_STATE, _GROUP = 0, 2
# Columns of /proc/net/tcp, and its code of a listening socket.
_ADDRESS, _SOCKET_STATE, _INODE = 1, 3, 9
_LISTENING = "0A"
_COMMAND_CHARACTERS = 200


def group_lives(group: int) -> bool:
    """Return whether a process group has a member that still runs; a zombie does not."""
    return any(fields[_GROUP] == str(group) for _, fields in running_processes())


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
    for pid, _ in running_processes():
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


def listeners(port: int, proc: Path = PROC) -> dict[int, list[str]]:
    """Return the processes that listen on a TCP port, as far as this user may see them, with their stat fields."""
    inodes = set(_listening_inodes(port, proc))
    found = {}
    for pid, fields in running_processes(proc):
        with contextlib.suppress(OSError):  # it has ended, or it belongs to another user
            if any(str(file.readlink()) in inodes for file in (proc / str(pid) / "fd").iterdir()):
                found[pid] = fields
    return found


def group_listens(group: int, port: int) -> bool:
    """Return whether a member of a process group listens on a TCP port."""
    return any(fields[_GROUP] == str(group) for fields in listeners(port).values())


def port_holder(port: int, proc: Path = PROC) -> str:
    """Return which process listens on a TCP port, with its command, as far as this user may see it."""
    for pid in sorted(listeners(port, proc)):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            command = (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            return f"pid {pid} ({command.strip()[:_COMMAND_CHARACTERS]})"
    return "a process of another user"


def _listening_inodes(port: int, proc: Path) -> Iterator[str]:
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (proc / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[_SOCKET_STATE] == _LISTENING and int(fields[_ADDRESS].rpartition(":")[2], 16) == port:
                    yield f"socket:[{fields[_INODE]}]"


def running_processes(proc: Path = PROC) -> Iterator[tuple[int, list[str]]]:
    """Yield each process that is not a zombie with the fields of its stat line from the state on."""
    for entry in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            # The name of a program may hold blanks and brackets; what follows its last bracket has none.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[_STATE] not in ("Z", "X"):
                yield int(entry.name), fields


class Effort(NamedTuple):
    """The memory that a part holds and the CPU time that it has used."""

    processes: int
    resident_bytes: int
    cpu_seconds: float
    at: float


def efforts(parts: Mapping[str, int], proc: Path = PROC) -> dict[str, Effort]:
    """Return the effort of each part, named by its first process; one that has ended, or no /proc, is left out."""
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    processes = dict(running_processes(proc))
    children: dict[int, list[int]] = {}
    for pid, fields in processes.items():
        children.setdefault(int(fields[1]), []).append(pid)
    result = {}
    for name, root in parts.items():
        family, queue = [], [root] if root in processes else []
        while queue:
            pid = queue.pop()
            family.append(processes[pid])
            queue.extend(children.get(pid, ()))
        if family:
            memory = sum(int(fields[21]) for fields in family) * page
            cpu = sum(int(fields[11]) + int(fields[12]) for fields in family) / tick
            result[name] = Effort(len(family), memory, cpu, time.monotonic())
    return result
