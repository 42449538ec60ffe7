"""The rows of a sheet as batches of text columns, the first of which is the header."""

import itertools
from collections.abc import Iterator

import pyarrow as pa

from shared.errors import LoadRefused
from workers.ingest.batches import Batch, Reject, of_sheet, reject, there_is
from workers.ingest.files.read_sheet import SheetRow
from workers.ingest.mapping import Mapping

SHEET_COLUMN = "@sheet"
"""The name by which a mapping has the name of a row's sheet as a column, where several sheets are read."""


def read_cells(
    name: str, rows: Iterator[SheetRow], mapping: Mapping, batch_rows: int, sheet: str = ""
) -> Iterator[Batch]:
    """Make batches of the rows of a sheet, the first of which is the header. Raises LoadRefused as `read_csv` does.

    `sheet`: its name, where it is one of several.
    """
    file = of_sheet(name, sheet)
    rows = (row for row in rows if row.number > mapping.skip_rows)
    header = next(rows, None)
    if header is None:
        raise LoadRefused(f"{file}: has no header")
    cells = header.cells
    if sheet and SHEET_COLUMN in mapping.columns:
        cells = [*cells, SHEET_COLUMN]
    titles = {title.strip() for title in cells}
    needed = [one for one in mapping.columns if one not in mapping.sparse_columns or one.strip() in titles]
    places = {column: place_of_column(file, cells, column) for column in needed}
    rows = (row for row in rows if row.number >= mapping.first_row)
    while some := list(itertools.islice(rows, batch_rows)):
        rejects = [lost for row in some if row.faults for lost in _valueless(file, row, places, mapping)]
        lost = {made.line for made in rejects if made.scope == "row"}
        kept = [row for row in some if row.number not in lost] if lost else some
        columns = {
            column: pa.array([cells[place] if place < len(cells) else "" for _, cells, _ in kept], pa.string())
            for column, place in places.items()
        }
        columns |= {one: pa.nulls(len(kept), pa.string()) for one in mapping.columns if one not in places}
        if sheet and SHEET_COLUMN in columns:
            columns[SHEET_COLUMN] = pa.array([sheet] * len(kept), pa.string())
        yield Batch(columns, [row.number for row in kept], rejects, sheet)


def _valueless(name: str, row: SheetRow, places: dict[str, int], mapping: Mapping) -> list[Reject]:
    """Return the reject of a row by its first cell without a value, or those of fields that cost no more than it."""
    found = {column: row.faults[place] for column, place in places.items() if place in row.faults}
    faults = {c: f for c, f in found.items() if f.value.partition(": ")[2] not in mapping.null_texts.get(c, ())}
    strict = next((column for column in faults if column not in mapping.lenient_columns), None)
    scope, lost = ("field", faults) if strict is None else ("row", {strict: faults[strict]})
    cells = {column: row.cells[place] if place < len(row.cells) else "" for column, place in places.items()}
    return [reject(name, row.number, fault.reason, cells, column, fault.value, scope) for column, fault in lost.items()]


def place_of_column(name: str, header: list[str], column: str) -> int:
    """Return the place of a column. Raises LoadRefused where the header lacks it, or has it twice.

    White space around a title is no part of it, unless the mapping names it with it.
    """
    positions = [n for n, title in enumerate(header) if title == column]
    positions = positions or [n for n, title in enumerate(header) if title.strip() == column.strip()]
    if len(positions) == 1:
        return positions[0]
    if positions:
        raise LoadRefused(f"{name}: has {len(positions)} columns {column!r}, and the mapping names one")
    raise LoadRefused(f"{name}: has no column {column!r}; it has {there_is(column, header)}")
