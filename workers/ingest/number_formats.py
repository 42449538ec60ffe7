"""The number formats of a sheet's columns: where a price list shows a currency, often no cell has it as text.

Of Excel they are the codes of its styles, such as `#,##0.00 "€"`; of OpenDocument the code of the currency. XLS and
XLSB have theirs in records that no library here reads.
"""

import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from lxml import etree

from workers.ingest.files.sheet_faults import opendocument_rows, part_of
from workers.ingest.files.sheet_size import PARSED, column_of, elements

_STYLES = "xl/styles.xml"
_CURRENCY = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}currency"
_FORMATS_MAX = 5


def number_formats(path: Path, sheet: str, rows_max: int) -> dict[int, tuple[str, ...]]:
    """Return the formats of the first rows' cells by their columns, from 0; a sheet that has none of its own has none.

    The formats that every program has, such as that of a percentage, are left out.
    """
    if not zipfile.is_zipfile(path):
        return {}
    found: dict[int, dict[str, None]] = {}
    with zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())
        if "content.xml" in names:
            listed = _of_opendocument(packed, sheet, rows_max)
        elif _STYLES in names and (part := part_of(packed, sheet)) in names:
            listed = _of_workbook(packed, part, rows_max)
        else:
            return {}
        for column, form in listed:
            forms = found.setdefault(column, {})
            if len(forms) < _FORMATS_MAX:
                forms[form] = None
    return {column: tuple(forms) for column, forms in found.items()}


def _of_workbook(packed: zipfile.ZipFile, part: str, rows_max: int) -> Iterator[tuple[int, str]]:
    styles = etree.fromstring(packed.read(_STYLES), etree.XMLParser(**PARSED))
    codes = {form.get("numFmtId"): form.get("formatCode", "") for form in styles.iter("{*}numFmt")}
    of_style = [codes.get(style.get("numFmtId"), "") for cells in styles.iter("{*}cellXfs") for style in cells]
    for row in islice(elements(packed, part, "{*}row"), rows_max):
        column = -1
        for cell in row.iterchildren("{*}c"):
            letters = cell.get("r", "").rstrip("0123456789")
            column = column_of(letters) if letters else column + 1
            style = cell.get("s", "")
            place = int(style) if style.isascii() and style.isdigit() and len(style) < 6 else 0
            if place < len(of_style) and of_style[place] and len(cell):
                yield column, of_style[place]


def _of_opendocument(packed: zipfile.ZipFile, sheet: str, rows_max: int) -> Iterator[tuple[int, str]]:
    for _, _, cells in islice(opendocument_rows(packed, sheet), rows_max):
        for column, _, cell in cells:
            if code := cell.get(_CURRENCY):
                yield column, code
