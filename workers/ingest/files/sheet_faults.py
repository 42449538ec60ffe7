"""Which cells have no value, although they are not empty: calamine returns an empty text for both."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from shared.errors import LoadRefused
from workers.ingest.files.sheet_size import (
    BLOCK_BYTES,
    OVERLAP_BYTES,
    PARSED,
    PLACES_MAX,
    UNPLACED,
    column_of,
    elements,
    last_counted,
    last_place,
    stated_number,
)

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


# Calamine makes room for as many texts as a workbook states, and ends the process where there is no memory for them.
_STATED_TEXTS = re.compile(rb"""\buniqueCount\s*=\s*["']\s*([0-9]+)""")
_TEXT_BYTES_MIN = len("<si/>")


class CellFault(NamedTuple):
    """Why a cell has no value, and the cell with its formula or error: `C4: #N/A`."""

    reason: str
    value: str


NO_FAULTS: dict[int, CellFault] = {}
NO_MORE = (0, NO_FAULTS)


def suspected_parts(packed: zipfile.ZipFile) -> set[str]:
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
    for piece in pieces(packed, name, OVERLAP_BYTES):
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
        lowest, rightmost = last_place(piece)
        rows, columns = max(rows, lowest), max(columns, rightmost)
        unplaced = unplaced or any(form.search(piece) for form in UNPLACED)
        if not suspected:
            suspected = b't="e"' in piece or b"t='e'" in piece or any(form.search(piece) for form in formulas)
    # The look at bytes also finds what only looks like a reference; the parser decides before a sheet is refused.
    if formulas is not None and (unplaced or rows * columns > PLACES_MAX):
        rows, columns = last_counted(packed, name)
    if rows * columns > PLACES_MAX:
        raise LoadRefused(
            f"{name} has cells as far as row {rows:,} and column {columns:,}, which makes more than {PLACES_MAX:,} "
            "places: delete the cells that are far from the others, or save the sheet as CSV"
        )
    return suspected


def _formulas_without_value(prefix: bytes, zero: bytes) -> list[re.Pattern[bytes]]:
    """Return the ends of cells with a formula and no value; each begins with a plain text, which is found quickly."""
    value = rb"\s*(?:<%bv\s*/>|<%bv>\s*%b</%bv>)?\s*</%bc>" % (prefix, prefix, zero, prefix, prefix)
    return [re.compile(begin + value) for begin in (b"</%bf>" % prefix, rb"<%bf [^<>]*/>" % prefix)]


def _is_suspected_opendocument(packed: zipfile.ZipFile, name: str) -> bool:
    return any(
        b'value-type="error"' in piece or b"value-type='error'" in piece or _SUSPECTED.search(piece)
        for piece in pieces(packed, name, _FORMULA_BYTES)
    )


def pieces(packed: zipfile.ZipFile, name: str, overlap: int) -> Iterator[bytes]:
    """Yield a part in pieces, each of which begins with the last bytes of the one before."""
    piece = b""
    with packed.open(name) as part:
        while block := part.read(BLOCK_BYTES):
            piece = piece[-overlap:] + block
            yield piece


def faulty_rows(path: Path, sheet: str, suspected: set[str]) -> Iterator[tuple[int, dict[int, CellFault]]]:
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
        number, column, faults = stated_number(row.get("r"), number + 1), -1, {}
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


def merged_in_opendocument(path: Path, sheet: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the cells of a sheet that are merged over several rows, as calamine does of Excel's."""
    with zipfile.ZipFile(path) as packed:
        if "content.xml" not in packed.namelist() or not any(
            _SPANNED.search(piece) for piece in pieces(packed, "content.xml", OVERLAP_BYTES)
        ):
            return []
        return [
            ((number, column), (number + rows - 1, column))
            for number, _, cells in opendocument_rows(packed, sheet)
            for column, _, cell in cells
            if (rows := stated_number(cell.get(f"{_TABLE}number-rows-spanned"), 1)) > 1
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
            times = stated_number(cell.get(f"{_TABLE}number-columns-repeated"), 1)
            cells.append((column, times, cell))
            column += times
        repeated = stated_number(row.get(f"{_TABLE}number-rows-repeated"), 1)
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


def _letters(column: int) -> str:
    """Return the letters of a column."""
    above, last = divmod(column, 26)
    return (_letters(above - 1) if above else "") + chr(ord("A") + last)
