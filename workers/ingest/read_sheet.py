"""Sheets of Excel and LibreOffice (XLSX, XLSM, XLSB, XLS, ODS) as rows of text: text keeps its zeros, days are days.

A number that is whole has no decimal point, as the sheet shows it; one that a sheet has cut to fifteen digits keeps
what is left of it.
"""

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import python_calamine as calamine

from shared.errors import LoadRefused

_WHOLE_MAX = 1e15


def sheet_rows(path: Path, sheet: str, unpacked_bytes_max: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row that has any, of the sheet of that name or of the only one with rows.

    Raises LoadRefused where the file is broken, locked or too large, or does not have that sheet.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > unpacked_bytes_max:
                raise LoadRefused(f"unpacks to more than {unpacked_bytes_max:,} bytes (INGEST_UNPACKED_BYTES_MAX)")
    try:
        with calamine.CalamineWorkbook.from_path(path) as book:
            chosen = _chosen(book, sheet)
            first = chosen.start[0] if chosen.start else 0
            for number, cells in enumerate(chosen.iter_rows(), first + 1):
                row = [_text(cell) for cell in cells]
                if any(row):
                    yield number, row
    except calamine.PasswordError:
        raise LoadRefused(f"{path.name}: is locked by a password: save it without one") from None
    except calamine.CalamineError as error:
        raise LoadRefused(f"{path.name}: is no sheet that can be read: {str(error)[:200]}") from None


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
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _WHOLE_MAX else repr(cell)
    if isinstance(cell, datetime):
        midnight = cell.time() == time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return "" if cell is None else str(cell)
