"""`python -m tests.assurance.perf.ingest_bench`: a load beside a bare COPY of the same observations, interleaved, on one server."""

import argparse
import gc
import statistics
import tempfile
import threading
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.assurance.perf.generate import MAPPING, write
from tests.support.servers import Servers
from workers.ingest.load.load import load
from workers.ingest.mapping import read


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--observations", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    gc.freeze()  # as the command does with what it imports
    copied, unlogged, loaded, peaks = list[float](), list[float](), list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        folder = Path(name)
        path, rows = folder / "market.parquet", folder / "rows.csv"
        write(path, items=options.items, observations=options.observations, seed=1)
        path.with_suffix(".toml").write_text(MAPPING)
        with servers.fresh(folder) as settings:
            _load(settings, path)
            _write_rows(settings, rows)
        for _ in range(options.rounds):
            for speeds, together in ((copied, False), (unlogged, True)):
                with servers.fresh(folder) as settings:
                    speeds.append(options.observations / _copy(settings, rows, together=together))
            with servers.fresh(folder) as settings:
                seconds, peak = _load(settings, path)
                loaded.append(options.observations / seconds)
                peaks.append(peak)
    _show(copied, unlogged, loaded, peaks, options)


def _write_rows(settings: Settings, rows: Path) -> None:
    """Write what the load ended with as a CSV of the table's own columns: what a bare COPY is given."""
    with connect(settings.database_url, application="bench") as connection, rows.open("wb") as file:
        with connection.cursor().copy("COPY (SELECT * FROM observations) TO STDOUT (FORMAT csv)") as copy:
            for chunk in copy:
                file.write(chunk)


def _copy(settings: Settings, rows: Path, *, together: bool) -> float:
    """Return seconds; `together` makes the table in the same transaction, so that the server need not log its rows."""
    with connect(settings.database_url, application="bench") as connection:
        connection.execute("CREATE TABLE bare (LIKE observations)")
        if not together:
            connection.commit()
        started = time.perf_counter()
        with rows.open("rb") as file, connection.cursor().copy("COPY bare FROM STDIN (FORMAT csv)") as copy:
            while chunk := file.read(1 << 20):
                copy.write(chunk)
        connection.commit()
        return time.perf_counter() - started


def _load(settings: Settings, path: Path) -> tuple[float, float]:
    process, peak, over = psutil.Process(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.05):
            peak = max(peak, process.memory_info().rss / 2**20)

    threading.Thread(target=watch, daemon=True).start()
    started = time.perf_counter()
    load(settings, read(path.with_suffix(".toml")), [path])
    seconds = time.perf_counter() - started
    over.set()
    return seconds, peak


def _show(
    copied: list[float], unlogged: list[float], loaded: list[float], peaks: list[float], options: argparse.Namespace
) -> None:
    table = Table(
        title=f"{options.observations:,} observations of {options.items:,} items, medians of {options.rounds} rounds",
        title_justify="left",
    )
    for name in ("way", "rows/s", "× COPY", "peak RSS, MiB"):
        table.add_column(name, justify="left" if name == "way" else "right")
    peak = f"{statistics.median(peaks):,.0f}"
    table.add_row("bare COPY into an unindexed table", f"{statistics.median(copied):,.0f}", "1.00", "–")
    table.add_row("the same, table made in the same transaction", *_beside(unlogged, copied), "–")
    table.add_row("itemindex ingest, whole load", *_beside(loaded, copied), peak)
    Console().print(table)


def _beside(speeds: list[float], copied: list[float]) -> tuple[str, str]:
    """Return the median speed, and the median of what it was of a bare COPY's in the same round."""
    ratios = [speed / bare for speed, bare in zip(speeds, copied, strict=True)]
    return (
        f"{statistics.median(speeds):,.0f}",
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
    )


if __name__ == "__main__":
    main()
