"""Sheets of Excel and LibreOffice (XLSX, XLSM, XLSB, XLS, ODS) as rows of text: text keeps its zeros, days are days.

A number has the fifteen digits that a sheet shows at most: what binary fractions add to `=1.1*3` is none of its value.
A whole number has no decimal point; one that a sheet has cut to fifteen digits keeps what is left of it.
A cell with an error, or with a formula whose value the file does not have, is not empty: its row says so (not in XLS
and XLSB, where calamine alone reads and returns an empty text).
"""

import fnmatch
import posixpath
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import python_calamine as calamine
from lxml import etree

from shared.errors import LoadRefused
from workers.ingest.batches import unpacks_to_more
from workers.ingest.compound_file import stated_sizes
from workers.ingest.read_xml import SAFE, forget

_WHOLE_MAX = 1e15
_DIGITS_SHOWN = 15
# Calamine reads a sheet into a rectangle from its first cell to its last, of 32 bytes for each place, and ends the
# process where there is no memory for it: two cells in opposite corners are 2 kB of a file and 550 GB of memory.
# It counts the places of OpenDocument itself, and allows as many.
_PLACES_MAX = 100_000_000
_REFERENCE_BYTES = len('r="XFD1048576"')
_BLOCK_BYTES = 1 << 20
_OVERLAP_BYTES = 1 << 10
_FORMULA_BYTES = 1 << 16
_IS_ERROR = "is an error in the spreadsheet: correct or empty the cell there, or list its text in `null`; load again"
_NO_VALUE = "is a formula without a stored value: open the file in a spreadsheet program, save it and load it again"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_ERRORS_SHOWN = ("#", "Err:")
# A formula of OpenDocument without the type of a value, or with an error where its value is shown.
_SUSPECTED = re.compile(
    rb""":formula=(?:"[^"<]*"|'[^'<]*')"""
    rb"(?:(?=[^<>]*>)(?![^<>]*office:value-type)|[^<>]*>\s*<[\w-]+:p(?:\s[^<>]*)?>(?:#|Err:))"
)
_SPANNED = re.compile(rb"""number-rows-spanned=["'](?!1["'])""")
# As many as LibreOffice has: what repeats a cell more often is no sheet.
_ROWS_MAX, _COLUMNS_MAX = 1 << 20, 1 << 14
PARSED = SAFE | {"encoding": None}
# A panic of calamine, such as for a day beyond all calendars, is no `Exception` and has no class that can be named.
_PANIC_MODULE = "pyo3_runtime"
# Calamine makes room for as many texts as a workbook states, and ends the process where there is no memory for them.
_STATED_TEXTS = re.compile(rb"""\buniqueCount\s*=\s*["']\s*([0-9]+)""")
_TEXT_BYTES_MIN = len("<si/>")
# A cell that does not state its place, or not in the way of `_last_place`, stands behind the one before. One that the
# end of a piece cuts is whole in the next piece, unless it is too long: else every large sheet would be read twice.
UNPLACED = [
    re.compile(rb"%bc(?! r=\")(?=[\s/>])(?![^<>]*\sr=[\"'])(?:[^<>]*>|[^<>]{%d})" % (mark, _OVERLAP_BYTES - len(b"<c")))
    for mark in (b"<", b":")
]
_NUMBER_DIGITS_MAX = 9
# The record of XLS that states how large a sheet is, from its first row and column to those behind the last
# ([MS-XLS] 2.4.90): calamine makes room for as many places.
_DIMENSIONS = re.compile(rb"\x00\x02\x0e\x00(.{12})", re.DOTALL)
_DIMENSIONS_BYTES = 16
_XLS_ROWS_MAX, _XLS_COLUMNS_MAX = 1 << 16, 1 << 8


class CellFault(NamedTuple):
    """Why a cell has no value, and the cell with its formula or error: `C4: #N/A`."""

    reason: str
    value: str


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


def sheet_rows(path: Path, sheet: str, unpacked_bytes_max: int, skip_rows: int = 0) -> Iterator[SheetRow]:
    """Yield each row that has any cell, of the sheet of that name or of the only one with rows.

    The first one after `skip_rows` is the header: what is merged with cells of it or above holds for no row.
    Raises LoadRefused where the file is broken, locked or too large, or does not have that sheet.
    """
    for one in sheets(path, sheet, unpacked_bytes_max, skip_rows):
        yield from one.rows


def sheets(path: Path, sheet: str, unpacked_bytes_max: int, skip_rows: int = 0) -> Iterator[SheetRows]:
    """Yield each sheet that a name or a pattern such as `*` means; raises as `sheet_rows`."""
    suspected: set[str] = set()
    with _refused(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                if sum(entry.file_size for entry in packed.infolist()) > unpacked_bytes_max:
                    raise LoadRefused(unpacks_to_more(unpacked_bytes_max))
                suspected = _suspected(packed)
        else:
            _check_stated_size(path)
        with path.open("rb") as file, _book(path, file) as book:
            for chosen in _chosen(book, sheet):
                left = chosen.start[1] if chosen.start else 0
                rows = _rows(chosen, left, _faulty_rows(path, chosen.name, suspected))
                ranges = _down(chosen, left, path)
                read = _filled(rows, ranges, skip_rows) if ranges else rows
                yield SheetRows(chosen.name, left, _read_on(path, read))


def _book(path: Path, file: BinaryIO) -> Any:
    """Open a workbook. Calamine goes by the end of its name, which may be that of another form: then by its bytes."""
    try:
        return calamine.CalamineWorkbook.from_path(path)
    except calamine.PasswordError:
        raise
    except calamine.CalamineError as error:
        try:
            return calamine.CalamineWorkbook.from_filelike(file)
        except calamine.PasswordError:
            raise
        except calamine.CalamineError:
            raise error from None


def _read_on(path: Path, rows: Iterator[SheetRow]) -> Iterator[SheetRow]:
    """Yield rows; what calamine raises meanwhile is raised to their reader, and refused as in `sheets`."""
    with _refused(path):
        yield from rows


@contextmanager
def _refused(path: Path) -> Iterator[None]:
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


def _check_stated_size(path: Path) -> None:
    """Raise LoadRefused where an XLS file states a size that no sheet of its form has."""
    piece = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            piece = piece[1 - _DIMENSIONS_BYTES :] + block
            # Within other records the same bytes may be a number or a text: the records decide before it is refused.
            if not all(map(_is_possible, _DIMENSIONS.findall(piece))) and not all(
                map(_is_possible, stated_sizes(path))
            ):
                raise LoadRefused(
                    "states a size that no sheet has: open the file in a spreadsheet program and save it again"
                )


def _is_possible(dimensions: bytes) -> bool:
    """Return whether a stated size, from the first row and column to those behind the last, is one of a sheet."""
    row, rows, column, columns = map(int, struct.unpack("<IIHH", dimensions[:12]))
    return row <= rows <= _XLS_ROWS_MAX and column <= columns <= _XLS_COLUMNS_MAX


def _rows(sheet: Any, left: int, faulty_rows: Iterator[tuple[int, dict[int, CellFault]]]) -> Iterator[SheetRow]:
    """Yield each row that has any cell, with those that have no value, and the rows of such cells behind the last."""
    faulty, faults = next(faulty_rows, _NO_MORE)
    # The rows above the first one with cells are among them, though columns without cells are not.
    for number, cells in enumerate(sheet.iter_rows(), 1):
        row, found = [_text(cell) for cell in cells], _NO_FAULTS
        if number == faulty:
            found = {column - left: fault for column, fault in faults.items()}
            row = ["" if place in found else text for place, text in enumerate(row)]
            faulty, faults = next(faulty_rows, _NO_MORE)
        if found or any(row):
            yield SheetRow(number, row, found)
    # Calamine ends with the last row that has a value.
    while faults:
        yield SheetRow(faulty, [], {column - left: fault for column, fault in faults.items()})
        faulty, faults = next(faulty_rows, _NO_MORE)


def _down(sheet: Any, left: int, path: Path) -> dict[tuple[int, int], int]:
    """Return the last row of each cell that is merged over several, by row and place."""
    ranges = sheet.merged_cell_ranges
    if ranges is None:  # calamine knows them of XLSX and XLS alone
        ranges = _merged_in_opendocument(path, sheet.name)
    return {
        (top + 1, column - left): bottom + 1
        for (top, column), (bottom, _) in ranges
        if bottom > top and left <= column < left + sheet.width
    }


def _filled(rows: Iterator[SheetRow], last: dict[tuple[int, int], int], skip_rows: int) -> Iterator[SheetRow]:
    """Give cells merged over several rows, of which `last` has the last one, what the first one has in each of them."""
    places = sorted({place for _, place in last})
    above: dict[int, tuple[int, str, CellFault | None]] = {}
    below_header = False
    for row in rows:
        cells, faults = row.cells, dict(row.faults)
        for place in places if below_header and cells else ():
            text, fault = cells[place], faults.get(place)
            if bottom := last.get((row.number, place)):
                above[place] = bottom, text, fault
            elif place in above and above[place][0] >= row.number and not text and not fault:
                _, cells[place], lost = above[place]
                faults |= {place: lost} if lost else {}
        yield SheetRow(row.number, cells, faults)
        below_header = below_header or row.number > skip_rows


# Which cells have no value, although they are not empty: calamine returns an empty text for both.


_NO_FAULTS: dict[int, CellFault] = {}
_NO_MORE = (0, _NO_FAULTS)


def _suspected(packed: zipfile.ZipFile) -> set[str]:
    """Return the parts that may have such cells: few files do, and only theirs are parsed a second time.

    Raises LoadRefused where a sheet has cells too far apart.
    """
    names = packed.namelist()
    zero = b"0?" if _is_stale(packed) else b""
    return {
        name
        for name in names
        if (_is_part(name) and _is_suspected(packed, name, zero))
        or (name == "content.xml" and _is_suspected_opendocument(packed, name))
    }


def _is_stale(packed: zipfile.ZipFile) -> bool:
    """Return whether all formulas are to be computed when the workbook is opened: a stored 0 stands for no value."""
    try:
        return re.search(rb"fullCalcOnLoad=[\"'](?:1|true)[\"']", packed.read("xl/workbook.xml")) is not None
    except KeyError:
        return False


def _is_part(name: str) -> bool:
    """Return whether a member may be a sheet or the texts of a workbook; calamine takes names in any case."""
    return name.lower().startswith("xl/") and name.lower().endswith(".xml")


def _is_suspected(packed: zipfile.ZipFile, name: str, zero: bytes) -> bool:
    rows = columns = 0
    suspected, unplaced, formulas = False, False, None
    texts_max = packed.getinfo(name).file_size // _TEXT_BYTES_MIN
    for piece in _pieces(packed, name, _OVERLAP_BYTES):
        stated = _STATED_TEXTS.findall(piece) if b"uniqueCount" in piece else ()
        if any(int(number[:20]) > texts_max for number in stated):
            raise LoadRefused(
                f"{name} states more texts than it has: open the file in a spreadsheet program and save it again"
            )
        if formulas is None:
            prefix = re.search(rb"<((?:[\w.-]+:)?)worksheet\b", piece)
            if prefix is None and not name.lower().startswith("xl/worksheets/"):
                continue
            formulas = _formulas_without_value(prefix[1] if prefix else b"", zero)
        lowest, rightmost = _last_place(piece)
        rows, columns = max(rows, lowest), max(columns, rightmost)
        unplaced = unplaced or any(form.search(piece) for form in UNPLACED)
        if not suspected:
            suspected = b't="e"' in piece or b"t='e'" in piece or any(form.search(piece) for form in formulas)
    # The look at bytes also finds what only looks like a reference; the parser decides before a sheet is refused.
    if formulas is not None and (unplaced or rows * columns > _PLACES_MAX):
        rows, columns = _last_counted(packed, name)
    if rows * columns > _PLACES_MAX:
        raise LoadRefused(
            f"{name} has cells as far as row {rows:,} and column {columns:,}, which makes more than {_PLACES_MAX:,} "
            "places: delete the cells that are far from the others, or save the sheet as CSV"
        )
    return suspected


def _last_counted(packed: zipfile.ZipFile, name: str) -> tuple[int, int]:
    """Return the greatest row and column of a sheet, counting on where a row or a cell does not state its place."""
    row = column = rows = columns = 0
    with packed.open(name) as part:
        for event, element in etree.iterparse(part, events=("start", "end"), tag=("{*}row", "{*}c"), **PARSED):
            stated = element.get("r", "")
            if event == "end":
                forget(element)
            elif element.tag.endswith("}row"):
                row, column = _number(stated, row + 1), 0
            else:
                letters = stated.rstrip("0123456789")
                column = column_of(letters.upper()) + 1 if letters else column + 1
                # Calamine puts a cell into the row of its own reference, whatever the row around it states.
                rows, columns = max(rows, row, _number(stated[len(letters) :], row)), max(columns, column)
    return rows, columns


def _number(text: str | None, default: int) -> int:
    """Return a positive number of a sheet's XML; the default where none is stated. Raises LoadRefused."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _NUMBER_DIGITS_MAX and int(text)):
        raise LoadRefused(f"states the number {text[:20]!r} of a row or a column, which no sheet has")
    return int(text)


def _formulas_without_value(prefix: bytes, zero: bytes) -> list[re.Pattern[bytes]]:
    """Return the ends of cells with a formula and no value; each begins with a plain text, which is found quickly."""
    value = rb"\s*(?:<%bv\s*/>|<%bv>\s*%b</%bv>)?\s*</%bc>" % (prefix, prefix, zero, prefix, prefix)
    return [re.compile(begin + value) for begin in (b"</%bf>" % prefix, rb"<%bf [^<>]*/>" % prefix)]


def _is_suspected_opendocument(packed: zipfile.ZipFile, name: str) -> bool:
    return any(
        b'value-type="error"' in piece or b"value-type='error'" in piece or _SUSPECTED.search(piece)
        for piece in _pieces(packed, name, _FORMULA_BYTES)
    )


def _pieces(packed: zipfile.ZipFile, name: str, overlap: int) -> Iterator[bytes]:
    """Yield a part in pieces, each of which begins with the last bytes of the one before."""
    piece = b""
    with packed.open(name) as part:
        while block := part.read(_BLOCK_BYTES):
            piece = piece[-overlap:] + block
            yield piece


def _faulty_rows(path: Path, sheet: str, suspected: set[str]) -> Iterator[tuple[int, dict[int, CellFault]]]:
    """Yield the number of each row with cells that have no value, and those cells by their columns, from 0."""
    if not suspected:
        return
    with zipfile.ZipFile(path) as packed:
        if "content.xml" in suspected:
            found = _of_opendocument(packed, sheet)
        elif (part := part_of(packed, sheet)) in suspected:
            found = _of_workbook(packed, part)
        else:
            return
        last = 0
        for row, faults in found:
            if row <= last:
                raise LoadRefused(
                    f"has row {row:,} behind row {last:,}: open it in a spreadsheet program, save it and load it again"
                )
            last = row
            yield row, faults


def part_of(packed: zipfile.ZipFile, sheet: str) -> str:
    """Return the part of a workbook that has a sheet; an empty text where none is named."""
    book, relations = (
        etree.fromstring(packed.read(name), etree.XMLParser(**PARSED))
        for name in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
    )
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    for element in book.iter("{*}sheet"):
        if element.get("name") == sheet:
            named = next((value for key, value in element.items() if key.endswith("}id")), "")
            return posixpath.normpath(posixpath.join("/xl", targets.get(named, "")))[1:]
    return ""


def _of_workbook(packed: zipfile.ZipFile, part: str) -> Iterator[tuple[int, dict[int, CellFault]]]:
    unset = ("", "0") if _is_stale(packed) else ("",)
    number = 0
    for row in elements(packed, part, "{*}row"):
        number, column, faults = _number(row.get("r"), number + 1), -1, {}
        for cell in row.iterchildren("{*}c"):
            letters = cell.get("r", "").rstrip("0123456789")
            column = column_of(letters) if letters else column + 1
            parts = {child.tag.rpartition("}")[2]: child.text or "" for child in cell}
            place = f"{_letters(column)}{number}"
            if cell.get("t") == "e":
                faults[column] = CellFault(_IS_ERROR, f"{place}: {parts.get('v', '')}")
            elif "f" in parts and parts.get("v", "").strip() in unset and not (cell.get("t") == "str" and "v" in parts):
                faults[column] = CellFault(_NO_VALUE, f"{place}: ={parts['f']}")
        if faults:
            yield number, faults


def _of_opendocument(packed: zipfile.ZipFile, sheet: str) -> Iterator[tuple[int, dict[int, CellFault]]]:
    for number, repeated, cells in opendocument_rows(packed, sheet):
        faults = {
            place: CellFault(fault.reason, f"{_letters(place)}{number + 1}: {fault.value}")
            for column, times, cell in cells
            if (fault := _fault_of(cell))
            for place in range(column, column + min(times, _COLUMNS_MAX))
        }
        if faults:
            yield from ((number + n, faults) for n in range(1, min(repeated, _ROWS_MAX) + 1))


def _merged_in_opendocument(path: Path, sheet: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the cells of a sheet that are merged over several rows, as calamine does of Excel's."""
    with zipfile.ZipFile(path) as packed:
        if "content.xml" not in packed.namelist() or not any(
            _SPANNED.search(piece) for piece in _pieces(packed, "content.xml", _OVERLAP_BYTES)
        ):
            return []
        return [
            ((number, column), (number + rows - 1, column))
            for number, _, cells in opendocument_rows(packed, sheet)
            for column, _, cell in cells
            if (rows := _number(cell.get(f"{_TABLE}number-rows-spanned"), 1)) > 1
        ]


def opendocument_rows(packed: zipfile.ZipFile, sheet: str) -> Iterator[tuple[int, int, list[tuple[int, int, Any]]]]:
    """Yield the number of each row, from 0, how often it is repeated, and its cells: column, repetitions, element."""
    number = 0
    for row in elements(packed, "content.xml", f"{_TABLE}table-row"):
        table = next(row.iterancestors(f"{_TABLE}table"), None)
        if table is None or table.get(f"{_TABLE}name") != sheet:
            continue
        column, cells = 0, []
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            times = _number(cell.get(f"{_TABLE}number-columns-repeated"), 1)
            cells.append((column, times, cell))
            column += times
        repeated = _number(row.get(f"{_TABLE}number-rows-repeated"), 1)
        yield number, repeated, cells
        number += repeated


def _fault_of(cell: Any) -> CellFault | None:
    """Return why a cell of OpenDocument has no value; an error is a text, or the number 0, beside what is shown."""
    formula, kind = cell.get(f"{_TABLE}formula"), cell.get(f"{_OFFICE}value-type")
    shown = "".join(cell.find("{*}p").itertext()) if cell.find("{*}p") is not None else ""
    stated = any(key.endswith("}value-type") and value == "error" for key, value in cell.items())
    if stated or (formula is not None and kind != "string" and shown.startswith(_ERRORS_SHOWN)):
        return CellFault(_IS_ERROR, shown)
    return CellFault(_NO_VALUE, formula) if formula is not None and kind is None else None


def elements(packed: zipfile.ZipFile, part: str, tag: str) -> Iterator[Any]:
    """Yield the elements of a part; each is forgotten when the next one is asked for."""
    with packed.open(part) as file:
        for _, element in etree.iterparse(file, tag=tag, **PARSED):
            yield element
            forget(element)


def column_of(letters: str) -> int:
    """Return the place of a column, from 0: of AB 27."""
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def _letters(column: int) -> str:
    """Return the letters of a column."""
    above, last = divmod(column, 26)
    return (_letters(above - 1) if above else "") + chr(ord("A") + last)


def _last_place(xml: bytes) -> tuple[int, int]:
    """Return the greatest row and the greatest column of the references in a piece of a sheet, such as `r="AB12"`."""
    data = np.frombuffer(xml, "u1")
    # The byte before the name is white space: `xmlns:r="` and `pageOrder="` of other elements are no references.
    before, name, equals = data[:-_REFERENCE_BYTES], data[1 : 1 - _REFERENCE_BYTES], data[2 : 2 - _REFERENCE_BYTES]
    begins = 1 + np.flatnonzero((before <= ord(" ")) & (name == ord("r")) & (equals == ord("=")))
    row, column = np.zeros((2, len(begins)), "i8")
    # The quotation mark before a reference is either of two; what is behind the closing one is no part of it.
    open_still = np.ones(len(begins), bool)
    for place in range(3, _REFERENCE_BYTES):
        character = data[begins + place]
        letter, digit = (character | 32) - ord("a"), character - ord("0")
        is_letter, is_digit = open_still & (letter < 26), open_still & (digit < 10)
        open_still = is_letter | is_digit
        if not open_still.any():
            break
        column = np.where(is_letter, column * 26 + letter + 1, column)
        row = np.where(is_digit, row * 10 + digit, row)
    return int(row.max(initial=0)), int(column.max(initial=0))


def _chosen(book: Any, sheet: str) -> Iterator[Any]:
    """Yield the sheets of a name or a pattern, or the only one with rows. Raises LoadRefused where there is none."""
    names: list[str] = book.sheet_names
    if sheet in names:
        yield book.get_sheet_by_name(sheet)
        return
    shown = [one.name for one in book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible]
    if is_pattern(sheet):
        found = False
        for name in fnmatch.filter(shown, sheet):
            if (parsed := book.get_sheet_by_name(name)).height:
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
            # A sheet is parsed whole each time that it is asked for: the one that is read is kept.
            if (parsed := book.get_sheet_by_name(name)).height:
                filled.append(name)
                chosen = parsed
        if filled:
            break
    if not filled:
        raise LoadRefused("has no sheet with rows")
    if len(filled) > 1:
        raise SeveralSheets(filled)
    yield chosen


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
