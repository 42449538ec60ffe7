"""`python -m tests.perf.search_requests --directory DIR`: CPU of the edge for a whole search, by kind of query.

Each search is asked as for the first time: the edge keeps no answers. The index is that of `python -m tests.perf.search_commands bench
--directory DIR`. Edges of several checkouts (`--checkout`) are measured in turn, each with questions of its own.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote_plus

from rich.console import Console
from rich.table import Table

from shared.db.connect import connect
from shared.search import layout
from shared.search.index import SearchIndex
from shared.settings.settings import Settings
from tests.perf import bench_servers
from tests.perf.bench_servers import PLENTY, PROJECT, Server
from tests.perf.driver import drive
from tests.perf.search_bench import kinds
from tests.perf.search_sample import SEED
from tests.support.servers import Servers

_CONNECTIONS = 8
_WARMING_REQUESTS = 40


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path, required=True, help="the folder of an index")
    parser.add_argument("--checkout", type=Path, action="append", help="a checkout whose edge is measured (this one)")
    parser.add_argument("--requests", type=int, default=400, help="searches of a kind in a round (400)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (3)")
    parser.add_argument("--kinds", default="", help="comma-separated; all of them if empty")
    options = parser.parse_args()
    found = layout.newest(options.directory)
    if found is None:
        raise SystemExit("no index there; `python -m tests.perf.search_commands bench --directory` makes one")
    asked = kinds(SearchIndex(*found), random.Random(SEED))
    chosen = options.kinds.split(",") if options.kinds else list(asked)
    checkouts = options.checkout or [PROJECT]
    os.sched_setaffinity(0, {1} if (os.cpu_count() or 1) > 1 else {0})
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="itemindex-bench-")))
        servers = stack.enter_context(Servers.running(folder))
        settings = stack.enter_context(servers.fresh(folder))
        with connect(settings.database_url, application="bench", autocommit=True) as connection:
            connection.execute("UPDATE plans SET daily_units = $1, burst_units = $1", (PLENTY,))
            # The index is of the newest data_version, as between loads.
            newest = (found[1].data_version, found[1].committed_at or None)
            connection.execute(
                "INSERT INTO data_versions (version, committed_at) VALUES ($1, coalesce($2, now()))", newest
            )
        changed = {"SEARCH_DIR": str(options.directory), "ANSWER_CACHE_BYTES_MAX": "1"}
        edges = [
            stack.enter_context(bench_servers.edge(settings, folder, f"edge-{number}", checkout, **changed))
            for number, checkout in enumerate(checkouts)
        ]
        _show(
            {
                kind: _measure(edges, settings, lambda kind=kind: asked[kind]()[0], options.requests, options.rounds)
                for kind in chosen
            },
            checkouts,
        )


def _measure(
    edges: list[Server], settings: Settings, question: Callable[[], str], requests: int, rounds: int
) -> list[float]:
    """Return the median over the rounds of the microseconds for a search, for each edge."""
    found: list[list[float]] = [[] for _ in edges]
    for n in range(-1, rounds):
        for edge, used in zip(edges, found, strict=True):
            spent = _round(edge, settings, question, requests if n >= 0 else _WARMING_REQUESTS)
            if n >= 0:
                used.append(spent)
    return [statistics.median(used) for used in found]


def _round(edge: Server, settings: Settings, question: Callable[[], str], requests: int) -> float:
    targets = iter(["/v1/index/search?q=" + quote_plus(question()) for _ in range(requests)])
    head = (
        f"Host: api.example\r\nX-Real-IP: {edge.served}\r\nX-Request-Id: %032x\r\nX-Charge-Id: %032x\r\n"
        f"X-Began: %.3f\r\nX-Service-Public-Token: {settings.anonymous_token}\r\nAccept: */*\r\n\r\n"
    )

    def make(n: int) -> bytes:
        return (f"GET {next(targets)} HTTP/1.1\r\n" + head % (n, n, time.time())).encode()

    before = edge.cpu_seconds()
    outcome = drive(str(edge.socket), make, requests=requests, connections=_CONNECTIONS)
    used = edge.cpu_seconds() - before
    assert set(outcome.statuses) == {200}, outcome.statuses
    return used / requests * 1e6


def _show(found: dict[str, list[float]], checkouts: list[Path]) -> None:
    table = Table(title="CPU of the edge for one search, asked for the first time, µs", title_justify="left")
    table.add_column("kind of query")
    for checkout in checkouts:
        table.add_column(checkout.name, justify="right")
    for kind, used in found.items():
        table.add_row(kind, *(f"{one:,.0f}" for one in used))
    Console().print(table)


if __name__ == "__main__":
    main()
