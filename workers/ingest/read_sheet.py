"""Sheets of Excel and LibreOffice (XLSX, XLSM, XLSB, XLS, ODS) as rows of text: text keeps its zeros, days are days.

A number has the fifteen digits that a sheet shows at most: what binary fractions add to `=1.1*3` is none of its value.
A whole number has no decimal point; one that a sheet has cut to fifteen digits keeps what is left of it.
"""

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import python_calamine as calamine

from shared.errors import LoadRefused

_WHOLE_MAX = 1e15
_DIGITS_SHOWN = 15
# Calamine reads a sheet into a rectangle from its first cell to its last, of 32 bytes for each place, and ends the
# process where there is no memory for it: two cells in opposite corners are 2 kB of a file and 550 GB of memory.
# It counts the places of OpenDocument itself, and allows as many.
_PLACES_MAX = 100_000_000
_REFERENCE_BYTES = len('r="XFD1048576"')
_BLOCK_BYTES = 1 << 20


def sheet_rows(path: Path, sheet: str, unpacked_bytes_max: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row that has any, of the sheet of that name or of the only one with rows.

    Raises LoadRefused where the file is broken, locked or too large, or does not have that sheet.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > unpacked_bytes_max:
                raise LoadRefused(f"unpacks to more than {unpacked_bytes_max:,} bytes (INGEST_UNPACKED_BYTES_MAX)")
            for name in packed.namelist():
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    _require_no_gaps(packed, name)
    try:
        with calamine.CalamineWorkbook.from_path(path) as book:
            chosen = _chosen(book, sheet)
            # The rows above the first one with cells are among them, though columns without cells are not.
            for number, cells in enumerate(chosen.iter_rows(), 1):
                row = [_text(cell) for cell in cells]
                if any(row):
                    yield number, row
    except calamine.PasswordError:
        raise LoadRefused(f"{path.name}: is locked by a password: save it without one") from None
    except calamine.CalamineError as error:
        raise LoadRefused(f"{path.name}: is no sheet that can be read: {str(error)[:200]}") from None


def _require_no_gaps(packed: zipfile.ZipFile, name: str) -> None:
    rows = columns = 0
    rest = b""
    with packed.open(name) as sheet:
        while block := sheet.read(_BLOCK_BYTES):
            lowest, rightmost = _last_place(rest + block)
            rows, columns = max(rows, lowest), max(columns, rightmost)
            rest = block[-_REFERENCE_BYTES:]
    if rows * columns > _PLACES_MAX:
        raise LoadRefused(
            f"{name} has cells as far as row {rows:,} and column {columns:,}, which makes more than {_PLACES_MAX:,} "
            "places: delete the cells that are far from the others, or save the sheet as CSV"
        )


def _last_place(xml: bytes) -> tuple[int, int]:
    """Return the greatest row and the greatest column of the references in a piece of a sheet, such as `r="AB12"`."""
    data = np.frombuffer(xml, "u1")
    begins = np.flatnonzero((data[:-_REFERENCE_BYTES] == ord("r")) & (data[1 : 1 - _REFERENCE_BYTES] == ord("=")))
    row, column = np.zeros((2, len(begins)), "i8")
    # The quotation mark before a reference is either of two; what is behind the closing one is no part of it.
    open_still = np.ones(len(begins), bool)
    for place in range(3, _REFERENCE_BYTES):
        character = data[begins + place]
        letter, digit = (character | 32) - ord("a"), character - ord("0")
        is_letter, is_digit = open_still & (letter < 26), open_still & (digit < 10)
        open_still = is_letter | is_digit
        column = np.where(is_letter, column * 26 + letter + 1, column)
        row = np.where(is_digit, row * 10 + digit, row)
    return int(row.max(initial=0)), int(column.max(initial=0))


def _chosen(book: Any, sheet: str) -> Any:
    names: list[str] = book.sheet_names
    if sheet:
        if sheet in names:
            return book.get_sheet_by_name(sheet)
        raise LoadRefused(f"has no sheet {sheet!r}; it has {', '.join(map(repr, names))[:500]}")
    chosen, filled = None, []
    for name in names:
        # A sheet is parsed whole each time that it is asked for: the one that is read is kept.
        if (parsed := book.get_sheet_by_name(name)).height:
            filled.append(name)
            chosen = parsed
    if not filled:
        raise LoadRefused("has no sheet with rows")
    if len(filled) > 1:
        raise LoadRefused(
            f"has {len(filled)} sheets with rows: name one by `sheet`: {', '.join(map(repr, filled))[:500]}"
        )
    return chosen


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, float):
        text = str(int(cell)) if cell.is_integer() and abs(cell) < _WHOLE_MAX else repr(cell)
        return text if len(text) <= _DIGITS_SHOWN else f"{cell:.{_DIGITS_SHOWN}g}"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        midnight = cell.time() == time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return "" if cell is None else str(cell)
