"""The processes of a running stack: which of them live, and whether they answer."""

import contextlib
import http.client
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from deploy.local.paths import Paths
from tests.system.conftest import Running


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait for a condition, and return whether it came true in time."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.1)
    return False


def ready(running: Running) -> bool:
    """Return whether a stack answers through its nginx."""
    return _ready(http.client.HTTPConnection("127.0.0.1", running.port, timeout=5))


def whole(running: Running, name: str) -> bool:
    """Return whether an edge has a living worker and answers at its own socket, which a frozen one leaves open."""
    return any(map(alive, children(running.pid(name)))) and _ready(_Local(Paths.below(running.folder).socket(name)))


class _Local(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=5)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _ready(connection: http.client.HTTPConnection) -> bool:
    try:
        with closing(connection) as line:
            line.request("GET", "/v1/ready", headers={"X-Real-IP": "127.0.0.1"})
            response = line.getresponse()
            return response.status == 200 and b"data_version" in response.read()
    except (OSError, http.client.HTTPException):
        return False


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end while it is looked at
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
