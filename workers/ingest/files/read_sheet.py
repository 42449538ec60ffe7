"""Sheets of Excel and LibreOffice (XLSX, XLSM, XLSB, XLS, ODS) as rows of text: text keeps its zeros, days are days.

A number has the fifteen digits that a sheet shows at most: what binary fractions add to `=1.1*3` is none of its value.
A whole number has no decimal point; one that a sheet has cut to fifteen digits keeps what is left of it.
A cell with an error, or with a formula whose value the file does not have, is not empty: its row says so (not in XLS
and XLSB, where calamine alone reads and returns an empty text).
"""

import fnmatch
import zipfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import python_calamine as calamine
from lxml import etree

from shared.errors import LoadRefused
from workers.ingest.batches import unpacks_to_more
from workers.ingest.files.sheet_faults import (
    NO_FAULTS,
    NO_MORE,
    CellFault,
    faulty_rows,
    merged_in_opendocument,
    suspected_parts,
)
from workers.ingest.files.sheet_size import check_stated_size

_WHOLE_MAX = 1e15
_DIGITS_SHOWN = 15
# A panic of calamine, such as for a day beyond all calendars, is no `Exception` and has no class that can be named.
_PANIC_MODULE = "pyo3_runtime"


class SheetRow(NamedTuple):
    """A row of a sheet: its number, the texts of its cells, and those that have no value by their places."""

    number: int
    cells: list[str]
    faults: dict[int, CellFault]


class SheetRows(NamedTuple):
    """A sheet: its name, the column of its first cells, from 0, and its rows, to be read before the next sheet."""

    name: str
    left: int
    rows: Iterator[SheetRow]


def is_pattern(sheet: str) -> bool:
    """Return whether the name of a sheet may mean several, such as `*`: Excel allows none of these marks in a name."""
    return any(mark in sheet for mark in "*?[")


class SeveralSheets(LoadRefused):
    """Several sheets have rows, and none of them is named."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(
            f"has {len(names)} sheets with rows: name one by `sheet`: {', '.join(map(repr, names))[:400]} (in the "
            'mapping, or by --sheet of `itemindex ingest guess`; sheet = "*" reads them as one table)'
        )


class Workbook:
    """A workbook that is checked and opened once, however often its sheets are read."""

    def __init__(self, path: Path, unpacked_bytes_max: int) -> None:
        """Open a workbook. Raises LoadRefused where it is broken, locked or too large."""
        self._path = path
        self._suspected: set[str] = set()
        # A sheet is parsed whole each time that it is asked for: the last one is kept, and not all, as each is large.
        self._last: Any = None
        with _refuse_faults(path):
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as packed:
                    if sum(entry.file_size for entry in packed.infolist()) > unpacked_bytes_max:
                        raise LoadRefused(unpacks_to_more(unpacked_bytes_max))
                    self._suspected = suspected_parts(packed)
            else:
                check_stated_size(path)
            self._book = _book(path)

    def sheets(self, sheet: str, skip_rows: int = 0, columns: Collection[str] | None = None) -> Iterator[SheetRows]:
        """Yield each sheet that a name or a pattern such as `*` means. Raises LoadRefused where there is none.

        The first row after `skip_rows` is the header: what is merged with cells of it or above holds for none below it.
        Of its columns, and of the rows below it, those of `columns` are enough.
        """
        path = self._path
        with _refuse_faults(path):
            for chosen in self._choose_sheets(sheet):
                left = chosen.start[1] if chosen.start else 0
                ranges = _last_merged_rows(chosen, left, path)
                if columns is not None and not ranges and not self._suspected:
                    read = _rows_of_columns(chosen, skip_rows, columns)
                else:
                    rows = _rows(chosen, left, faulty_rows(path, chosen.name, self._suspected))
                    read = _fill_merged(rows, ranges, skip_rows) if ranges else rows
                yield SheetRows(chosen.name, left, _read_on(path, read))

    def _choose_sheets(self, sheet: str) -> Iterator[Any]:
        """Yield the sheets of a name or a pattern, or the only one with rows."""
        names: list[str] = self._book.sheet_names
        if sheet in names:
            yield self._parse_sheet(sheet)
            return
        shown = [one.name for one in self._book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible]
        if is_pattern(sheet):
            found = False
            for name in fnmatch.filter(shown, sheet):
                if (parsed := self._parse_sheet(name)).height:
                    found = True
                    yield parsed
            if found:
                return
        if sheet:
            raise LoadRefused(
                f"has no sheet {sheet!r}; it has {', '.join(map(repr, names))[:500]}: write one of them into "
                "`sheet` of the mapping, or a pattern such as *"
            )
        hidden = [name for name in names if name not in shown]
        # Templates keep lists of what is allowed in hidden sheets.
        for candidates in (shown, hidden):
            chosen, filled = None, []
            for name in candidates:
                if (parsed := self._parse_sheet(name)).height:
                    filled.append(name)
                    chosen = parsed
            if filled:
                break
        if not filled:
            raise LoadRefused("has no sheet with rows: save the sheet that has the table, or export it as CSV")
        if len(filled) > 1:
            raise SeveralSheets(filled)
        yield chosen

    def _parse_sheet(self, name: str) -> Any:
        """Parse a sheet, unless it is the last one that was."""
        if self._last is None or self._last.name != name:
            self._last = None
            self._last = self._book.get_sheet_by_name(name)
        return self._last


def _book(path: Path) -> Any:
    """Open a workbook. Calamine goes by the end of its name, which may be that of another form: then by its bytes."""
    try:
        return calamine.CalamineWorkbook.from_path(path)
    except calamine.PasswordError:
        raise
    except calamine.CalamineError as error:
        try:
            with path.open("rb") as file:
                return calamine.CalamineWorkbook.from_filelike(file)
        except calamine.PasswordError:
            raise
        except calamine.CalamineError:
            raise error from None


def _read_on(path: Path, rows: Iterator[SheetRow]) -> Iterator[SheetRow]:
    """Yield rows; what calamine raises meanwhile is raised to their reader, and refused as in `sheets`."""
    with _refuse_faults(path):
        yield from rows


@contextmanager
def _refuse_faults(path: Path) -> Iterator[None]:
    """Raise LoadRefused for what the readers of sheets raise."""
    try:
        yield
    except calamine.PasswordError:
        raise LoadRefused(f"{path.name}: is locked by a password: save it without one") from None
    except (calamine.CalamineError, etree.XMLSyntaxError) as error:
        raise LoadRefused(f"{path.name}: is no sheet that can be read: {str(error)[:200]}") from None
    except BaseException as error:
        if type(error).__module__ != _PANIC_MODULE:
            raise
        raise LoadRefused(f"{path.name}: has a value that no sheet can have: {str(error)[:200]}") from None


def _rows(sheet: Any, left: int, faulty_by_row: Iterator[tuple[int, dict[int, CellFault]]]) -> Iterator[SheetRow]:
    """Yield each row that has any cell, with those that have no value, and the rows of such cells behind the last."""
    faulty, faults = next(faulty_by_row, NO_MORE)
    # The rows above the first one with cells are among them, though columns without cells are not.
    for number, cells in enumerate(sheet.iter_rows(), 1):
        row, found = _texts(cells), NO_FAULTS
        if number == faulty:
            found = {column - left: fault for column, fault in faults.items()}
            row = ["" if place in found else text for place, text in enumerate(row)]
            faulty, faults = next(faulty_by_row, NO_MORE)
        if found or any(row):
            yield SheetRow(number, row, found)
    # Calamine ends with the last row that has a value.
    while faults:
        yield SheetRow(faulty, [], {column - left: fault for column, fault in faults.items()})
        faulty, faults = next(faulty_by_row, NO_MORE)


def _rows_of_columns(sheet: Any, skip_rows: int, columns: Collection[str]) -> Iterator[SheetRow]:
    """Yield the header and the rows below it that have any cell, with the cells of some columns alone.

    The others are not made texts, which would take about as long as all else that is done with a row.
    """
    names = {column.strip() for column in columns}
    places: list[int] | None = None
    for number, cells in enumerate(sheet.iter_rows(), 1):
        if places is None:
            titles = _texts(cells)
            if number <= skip_rows or not any(titles):
                continue
            places = [place for place, title in enumerate(titles) if title in names]
        row = _texts(map(cells.__getitem__, places))
        if any(row) or any(map(_text, cells)):
            yield SheetRow(number, row, NO_FAULTS)


def _last_merged_rows(sheet: Any, left: int, path: Path) -> dict[tuple[int, int], int]:
    """Return the last row of each cell that is merged over several, by row and place."""
    ranges = sheet.merged_cell_ranges
    if ranges is None:  # calamine knows them of XLSX and XLS alone
        ranges = merged_in_opendocument(path, sheet.name)
    return {
        (top + 1, column - left): bottom + 1
        for (top, column), (bottom, _) in ranges
        if bottom > top and left <= column < left + sheet.width
    }


def _fill_merged(rows: Iterator[SheetRow], last: dict[tuple[int, int], int], skip_rows: int) -> Iterator[SheetRow]:
    """Give cells merged over several rows, of which `last` has the last one, what the first one has in each of them."""
    places = sorted({place for _, place in last})
    above: dict[int, tuple[int, str, CellFault | None]] = {}
    below_header = False
    for row in rows:
        cells, faults = row.cells, dict(row.faults)
        is_header = row.number > skip_rows and not below_header
        for place in places if cells else ():
            text, fault = cells[place], faults.get(place)
            if bottom := last.get((row.number, place)):
                above[place] = bottom, text, fault
            elif place in above and above[place][0] >= row.number and not text and not fault:
                _, cells[place], lost = above[place]
                faults |= {place: lost} if lost else {}
        yield SheetRow(row.number, cells, faults)
        if is_header:
            above.clear()
        below_header = below_header or is_header


def _texts(cells: Iterable[Any]) -> list[str]:
    # Most cells are texts: to call a function for each would take about as long as all else.
    return [cell.strip() if cell.__class__ is str else _text(cell) for cell in cells]


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, float):
        if cell.is_integer() and -_WHOLE_MAX < cell < _WHOLE_MAX:
            return str(int(cell))
        text = repr(cell)
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
