"""`python -m tests.assurance.perf.capacity_bench`: CPU of every part of a whole stack for one call of each kind, and bytes of storage.

The stack is the embedded one, on made-up data; calls are sent through nginx. The use of an idle part is subtracted.
Each kind of call is measured in rounds, interleaved; the figures are medians. tests/assurance/perf/sizing/figures.toml keeps them.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psutil
import valkey
from rich.console import Console
from rich.table import Table

from deploy.local.paths import Paths, free_port
from deploy.local.stack import Stack
from shared.db.connect import Connection, connect
from tests.assurance.perf.cpu import cpu_seconds
from tests.assurance.perf.driver import drive
from tests.assurance.perf.generate import MAPPING, write
from tests.support.accounts import issue_key
from workers.bulk.releases import order
from workers.ingest.load.load import load
from workers.ingest.mapping import read

_IDLE_SECONDS = 5.0
_ACCOUNTS = 20_000
_ORDERS = 40
_PARTS = ("nginx", "edge", "state", "cache", "postgres", "dispatcher", "worker")
_WIDTHS = """
SELECT c.relname, pg_total_relation_size(c.oid), greatest(c.reltuples, 0)::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('r', 'm')
"""
Make = Callable[[int], bytes]


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=10_000, help="lookups a round; dearer calls are fewer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    options = parser.parse_args()
    os.environ |= {"RELEASE_INTERVAL_HOURS": "0", "TRUSTED_PROXIES": "127.0.0.0/8", "ACCESS_LOG": "/dev/null"}
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as folder, console.status("starting …") as status:
        bench = Bench(Stack(Paths.below(Path(folder)), free_port()), lambda text: status.update(f"{text} …"))
        try:
            found = bench.run(options.items, options.observations, options.calls, options.rounds)
        finally:
            bench.stack.stop()
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        _show(found)


class Bench:
    """One stack, measured."""

    def __init__(self, stack: Stack, report_progress: Callable[[str], None]) -> None:
        self.stack = stack
        self._report_progress = report_progress

    def run(self, items: int, observations: int, calls: int, rounds: int) -> dict[str, Any]:
        """Measure everything."""
        self.stack.start_servers(self._report_progress)
        path = self.stack.paths.root / "market.parquet"
        write(path, items=items, observations=observations, seed=1)
        path.with_suffix(".toml").write_text(MAPPING)
        self._report_progress("loading")
        load(self.stack.settings, read(path.with_suffix(".toml")), [path])
        path.unlink()
        with self._connection() as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute(
                "UPDATE plans SET burst_units = 1000000, jobs_running = 64, jobs_queued = 100000,"
                " daily_units = CASE WHEN counted_by = 'ip' THEN daily_units ELSE 1000000000 END"
            )
            self._key = issue_key(connection, self.stack.settings.token_pepper)
            self._iids = [row[0] for row in connection.execute("SELECT iid FROM items ORDER BY id")]
            self._never_asked = iter(self._iids[2000:])
            self._slugs = [
                row[0] for row in connection.execute("SELECT slug FROM brands ORDER BY item_count DESC LIMIT 50")
            ]
        self.stack.start_service(self._report_progress)
        self._wait_for_jobs()
        storage = self._storage(items, observations)
        self._idle = self._idle_rates()
        waited = self._order_to_answer()
        found = {"microseconds": self._calls(calls, rounds), "bytes": storage, "memory_mib": self._memory()}
        return {**found, "order_to_answer": waited}

    def _calls(self, calls: int, rounds: int) -> dict[str, dict[str, float]]:
        kinds: dict[str, tuple[Make, int, int]] = {
            "lookup": (self._get(lambda n: f"/index/lookup/{self._iids[n % 200]}"), calls, 200),
            "lookup, record cold": (self._get(lambda n: f"/index/lookup/{next(self._never_asked)}"), calls // 5, 200),
            "refusal": (self._anonymous(lambda n: f"/index/lookup/{self._iids[n % 200]}", addresses=200), calls, 429),
            "batch of 100": (self._get(self._batch), calls // 50, 200),
            "search": (self._get(self._new_search), calls // 10, 200),
            "search, asked before": (self._get(lambda n: f"/index/search?q={_WORDS[n % len(_WORDS)]}"), calls, 200),
            "pricing": (self._get(lambda n: f"/index/pricing/{next(self._never_asked)}"), calls // 10, 200),
            "report, stored": (self._get(lambda n: f"/index/cohorts?brand={self._slugs[0]}"), calls // 2, 200),
            "report": (self._get(self._new_cohort), max(20, calls // 100), 200),
        }
        found: dict[str, dict[str, list[float]]] = {name: {part: [] for part in _PARTS} for name in kinds}
        for name, (make, _, _) in kinds.items():
            self._drive(
                make, 700 if name == "refusal" else 60, None
            )  # memory is filled, accounts have used their day up
        for n in range(rounds):
            for name, (make, number, status) in kinds.items():
                self._report_progress(f"round {n + 1} of {rounds}: {name}")
                for part, microseconds in self._drive(make, number, status).items():
                    found[name][part].append(microseconds)
        return {name: {part: round(statistics.median(v), 1) for part, v in of.items()} for name, of in found.items()}

    def _drive(self, make: Make, number: int, status: int | None) -> dict[str, float]:
        before, began = self._cpu(), time.monotonic()
        outcome = drive(f"127.0.0.1:{self.stack.port}", make, requests=number, connections=16)
        took, after = time.monotonic() - began, self._cpu()
        assert status is None or outcome.statuses[status] > 0.98 * number, outcome.statuses
        idle = getattr(self, "_idle", dict.fromkeys(_PARTS, 0.0))
        return {part: max(0.0, after[part] - before[part] - idle[part] * took) / number * 1e6 for part in _PARTS}

    def _order_to_answer(self) -> dict[str, float]:
        """Order small reports one after the other while nothing else is asked: milliseconds by the clock, and CPU."""
        before, seconds, make = self._cpu(), [], self._get(self._new_cohort)
        for _ in range(_ORDERS):
            outcome = drive(f"127.0.0.1:{self.stack.port}", make, requests=1, connections=1)
            assert outcome.statuses[200] == 1, outcome.statuses
            seconds.append(outcome.seconds)
        after, idle = self._cpu(), sum(seconds) * self._idle["postgres"]
        cpu = (after["postgres"] - before["postgres"] - idle) / _ORDERS
        return {"median_ms": statistics.median(seconds) * 1000, "postgres_us": cpu * 1e6}

    def _get(self, path: Callable[[int], str]) -> Make:
        return lambda n: self._request(path(n), f"Authorization: ApiKey {self._key}", n)

    def _anonymous(self, path: Callable[[int], str], addresses: int) -> Make:
        token = f"X-Service-Public-Token: {self.stack.settings.anonymous_token}"
        return lambda n: self._request(path(n), token, n % addresses)

    def _request(self, path: str, credential: str, caller: int) -> bytes:
        address = f"10.{caller >> 16 & 255}.{caller >> 8 & 255}.{caller & 255}"
        return (
            f"GET /v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {address}\r\n{credential}\r\nAccept: */*\r\n\r\n"
        ).encode()

    def _batch(self, n: int) -> str:
        start = n * 100 % 1900
        return "/index/lookup?" + "&".join(f"iid={iid}" for iid in self._iids[start : start + 100])

    def _new_search(self, n: int) -> str:
        return f"/index/search?q={_WORDS[n % len(_WORDS)]}+{n % 10**9}&limit=20"

    def _new_cohort(self, n: int) -> str:
        # A new question: another brand, another range.
        first = date(2025, 1, 1) + timedelta(days=n // 50 % 300)
        return f"/index/cohorts?brand={self._slugs[n % len(self._slugs)]}&from={first}&to={first + timedelta(days=89)}&granularity=month"

    def _storage(self, items: int, observations: int) -> dict[str, float]:
        self._report_progress("cutting a release")
        with self._connection() as connection:
            row = connection.execute("SELECT max(version) FROM data_versions").fetchone()
            assert row is not None
            order(connection, row[0])
            self._wait_for_jobs()
            sizes = {name: size for name, size, _ in connection.execute(_WIDTHS)}
            released = dict(connection.execute("SELECT dataset, bytes FROM releases").fetchall())
        months = sum(size for name, size in sizes.items() if name.startswith("observations_"))
        index = sum(path.stat().st_size for path in self.stack.settings.search_dir.rglob("*") if path.is_file())
        own = sum(sizes[name] for name in ("items", "item_sources"))
        return {
            "observation, table and index": months / observations,
            "observation, cells": sizes["month_cells"] / observations,
            "observation, released": released["observations"] / observations,
            "item, tables and indexes": own / items,
            "item, released": released["items"] / items,
            "item, search index": index / items,
            "account in the state store": self._account_bytes(),
        }

    def _account_bytes(self) -> float:
        with valkey.Valkey(unix_socket_path=str(self.stack.paths.socket("state"))) as client:
            before = client.info("memory")["used_memory"]
            make = self._anonymous(lambda n: f"/index/lookup/{self._iids[0]}", addresses=1 << 24)
            drive(f"127.0.0.1:{self.stack.port}", make, requests=_ACCOUNTS, connections=16)
            time.sleep(25)  # until the markers of the charges are gone
            return (client.info("memory")["used_memory"] - before) / _ACCOUNTS

    def _memory(self) -> dict[str, float]:
        by_part: dict[str, list[float]] = {}
        for part, process in self._processes():
            by_part.setdefault(part, []).append(process.memory_full_info().pss / 2**20)
        return {part: round(max(values), 1) for part, values in by_part.items()}

    def _idle_rates(self) -> dict[str, float]:
        before = self._cpu()
        time.sleep(_IDLE_SECONDS)
        after = self._cpu()
        return {part: (after[part] - before[part]) / _IDLE_SECONDS for part in _PARTS}

    def _cpu(self) -> dict[str, float]:
        found = dict.fromkeys(_PARTS, 0.0)
        for part, process in self._processes():
            times = process.cpu_times()
            found[part] += cpu_seconds(process.pid) + times.children_user + times.children_system
        return found

    def _processes(self) -> Iterator[tuple[str, psutil.Process]]:
        for child in self.stack.children:
            part = next((part for part in _PARTS if child.program.name.startswith(part)), None)
            if part is not None and child.process is not None:
                process = psutil.Process(child.process.pid)
                for one in (process, *process.children(recursive=True)):
                    yield part, one

    def _wait_for_jobs(self) -> None:
        with self._connection() as connection:
            open_jobs = "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')"
            while connection.execute(open_jobs).fetchone() != (0,):
                time.sleep(0.1)

    def _connection(self) -> Connection:
        return connect(self.stack.settings.database_url, application="bench", autocommit=True)


_WORDS = ("milk", "soy+milk", "tea", "rice+large", "green", "coffee", "oil", "small", "noodle", "juice")


def _show(found: dict[str, Any]) -> None:
    console = Console()
    table = Table(title="CPU of each part for one call, µs (medians)", title_justify="left")
    for name in ("call", *_PARTS):
        table.add_column(name, justify="left" if name == "call" else "right")
    for call, parts in found["microseconds"].items():
        table.add_row(call, *(f"{parts[part]:,.0f}" for part in _PARTS))
    console.print(table)
    for title in ("bytes", "memory_mib", "order_to_answer"):
        console.print({name: round(value, 1) for name, value in found[title].items()})


if __name__ == "__main__":
    main()
