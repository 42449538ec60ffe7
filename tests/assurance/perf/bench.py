"""`make bench`: CPU microseconds of each kind of call, our edge beside its peers, interleaved in one run.

Each server is one process on the first core; the generator and the stores share the second. What is compared is the
server's own CPU time (user + system) divided by the requests that it answered: the median of the rounds.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import valkey
from rich.console import Console
from rich.table import Table

from shared.settings.settings import Settings
from tests.assurance.perf import bench_servers, bench_wholes
from tests.assurance.perf.bench_calls import Call, calls_of
from tests.assurance.perf.bench_calls import request as request_of
from tests.assurance.perf.bench_data import fill, give_to_peers, key_of, make_report
from tests.assurance.perf.bench_servers import LUA, OURS, PLENTY, TAKE, Server
from tests.assurance.perf.driver import drive
from tests.support.servers import Servers

_WARMING_REQUESTS = 400
_REQUESTS_MIN = 20
_OUR_WHOLE, _ITS_WHOLE = "nginx + Item Index edge + store", "nginx + Lua gateway + store"
Row = dict[str, str | float | None]


def main() -> None:
    """Measure and print a table, or with --json a list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5_000, help="lookups a round and server, 20000 at most")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, 5 at most (default 3)")
    parser.add_argument("--minutes", type=float, default=15.0, help="begin no new round after that (default 15)")
    parser.add_argument(
        "--json", action="store_true", help="print a list of {call, server, us, times_lookup, times_peer}"
    )
    options = parser.parse_args()
    requests, rounds = min(options.requests, 20_000), min(options.rounds, 5)
    console = Console(stderr=options.json)
    folder = Path(tempfile.mkdtemp(prefix="itemindex-bench-"))
    os.sched_setaffinity(0, {1} if (os.cpu_count() or 1) > 1 else {0})
    try:
        with ExitStack() as stack:
            servers = stack.enter_context(Servers.running(folder))
            settings = stack.enter_context(servers.fresh(folder))
            bench = Bench(settings, folder, stack, console)
            rows = rows_of(bench.measure(requests, rounds, time.monotonic() + options.minutes * 60))
            rows += bench.wholes(requests, rounds)
            store = _store_limit(settings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        _show(rows, store, console)


class Bench:
    """The servers, and what they are asked."""

    def __init__(self, settings: Settings, folder: Path, stack: ExitStack, console: Console) -> None:
        self._settings = settings
        self._console = console
        market = fill(settings, folder)
        self._key = f"Authorization: ApiKey {key_of(settings)}"
        self._token = f"X-Service-Public-Token: {settings.anonymous_token}"
        self._calls = calls_of(market)
        edge = stack.enter_context(bench_servers.edge(settings, folder))
        make_report(edge, settings, next(call for call in self._calls if "cohorts" in call.targets(0)), self._key)
        give_to_peers(edge, settings, self._calls, market, self._key)
        self._servers = [edge, *self._peers(folder, stack)]
        front = stack.enter_context(bench_wholes.front(settings, folder, edge))
        self._wholes = [bench_wholes.Whole(_OUR_WHOLE, front, (edge,))]
        self._wholes += [bench_wholes.Whole(_ITS_WHOLE, one) for one in self._servers if one.name == LUA]
        self._iid = market.known[0]

    def _peers(self, folder: Path, stack: ExitStack) -> Iterator[Server]:
        yield stack.enter_context(bench_servers.fastapi(self._settings, folder))
        if bench_servers.lua_is_there():
            yield stack.enter_context(bench_servers.lua(self._settings, folder))
        else:
            wanted = "apt install nginx-light libnginx-mod-http-lua lua-nginx-redis"
            self._console.print(f"[yellow]{LUA}: left out, its module is not on this machine ({wanted})[/]")

    def measure(self, requests: int, rounds: int, ends: float) -> dict[tuple[str, str], list[float]]:
        """Return the microseconds of each call and server, a figure a round; no round begins after `ends`."""
        found: dict[tuple[str, str], list[float]] = {}
        with (
            valkey.Valkey(unix_socket_path=self._settings.state_url.removeprefix("unix://")) as state,
            self._console.status("measuring …") as status,
        ):
            for n in range(-1, rounds):  # the first one warms: answers in memory, scripts loaded, statements prepared
                if n > 0 and time.monotonic() > ends:
                    break
                for call in self._calls:
                    for server in self._servers:
                        if server.name != OURS and server.name not in call.peers:
                            continue
                        status.update(f"round {n + 1} of {rounds}: {call.name}, {server.name}")
                        used = self._round(server, call, state, requests if n >= 0 else _WARMING_REQUESTS)
                        if n >= 0:
                            found.setdefault((call.name, server.name), []).append(used)
        return found

    def wholes(self, requests: int, rounds: int) -> list[Row]:
        """Return the rows of a lookup and a refusal as wholes: all processes that answer, with the store."""
        us = bench_wholes.medians(bench_wholes.measure(self._wholes, self._settings, self._iid, requests, rounds))
        return [
            {
                "call": f"{call}, whole",
                "server": name,
                "us": round(own, 1),
                "times_lookup": round(own / us["lookup", name], 2),
                "times_peer": round(own / us[call, _ITS_WHOLE], 2) if (call, _ITS_WHOLE) in us else None,
            }
            for (call, name), own in us.items()
        ]

    def _round(self, server: Server, call: Call, state: valkey.Valkey, requests: int) -> float:
        """Return the server's CPU microseconds for one call."""
        refused = call.status == 429
        address = server.refused if refused else server.served
        if refused:
            bench_servers.use_up(state, address)
        credential = self._key if call.paid and server.name == OURS else self._token
        make = request_of(call, address, credential)
        before = server.cpu_seconds()
        outcome = drive(str(server.socket), make, requests=max(_REQUESTS_MIN, requests // call.calls), connections=16)
        used = server.cpu_seconds() - before
        assert set(outcome.statuses) == {call.status}, (server.name, call.name, outcome.statuses)
        return used / outcome.requests * 1e6


def rows_of(found: dict[tuple[str, str], list[float]]) -> list[Row]:
    """Return a row for each call and server: beside its own lookup, and beside the cheapest peer that does the same."""
    us = {case: statistics.median(values) for case, values in found.items()}
    rows: list[Row] = []
    for (call, server), own in us.items():
        peers = [value for (other, name), value in us.items() if other == call and name not in (OURS, server)]
        peer = min(peers, default=None)
        rows.append(
            {
                "call": call,
                "server": server,
                "us": round(own, 1),
                "times_lookup": round(own / us["lookup", server], 2),
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
    for name in ("call", "server", "µs", "× lookup", "× cheapest peer"):
        table.add_column(name, justify="left" if name in ("call", "server") else "right")
    for row in rows:
        colour = "green" if row["server"] == OURS else "cyan"
        beside = "–" if row["times_peer"] is None else str(row["times_peer"])
        table.add_row(
            str(row["call"]), f"[{colour}]{row['server']}[/]", str(row["us"]), str(row["times_lookup"]), beside
        )
    console.print(table)
    console.print(f"The store's own limit, one core, depth 64: {store:,.0f} charges a second.")


if __name__ == "__main__":
    main()
