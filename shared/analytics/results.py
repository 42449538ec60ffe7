"""An answer's rows as a stored result: rounding, and the formats JSON, CSV, NDJSON, Parquet. Pure."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from shared.money import minor_digits

DOUBLE = "to the nearest IEEE 754 double: a number of up to 15 significant digits comes out as it was loaded"
SIX_DECIMALS = "half-even to 6 decimals"
FOUR_DECIMALS = "half-even to 4 decimals"
NINE_DIGITS = "half-even to 9 significant digits"

SCALE = 6
"""Digits after the point of every amount: enough for a quarter of the smallest unit of any currency."""
_LEAST_WIDTH = SCALE + 1


class Columns(NamedTuple):
    """Rows by column: Arrow's values and the way back from them take longer than all else of a small answer.

    `values` are what Arrow's `to_pylist` gives for the types of the schema, in its order, but a decimal is a number
    of millionths, an amount in the currency of its row; none is negative. Nested values hold no amounts.
    """

    schema: pa.Schema
    values: list[list[Any]]

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self.values[0])

    def table(self) -> pa.Table:
        """Return the rows as Arrow's table, in which amounts are decimals."""
        arrays = [
            _decimals(column, kind) if pa.types.is_decimal(kind) else pa.array(column, kind)
            for column, kind in zip(self.values, self.schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def batches(self, at_once: int) -> Iterator[list[dict[str, Any]]]:
        """Yield rows as an answer in text has them, so many at once."""
        names, types = self.schema.names, self.schema.types
        currencies = self.values[names.index("currency")]
        amounts = [pa.types.is_decimal(kind) for kind in types]
        for start in range(0, self.num_rows, at_once):
            part = slice(start, start + at_once)
            digits = [minor_digits(currency) for currency in currencies[part]]
            columns = [
                list(map(_spelled, column[part], digits)) if is_amount else column[part]
                for column, is_amount in zip(self.values, amounts, strict=True)
            ]
            yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _spelled(millionths: int | None, digits: int) -> str | None:
    """Write an amount without idle zeros, but with so many digits at least."""
    if millionths is None:
        return None
    text = str(millionths).zfill(_LEAST_WIDTH)
    fraction = text[-SCALE:].rstrip("0").ljust(digits, "0")
    return f"{text[:-SCALE]}.{fraction}" if fraction else text[:-SCALE]


def _decimals(millionths: list[int | None], kind: pa.DataType) -> pa.Array:
    """Return amounts as a column of decimals with six digits after the point."""
    words = b"".join([(n or 0).to_bytes(16, "little") for n in millionths])
    valid = None
    if None in millionths:
        valid = pa.py_buffer(np.packbits([n is not None for n in millionths], bitorder="little"))
    return pa.Array.from_buffers(kind, len(millionths), [valid, pa.py_buffer(words)])


META_KEY = b"itemindex"
"""Where a Parquet file's schema keeps the answer's meta, as JSON."""
_ROWS_AT_ONCE = 4096
# A cell that begins so is a formula to a spreadsheet; an apostrophe makes it the text that it is.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_ENCODER = msgspec.json.Encoder(decimal_format="string")


MetaOf = Callable[[str], dict[str, Any]]


def write(table: pa.Table | Columns, meta_of: MetaOf, format: str, sink: BinaryIO) -> dict[str, Any]:
    """Write an answer in a format of MEDIA_TYPES; return its meta, which `meta_of` makes of the digest of its rows.

    CSV and NDJSON have no place for the meta: rows only.
    """
    return _WRITERS[format](table, meta_of, sink)


def digest(table: pa.Table | Columns) -> str:
    """Return the SHA-256 of the rows as NDJSON, in hexadecimal: the same for every format, and so `result_sha256`."""
    total = hashlib.sha256()
    for _ in _digested(table, total):
        pass
    return total.hexdigest()


def lines(rows: Sequence[dict[str, Any]], schema: pa.Schema) -> list[bytes]:
    """Return few rows as lines of NDJSON without their ends, as `write` would; all are in memory."""
    names = schema.names
    if all(_as_in_python(field.type) for field in schema):
        return [_ENCODER.encode(_flat(row, names)) for row in rows]
    batches = pa.Table.from_pylist(rows, schema).to_batches()
    return [_ENCODER.encode(row) for batch in batches for row in _rows(batch)]


def digest_of(lines: Sequence[bytes]) -> str:
    """Return the digest of rows whose lines are these."""
    return hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()


def few(
    lines: Sequence[bytes], rows: Sequence[dict[str, Any]], schema: pa.Schema, meta: dict[str, Any], format: str
) -> bytes:
    """Return an answer of few rows in a format of MEDIA_TYPES: the bytes that `write` would write."""
    if format == "json":
        return b'{"data":[' + b",".join(lines) + b'],"meta":' + _ENCODER.encode(meta) + b"}"
    if format == "ndjson":
        return b"".join(line + b"\n" for line in lines)
    table, sink = pa.Table.from_pylist(rows, schema), io.BytesIO()
    if format == "csv":
        _write_csv(schema.names, _batches(table), sink)
    else:
        _write_parquet(table, meta, sink)
    return sink.getvalue()


def _as_in_python(kind: pa.DataType) -> bool:
    """Return whether Arrow gives values of a type back as they are, so that they need not go through it."""
    tests = (pa.types.is_date32, pa.types.is_string, pa.types.is_int64, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def money(amount: Decimal, currency: str | None) -> str:
    """Write an amount without idle zeros, but with all minor digits of its currency: 10.900000 HKD is "10.90"."""
    whole, _, rest = f"{amount:f}".partition(".")
    rest = rest.rstrip("0").ljust(minor_digits(currency) if currency else 0, "0")
    return f"{whole}.{rest}" if rest else whole


def _json(table: pa.Table | Columns, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    total, separator = hashlib.sha256(), b""
    sink.write(b'{"data":[')
    for _, lines in _digested(table, total):
        sink.write(separator + b",".join(lines))
        separator = b","
    meta = meta_of(total.hexdigest())
    sink.write(b'],"meta":' + _ENCODER.encode(meta) + b"}")
    return meta


def _ndjson(table: pa.Table | Columns, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    total = hashlib.sha256()
    for _, lines in _digested(table, total):
        sink.writelines(line + b"\n" for line in lines)
    return meta_of(total.hexdigest())


def _csv(table: pa.Table | Columns, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    total = hashlib.sha256()
    _write_csv(table.schema.names, (rows for rows, _ in _digested(table, total)), sink)
    return meta_of(total.hexdigest())


def _write_csv(names: list[str], batches: Iterable[list[dict[str, Any]]], sink: BinaryIO) -> None:
    text = io.TextIOWrapper(sink, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(names)
    for rows in batches:
        writer.writerows([_cell(value) for value in row.values()] for row in rows)
    text.detach()  # the sink stays the caller's


def _parquet(table: pa.Table | Columns, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    meta = meta_of(digest(table))
    _write_parquet(table.table() if isinstance(table, Columns) else table, meta, sink)
    return meta


def _write_parquet(table: pa.Table, meta: dict[str, Any], sink: BinaryIO) -> None:
    kept = table.replace_schema_metadata({META_KEY: _ENCODER.encode(meta)})
    pyarrow.parquet.write_table(kept, sink, compression="zstd")


_WRITERS: dict[str, Callable[[pa.Table | Columns, MetaOf, BinaryIO], dict[str, Any]]] = {
    "json": _json,
    "csv": _csv,
    "ndjson": _ndjson,
    "parquet": _parquet,
}


def _digested(table: pa.Table | Columns, total: Any) -> Iterator[tuple[list[dict[str, Any]], list[bytes]]]:
    """Yield rows as plain values and as lines of NDJSON without their ends; the lines are added to a digest.

    A few thousand at a time, so that a long answer is never in memory twice.
    """
    batches = table.batches(_ROWS_AT_ONCE) if isinstance(table, Columns) else _batches(table)
    for rows in batches:
        if rows:
            lines = [_ENCODER.encode(row) for row in rows]
            total.update(b"\n".join(lines) + b"\n")
            yield rows, lines


def _batches(table: pa.Table) -> Iterator[list[dict[str, Any]]]:
    return map(_rows, table.to_batches(max_chunksize=_ROWS_AT_ONCE))


def _rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    names = batch.schema.names
    columns = dict(zip(names, map(_values, batch.columns), strict=True))
    currencies = columns.get("currency") or [None] * batch.num_rows
    for name, column in zip(names, batch.columns, strict=True):
        if _has_amounts(column.type):
            columns[name] = list(map(_plain, columns[name], currencies))
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _values(column: pa.Array) -> list[Any]:
    """Return what Arrow's `to_pylist` does; days by way of NumPy, which makes them five times as fast."""
    if pa.types.is_date32(column.type):
        days: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
        return days
    return list(column.to_pylist())


def _has_amounts(kind: pa.DataType) -> bool:
    """Return whether values of a type are or hold amounts; all others are plain as they come from Arrow."""
    return pa.types.is_decimal(kind) or any(_has_amounts(kind.field(n).type) for n in range(kind.num_fields))


def _flat(row: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return what `_plain` makes of these members of a row without nested values."""
    currency = row.get("currency")
    values = map(row.get, names)
    return {n: money(v, currency) if isinstance(v, Decimal) else v for n, v in zip(names, values, strict=True)}


def _plain(value: Any, currency: str | None) -> Any:
    if isinstance(value, Decimal):
        return money(value, currency)
    if isinstance(value, dict):
        own = value.get("currency") or currency  # amounts nested in a row are in the row's currency
        return {name: _plain(member, own) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(member, currency) for member in value]
    return value


def _cell(value: Any) -> Any:
    if isinstance(value, dict | list):
        return _ENCODER.encode(value).decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return value if _is_number(value) else f"'{value}"
    return value


def _is_number(text: str) -> bool:
    # A negative amount is no formula: spreadsheets should still add it up.
    return text[1:].replace(".", "", 1).isascii() and text[:1] == "-" and text[1:].replace(".", "", 1).isdigit()
