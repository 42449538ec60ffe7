"""Files of a finished report for people: CSV and Parquet, whose rows carry names and not only ids."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from edge.analytics.wording import NAMED, Names, RowContext, name_of
from edge.dashboard.dates import iso_day
from edge.dashboard.tables import cell, heading, is_amount, repeats
from shared.printable import without_formula
from shared.text import fold

FILE_KINDS = ("csv", "xlsx", "parquet")
_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_MAX = 60
_DAY_CHARACTERS = len("2026-11-29")

Cell = str | int | float | bool | Decimal | date | None


class ResultFile(NamedTuple):
    """A file: its content, its media type, the end of its name."""

    content: bytes
    media_type: str
    extension: str


class ResultColumn(NamedTuple):
    """A column: its name in the API, its heading in words, and its cells."""

    name: str
    heading: str
    cells: list[Cell]


def columns_of(rows: Sequence[Mapping[str, Any]], reading: RowContext) -> list[ResultColumn]:
    """Return the columns of a result: names before ids, figures as numbers, lists as text."""
    currencies = {row.get("currency") for row in rows if row.get("currency")}
    currency = str(next(iter(currencies))) if len(currencies) == 1 else None
    columns = []
    for name in rows[0] if rows else ():
        title = heading(name, reading.units, currency)
        if name in NAMED and any(row[name] for row in rows):
            names: list[Cell] = [_name(row, name, reading.names) for row in rows]
            columns.append(ResultColumn(f"{name}_name", title, names))
            title = f"{title}, code"
        elif repeats(name, rows[0]):
            continue
        columns.append(ResultColumn(name, title, [_cell(name, row, reading) for row in rows]))
    return columns


def file_of(kind: str, columns: Sequence[ResultColumn], title: str, remarks: Sequence[str]) -> ResultFile:
    """Return a file of one of FILE_KINDS; a workbook has the title and the remarks on a sheet of its own."""
    if kind == "csv":
        return csv_of(columns)
    if kind == "parquet":
        return parquet_of(columns)
    # Imported here: it takes 11 MB and tenths of a second, and most processes never make a workbook.
    from edge.dashboard.workbooks import xlsx_of

    return xlsx_of(columns, title, remarks)


def csv_of(columns: Sequence[ResultColumn]) -> ResultFile:
    """Return a CSV (RFC 4180) in UTF-8 with a mark, by which spreadsheets know that."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.heading for column in columns])
    writer.writerows([_guarded(value) for value in row] for row in rows_of(columns))
    return ResultFile(b"\xef\xbb\xbf" + text.getvalue().encode(), "text/csv; charset=utf-8", "csv")


def parquet_of(columns: Sequence[ResultColumn]) -> ResultFile:
    """Return a Parquet file whose columns have the names of the API."""
    arrays = {column.name: pa.array(_alike(column.cells)) for column in columns}
    content = io.BytesIO()
    pq.write_table(pa.table(arrays), content, compression="zstd")
    return ResultFile(content.getvalue(), "application/vnd.apache.parquet", "parquet")


def file_name(words: str, first: date | None, last: date | None) -> str:
    """Return the name of a file without its end: `vitasoy-prices-2026-07`, whose days are those of the data."""
    slug = _SLUG.sub("-", fold(words)).strip("-")[:_SLUG_MAX].strip("-") or "report"
    if first is None or last is None:
        return slug
    if (first.year, first.month) == (last.year, last.month):
        return f"{slug}-{first:%Y-%m}"
    return f"{slug}-{first:%Y-%m}-to-{last:%Y-%m}"


def _name(row: Mapping[str, Any], field: str, names: Names) -> str | None:
    value = row[field]
    if isinstance(value, list):
        return ", ".join(name_of(names, field, one) for one in value)
    own = row.get("name") if field in ("brand", "iid") else None
    return None if value is None else str(own or name_of(names, field, value))


def _cell(name: str, row: Mapping[str, Any], reading: RowContext) -> Cell:
    value = row[name]
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        if is_amount(name, reading.units):
            return _decimal(value)
        return (iso_day(value) if len(value) == _DAY_CHARACTERS else None) or value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    shown = cell(name, row, reading)
    return f"{shown.text}, and {shown.more} more" if shown.more else shown.text


def _decimal(text: str) -> Cell:
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def rows_of(columns: Sequence[ResultColumn]) -> Iterator[tuple[Cell, ...]]:
    return zip(*(column.cells for column in columns), strict=True)


def _guarded(value: Cell) -> Cell:
    """Return a cell that no spreadsheet takes for a formula."""
    return without_formula(value) if isinstance(value, str) else value


def _alike(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return cells that have one type: as text where they are of several, which no column of Parquet may be."""
    kinds = {type(one) for one in cells if one is not None}
    if kinds <= {int, float} or len(kinds) < 2:
        return [float(one) if kinds == {int, float} and isinstance(one, int) else one for one in cells]
    return [None if one is None else str(one) for one in cells]
