"""`python -m tests.assurance.perf.forms_bench`: one product file in each form that a load reads, loaded by its guessed mapping.

Each load is a process of its own in an index of its own, so that its peak of memory is that of one form.
"""

import argparse
import csv
import gc
import io
import json
import multiprocessing
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import openpyxl
import pyarrow as pa
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from shared.gtin import check_digit
from shared.settings.settings import Settings
from tests.assurance.perf import generate
from tests.assurance.perf.cpu import peak_mib, server_seconds
from tests.support.servers import Servers
from workers.ingest.files.read_file import read
from workers.ingest.guess.guess import guess
from workers.ingest.load.load import load
from workers.ingest.mapping import parse

ROWS_MAX = 1_048_575
"""A sheet of Excel has no more below its header."""
COLUMNS = ("id", "name", "brand", "category", "gtin", "price", "currency", "date", "shop", "description")
_BATCH = 65_536


class Product(NamedTuple):
    """A row of the file, in the order of COLUMNS: its price and its day have types in forms that have types."""

    id: str
    name: str
    brand: str
    category: str
    gtin: str
    price: object
    currency: str
    date: object
    shop: str
    description: str


class Measured(NamedTuple):
    """What one load took: `seconds` by the clock, and seconds of processors: of its process, of reading alone, of the server."""

    seconds: float
    own: float
    reading: float
    peak_mib: float
    server: float = 0


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--forms", nargs="+", choices=WRITERS, default=list(WRITERS))
    parser.add_argument("--description", type=int, default=40, help="characters of each row's description")
    options = parser.parse_args()
    if not 1_000 <= options.rows <= ROWS_MAX:
        parser.error(f"--rows is 1,000 to {ROWS_MAX:,}")
    found: dict[str, list[Measured]] = {form: [] for form in options.forms}
    sizes: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        folder = Path(name)
        generate.write(folder / "market.parquet", items=options.rows, observations=options.rows, seed=1)
        for form in options.forms:
            path = folder / f"products.{form}"
            WRITERS[form](path, _products(folder / "market.parquet", options.description))
            sizes[form] = path.stat().st_size
        for _ in range(options.rounds):
            for form, measured in found.items():
                before = server_seconds(servers)
                with servers.fresh(folder) as settings:
                    one = _in_a_process(settings, folder / f"products.{form}", options.rows)
                measured.append(one._replace(server=server_seconds(servers) - before))
                print(form, measured[-1], flush=True)
    _show(found, sizes, options)


def _products(path: Path, characters: int) -> Iterator[Product]:
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(_BATCH):
        for row in batch.to_pylist():
            digits = f"20{row['id'][1:]:0>10}"
            yield Product(
                id=row["id"],
                name=row["name"],
                brand=row["brand"],
                category=f"{row['group']} > {row['type']}",
                gtin=digits + check_digit(digits),
                price=row["price"],
                currency="USD",
                date=row["day"],
                shop=row["channel"],
                description=(f"{row['name']}, {row['id']}. " * (1 + characters // 20))[:characters],
            )


def _write_csv(path: Path, products: Iterable[Product]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        _csv_rows(file, products)


def _csv_rows(file: io.TextIOBase | io.TextIOWrapper, products: Iterable[Product]) -> None:
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows(products)


def _write_zip(path: Path, products: Iterable[Product]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("products.csv", "w", force_zip64=True) as member:
            with io.TextIOWrapper(member, "utf-8", newline="") as file:
                _csv_rows(file, products)


def _objects(products: Iterable[Product]) -> Iterator[str]:
    for product in products:
        yield json.dumps(
            product._asdict() | {"price": float(str(product.price)), "date": str(product.date)}, ensure_ascii=False
        )


def _write_ndjson(path: Path, products: Iterable[Product]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _objects(products))


def _write_json(path: Path, products: Iterable[Product]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{',' if number else '['}\n{line}" for number, line in enumerate(_objects(products)))
        file.write("\n]\n")


def _write_xml(path: Path, products: Iterable[Product]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<products>\n')
        for product in products:
            parts = "".join(f"  <{name}>{escape(str(value))}</{name}>\n" for name, value in product._asdict().items())
            file.write(f" <product>\n{parts} </product>\n")
        file.write("</products>\n")


def _write_xlsx(path: Path, products: Iterable[Product]) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Products")
    sheet.append(COLUMNS)
    for product in products:
        sheet.append(product)
    book.save(path)


def _write_parquet(path: Path, products: Iterator[Product]) -> None:
    schema = pa.schema([(name, pa.string()) for name in COLUMNS])
    schema = schema.set(COLUMNS.index("price"), pa.field("price", pa.decimal128(12, 2)))
    schema = schema.set(COLUMNS.index("date"), pa.field("date", pa.date32()))
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        rows: list[dict[str, object]] = []
        for product in products:
            rows.append(product._asdict())
            if len(rows) == _BATCH:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema))


WRITERS: dict[str, Callable[[Path, Iterator[Product]], None]] = {
    "csv": _write_csv,
    "zip": _write_zip,
    "ndjson": _write_ndjson,
    "json": _write_json,
    "xml": _write_xml,
    "xlsx": _write_xlsx,
    "parquet": _write_parquet,
}


def _in_a_process(settings: Settings, path: Path, rows: int) -> Measured:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        reading = pool.submit(_read, path).result()
        seconds, own, peak_mib = pool.submit(_load, settings, path, rows).result()
    return Measured(seconds, own, reading, peak_mib)


def _load(settings: Settings, path: Path, rows: int) -> tuple[float, float, float]:
    gc.freeze()  # as the command does with what it imports
    mapping = parse(guess(path).text)
    started, own = time.perf_counter(), time.process_time()
    summary = load(settings, mapping, [path])
    seconds, own = time.perf_counter() - started, time.process_time() - own
    counts = summary.counts
    if (counts["rows"], counts["items_read"], counts["observations_new"]) != (rows, rows, rows):
        raise SystemExit(f"{path.name}: not every row was loaded: {counts}")
    return seconds, own, peak_mib()


def _read(path: Path) -> float:
    gc.freeze()
    mapping = parse(guess(path).text)
    started = time.process_time()
    for _ in read(path, mapping, batch_rows=Settings.ingest_batch_rows):
        pass
    return time.process_time() - started


def _show(found: dict[str, list[Measured]], sizes: dict[str, int], options: argparse.Namespace) -> None:
    table = Table(
        title=f"{options.rows:,} products, one observation each; medians of {options.rounds} rounds",
        title_justify="left",
    )
    columns = (
        "form",
        "MB",
        "rows/s",
        "× CSV",
        "× CSV by CPU",
        "load, CPU s",
        "server, CPU s",
        "reading, CPU s",
        "peak RSS, MiB",
    )
    for name in columns:
        table.add_column(name, justify="left" if name == "form" else "right")
    plain = found.get("csv")
    for form, rounds in found.items():
        pairs = list(zip(plain or (), rounds, strict=True)) if plain else []
        ratios = [of_csv.seconds / own.seconds for of_csv, own in pairs]
        by_cpu = [(of_csv.own + of_csv.server) / (own.own + own.server) for of_csv, own in pairs]
        table.add_row(
            form,
            f"{sizes[form] / 1e6:,.0f}",
            f"{options.rows / statistics.median(one.seconds for one in rounds):,.0f}",
            f"{statistics.median(ratios):.2f}" if ratios else "–",
            f"{statistics.median(by_cpu):.2f}" if by_cpu else "–",
            f"{statistics.median(one.own for one in rounds):.1f}",
            f"{statistics.median(one.server for one in rounds):.1f}",
            f"{statistics.median(one.reading for one in rounds):.1f}",
            f"{max(one.peak_mib for one in rounds):,.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
