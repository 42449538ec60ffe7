"""`make bench`: CPU microseconds of each kind of call, our edge beside its peers, interleaved in one run.

Each server is one process on the first core; the generator and the store share the second. What is compared is the
server's own CPU time (user + system) divided by the requests that it answered: the median of the rounds.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import valkey
from rich.console import Console
from rich.table import Table

from shared.config import Settings
from shared.db.connect import connect
from tests.perf.bench_calls import CALLS, FASTAPI, IID, LUA, OURS, Call
from tests.perf.bench_calls import request as request_of
from tests.perf.driver import drive
from tests.support.accounts import api_key
from tests.support.servers import Servers
from tests.support.shop import open_shop

PROJECT = Path(__file__).parents[2]
PEERS = Path(__file__).with_name("peers")
TAKE = PROJECT / "edge" / "quota" / "take.lua"
PLENTY = 10**9
_LUA_MODULES = Path("/usr/lib/nginx/modules")
_LUA_LIBRARIES = ("/usr/share/lua/5.1",)


@dataclass
class Server:
    """A server under test: its process and its socket."""

    name: str
    process: subprocess.Popen[bytes]
    socket: Path
    served: str
    refused: str

    def cpu_seconds(self) -> float:
        """User and system time of the process and its children."""
        return sum(_cpu(pid) for pid in [self.process.pid, *_children(self.process.pid)])


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000, help="requests a round and server (default 20000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    options = parser.parse_args()
    console = Console(stderr=options.json)
    folder = Path(tempfile.mkdtemp(prefix="itemindex-bench-"))
    os.sched_setaffinity(0, {1} if (os.cpu_count() or 1) > 1 else {0})
    try:
        with ExitStack() as stack:
            servers = stack.enter_context(Servers.running(folder))
            settings = stack.enter_context(servers.fresh(folder))
            ready = [stack.enter_context(start) for start in _starts(settings, folder, console)]
            results = _measure(ready, settings, options.requests, options.rounds, console)
            store = _store_limit(settings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        _show(results, store, console)


def _starts(settings: Settings, folder: Path, console: Console) -> Iterator[object]:
    open_shop(settings, folder)
    with connect(settings.database_url, application="bench") as connection:
        connection.execute(
            "UPDATE plans SET daily_units = $1, burst_units = $1 WHERE name IN ('anonymous', 'brand')", (PLENTY,)
        )
    yield edge(settings, folder)
    state = settings.state_url.removeprefix("unix://")
    with valkey.Valkey(unix_socket_path=state) as client:
        client.set(f"r:peer:{IID}", b"x" * 1040)
        client.script_load(TAKE.read_text())
    yield _fastapi(settings, folder)
    if (_LUA_MODULES / "ngx_http_lua_module.so").exists():
        yield _lua(settings, folder, state)
    else:
        console.print(
            "[yellow]the Lua gateway is left out: apt install nginx-light libnginx-mod-http-lua lua-nginx-redis[/]"
        )


@contextmanager
def edge(settings: Settings, folder: Path, name: str = "edge", **changed: str) -> Iterator[Server]:
    """Run one process of the edge on the first core, with some settings changed."""
    socket = folder / f"{name}.sock"
    environment = {**settings.environment(), "METRICS_DIR": "", "LOG_LEVEL": "error", **changed}
    code = f"from edge.server import run_alone; run_alone({str(socket)!r})"
    with _process([sys.executable, "-c", code], environment) as process:
        yield Server(OURS, process, _wait(socket), "198.51.100.1", "198.51.100.2")


@contextmanager
def _fastapi(settings: Settings, folder: Path) -> Iterator[Server]:
    socket = folder / "fastapi.sock"
    environment = {
        "PEER_STATE": settings.state_url,
        "PEER_TAKE": str(TAKE),
        "PEER_TOKEN": settings.anonymous_token,
        "PEER_DAILY": str(PLENTY),
        "PEER_LOG": str(folder / "fastapi.log"),
        "PEER_DATABASE": settings.edge_database_url,
    }
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "tests.perf.peers.fastapi_peer:app",
        "--uds",
        str(socket),
        "--no-access-log",
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--log-level",
        "error",
    ]
    with _process(command, environment) as process:
        yield Server(FASTAPI, process, _wait(socket), "198.51.100.3", "198.51.100.4")


@contextmanager
def _lua(settings: Settings, folder: Path, state: str) -> Iterator[Server]:
    socket = folder / "lua.sock"
    library = next(
        Path(p) for p in _LUA_LIBRARIES if (Path(p) / "nginx" / "redis.lua").exists() or (Path(p) / "resty").exists()
    )
    values = {
        "MODULES": str(_LUA_MODULES),
        "DIR": str(folder),
        "LUA": str(library),
        "SOCKET": str(socket),
        "STATE": state,
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
    with _process(["nginx", "-p", str(folder), "-c", str(conf)], {}) as process:
        yield Server(LUA, process, _wait(socket), "198.51.100.5", "198.51.100.6")


@contextmanager
def _process(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    def first_core() -> None:
        os.sched_setaffinity(0, {0})

    process = subprocess.Popen(command, env={**os.environ, **environment}, cwd=PROJECT, preexec_fn=first_core)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def _wait(socket: Path) -> Path:
    ends = time.monotonic() + 20
    while not socket.exists() and time.monotonic() < ends:
        time.sleep(0.05)
    time.sleep(1.0)
    return socket


def request(address: str, token: str, target: str = f"/v1/index/lookup/{IID}") -> Callable[[int], bytes]:
    """Return what makes the n-th request of a caller, as nginx would forward it."""
    head = (
        f"GET {target} HTTP/1.1\r\nHost: api.example\r\nX-Real-IP: {address}\r\n"
        "X-Request-Id: %032x\r\nX-Charge-Id: %032x\r\n"
        f"X-Service-Public-Token: {token}\r\nAccept: */*\r\n\r\n"
    ).encode()
    return lambda n: head % (n, n)


Row = dict[str, str | float | None]


def _measure(servers: list[object], settings: Settings, requests: int, rounds: int, console: Console) -> list[Row]:
    ready: list[Server] = servers  # type: ignore[assignment]
    key = f"Authorization: ApiKey {api_key(settings)}"
    found: dict[tuple[str, str], list[float]] = {}
    with (
        valkey.Valkey(unix_socket_path=settings.state_url.removeprefix("unix://")) as state,
        console.status("measuring …") as status,
    ):
        for n in range(-1, rounds):  # the first one warms: answers and records in memory, scripts loaded, pools filled
            for call in CALLS:
                for server in ready:
                    if server.name != OURS and server.name not in call.peers:
                        continue
                    status.update(f"round {n + 1} of {rounds}: {call.name}, {server.name}")
                    used = _round(server, call, key, state, 500 if n < 0 else requests)
                    if n >= 0:
                        found.setdefault((call.name, server.name), []).append(used)
    return _rows({case: statistics.median(values) for case, values in found.items()})


def _round(server: Server, call: Call, key: str, state: valkey.Valkey, requests: int) -> float:
    """Return the server's CPU microseconds for one call."""
    refused = call.status == 429
    address = server.refused if refused else server.served
    if refused:
        state.hset(f"q:{{ip:{address}}}:{state.time()[0] // 86_400}", "n", PLENTY)
    credential = key if call.paid else f"X-Service-Public-Token: {Settings().anonymous_token}"
    before = server.cpu_seconds()
    outcome = drive(str(server.socket), request_of(call, address, credential), requests=requests)
    used = server.cpu_seconds() - before
    assert set(outcome.statuses) == {call.status}, (server.name, call.name, outcome.statuses)
    return used / outcome.requests * 1e6


def _rows(us: dict[tuple[str, str], float]) -> list[Row]:
    """Return a row for each call and server: beside its own look-up, and beside the cheapest peer that does the same."""
    rows: list[Row] = []
    for (call, server), own in us.items():
        peers = [value for (other, name), value in us.items() if other == call and name not in (OURS, server)]
        lookup, peer = us["look-up", OURS if ("look-up", server) not in us else server], min(peers, default=None)
        rows.append(
            {
                "call": call,
                "server": server,
                "us": round(own, 1),
                "times_lookup": round(own / lookup, 2),
                "times_peer": round(own / peer, 2) if peer else None,
            }
        )
    return rows


def _store_limit(settings: Settings) -> float:
    """Return how many charges a second the store itself can take, at a depth of 64."""
    with valkey.Valkey(unix_socket_path=settings.state_url.removeprefix("unix://")) as client:
        sha = client.script_load(TAKE.read_text())
        started, total = time.perf_counter(), 0
        while time.perf_counter() - started < 2:
            pipe = client.pipeline(transaction=False)
            for n in range(64):
                pipe.evalsha(sha, 2, "q:{ip:limit}:", f"c:{{ip:limit}}:{total + n}", 1, PLENTY, PLENTY, 20)
            pipe.execute()
            total += 64
        return total / (time.perf_counter() - started)


def _show(rows: list[Row], store: float, console: Console) -> None:
    table = Table(title="CPU of the server process for one call, µs (medians)", title_justify="left")
    for name in ("call", "server", "µs", "× look-up", "× cheapest peer"):
        table.add_column(name, justify="left" if name in ("call", "server") else "right")
    for row in rows:
        colour = "green" if row["server"] == OURS else "cyan"
        beside = "–" if row["times_peer"] is None else str(row["times_peer"])
        table.add_row(
            str(row["call"]), f"[{colour}]{row['server']}[/]", str(row["us"]), str(row["times_lookup"]), beside
        )
    console.print(table)
    console.print(f"The store's own limit, one core, depth 64: {store:,.0f} charges a second.")


def _cpu(pid: int) -> float:
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main()
