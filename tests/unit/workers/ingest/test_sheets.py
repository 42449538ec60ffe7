"""Workbooks of several sheets, titles above the columns, and number formats; the judge of what they hold is openpyxl."""

from datetime import date
from pathlib import Path

import openpyxl
import pytest

from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import FILES, tried
from tests.unit.workers.ingest.reading import cells_of
from workers.ingest.files.read_sheet import Workbook
from workers.ingest.guess.guess import guess
from workers.ingest.load.preview import Previewer
from workers.ingest.mapping import read as read_mapping
from workers.ingest.sampling.read_sample import sample
from workers.ingest.transform import Transformer

HEADER = ["Artikelnr", "Bezeichnung", "Preis"]


def book(path: Path, **sheets: list[list[object]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def goods(kind: str, count: int) -> list[list[object]]:
    return [HEADER, *([f"{kind[0]}{n}", f"{kind} {n}", n + 0.5] for n in range(1, count + 1))]


def test_sheets_with_the_same_columns_are_one_table_that_is_asked(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", Tea=goods("Tea", 3), Notes=[["Prices of May"], ["Ask us"]], Soap=goods("Soap", 4))
    read = tried(path, tmp_path, currency="EUR")
    judged = [row[1] for sheet in openpyxl.load_workbook(path) for row in sheet.values if len(row) == 3]
    assert [row[0] for row in read.prices] == [name for name in judged if name != "Bezeichnung"]
    assert read.mapping.sheet == "*"
    assert "2 sheets" in read.doubts("sheet") and '1 sheet with other columns ("Notes") not read' in read.doubts(
        "sheet"
    )


def test_a_column_that_a_sheet_lacks_is_empty_there_and_said(tmp_path: Path) -> None:
    with_brand = [
        ["Artikelnr", "Bezeichnung", "Marke", "Preis"],
        ["T1", "Tea 1", "Leaf", 2],
        ["T2", "Tea 2", "Leaf", 3],
    ]
    path = book(tmp_path / "a.xlsx", Tea=with_brand, Soap=goods("Soap", 2), Ink=[with_brand[0], ["I1", "Ink 1", "", 4]])
    read = tried(path, tmp_path, currency="EUR")
    assert [(item["name"], item["brand"]) for item in read.found.items] == [
        ("Tea 1", "Leaf"), ("Tea 2", "Leaf"), ("Soap 1", None), ("Soap 2", None), ("Ink 1", None)
    ]  # fmt: skip
    assert '"Soap" has no column "Marke"' in read.doubts("sheet")
    assert len(read.prices) == 5 and read.found.counts["rejected"] == 0


def test_a_column_that_a_sheet_lacks_is_refused_where_the_mapping_needs_it(tmp_path: Path) -> None:
    with_brand = [["Artikelnr", "Bezeichnung", "Marke", "Preis"], ["T1", "Tea 1", "Leaf", 2]]
    path = book(tmp_path / "a.xlsx", Tea=with_brand, Soap=goods("Soap", 2))
    text = tried(path, tmp_path, currency="EUR").guess.text.replace(", sparse = true", "")
    (tmp_path / "m.toml").write_text(text.replace('currency = "?"', 'currency = { constant = "EUR" }'))
    mapping = read_mapping(tmp_path / "m.toml")
    with pytest.raises(LoadRefused, match=r"a[.]xlsx \[Soap\]: has no column 'Marke'"):
        Previewer(mapping, shown=20).of_items([path], Transformer(mapping, {}))


def test_a_row_knows_its_sheet_and_so_does_its_reject(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", Tea=goods("Tea", 2), Soap=[*goods("Soap", 2), ["S9", "Soap 9", "later"]])
    text = tried(path, tmp_path, currency="EUR").guess.text
    (tmp_path / "m.toml").write_text(
        text.replace('currency = "?"', 'currency = { constant = "EUR" }').replace(
            "\n[item]\n", '\n[item]\ncategory = "@sheet"\n'
        )
    )
    mapping = read_mapping(tmp_path / "m.toml")
    found = Previewer(mapping, shown=20).of_items([path], Transformer(mapping, {}))
    assert [item["category"] for item in found.items] == ["tea", "tea", "soap", "soap"]
    assert [(reject["file"], reject["line"]) for reject in found.rejects] == [("a.xlsx [Soap]", 4)]


@pytest.mark.parametrize(
    "other", [[["Artikelnr", "Bezeichnung", "Lager"], ["S1", "Soap 1", 5]], [[], ["List"], *goods("Soap", 3)]]
)
def test_sheets_that_are_no_one_table_are_refused_with_the_next_step(tmp_path: Path, other: list[list[object]]) -> None:
    path = book(tmp_path / "a.xlsx", Tea=goods("Tea", 3), Soap=other)
    with pytest.raises(LoadRefused, match=r"has 2 sheets with rows: name one by `sheet`: 'Tea', 'Soap' .*--sheet"):
        guess(path)
    assert 'sheet = "Tea"' in guess(path, sheet="Tea").text


def test_the_guess_has_the_lines_above_the_columns(tmp_path: Path) -> None:
    titles: list[list[object]] = [["Farm shop"], [], ["Prices in euro, valid from 01.05.2026"]]
    path = book(tmp_path / "a.xlsx", Tea=[*titles, *goods("Tea", 3)])
    assert sample(path).titles == ("Farm shop", "Prices in euro, valid from 01.05.2026")
    (tmp_path / "a.csv").write_text("Farm shop;;\nValid from 01.05.2026;;\nid;name;price\n1;Tea;2\n2;Soap;3\n3;Ink;4\n")
    assert sample(tmp_path / "a.csv").titles == ("Farm shop", "Valid from 01.05.2026")


def test_the_guess_has_the_number_formats_of_columns(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", Tea=[[], *goods("Tea", 3)])
    made = openpyxl.load_workbook(path)
    for row, form in enumerate(['#,##0.00 "€"', "#,##0.00\\ [$€-407]", '#,##0.00 "€"'], 3):
        made.active.cell(row, 3).number_format = form
    made.save(path)
    assert sample(path).formats == {"Preis": ('#,##0.00 "€"', "#,##0.00\\ [$€-407]")}


@pytest.mark.parametrize(("file", "name"), [("70_excel97.xls", "a.xlsx"), ("70_excel97.xls", "a.ods"), ("", "a.xls")])
def test_a_workbook_with_the_name_of_another_form_is_read(tmp_path: Path, file: str, name: str) -> None:
    source = FILES / file if file else book(tmp_path / "a.xlsx", Tea=goods("Tea", 3))
    read = cells_of(source)
    (tmp_path / name).write_bytes(source.read_bytes())
    assert cells_of(tmp_path / name) == read


def test_the_sheets_of_an_open_workbook_can_be_read_again_in_any_order(tmp_path: Path) -> None:
    """A guess reads the first rows, of several sheets more than once, and then all rows of the one that it means."""
    path = book(tmp_path / "a.xlsx", Tea=goods("Tea", 3), Cups=goods("Cup", 5))
    opened = Workbook(path, 1 << 24)
    begun = {one.name: next(one.rows).cells for one in opened.sheets("*")}
    read = {name: [row.cells for one in opened.sheets(name) for row in one.rows] for name in ("Cups", "Tea", "Tea")}
    assert read == {
        name: [row.cells for one in Workbook(path, 1 << 24).sheets(name) for row in one.rows] for name in read
    }
    assert begun == {name: rows[0] for name, rows in read.items()} and read["Tea"] != read["Cups"]


def test_columns_that_are_enough_are_read_as_among_all(tmp_path: Path) -> None:
    """A guess makes texts of the columns alone that it asks for; a row with none of them is a row still."""
    table = [["Prices of May"], ["Name ", "Note", "Price", "Note"], ["Tea", 1.5, 3, "a"], ["", "n", None, ""], [], [0]]
    path = book(tmp_path / "a.xlsx", Tea=[*table, ["Soap", date(2026, 5, 1), True, " "]])
    opened = Workbook(path, 1 << 24)
    [whole] = ([row for row in sheet.rows if row.number > 1] for sheet in opened.sheets("Tea", 1))
    [enough] = ([*sheet.rows] for sheet in opened.sheets("Tea", 1, ["Price", "Name", "Brand"]))
    assert [row.cells for row in enough] == [[row.cells[0], row.cells[2]] for row in whole]
    assert [row.number for row in enough] == [row.number for row in whole] == [2, 3, 4, 6, 7]
    [none] = ([row.cells for row in sheet.rows] for sheet in opened.sheets("Tea", 1, ["Brand"]))
    assert none == [[]] * len(whole)


def test_columns_that_are_enough_keep_what_is_merged_and_faults(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", Tea=[["Name", "Kind", "Price"], ["Tea", "Hot", 3], ["Mate", None, "=1/0"]])
    workbook = openpyxl.load_workbook(path)
    workbook["Tea"].merge_cells("B2:B3")
    workbook.save(path)
    columns = ["Name", "Kind", "Price"]
    [rows] = ([*sheet.rows] for sheet in Workbook(path, 1 << 24).sheets("Tea", 0, columns))
    assert [row.cells for row in rows] == [columns, ["Tea", "Hot", "3"], ["Mate", "Hot", ""]]
    assert [list(row.faults) for row in rows] == [[], [], [2]]
