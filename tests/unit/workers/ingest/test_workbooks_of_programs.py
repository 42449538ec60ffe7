"""Workbooks as Excel and LibreOffice save them: what their XML states beside the cells is no place of a cell."""

import zipfile
from pathlib import Path

import openpyxl
import pytest

from shared.errors import LoadRefused
from tests.unit.workers.ingest.reading import cells_of

# What the programs write before and behind the rows.
OF_PROGRAMS = {
    "LibreOffice": ("</worksheet>", '<pageSetup pageOrder="downThenOver" useFirstPageNumber="true"/></worksheet>'),
    "Excel": (
        "<worksheet ",
        '<worksheet xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ',
    ),
    "a rule": (
        "</sheetData>",
        '</sheetData><conditionalFormatting sqref="A1"><cfRule type="cellIs" priority="1" operator="equal">'
        "<formula>1</formula></cfRule></conditionalFormatting>",
    ),
    "a text": (
        "</c></row></sheetData>",
        '</c><c r="C700" t="inlineStr"><is><t>an r="XFD1048576"</t></is></c></row></sheetData>',
    ),
}


def book(path: Path, old: str, new: str, rows: int = 700) -> Path:
    """Write a workbook, with one change of its sheet's XML; the judge of what it holds is openpyxl."""
    made = openpyxl.Workbook()
    made.active.append(["sku", "price"])
    for n in range(1, rows):
        made.active.append([f"S{n}", n])
    made.save(path)
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"].decode()
    assert old in sheet
    members["xl/worksheets/sheet1.xml"] = sheet.replace(old, new, 1).encode()
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


@pytest.mark.parametrize("program", OF_PROGRAMS)
def test_what_programs_state_beside_cells_is_no_place(tmp_path: Path, program: str) -> None:
    path = book(tmp_path / "a.xlsx", *OF_PROGRAMS[program])
    judged = [[str(cell) for cell in row if cell is not None] for row in openpyxl.load_workbook(path).active.values]
    assert [[cell for cell in row if cell] for row in cells_of(path)] == judged


def test_a_cell_far_below_the_row_that_has_it_is_refused(tmp_path: Path) -> None:
    """The reader of sheets takes the row that a cell states, not that of the element around it."""
    far = '<row r="701"><c><v>1</v></c><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    with pytest.raises(LoadRefused, match="cells as far as row 1,048,576 and column 16,384"):
        cells_of(book(tmp_path / "a.xlsx", "</sheetData>", far))
