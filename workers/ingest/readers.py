"""Files of any of three forms as batches of text columns: CSV, NDJSON, Parquet; plain, gzip or zstd. Flat memory."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shared.errors import LoadRefused

RAW_CHARACTERS_MAX = 4_000
VALUE_CHARACTERS_MAX = 300
_BLOCK_BYTES = 16 * 1024 * 1024
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_PARQUET = b"PAR1"


class Reject(NamedTuple):
    """A row or a field that cannot be used: where it stands, why, and what it says. A header is line 1.

    `scope` is `row`, or `field` where the rest of the row is used.
    """

    file: str
    line: int
    reason: str
    raw: str
    column: str | None = None
    value: str | None = None
    scope: str = "row"


@dataclass
class Batch:
    """Rows as columns of text or as Parquet has them, null where the source has nothing; their lines; broken rows."""

    columns: dict[str, Any]
    lines: Any
    rejects: list[Reject] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows could be read."""
        return len(self.lines)


def read(
    path: Path, *, delimiter: str, columns: tuple[str, ...], batch_rows: int, told: Callable[[int], None]
) -> Iterator[Batch]:
    """Read a file in batches; `told` hears how many bytes are through.

    Raises LoadRefused where the file is broken, empty, or lacks one of the columns.
    """
    try:
        with path.open("rb") as file:
            yield from _read(path, file, delimiter, columns, batch_rows, told)
    except pa.ArrowKeyError as error:
        raise LoadRefused(
            f"{path.name}: {str(error).splitlines()[0]}; the mapping names it, check its spelling"
        ) from None
    except (OSError, pa.ArrowInvalid, pa.ArrowIOError, EOFError) as error:
        raise LoadRefused(f"{path.name}: the file is broken: {str(error).splitlines()[0][:300]}") from None


def _read(
    path: Path, file: BinaryIO, delimiter: str, columns: tuple[str, ...], batch_rows: int, told: Callable[[int], None]
) -> Iterator[Batch]:
    head = file.read(4)
    file.seek(0)
    if not head:
        raise LoadRefused(f"{path.name}: the file is empty")
    if head == _PARQUET:
        batches = _parquet(path, columns, batch_rows)
    else:
        codec = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
        source: Any = pa.PythonFile(file, mode="r")
        stream = pa.CompressedInputStream(source, codec) if codec else source
        inner = path.name.removesuffix(".gz").removesuffix(".zst")
        if inner.endswith((".ndjson", ".jsonl")):
            batches = _ndjson(path.name, stream, columns, batch_rows)
        else:
            batches = _csv(path.name, stream, delimiter, columns)
    for batch in batches:
        told(min(file.tell(), path.stat().st_size))
        yield batch
    told(path.stat().st_size)


def _csv(name: str, stream: Any, delimiter: str, columns: tuple[str, ...]) -> Iterator[Batch]:
    broken: list[tuple[int, str]] = []

    def keep(row: Any) -> str:
        broken.append((row.number, f"has {row.actual_columns} columns instead of {row.expected_columns}\0{row.text}"))
        return "skip"

    reader = pyarrow.csv.open_csv(
        stream,
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=keep),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={column: pa.binary() for column in columns}, include_columns=list(columns) or None,
            strings_can_be_null=False, check_utf8=False, null_values=[],
        ),
    )  # fmt: skip
    line = 2
    for record_batch in reader:
        here, broken[:] = list(broken), []
        skipped = sorted(number for number, _ in here)
        lines = _lines(line, record_batch.num_rows, skipped)
        line = int(lines[-1]) + 1 if len(lines) else line
        line = max(line, skipped[-1] + 1 if skipped else 0)
        rejects = [Reject(name, number, *_split(text)) for number, text in here]
        yield _decoded(name, record_batch, lines, rejects)


def _lines(first: int, rows: int, skipped: list[int]) -> list[int]:
    lines: list[int] = []
    line, gaps = first, set(skipped)
    if not gaps:
        return list(range(first, first + rows))
    while len(lines) < rows:
        if line not in gaps:
            lines.append(line)
        line += 1
    return lines


def _split(text: str) -> tuple[str, str]:
    reason, _, raw = text.partition("\0")
    return reason, raw[:RAW_CHARACTERS_MAX]


def _decoded(name: str, record_batch: Any, lines: list[int], rejects: list[Reject]) -> Batch:
    """Turn bytes into text; a row that is not UTF-8, or holds NUL, becomes a reject."""
    try:
        columns = {n: c.cast(pa.string()) for n, c in zip(record_batch.schema.names, record_batch.columns, strict=True)}
    except pa.ArrowInvalid:
        good, bad = _split_utf8(record_batch)
        rejects += [Reject(name, lines[row], "is not valid UTF-8", _raw_of(record_batch, row)) for row in bad]
        record_batch, lines = record_batch.take(pa.array(good, pa.int64())), [lines[row] for row in good]
        columns = {n: c.cast(pa.string()) for n, c in zip(record_batch.schema.names, record_batch.columns, strict=True)}
    return Batch(columns, lines, rejects)


def _split_utf8(record_batch: Any) -> tuple[list[int], list[int]]:
    good: list[int] = []
    bad: list[int] = []
    for row in range(record_batch.num_rows):
        try:
            for column in record_batch.columns:
                column[row].as_py().decode()
        except UnicodeDecodeError:
            bad.append(row)
        else:
            good.append(row)
    return good, bad


def _raw_of(record_batch: Any, row: int) -> str:
    cells = (column[row].as_py().decode("utf-8", "replace") for column in record_batch.columns)
    return json.dumps(list(cells), ensure_ascii=False)[:RAW_CHARACTERS_MAX]


def _ndjson(name: str, stream: Any, columns: tuple[str, ...], batch_rows: int) -> Iterator[Batch]:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    rejects: list[Reject] = []
    for number, raw in enumerate(_text_lines(stream), start=1):
        if not raw.strip():
            continue
        try:
            row = json.loads(raw, parse_float=str, parse_int=str)
            if not isinstance(row, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError):
            rejects.append(
                Reject(name, number, "is not a JSON object", raw.decode("utf-8", "replace")[:RAW_CHARACTERS_MAX])
            )
            continue
        rows.append(row)
        lines.append(number)
        if len(rows) >= min(batch_rows, 50_000):
            yield _from_rows(rows, lines, rejects, columns)
            rows, lines, rejects = [], [], []
    yield _from_rows(rows, lines, rejects, columns)


def _text_lines(stream: Any) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(1 << 20):
        *whole, rest = (rest + cast(bytes, chunk)).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _from_rows(rows: list[dict[str, Any]], lines: list[int], rejects: list[Reject], columns: tuple[str, ...]) -> Batch:
    listed = {column: pa.array([_as_text(row.get(column)) for row in rows], pa.string()) for column in columns}
    return Batch(listed, lines, rejects)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _parquet(path: Path, columns: tuple[str, ...], batch_rows: int) -> Iterator[Batch]:
    file = pyarrow.parquet.ParquetFile(path)
    missing = [column for column in columns if column not in file.schema_arrow.names]
    if missing:
        raise LoadRefused(
            f"{path.name}: has no column {missing[0]!r}; it has {', '.join(file.schema_arrow.names)[:500]}"
        )
    line = 1
    for record_batch in file.iter_batches(batch_size=batch_rows, columns=list(columns)):
        listed = {n: _kept(c) for n, c in zip(record_batch.schema.names, record_batch.columns, strict=True)}
        yield Batch(listed, range(line, line + record_batch.num_rows))
        line += record_batch.num_rows


def _kept(column: Any) -> Any:
    """Keep days and decimals as they are, dictionaries as dictionaries of text; the rest becomes text."""
    if pa.types.is_date32(column.type) or pa.types.is_decimal128(column.type):
        return column
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.dictionary(pa.int32(), pa.string()))
    return column.cast(pa.string())
