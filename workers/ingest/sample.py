"""The beginning of a file as columns of text, whatever its form: CSV, NDJSON, Parquet; plain, gzip or zstd."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from shared.errors import LoadRefused
from workers.ingest.text_stream import TextStream

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file as text, and how the file is written."""

    columns: dict[str, list[str]]
    delimiter: str = ","
    encoding: str = "utf-8"


def sample(path: Path) -> Sample:
    """Read the beginning of a file. Raises LoadRefused where it is empty or broken, or nothing can be made of it."""
    try:
        return _sampled(path)
    except (OSError, EOFError, csv.Error, pyarrow.ArrowException) as error:
        raise LoadRefused(f"{path.name}: the file is broken: {str(error).splitlines()[0][:300]}") from None


def _sampled(path: Path) -> Sample:
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if head == b"PAR1":
            batches = pyarrow.parquet.ParquetFile(path).iter_batches(SAMPLE_ROWS)
            batch = next((one for one in batches if one.num_rows), None)
            if batch is None:
                raise LoadRefused(f"{path.name}: the file has no row")
            return Sample(_gathered(batch.to_pylist()))
        raw = _beginning(TextStream(path.name, file, "utf-8", 1 << 30))
        encoding = "utf-8"
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            if error.end < len(raw) - 4:  # not only a character cut in two
                encoding = "cp1252"
        text = raw.decode(encoding, "replace")
    if not text.strip():
        raise LoadRefused(f"{path.name}: the file is empty")
    if text.lstrip().startswith("{"):
        return Sample(_members(text))
    return _cells(text, encoding)


def _beginning(stream: TextStream) -> bytes:
    raw = b""
    while len(raw) < SAMPLE_BYTES and (chunk := stream.read(SAMPLE_BYTES)):
        raw += chunk
    return raw[:SAMPLE_BYTES]


def _members(text: str) -> dict[str, list[str]]:
    rows = []
    for line in text.splitlines()[:SAMPLE_ROWS]:
        try:
            row = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            continue
        rows += [row] if isinstance(row, dict) else []
    columns = _gathered(rows)
    if not columns:
        raise LoadRefused("no line of the file's beginning is a JSON object")
    return columns


def _gathered(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the values of rows by the path of their member."""
    columns: dict[str, list[str]] = {}
    for row in rows:
        for name, value in _flat(row):
            columns.setdefault(name, [])
            columns[name] += [] if value is None else [str(value)]
    objects = {name.rpartition(".")[0] for name in columns}  # such a one is null in some rows
    return {name: values for name, values in columns.items() if values or name not in objects}


def _flat(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of a row with their paths; of a list of objects those of the first."""
    for name, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from _flat(value[0], f"{prefix}{name}.0.")
        elif isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            yield prefix + name, value


def _cells(text: str, encoding: str) -> Sample:
    first = text.splitlines()[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = next(rows, [])
    columns: dict[str, list[str]] = {name: [] for name in header}
    for _, row in zip(range(SAMPLE_ROWS), rows, strict=False):
        for name, cell in zip(header, row, strict=False):
            if cell.strip():
                columns[name].append(cell.strip())
    return Sample(columns, delimiter, encoding)
