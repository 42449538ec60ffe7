"""An answer's rows as a stored result: rounding, and the formats JSON, CSV, NDJSON, Parquet. Pure."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, BinaryIO, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet

from shared.money import minor_digits
from shared.printable import without_formula

DOUBLE = "to the nearest IEEE 754 double: a number of up to 15 significant digits comes out as it was loaded"
SIX_DECIMALS = "half-even to 6 decimals"
FOUR_DECIMALS = "half-even to 4 decimals"
NINE_DIGITS = "half-even to 9 significant digits"

SCALE = 6
"""Digits after the point of every amount: enough for a quarter of the smallest unit of any currency."""

META_KEY = b"itemindex"
"""Where a Parquet file's schema keeps the answer's meta, as JSON."""
_ROWS_AT_ONCE = 4096
_ENCODER = msgspec.json.Encoder(decimal_format="string")


class Rows(NamedTuple):
    """The rows of an answer, a list for each column; a file in text needs nothing of Arrow but the columns' names.

    Values are those that Arrow's `to_pylist` gives for the types of the schema. Amounts are in the currency of their
    row, or of an object in it that names one.
    """

    schema: pa.Schema
    columns: list[list[Any]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> "Rows":
        """Return these rows with the columns of a schema; what a row lacks is None."""
        return cls(schema, [[row.get(name) for row in rows] for name in schema.names])

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0])

    def table(self) -> pa.Table:
        """Return the rows as Arrow's table."""
        return pa.Table.from_arrays(list(map(pa.array, self.columns, self.schema.types)), schema=self.schema)

    def batches(self, at_once: int) -> Iterator[list[dict[str, Any]]]:
        """Yield rows as an answer in text has them, at most `at_once` together."""
        names = self.schema.names
        currencies = self.columns[names.index("currency")] if "currency" in names else [None] * self.num_rows
        has_amounts = list(map(_has_amounts, self.schema.types))
        for start in range(0, self.num_rows, at_once):
            part = slice(start, start + at_once)
            columns = [
                list(map(_plain, column[part], currencies[part])) if amounts else column[part]
                for column, amounts in zip(self.columns, has_amounts, strict=True)
            ]
            yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


MetaOf = Callable[[str], dict[str, Any]]


def write(rows: Rows, meta_of: MetaOf, format: str, sink: BinaryIO) -> dict[str, Any]:
    """Write an answer in a format of MEDIA_TYPES; return its meta, which `meta_of` makes of the digest of its rows.

    CSV and NDJSON have no place for the meta: rows only.
    """
    return _WRITERS[format](rows, meta_of, sink)


def digest(rows: Rows) -> str:
    """Return the SHA-256 of the rows as NDJSON, in hexadecimal: the same for every format, and so `result_sha256`."""
    total = hashlib.sha256()
    for _ in _digest_rows(rows, total):
        pass
    return total.hexdigest()


def money(amount: Decimal, currency: str | None) -> str:
    """Write an amount without idle zeros, but with all minor digits of its currency: 10.900000 HKD is "10.90"."""
    whole, _, rest = f"{amount:f}".partition(".")
    rest = rest.rstrip("0").ljust(minor_digits(currency) if currency else 0, "0")
    return f"{whole}.{rest}" if rest else whole


def _json(rows: Rows, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    total, separator = hashlib.sha256(), b""
    sink.write(b'{"data":[')
    for _, lines in _digest_rows(rows, total):
        sink.write(separator + b",".join(lines))
        separator = b","
    meta = meta_of(total.hexdigest())
    sink.write(b'],"meta":' + _ENCODER.encode(meta) + b"}")
    return meta


def _ndjson(rows: Rows, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    total = hashlib.sha256()
    for _, lines in _digest_rows(rows, total):
        sink.writelines(line + b"\n" for line in lines)
    return meta_of(total.hexdigest())


def _csv(rows: Rows, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    total = hashlib.sha256()
    text = io.TextIOWrapper(sink, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(rows.schema.names)
    for batch, _ in _digest_rows(rows, total):
        writer.writerows([_cell(value) for value in row.values()] for row in batch)
    text.detach()  # the sink stays the caller's
    return meta_of(total.hexdigest())


def _parquet(rows: Rows, meta_of: MetaOf, sink: BinaryIO) -> dict[str, Any]:
    meta = meta_of(digest(rows))
    table = rows.table().replace_schema_metadata({META_KEY: _ENCODER.encode(meta)})
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return meta


_WRITERS: dict[str, Callable[[Rows, MetaOf, BinaryIO], dict[str, Any]]] = {
    "json": _json,
    "csv": _csv,
    "ndjson": _ndjson,
    "parquet": _parquet,
}


def _digest_rows(rows: Rows, total: Any) -> Iterator[tuple[list[dict[str, Any]], list[bytes]]]:
    """Yield rows as plain values and as lines of NDJSON without their ends; the lines are added to a digest.

    A few thousand at a time, so that a long answer is never in memory twice.
    """
    for batch in rows.batches(_ROWS_AT_ONCE):
        lines = [_ENCODER.encode(row) for row in batch]
        total.update(b"\n".join(lines) + b"\n")
        yield batch, lines


def _has_amounts(kind: pa.DataType) -> bool:
    """Return whether values of a type are or hold amounts; all others are plain as they come from Arrow."""
    return pa.types.is_decimal(kind) or any(_has_amounts(kind.field(n).type) for n in range(kind.num_fields))


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
    if isinstance(value, str):
        return value if _is_number(value) else without_formula(value)
    return value


def _is_number(text: str) -> bool:
    # A negative amount is no formula: spreadsheets should still add it up.
    return text[:1] == "-" and (digits := text[1:].replace(".", "", 1)).isascii() and digits.isdigit()
