"""Wholes beside each other for `make bench`: nginx, an edge and the store, and the Lua gateway with the store.

The CPU time of all their processes, for requests as callers send them: without ids, which would be another caller's.
"""

import itertools
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import valkey

from deploy.local.nginx import binary, render
from deploy.local.paths import free_port
from shared.settings.settings import Settings
from tests.assurance.perf.bench_servers import Server, running, use_up, wait_for
from tests.assurance.perf.cpu import cpu_seconds
from tests.assurance.perf.driver import drive

CALLS = {"lookup": 200, "refusal": 429}
FRONT = "nginx in front of the edge"
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Whole:
    """Servers that answer together. `callers` is the one that callers ask."""

    name: str
    callers: Server
    behind: tuple[Server, ...] = ()


@contextmanager
def front(settings: Settings, folder: Path, edge: Server) -> Iterator[Server]:
    """Run our nginx with one worker before an edge; it takes a caller's address from X-Forwarded-For."""
    socket = folder / "front.sock"
    values = {
        "RUN_DIR": str(folder),
        "LOG_DIR": str(folder),
        "STORED_DIR": str(folder),
        "LISTEN": f"unix:{socket}",
        "METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "EDGE_A": str(edge.socket),
        "EDGE_B": str(edge.socket),
        "PROBLEM_BASE_URL": settings.problem_base_url,
        "ANONYMOUS_TOKEN": settings.anonymous_token,
        "TRUSTED_PROXIES": "set_real_ip_from unix:;",
        "REQUESTS_PER_SECOND": "1000000",
        "USER": "user root;",
        "WORKERS": "1",
    }
    conf = folder / "front.conf"
    conf.write_text(render(values))
    command = [binary(), "-p", str(folder), "-c", str(conf), "-e", str(folder / "front.log"), "-g", "daemon off;"]
    with running(command) as process:
        yield Server(FRONT, process, wait_for(socket, process), "198.51.100.7", "198.51.100.8")


def measure(
    wholes: list[Whole], settings: Settings, iid: str, requests: int, rounds: int
) -> dict[tuple[str, str], list[float]]:
    """Return the microseconds of each call and whole, a figure a round, interleaved. The first round is not counted."""
    found: dict[tuple[str, str], list[float]] = {}
    with valkey.Valkey(unix_socket_path=settings.state_url.removeprefix("unix://")) as state:
        store = int(state.info("server")["process_id"])  # type: ignore[index]
        for n in range(-1, rounds):
            for name, status in CALLS.items():
                for whole in wholes:
                    used = _round(whole, name, status, state, store, settings, iid, requests)
                    if n >= 0:
                        found.setdefault((name, whole.name), []).append(used)
    return found


def medians(found: dict[tuple[str, str], list[float]]) -> dict[tuple[str, str], float]:
    """Return the median of each call and whole."""
    return {case: statistics.median(values) for case, values in found.items()}


def _round(
    whole: Whole,
    name: str,
    status: int,
    state: valkey.Valkey,
    store: int,
    settings: Settings,
    iid: str,
    requests: int,
) -> float:
    address = whole.callers.refused if status == 429 else whole.callers.served
    if status == 429:
        use_up(state, address)
    before = _cpu_seconds(whole, store)
    outcome = drive(str(whole.callers.socket), _request(settings, iid, address), requests=requests, connections=16)
    used = _cpu_seconds(whole, store) - before
    assert set(outcome.statuses) == {status}, (whole.name, name, outcome.statuses)
    return used / outcome.requests * 1e6


def _cpu_seconds(whole: Whole, store: int) -> float:
    return cpu_seconds(store) + sum(server.cpu_seconds() for server in (whole.callers, *whole.behind))


def _request(settings: Settings, iid: str, address: str) -> Callable[[int], bytes]:
    def made(n: int) -> bytes:
        return (
            f"GET /v1/index/lookup/{iid} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\n"
            f"X-Real-IP: {address}\r\nX-Charge-Id: {next(_NUMBERS):032x}\r\n"
            f"X-Service-Public-Token: {settings.anonymous_token}\r\nAccept: */*\r\n\r\n"
        ).encode()

    return made
