"""`python -m tests.assurance.perf.resolve_bench`: CPU microseconds of a lookup by barcode beside one by IID, interleaved in one run.

Where both are found in memory, in the cache store, and in PostgreSQL. Only the edge's own CPU time counts.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.assurance.perf.bench_servers import PLENTY, Server, edge
from tests.assurance.perf.driver import drive
from tests.support.servers import Servers
from tests.support.shop import HEADER, MAPPING, load_rows

BARCODE = "4006381333931"
TARGETS = {
    "lookup_us": f"/v1/index/lookup/{mint('shop', BARCODE).iid}",
    "resolve_us": f"/v1/index/resolve?gtin={BARCODE}",
}
# A resolve that hits may cost so many lookups.
RATIO_MAX = 1.5
# Where an edge finds what it answers with, and the settings that leave it nothing nearer.
LEVELS = {
    "memory": {},
    "cache store": {"RECORD_CACHE_BYTES_MAX": "8"},
    "PostgreSQL": {"RECORD_CACHE_BYTES_MAX": "8", "CACHE_URL": "unix:///nowhere/at/all.sock"},
}
Figures = dict[str, dict[str, float]]


def main() -> None:
    """Measure and print a table; exit with 1 where a barcode costs more than the bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5_000, help="requests a round, level and target (default 5000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--ratio-max", type=float, default=RATIO_MAX, help="of a barcode's cost to an IID's; 0: any")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="itemindex-bench-"))
    os.sched_setaffinity(0, {1} if (os.cpu_count() or 1) > 1 else {0})
    try:
        with ExitStack() as stack:
            servers = stack.enter_context(Servers.running(folder))
            settings = stack.enter_context(servers.fresh(folder))
            _fill(settings, folder)
            running = {
                level: stack.enter_context(edge(settings, folder, level.replace(" ", "-"), **changed))
                for level, changed in LEVELS.items()
            }
            results = measure(running, settings.anonymous_token, options.requests, options.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        _show(results, options.ratio_max)
    raise SystemExit(any(0 < options.ratio_max < figures["ratio"] for figures in results.values()))


def _fill(settings: Settings, folder: Path) -> None:
    row = f"{BARCODE},Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"
    load_rows(settings, folder, row, text=MAPPING.replace('sku = "sku"', 'gtin = "sku"'), header=HEADER)
    with connect(settings.database_url, application="bench") as connection:
        connection.execute("UPDATE plans SET daily_units = $1, burst_units = $1 WHERE name = 'anonymous'", (PLENTY,))


def measure(running: dict[str, Server], token: str, requests: int, rounds: int) -> Figures:
    """Return the microseconds of both targets over all rounds, and their ratio.

    Of the sums, because the kernel counts a process's time in ticks that are long beside one round.
    """
    found: dict[str, dict[str, list[float]]] = {level: {name: [] for name in TARGETS} for level in running}
    for _ in range(rounds + 1):  # the first one warms
        for level, server in running.items():
            for name, target in TARGETS.items():
                found[level][name].append(_one(server, token, target, requests))
    means = {level: {name: statistics.fmean(used[1:]) for name, used in of.items()} for level, of in found.items()}
    return {level: {**of, "ratio": of["resolve_us"] / of["lookup_us"]} for level, of in means.items()}


def _one(server: Server, token: str, target: str, requests: int) -> float:
    before = server.cpu_seconds()
    outcome = drive(str(server.socket), _request(server.served, token, target), requests=requests)
    assert set(outcome.statuses) == {200}, (server.socket.name, target, outcome.statuses)
    return (server.cpu_seconds() - before) / outcome.requests * 1e6


def _request(address: str, token: str, target: str) -> Callable[[int], bytes]:
    head = (
        f"GET {target} HTTP/1.1\r\nHost: api.example\r\nX-Real-IP: {address}\r\n"
        "X-Request-Id: %032x\r\nX-Charge-Id: %032x\r\n"
        f"X-Service-Public-Token: {token}\r\nAccept: */*\r\n\r\n"
    ).encode()
    return lambda n: head % (n, n)


def _show(results: Figures, ratio_max: float) -> None:
    bound = f"bound {ratio_max} ×" if ratio_max else "no bound"
    table = Table(
        title=f"A lookup by barcode beside one by IID, CPU of the edge (means; {bound})",
        title_justify="left",
    )
    for name in ("found in", "by IID, µs", "by barcode, µs", "ratio"):
        table.add_column(name, justify="left" if name == "found in" else "right")
    for level, figures in results.items():
        colour = "red" if 0 < ratio_max < figures["ratio"] else "green"
        figure = [f"{figures[name]:.1f}" for name in TARGETS]
        table.add_row(level, *figure, f"[{colour}]{figures['ratio']:.2f}[/]")
    Console().print(table)


if __name__ == "__main__":
    main()
