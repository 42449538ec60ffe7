"""`python -m tests.perf.release_bench`: cutting and reading a release beside `psql \\copy … to csv` of the same rows.

All ways are interleaved on one server; the order of rows and the types are the release's, psql's is plain text. Only the
ratios carry over to other machines. Peak memory is of the process that does the work: this one, or psql.
"""

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from deploy.local.postgres import binary
from shared.bulk.schema import key_of
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.perf.generate import MAPPING, write
from tests.support.servers import Servers
from workers.bulk.releases import write_observations
from workers.bulk.sources.snapshot import Snapshot
from workers.bulk.writers.release_file import ReleaseWriter
from workers.ingest.load import load
from workers.ingest.mapping import read
from workers.jobs.context import SplitRows

NARROW = (
    """SELECT item_id, price_minor, list_minor, day, channel_id, units, source_id, kind, currency FROM observations"""
)
WIDE = """SELECT i.iid, o.day, h.code, CASE o.kind WHEN 'l' THEN 'listing' ELSE 'sale' END, s.name, o.currency,
 o.price_minor::numeric / 100, o.price_minor, o.list_minor::numeric / 100, o.list_minor, o.units
 FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
 JOIN sources s ON s.id = o.source_id""".replace("\n", "")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--observations", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        folder = Path(name)
        path = folder / "market.parquet"
        write(path, items=options.items, observations=options.observations, seed=1)
        path.with_suffix(".toml").write_text(MAPPING)
        with servers.fresh(folder) as settings:
            load(settings, read(path.with_suffix(".toml")), [path])
            _measure(settings, folder, options.observations, options.rounds)


def _measure(settings: Settings, folder: Path, rows: int, rounds: int) -> None:
    release: list[Path] = []

    def cut() -> None:
        shutil.rmtree(settings.results_dir, ignore_errors=True)
        release[:] = _cut(settings)

    ways: list[tuple[str, Callable[[], object]]] = [
        ("psql \\copy to csv, narrow (numbers)", lambda: _psql(settings, NARROW, folder)),
        ("psql \\copy to csv, the release's columns", lambda: _psql(settings, WIDE, folder)),
        ("cut from PostgreSQL: sorted, typed Parquet", cut),
        ("release → Parquet again", lambda: _again(release, folder / "again.parquet")),
        ("release → CSV", lambda: _as_csv(release, folder / "again.csv")),
        ("release, the files as they are (copied, digested)", lambda: _as_it_is(release, folder)),
    ]
    seconds: dict[str, list[float]] = {name: [] for name, _ in ways}
    peaks: dict[str, float] = {}
    for _ in range(rounds):
        for name, way in ways:
            started = time.perf_counter()
            peaks[name] = max(peaks.get(name, 0.0), _peak_of(way))
            seconds[name].append(time.perf_counter() - started)
    base = statistics.median(seconds[ways[1][0]])
    size = sum(path.stat().st_size for path in release) / 1e6
    table = Table(
        "way", "s", "rows/s", "× psql csv", "grew by MB", title=f"{rows:,} observations, {size:.1f} MB as a release"
    )
    for name, _ in ways:
        median = statistics.median(seconds[name])
        table.add_row(name, f"{median:.2f}", f"{rows / median:,.0f}", f"{base / median:.2f}", f"{peaks[name]:.0f}")
    Console(width=120).print(table)


def _psql(settings: Settings, query: str, folder: Path) -> None:
    target = folder / "psql.csv"
    command = [binary("psql"), settings.database_url, "-qc", f"\\copy ({query}) to '{target}' csv"]
    subprocess.run(command, check=True, env={"PATH": os.environ["PATH"]})


def _cut(settings: Settings) -> list[Path]:
    with Snapshot(settings.worker_database_url, application="bench") as snapshot:
        writer = ReleaseWriter(DirectoryStore(settings.results_dir), SplitRows())
        parts = write_observations(snapshot, writer)
    return [settings.results_dir / key_of(part.sha256) for part in parts]


def _again(release: list[Path], target: Path) -> None:
    dataset = pyarrow.dataset.dataset([str(path) for path in release])
    with pyarrow.parquet.ParquetWriter(target, dataset.schema, compression="zstd") as writer:
        for batch in dataset.to_batches():
            writer.write_batch(batch)


def _as_csv(release: list[Path], target: Path) -> None:
    dataset = pyarrow.dataset.dataset([str(path) for path in release])
    with pyarrow.csv.CSVWriter(target, dataset.schema) as writer:
        for batch in dataset.to_batches():
            writer.write_batch(batch)


def _as_it_is(release: list[Path], folder: Path) -> None:
    for path in release:
        shutil.copyfile(path, folder / "copy.parquet")
        with (folder / "copy.parquet").open("rb") as file:
            hashlib.file_digest(file, "sha256")


def _peak_of(way: Callable[[], object]) -> float:
    """Run it; return by how many megabytes this process grew at most."""
    process, over, peak = psutil.Process(), threading.Event(), [0]
    before = process.memory_info().rss

    def watch() -> None:
        while not over.wait(0.02):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        way()
    finally:
        over.set()
        watcher.join()
    return max(0, peak[0] - before) / 1e6


if __name__ == "__main__":
    main()
