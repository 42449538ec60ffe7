"""`python -m tests.assurance.perf.scale_bench`: what grows with the observations, at several sizes, each in an index of its own.

Load, vacuum, reports, a second load, a release of all, and exports from it. Seconds by the clock, and of processors
(this process and the server's sessions): those carry over where other work took the cores.
"""

import argparse
import gc
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.assurance.perf import generate, reports_bench
from tests.assurance.perf.cpu import peak_mib, server_seconds
from tests.support.exports import manifest_of, ordered, parameters
from tests.support.releases import cut
from tests.support.servers import Servers
from tests.support.workers import run
from workers.ingest.load.load import load
from workers.ingest.mapping import parse

_REPORTS = ("small brand", "category (leaf)", "category (a fifth of all)", "everything")
_EXPORTS = (("parquet", "zstd"), ("csv", "gzip"))
_LATER_ROWS = 10_000
_SIZES = """SELECT pg_database_size(current_database()),
 (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'observations'::regclass)"""


def main() -> None:
    """Measure each size, from the smallest; print what each took as it ends, and a table of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--observations", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--per-item", type=int, default=50, help="observations of an item, in the mean")
    options = parser.parse_args()
    found: dict[int, dict[str, float]] = {}
    for size in sorted(options.observations):
        with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
            found[size] = _measure(servers, Path(name), size, size // options.per_item)
    _show(found)


def _measure(servers: Servers, folder: Path, size: int, items: int) -> dict[str, float]:
    figures: dict[str, float] = {}

    def note(name: str, value: float) -> None:
        figures[name] = value
        print(f"{size:,}", name, f"{value:,.2f}", flush=True)

    path, later = folder / "market.parquet", folder / "later.parquet"
    generate.write(path, items=items, observations=size, seed=1)
    _write_later(later, items)
    with servers.fresh(folder) as settings:
        _measured_load(note, servers, settings, "load", path)
        path.unlink()
        with connect(settings.database_url, application="bench", autocommit=True) as connection:
            _timed(note, servers, "vacuum", lambda: connection.execute("VACUUM ANALYZE"))
            [(whole, observations)] = connection.execute(_SIZES).fetchall()
        note("database, GB", whole / 1e9)
        note("observations, bytes each", float(observations) / size)
        with connect(settings.worker_database_url, application="bench", autocommit=True) as connection:
            cases = {name: ours for name, _, ours in reports_bench._cases(connection)}
            for name in _REPORTS:
                note(f"report of {name}, ms", 1000 * statistics.median(_seconds(cases[name]) for _ in range(3)))
        _measured_load(note, servers, settings, "load of 10,000 more", later)
        _timed(note, servers, "first release", lambda: cut(settings))
        note("first release, MB", _stored(settings) / 1e6)
        for format, compression in _EXPORTS:
            _timed(note, servers, f"export {format}.{compression}", partial(_export, settings, format, compression))
    return figures


def _write_later(path: Path, items: int) -> None:
    """Write further observations of the same items, all of the last month: as a day's load brings them."""
    generate.write(path, items=items, observations=12 * _LATER_ROWS, seed=1)
    newest = pyarrow.parquet.read_table(path, filters=[("day", ">=", generate.LAST_DAY.astype("M8[M]").item())])
    pyarrow.parquet.write_table(newest.slice(0, _LATER_ROWS), path)


def _measured_load(
    note: Callable[[str, float], None], servers: Servers, settings: Settings, name: str, path: Path
) -> None:
    """Load in a process of its own, so that its peak of memory is that of the load."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        before = server_seconds(servers)
        seconds, own, peak_mib = pool.submit(_load, settings, path).result()
    note(f"{name}, s", seconds)
    note(f"{name}, CPU s", own + server_seconds(servers) - before)
    note(f"{name}, peak MiB", peak_mib)


def _timed(note: Callable[[str, float], None], servers: Servers, name: str, call: Callable[[], Any]) -> None:
    began, own, theirs = time.perf_counter(), _own_seconds(), server_seconds(servers)
    call()
    note(f"{name}, s", time.perf_counter() - began)
    note(f"{name}, CPU s", _own_seconds() - own + server_seconds(servers) - theirs)


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _load(settings: Settings, path: Path) -> tuple[float, float, float]:
    gc.freeze()  # as the command does with what it imports
    began, own = time.perf_counter(), _own_seconds()
    load(settings, parse(generate.MAPPING), [path])
    seconds, own = time.perf_counter() - began, _own_seconds() - own
    return seconds, own, peak_mib()


def _own_seconds() -> float:
    """Return the processor time of this process and of those that it has begun and that have ended, in seconds."""
    return sum(os.times()[:4])


def _stored(settings: Settings) -> int:
    return sum(path.stat().st_size for path in settings.results_dir.rglob("*") if path.is_file())


def _export(settings: Settings, format: str, compression: str) -> None:
    job = ordered(settings, parameters(format=format, compression=compression))
    if (state := run(settings, job)) != "succeeded":
        raise SystemExit(f"the export ended as {state}")
    for file in manifest_of(settings, job).files:
        (settings.results_dir / file.key).unlink()


def _show(found: dict[int, dict[str, float]]) -> None:
    table = Table("what", *(f"{size:,}" for size in found), "× a tenfold step", title="growth with the observations")
    sizes = list(found)
    for name in found[sizes[0]]:
        values = [found[size][name] for size in sizes]
        steps = [f"{after / before:,.1f}" if before else "–" for before, after in pairwise(values)]
        table.add_row(name, *(f"{value:,.2f}" for value in values), " / ".join(steps))
    Console(width=140).print(table)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
