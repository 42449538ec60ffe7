"""The servers that `make bench` compares, each one process on the first core, and the CPU time that they have used."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import valkey

from shared.settings.settings import Settings
from tests.assurance.perf.cpu import cpu_seconds
from tests.support.processes import children

PROJECT = Path(__file__).parents[3]
PEERS = Path(__file__).with_name("peers")
TAKE = PROJECT / "edge" / "quota" / "take.lua"
PLENTY = 10**9
OURS, FASTAPI, LUA = "Item Index edge", "FastAPI, uvicorn, redis.asyncio", "nginx + Lua gateway"
_LUA_MODULES = Path("/usr/lib/nginx/modules")
_LUA_LIBRARIES = ("/usr/share/lua/5.1",)
_STARTED_SECONDS = 60


@dataclass
class Server:
    """A server under test: its process and its socket. Addresses `served` have units, `refused` has none."""

    name: str
    process: subprocess.Popen[bytes]
    socket: Path
    served: str
    refused: str

    def cpu_seconds(self) -> float:
        """User and system time of the process and its children."""
        return sum(cpu_seconds(pid) for pid in [self.process.pid, *children(self.process.pid)])


@contextmanager
def edge(
    settings: Settings, folder: Path, name: str = "edge", checkout: Path = PROJECT, /, **changed: str
) -> Iterator[Server]:
    """Run one process of the edge of a checkout on the first core, with some settings changed."""
    socket = folder / f"{name}.sock"
    environment = {**settings.environment(), "METRICS_DIR": "", "LOG_LEVEL": "error", **changed}
    with running(
        [sys.executable, "-m", "tests.assurance.perf.one_edge", str(socket)], environment, checkout
    ) as process:
        yield Server(OURS, process, wait_for(socket, process), "198.51.100.1", "198.51.100.2")


@contextmanager
def fastapi(settings: Settings, folder: Path) -> Iterator[Server]:
    """Run the peer on FastAPI."""
    socket = folder / "fastapi.sock"
    environment = {
        "PEER_STATE": settings.state_url,
        "PEER_TAKE": str(TAKE),
        "PEER_TOKEN": settings.anonymous_token,
        "PEER_DAILY": str(PLENTY),
        "PEER_LOG": str(folder / "fastapi.log"),
        "PEER_DATABASE": settings.edge_database_url,
    }
    application = "tests.assurance.perf.peers.fastapi_peer:app"
    options = "--no-access-log --loop uvloop --http httptools --log-level error".split()
    command = [sys.executable, "-m", "uvicorn", application, "--uds", str(socket), *options]
    with running(command, environment) as process:
        yield Server(FASTAPI, process, wait_for(socket, process), "198.51.100.3", "198.51.100.4")


def lua_is_there() -> bool:
    """Return whether nginx has its Lua module on this machine."""
    return (_LUA_MODULES / "ngx_http_lua_module.so").exists()


@contextmanager
def lua(settings: Settings, folder: Path) -> Iterator[Server]:
    """Run the peer on nginx with Lua."""
    socket = folder / "lua.sock"
    library = next(
        Path(p) for p in _LUA_LIBRARIES if (Path(p) / "nginx" / "redis.lua").exists() or (Path(p) / "resty").exists()
    )
    values = {
        "MODULES": str(_LUA_MODULES),
        "DIR": str(folder),
        "LUA": str(library),
        "SOCKET": str(socket),
        "STATE": settings.state_url.removeprefix("unix://"),
        "REDIS": "resty.redis" if (library / "resty" / "redis.lua").exists() else "nginx.redis",
        "TOKEN": settings.anonymous_token,
        "DAILY": str(PLENTY),
        "SHA": hashlib.sha1(TAKE.read_bytes(), usedforsecurity=False).hexdigest(),
    }
    text = (PEERS / "lua_gateway.conf").read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    conf = folder / "lua.conf"
    conf.write_text(text)
    with running(["nginx", "-p", str(folder), "-c", str(conf)], {}) as process:
        yield Server(LUA, process, wait_for(socket, process), "198.51.100.5", "198.51.100.6")


@contextmanager
def running(
    command: list[str], environment: dict[str, str] | None = None, folder: Path = PROJECT
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program on the first core for as long as the block lasts."""

    def first_core() -> None:
        os.sched_setaffinity(0, {0})

    process = subprocess.Popen(command, env={**os.environ, **(environment or {})}, cwd=folder, preexec_fn=first_core)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(socket: Path, process: subprocess.Popen[bytes]) -> Path:
    """Return the socket as soon as the process listens there; end the program where it has ended instead."""
    ends = time.monotonic() + _STARTED_SECONDS
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > ends:
            raise SystemExit(f"{socket.stem} has not started; its messages are above")
        time.sleep(0.05)
    time.sleep(1.0)  # what it does after it listens is not the calls'
    return socket


def use_up(state: valkey.Valkey, address: str) -> None:
    """Leave nothing of an address's day: its next call is refused until midnight, by each of the servers."""
    state.hset(f"q:{{ip:{address}}}:{state.time()[0] // 86_400}", "n", str(PLENTY))  # type: ignore[index]
