"""Files made to end the process that reads them: each is read or refused with a sentence, in a process of its own."""

import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest

from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import FILES
from tests.unit.workers.ingest.reading import cells_of
from workers.ingest.files.json_outline import DIGITS_MAX
from workers.ingest.files.read_json import json_rows
from workers.ingest.files.sheet_size import UNPLACED

MAPPING = """source = "shop"
title = "A shop"
license = "unknown"
RECORDS
[item]
id = "sku"
name = "name"
[observation]
day = { load_day = true }
channel = { constant = "N" }
currency = { constant = "EUR" }
price = "price"
"""
# Reads a file as a guess and as a preview do, and prints what came of each.
PROGRAM = """
import sys
from pathlib import Path
from shared.errors import ItemIndexError
from workers.ingest.guess.guess import guess
from workers.ingest.mapping import parse
from workers.ingest.load.preview import Previewer
from workers.ingest.transform import Transformer
path, mapping = Path(sys.argv[1]), parse(sys.argv[2])
for read in (
    lambda: guess(path),
    lambda: Previewer(mapping, shown=10).of_items([path], Transformer(mapping, {})),
):
    try:
        read()
    except ItemIndexError as error:
        print(" ".join(str(error).split()))
    else:
        print("read")
"""


def outcomes(path: Path, records: str = "") -> list[str]:
    """Return what a guess and a preview of a file end with; fails where the process dies or raises another error."""
    mapping = MAPPING.replace("RECORDS", f'records = "{records}"' if records else "")
    done = subprocess.run([sys.executable, "-c", PROGRAM, path, mapping], capture_output=True, text=True)
    assert done.returncode == 0, (path.name, done.returncode, done.stderr[-2_000:])
    return done.stdout.splitlines()


def rows(price: str) -> str:
    return f'[{{"sku": "1", "name": "Tea", "price": {price}}}]'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (rows("9" * 4_301), f"has a number of more than {DIGITS_MAX} digits"),
        (rows("-" + "9" * 50_000), f"has a number of more than {DIGITS_MAX} digits"),
        (rows("1") + "9" * 5_000, f"has a number of more than {DIGITS_MAX} digits"),
        (rows("1e9999999999999999999"), "a number is too large or too small"),
        (rows("1e-9999999999999999999"), "a number is too large or too small"),
    ],
    ids=["integer", "negative", "behind", "large", "small"],
)
def test_a_number_that_no_number_is_does_not_end_the_process(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    guessed, read = outcomes(path)
    assert reason in guessed and reason in read


class Pieces:
    """A stream that gives its bytes in pieces of one size."""

    def __init__(self, text: str, size: int) -> None:
        self._rest, self._size = text.encode(), size

    def read(self, size: int) -> bytes:
        size = min(size, self._size)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def listed(text: str, size: int) -> list[dict[str, object]]:
    return [row for _, row in json_rows("a.json", Pieces(text, size), "", in_list=True)]


@pytest.mark.parametrize("size", [1, 7, 400, DIGITS_MAX, 1 << 16])
def test_digits_are_counted_outside_of_texts_wherever_pieces_end(size: int) -> None:
    long = "1" * (DIGITS_MAX + 1)
    text = rows(f'"{long}", "x": "\\"{long}", "{long}": {long[1:]}, "y": 0.5')
    assert listed(text, size)[0]["x"] == f'"{long}' and listed(text, size)[0][long] == int(long[1:])
    for number in (long, f"-{long}", f"0.{long}", f"1e{long}", f'"{long}\\\\", "x": {long}'):
        with pytest.raises(LoadRefused, match="a number of more than 500 digits"):
            listed(rows(number), size)


def workbook(path: Path, number_format: str = "General", **parts: str) -> Path:
    """Write a workbook of one row; `parts` replaces some text of a part by another, as `old -> new`."""
    made = openpyxl.Workbook()
    for row in (["sku", "name", "price"], ["1", "Tea", 2.5]):
        made.active.append(row)
    made.active["C2"].number_format = number_format
    made.save(path)
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name).decode() for name in packed.namelist()}
    names = {"sheet": "xl/worksheets/sheet1.xml", "texts": "xl/sharedStrings.xml"}
    for part, change in parts.items():
        old, _, new = change.partition(" -> ")
        text = members.get(names[part], "<sst/>")
        assert old in text
        members[names[part]] = text.replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    return path


FAR_AND_UNPLACED = (
    f"<row>{'<c><v>1</v></c>' * 40_000}</row>{'<row/>' * 1_000_000}<row><c><v>1</v></c></row></sheetData>"
)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"texts": '<sst/> -> <sst uniqueCount="4294967295"/>'}, "states more texts than it has"),
        ({"sheet": f"</sheetData> -> {FAR_AND_UNPLACED}"}, "which makes more than 100,000,000 places"),
        ({"sheet": '</row><row r="2" -> </row><row r = "1048576"><c r = "XFD1048576"/></row><row r="2"'}, "places"),
        ({"sheet": "<v>2.5</v> -> <v>-1e300</v>", "number_format": "yyyy-mm-dd"}, "no sheet can have"),
    ],
)
def test_a_workbook_that_states_what_no_sheet_has_is_refused(
    tmp_path: Path, parts: dict[str, str], reason: str
) -> None:
    guessed, read = outcomes(workbook(tmp_path / "a.xlsx", **parts))
    assert reason in guessed and reason in read


def test_a_workbook_whose_cells_state_no_places_is_read(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    members["xl/worksheets/sheet1.xml"] = re.sub(rb' r="\w+"', b"", members["xl/worksheets/sheet1.xml"])
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    assert cells_of(path) == [["sku", "name", "price"], ["1", "Tea", "2.5"]]


@pytest.mark.parametrize("size", [(0, 0xFFFFFFFF, 0, 0xFFFF), (5, 1, 7, 2)])
def test_an_old_workbook_that_states_a_size_no_sheet_has_is_refused(tmp_path: Path, size: tuple[int, ...]) -> None:
    content = bytearray((FILES / "70_excel97.xls").read_bytes())
    at = content.index(b"\x00\x02\x0e\x00") + 4
    content[at : at + 12] = struct.pack("<IIHH", *size)
    (tmp_path / "a.xls").write_bytes(content)
    guessed, read = outcomes(tmp_path / "a.xls")
    assert "states a size that no sheet has" in guessed and "states a size that no sheet has" in read


OPENDOCUMENT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="S"><table:table-row><table:table-cell office:value-type="string" '
    'table:number-rows-spanned="SPANNED"><text:p>sku</text:p></table:table-cell></table:table-row></table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)


@pytest.mark.parametrize("spanned", ["9" * 5_000, "-1", "many"], ids=["long", "negative", "word"])
def test_a_cell_spanned_over_no_number_of_rows_is_refused(tmp_path: Path, spanned: str) -> None:
    path = tmp_path / "a.ods"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
        packed.writestr("content.xml", OPENDOCUMENT.replace("SPANNED", spanned))
    guessed, read = outcomes(path)
    assert "of a row or a column, which no sheet has" in guessed and guessed == read


def test_an_archive_with_a_header_of_no_numbers_is_refused(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("a.csv")
    entry.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a.csv"}
    entry.size = 512
    (tmp_path / "a.tar").write_bytes(entry.tobuf(tarfile.PAX_FORMAT) + b"9" * 512 + b"\0" * 1_024)
    guessed, read = outcomes(tmp_path / "a.tar")
    assert "the archive is broken" in guessed and guessed == read


def test_days_beyond_all_calendars_are_no_error_of_ours(tmp_path: Path) -> None:
    for kind, value in ((pa.date32(), 2**31 - 1), (pa.timestamp("us"), 2**62), (pa.time64("us"), 2**62)):
        columns = {"sku": ["1"], "name": ["Tea"], "price": [1.5], "seen": pa.array([value], kind)}
        pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        guessed, read = outcomes(tmp_path / "a.parquet")
        assert "a day or a time cannot be read" in guessed and read == "read"


def test_an_element_of_very_many_attributes_is_refused_at_once(tmp_path: Path) -> None:
    attributes = " ".join(f"a{n}='1'" for n in range(100_000))
    (tmp_path / "a.xml").write_text(f"<r><i {attributes}/></r>")
    guessed, read = outcomes(tmp_path / "a.xml", records="r/i")
    assert "has more than 2,000 parts" in guessed and "has more than 2,000 parts" in read


def test_a_cell_that_the_end_of_a_piece_cuts_is_not_taken_for_one_without_a_place() -> None:
    cell = b'<c r="A1" t="inlineStr"><is><t>tea</t></is></c>'
    sheet = cell * 40
    for cut in range(len(sheet) - len(cell), len(sheet)):
        assert not any(form.search(piece) for form in UNPLACED for piece in (sheet[:cut], sheet[cut - 1_000 :]))
    # A cell without a place is found, as is one that is longer than what two pieces have in common.
    for without in (b'<c t="n"><v>1</v></c>', b"<x:c/>", b"<c>", b"<c" + b" " * 1_024):
        assert any(form.search(sheet + without) for form in UNPLACED)


def test_a_text_of_an_old_workbook_that_looks_like_a_size_is_a_text(tmp_path: Path) -> None:
    content = (FILES / "70_excel97.xls").read_bytes()
    text = b"Preisliste Oktober"
    assert content.count(text) == 1
    looks = (b"\x00\x02\x0e\x00" + b"\xff" * 12).ljust(len(text), b"x")
    (tmp_path / "a.xls").write_bytes(content.replace(text, looks))
    judged = cells_of(FILES / "70_excel97.xls")
    assert cells_of(tmp_path / "a.xls")[1:] == judged[1:]
