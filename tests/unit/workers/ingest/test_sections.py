"""Headings among the rows of a table are the categories of the rows below them; the judge is openpyxl."""

from pathlib import Path

import openpyxl

from tests.unit.workers.ingest.guessing import tried

ROWS: list[list[object]] = [
    ["No.", "Name", "Pack", "Price"],
    ["Teas"],
    [1, "Green tea", "1 box", 4.5],
    [2, "Black tea", "1 box", 3.5],
    ["Soaps"],
    [3, "Olive soap", "2 bars", 6.5],
    [4, "Tar soap", "2 bars", None],
    [5, "Salt soap", "2 bars", 7.5],
]


def test_headings_are_the_categories_of_the_rows_below(tmp_path: Path) -> None:
    """The table begins at C5, and its headings are merged over all columns."""
    book = openpyxl.Workbook()
    for number, row in enumerate(ROWS, 5):
        for place, cell in enumerate(row, 3):
            book.active.cell(number, place, cell)
        if len(row) == 1:
            book.active.merge_cells(start_row=number, end_row=number, start_column=3, end_column=6)
    book.save(tmp_path / "a.xlsx")
    read = tried(tmp_path / "a.xlsx", tmp_path, currency="EUR")
    judged, heading = [], None
    for values in openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(6, values_only=True, min_col=3):
        heading = values[0] if values[1] is None else heading
        if values[1] is not None:
            judged.append((values[1], str(heading).lower()))
    assert [(item["name"], item["category"]) for item in read.found.items] == judged
    assert "2 rows" in read.doubts("sections") and '"Teas"' in read.doubts("sections")


def test_a_row_that_lacks_a_price_is_no_heading(tmp_path: Path) -> None:
    text = "name;pack;price\nTeas;;\nGreen tea;box;4,50\nBlack tea;box;\nSoaps;;\nOlive soap;bar;6,50\nTar soap;;7,50\n"
    (tmp_path / "a.csv").write_text(text)
    read = tried(tmp_path / "a.csv", tmp_path, currency="EUR")
    assert [item["name"] for item in read.found.items] == ["Green tea", "Black tea", "Olive soap", "Tar soap"]
    assert [row[1] for row in read.prices] == ["4.50", "6.50", "7.50"]


CODED = """name;code;pack;price
Teas;;;
Green teas;10;;
Sencha;1001;box;4,50
Gunpowder;1002;box;3,90
Black teas;11;;
Assam;1101;box;3,50
Soaps;;;
Bars;20;;
Olive soap;2001;bar;6,50
Tar soap;2002;bar;5,50
"""


def test_headings_may_have_codes_that_begin_those_of_their_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CODED)
    read = tried(tmp_path / "a.csv", tmp_path, currency="EUR")
    assert [(item["name"], item["category"]) for item in read.found.items] == [
        ("Sencha", "green-teas"), ("Gunpowder", "green-teas"), ("Assam", "black-teas"), ("Olive soap", "bars"),
        ("Tar soap", "bars"),
    ]  # fmt: skip
    assert "5 rows" in read.doubts("sections") and '"code"' in read.doubts("sections")


def test_a_row_with_a_code_of_its_own_and_no_price_is_no_heading(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CODED.replace("Green teas;10", "Mate;3001").replace("Bars;20", "Brush;3002"))
    read = tried(tmp_path / "a.csv", tmp_path, currency="EUR")
    assert {"Mate", "Brush"} <= {item["name"] for item in read.found.items}


def test_of_two_lines_of_names_the_one_with_more_is_the_header(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    rows = [["Prices"], ["Article", None, "Code", "Shop price", None], [None, "Brand", "Code", "Price", "Unit"]]
    for row in [*rows, ["Jug", "Kiln", 11, 4.5, "pc"], ["Rug", "Loom", 12, 3.5, "pc"], ["Jar", "Kiln", 13, 6, "pc"]]:
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "a.xlsx")
    read = tried(tmp_path / "a.xlsx", tmp_path, currency="EUR")
    assert [(item["name"], item["brand"]) for item in read.found.items] == [
        ("Jug", "Kiln"), ("Rug", "Loom"), ("Jar", "Kiln")
    ]  # fmt: skip
