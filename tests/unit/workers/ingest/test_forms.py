"""Files of every form are read as other readers read them: pandas, openpyxl, DuckDB, the standard library."""

import gzip
import io
import json
import lzma
import re
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas
import pyarrow as pa
import pyarrow.parquet
import pytest

from shared.db.copy_binary import EPOCH
from shared.errors import LoadRefused
from tests.unit.workers.ingest.reading import HEAD, a_mapping, put, rows_of
from workers.ingest import clean, read_amounts
from workers.ingest.batches import Batch
from workers.ingest.calendar_days import parsed
from workers.ingest.fields import Field
from workers.ingest.files import csv_records, read_file, read_parquet, read_xml, reshape
from workers.ingest.files.read_json import list_path
from workers.ingest.files.read_xml import row_path
from workers.ingest.load import input_files
from workers.ingest.mapping import FillDown
from workers.ingest.sampling.read_sample import sample

TWO = '[item]\nid = "a"\nname = "b"\n'

NAMES = ["plain", 'say "hi"', "comma, and\ttab", "Zoë – 茶", "<tag> & more", "  ", "0012"]


def read(folder: Path, name: str, content: str | bytes, before: str = "", text: str = TWO) -> list[tuple[Any, ...]]:
    """Return the rows of a file without their lines."""
    rows, rejects = rows_of(put(folder, content, name), a_mapping(folder, text, HEAD + before))
    assert rejects == []
    return [row[1:] for row in rows]


def refused(folder: Path, name: str, content: str | bytes, before: str = "", text: str = TWO) -> str:
    with pytest.raises(LoadRefused) as error:
        rows_of(put(folder, content, name), a_mapping(folder, text, HEAD + before))
    return str(error.value)


def workbook(rows: list[list[Any]], *more: str) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title).append(["x", "y"])
        book[title].append([1, 2])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def opendocument(rows: list[list[str]]) -> bytes:
    """Return a sheet of cells, each written as OpenDocument does (1.3, part 3, 9.1.4): a type, its value, what is shown."""
    kinds = {
        "float": "value",
        "currency": "value",
        "percentage": "value",
        "date": "date-value",
        "boolean": "boolean-value",
    }
    cells = "".join(
        "<table:table-row>" + "".join(
            f'<table:table-cell office:value-type="{kind}"' + (f' office:{kinds[kind]}="{value}"' if kind in kinds else "")
            + f"><text:p>{shown}</text:p></table:table-cell>"
            for kind, value, shown in (cell.split("|") for cell in row)
        ) + "</table:table-row>"
        for row in rows
    )  # fmt: skip
    names = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{names}:office:1.0" xmlns:table="{names}:table:1.0" '
        f'xmlns:text="{names}:text:1.0" office:version="1.3"><office:body><office:spreadsheet>'
        f'<table:table table:name="Prices">{cells}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entries = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
    manifest = f'<manifest:manifest xmlns:manifest="{names}:manifest:1.0">{entries}</manifest:manifest>'
    return archive({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def unpacked(content: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def archive(files: dict[str, str | bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", packing) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return content.getvalue()


LONG = b"a,b\n" + "".join(f"{n},{n**9}\n" for n in range(9_000)).encode()


def tarred(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as packed:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def test_xml_is_read_as_the_standard_library_reads_it(tmp_path: Path) -> None:
    rows = "".join(
        f"<item><a>{n}</a><b>{name.replace('&', '&amp;').replace('<', '&lt;')}</b></item>"
        for n, name in enumerate(NAMES)
    )
    text = f'<?xml version="1.0" encoding="utf-8"?><rss><channel><title>t</title>{rows}</channel></rss>'
    tree = ElementTree.fromstring(text.encode())
    expected = [((one.findtext("a") or "").strip(), (one.findtext("b") or "").strip()) for one in tree.iter("item")]
    assert read(tmp_path, "f.xml", text, 'records = "rss/channel/item"\n') == expected
    packed = gzip.compress(text.encode())
    assert read(tmp_path, "f.xml.gz", packed, 'records = "rss/channel/item"\n') == expected


def test_the_rows_of_a_document_are_its_repeated_elements() -> None:
    for document, path in (
        (
            "<rss><channel><title>t</title><item><a>1</a><b>2</b></item><item><a>1</a><b>2</b></item></channel></rss>",
            "rss/channel/item",
        ),
        ("<rss><channel><item><a>1</a><b>2</b></item></channel></rss>", "rss/channel/item"),
        ('<c><p id="1" n="x"/><p id="2" n="y"/></c>', "c/p"),
        ("<c><p><o><x>1</x><y>2</y></o><o><x>1</x><y>2</y></o><z>3</z></p><p><z>4</z><y>1</y></p></c>", "c/p"),
        (
            '<f:feed xmlns:f="u"><f:entry><a>1</a><b>2</b></f:entry><f:entry><a>1</a><b>2</b></f:entry></f:feed>',
            "f:feed/f:entry",
        ),
    ):
        assert row_path("f.xml", io.BytesIO(document.encode())) == path, document
        assert len(list(read_xml.xml_rows("f.xml", io.BytesIO(document.encode()), path))) >= 1, document


def test_parts_of_xml_are_columns_by_their_path() -> None:
    document = b"""<c xmlns:g="urn:g"><p id="7"><g:price currency="EUR">1.10</g:price><img>x</img><img>y</img>
        <offer><kind>new</kind></offer><offer><kind>used</kind></offer><none/></p></c>"""
    [(number, row)] = read_xml.xml_rows("f.xml", io.BytesIO(document), "c/p")
    assert (number, row) == (
        1,
        {
            "@id": "7", "g:price": "1.10", "g:price.@currency": "EUR", "img": "x", "img.1": "y",
            "offer.kind": "new", "offer.1.kind": "used", "none": "",
        },
    )  # fmt: skip


def test_columns_that_are_asked_for_alone_are_what_they_are_among_all(tmp_path: Path) -> None:
    item = """<p no="1" xmlns:g="urn:g"><g:id>A</g:id><id>B</id><price.net cur="EUR">9</price.net><image>1</image><x>y</x>
        <image>2</image><param name="Colour">red</param><meta><key>k</key><value>v</value></meta><a><b c="d">e</b></a></p>"""
    document = f"<c>{item}</c>".encode()
    [(_, whole)] = read_xml.xml_rows("f.xml", io.BytesIO(document), "c/p")
    assert set(whole) > {"g:id", "id", "price.net", "price.net.@cur", "image.1", "param[Colour]", "meta[k]", "a.b.@c"}
    for column in whole:
        [(_, row)] = read_xml.xml_rows("f.xml", io.BytesIO(document), "c/p", [column])
        assert row[column] == whole[column]
        assert column == "x" or "x" not in row


def test_parts_with_a_name_are_columns_by_it_wherever_they_stand() -> None:
    document = b"""<c><p><a name="Colour">red</a><a name="EAN">1</a><a name="EAN">2</a><b name="x"><d>3</d></b></p>
        <p><a name="EAN">4</a><s><a name="Size, cm"/></s></p></c>"""
    rows = [row for _, row in read_xml.xml_rows("f.xml", io.BytesIO(document), "c/p")]
    named = [{name: text for name, text in row.items() if name.endswith("]")} for row in rows]
    assert named == [{"a[Colour]": "red", "a[EAN]": "1"}, {"a[EAN]": "4", "s.a[Size, cm]": ""}]
    assert (rows[0]["a"], rows[0]["a.1"], rows[0]["a.2.@name"], rows[0]["b.d"]) == ("red", "1", "EAN", "3")


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ('<!DOCTYPE c [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><c><p><a>&c;</a><b>x</b></p></c>', "declares entities"),
        ('<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]><c><p><a>&a;</a><b>x</b></p></c>', "declares entities"),
        ("<c><p>" + "<x>" * 40 + "</x>" * 40 + "</p></c>", "nested deeper than 32 levels"),
        ("<c><p>" + "".join(f"<x{n}>1</x{n}>" for n in range(2_100)) + "</p></c>", "has more than 2,000 parts"),
        ("<c><p><a>1</a>", "is no well-formed XML"),
        ("<c><q><a>1</a><b>2</b></q></c>", "not one row"),
    ],
)
def test_documents_that_cannot_be_read_are_refused_with_a_sentence(
    tmp_path: Path, document: str, sentence: str
) -> None:
    assert sentence in refused(tmp_path, "f.xml", document, 'records = "c/p"\n')


ENCODED = "<c><p><a>1</a><b>Ångström, 5 € – “café”</b></p></c>"


@pytest.mark.parametrize(
    ("declared", "codec", "before"),
    [
        ("ISO-8859-1", "iso-8859-1", ""),
        ("ISO-8859-15", "iso-8859-15", ""),
        ("windows-1252", "cp1252", ""),
        ("Windows-1252", "cp1252", 'encoding = "cp1252"\n'),
        ("UTF-16", "utf-16", ""),
        ("UTF-16", "utf-16", 'encoding = "utf-16"\n'),
        ("UTF-16", "utf-16-le", ""),
        ("utf-16", "utf-16-be", ""),
        ("UTF-8", "utf-8-sig", ""),
        ("Shift_JIS", "shift_jis", ""),
        # What declares another encoding than it has: a text converted without its declaration, and one that a person names.
        ("utf-16", "utf-8", ""),
        ("UTF-8", "cp1252", 'encoding = "cp1252"\n'),
    ],
)
def test_xml_is_decoded_once_by_what_it_declares(tmp_path: Path, declared: str, codec: str, before: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?>\n{ENCODED}'
    text = text.encode(codec, "ignore").decode(codec)  # the characters that the encoding has
    content = text.encode(codec)
    expected = ElementTree.fromstring(text.partition("?>")[2].strip()).findtext("p/b")
    assert expected
    assert read(tmp_path, "f.xml", content, f'records = "c/p"\n{before}') == [("1", expected)]
    if codec != "shift_jis" and not before and (declared.lower() == codec or codec == "cp1252"):
        assert ElementTree.fromstring(content).findtext("p/b") == expected
    wrong = {"encoding": "cp1252"} if (declared, codec) == ("UTF-8", "cp1252") else {}
    assert sample(put(tmp_path, content, "g.xml")).form == {**wrong, "records": "c/p"}


@pytest.mark.parametrize("declared", ["x-klingon", "hex", "idna", "undefined"])
def test_an_encoding_that_is_not_known_is_refused_with_a_sentence(tmp_path: Path, declared: str) -> None:
    content = f'<?xml version="1.0" encoding="{declared}"?>{ENCODED}'
    assert f"its encoding '{declared}' is not known" in refused(tmp_path, "f.xml", content, 'records = "c/p"\n')


def test_entities_are_refused_in_every_encoding(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE c [<!ENTITY a "b">]><c><p><a>&a;</a><b>x</b></p></c>'
    for codec in ("utf-16", "utf-16-le", "utf-16-be"):
        assert "declares entities" in refused(tmp_path, "f.xml", bomb.encode(codec), 'records = "c/p"\n')


def test_xml_needs_the_path_of_its_rows(tmp_path: Path) -> None:
    assert "needs `records`" in refused(tmp_path, "f.xml", "<c><p><a>1</a><b>2</b></p></c>")


def test_a_path_without_a_row_does_not_fill_the_memory(tmp_path: Path) -> None:
    document = "<c>" + f"<q><a>{'1' * 1_000_000}</a></q>" * 35 + "</c>"
    assert "is `records` another path?" in refused(tmp_path, "f.xml", document, 'records = "c/p"\n')


def test_what_stands_around_rows_is_forgotten_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    held, events = list[int](), read_xml.events

    def counted(*given: Any, **named: Any) -> Any:
        for event, element in events(*given, **named):
            held.append(sum(1 for _ in element.getroottree().iter()))
            yield event, element

    monkeypatch.setattr(read_xml, "events", counted)
    document = b"<c>" + b"<p><q><i>1</i></q><r><s/></r><i>2</i><t/></p>" * 100 + b"</c>"
    assert len(list(read_xml.xml_rows("f.xml", io.BytesIO(document), "c/p/i"))) == 100
    assert held[-1] < 20


def test_json_documents_are_read_as_duckdb_reads_them(tmp_path: Path) -> None:
    rows = [{"a": n, "b": name, "c": 1.10} for n, name in enumerate(NAMES)]
    path = put(tmp_path, json.dumps(rows), "f.json")
    expected = duckdb.sql(f"SELECT a::VARCHAR, b FROM read_json('{path}') ORDER BY a").fetchall()
    assert read(tmp_path, "f.json", json.dumps(rows)) == expected
    assert read(tmp_path, "f.json", json.dumps(rows, indent=2)) == expected
    nested = json.dumps({"shop": {"name": "s"}, "data": {"products": rows}})
    assert read(tmp_path, "f.json", nested, 'records = "data.products"\n') == expected
    assert list_path("f.json", io.BytesIO(nested.encode())) == "data.products"
    assert read(tmp_path, "f.json", json.dumps(rows[0], indent=1)) == expected[:1]


def test_numbers_of_json_keep_every_digit(tmp_path: Path) -> None:
    text = '[{"a": 31146262571, "b": 1.10}, {"a": 123456789012345678901234567890, "b": 0.12345678901234567890123}]'
    expected = [("31146262571", "1.10"), ("123456789012345678901234567890", "0.12345678901234567890123")]
    assert read(tmp_path, "f.json", text) == expected


def test_a_number_that_json_does_not_have_loses_its_field_alone(tmp_path: Path) -> None:
    text = '{"a": 1, "b": NaN}\n{"a": 2, "b": "x"}\n'
    rows, rejects = rows_of(put(tmp_path, text, "f.ndjson"), a_mapping(tmp_path, TWO, HEAD))
    assert rows == [(1, "1", None), (2, "2", "x")]
    assert rejects == [(1, "is NaN, which is no number and which JSON does not have")]


@pytest.mark.parametrize(
    ("text", "before", "sentence"),
    [
        ("[1, 2]", 'form = "json"\n', "is no object"),
        ('{"products": []}', 'records = "products"\n', "does not have a list of objects at 'products'"),
        ('[{"a": 1, "b": 2}, {"a": ', "", "is no JSON that can be read, after 1 objects"),
        pytest.param('[{"a": "' + "x" * (17 << 20) + '", "b": 1}]', "", "bytes without a whole object", id="17 MB"),
    ],
)
def test_json_that_cannot_be_read_is_refused_with_a_sentence(
    tmp_path: Path, text: str, before: str, sentence: str
) -> None:
    assert sentence in refused(tmp_path, "f.json", text, before)


@pytest.mark.parametrize("levels", [40, 3_000])
@pytest.mark.parametrize("document", ['[{"a": 1, "b": %s}]', '{"p": [{"a": 1, "b": %s}]}'])
def test_a_document_that_is_nested_too_deep_is_refused_by_a_guess_and_by_a_load(
    tmp_path: Path, document: str, levels: int
) -> None:
    for inner in ('{"x":' * levels + "1" + "}" * levels, "[" * levels + "]" * levels):
        before = 'records = "p"\n' if document.startswith("{") else ""
        assert "nested deeper than 32 levels" in refused(tmp_path, "f.json", document % inner, before)
        with pytest.raises(LoadRefused, match=r"^f\.json: .*nested deeper than 32 levels"):
            sample(tmp_path / "f.json")


def test_brackets_within_texts_are_no_levels(tmp_path: Path) -> None:
    texts = ["{[" * 40 + end for end in ("", '"', "\\", '\\"', '"\\')] * 500
    document = json.dumps([{"a": n, "b": text} for n, text in enumerate(texts)])
    assert read(tmp_path, "f.json", document) == [(str(n), text) for n, text in enumerate(texts)]


def test_a_line_that_is_nested_too_deep_is_no_part_of_a_guess(tmp_path: Path) -> None:
    lines = [
        '{"a": 1, "b": %s}' % ("[" * 40 + "]" * 40),
        '{"a": 2, "c": %s}' % ('{"x":' * 900 + "1" + "}" * 900),
        '{"a": 3, "d": 4}',
    ]
    assert sample(put(tmp_path, "\n".join(lines), "f.ndjson")).rows == [{"a": "3", "d": "4"}]


def test_the_first_of_a_list_of_lists_names_the_columns(tmp_path: Path) -> None:
    text = '[["a", "b"], ["1", 2.50], ["2"], [3, null]]'
    found = read(tmp_path, "f.json", text)
    assert found == [("1", "2.50"), ("2", None), ("3", None)]
    assert read(tmp_path, "f.json", f'{{"rows": {text}}}', 'records = "rows"\n') == found
    assert sample(tmp_path / "f.json").columns == () and sample(put(tmp_path, text, "f.json")).columns == ("a", "b")
    for wrong, reason in (
        ('[["a", "b"], [1, 2, 3]]', "a list of 3 values, and the first one names 2 columns"),
        ("[[1, 2], [3, 4]]", "put one with their names above the others"),
        ('[["a", "a"], [3, 4]]', "put one with their names above the others"),
        ('[["a", "b"], {"a": 1}]', "no list, and the first one is"),
        ('["a", "b"]\n[1, 2]\n', "is no object: write each row as one"),
    ):
        assert reason in refused(tmp_path, "f.json", wrong), wrong


def test_sheets_are_read_as_openpyxl_and_pandas_read_them(tmp_path: Path) -> None:
    rows = [["a", "b"], *([f"{n:04}", name.strip() or None] for n, name in enumerate(NAMES))]
    content = workbook(rows)
    found = read(tmp_path, "f.xlsx", content)
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert found == [(a, b or "") for a, b in list(sheet.iter_rows(values_only=True))[1:]]
    frame = pandas.read_excel(io.BytesIO(content), dtype=str, keep_default_na=False, engine="openpyxl")
    assert found == list(frame.itertuples(index=False, name=None))


def test_cells_keep_their_type(tmp_path: Path) -> None:
    cells = ["007", 7, 7.5, 4006381333931, date(2026, 10, 1), datetime(2026, 10, 1, 23, 30), True, None]
    rows = [["a", "b"], *([n, cell] for n, cell in enumerate(cells))]
    found = [b for _, b in read(tmp_path, "f.xlsx", workbook(rows))]
    assert found == ["007", "7", "7.5", "4006381333931", "2026-10-01", "2026-10-01 23:30:00", "true", ""]


def test_a_computed_number_is_what_the_sheet_shows(tmp_path: Path) -> None:
    """A binary fraction that a formula leaves, as in `=1.1*3`, would make a price finer than its currency allows."""
    shown = {"3.3000000000000003": "3.3", "-0.30000000000000004": "-0.3", "0.33333333333333331": "0.333333333333333"}
    files = unpacked(workbook([["a", "b"], *([n, 1_000_000 + n] for n in range(len(shown)))]))
    sheet = str(files["xl/worksheets/sheet1.xml"], "utf-8")
    for n, stored in enumerate(shown):
        sheet = sheet.replace(str(1_000_000 + n), stored)
    files["xl/worksheets/sheet1.xml"] = sheet
    assert [b for _, b in read(tmp_path, "f.xlsx", archive(files))] == list(shown.values())


def test_rows_of_a_sheet_have_its_numbers_below_empty_ones(tmp_path: Path) -> None:
    content = workbook([[], [], ["Prices of October"], ["a", "b"], [], ["1", "x"]])
    rows, rejects = rows_of(put(tmp_path, content, "f.xlsx"), a_mapping(tmp_path, TWO, HEAD + "skip_rows = 3\n"))
    assert (rows, rejects) == ([(6, "1", "x")], [])


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_sheet_with_cells_too_far_apart_is_refused(tmp_path: Path, quote: str) -> None:
    """Its reader would take memory for all places between them, and end the process where there is none."""
    files = unpacked(workbook([["a", "b"], ["1", "x"]]))
    far = "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData>".replace("'", quote)
    sheet = str(files["xl/worksheets/sheet1.xml"], "utf-8")
    files["xl/worksheets/sheet1.xml"] = sheet.replace("</sheetData>", far)
    assert "cells as far as row 1,048,576 and column 16,384" in refused(tmp_path, "f.xlsx", archive(files))
    # Behind many other cells, wherever the pieces end in which a sheet is looked through.
    many = "".join(f'<row r="{n}"><c r="A{n}"/></row>' for n in range(3, 60_000))
    files["xl/worksheets/sheet1.xml"] = sheet.replace("</sheetData>", many + far)
    assert "cells as far as row 1,048,576 and column 16,384" in refused(tmp_path, "f.xlsx", archive(files))


PRICED = '[item]\nid = "sku"\nname = "title"\n[item.attributes]\nprice = "price"\n'


def sheet_of(rows: str, prefix: str = "", *, stale: bool = False) -> bytes:
    """Return a workbook whose only sheet has rows of XML; `stale`: it is to be computed when it is opened."""
    files = unpacked(workbook([]))
    spaced = f"xmlns{':' * bool(prefix)}{prefix[:-1]}='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
    begun, ended = f"<{prefix}worksheet {spaced}><{prefix}sheetData>", f"</{prefix}sheetData></{prefix}worksheet>"
    files["xl/worksheets/sheet1.xml"] = begun + rows + ended
    if not stale:  # openpyxl always says it
        files["xl/workbook.xml"] = files["xl/workbook.xml"].replace(b' fullCalcOnLoad="1"', b"")
    return archive(files)


def lost(folder: Path, name: str, content: bytes, text: str = PRICED) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the first cells of the rows that a sheet gives, and place, scope and text of its rejects."""
    batches = list(read_file.read(put(folder, content, name), a_mapping(folder, text, HEAD), batch_rows=2))
    kept = [sku for batch in batches for sku in batch.columns["sku"].to_pylist()]
    return kept, [(one.line, one.column, one.scope, one.value) for batch in batches for one in batch.rejects]


def test_a_cell_with_an_error_or_a_formula_without_its_value_is_a_reject(tmp_path: Path) -> None:
    """The judge is openpyxl, which wrote the formulas without values, as every program does that cannot compute."""
    errors = ["#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!"]
    prices = [1.5, "=1+1", *errors, None, "=SUM(C2:C3)", 2]
    rows = [["sku", "title", "price", "note"], *([f"S{n}", "x", price, "=1+1"] for n, price in enumerate(prices))]
    content = workbook([*rows, [], [None, None, "=C2"]])
    stored = openpyxl.load_workbook(io.BytesIO(content), data_only=True).active
    written = openpyxl.load_workbook(io.BytesIO(content)).active
    judged = [
        (cell.row, "price", "row", f"{cell.coordinate}: {written[cell.coordinate].value}")
        for [cell] in stored.iter_rows(2, min_col=3, max_col=3)
        if cell.data_type == "e" or (written[cell.coordinate].data_type == "f" and cell.value is None)
    ]
    assert len(judged) == 10
    kept, rejects = lost(tmp_path, "f.xlsx", content)
    assert (kept, rejects) == (["S0", "S9", "S11"], judged)
    _, reasons = rows_of(tmp_path / "f.xlsx", a_mapping(tmp_path, PRICED, HEAD))
    assert "open the file in a spreadsheet program, save it and load it again" in reasons[0][1]
    assert "correct or empty the cell there, or list its text in `null`; load again" in reasons[1][1]
    doubts = " ".join(sample(tmp_path / "f.xlsx").doubts)
    assert "15 cells have no value, such as D2: =1+1" in doubts and "7 cells have no value, such as C4: #N/A" in doubts


def test_an_error_costs_only_the_field_where_the_mapping_says_so(tmp_path: Path) -> None:
    content = workbook([["sku", "title", "price", "was"], ["S1", "x", 1, "#N/A"], ["S2", "#REF!", 2, "#N/A"]])
    field = 'was = { column = "was", on_error = "field" }\n'
    kept = (["S1"], [(2, "was", "field", "D2: #N/A"), (3, "title", "row", "B3: #REF!")])
    assert lost(tmp_path, "f.xlsx", content, PRICED + field) == kept
    for also in ('both = { first_of = ["was", "price"], on_error = "field" }\n', 'old = "was"\n'):
        _, rejects = lost(tmp_path, "f.xlsx", content, PRICED + field + also)
        assert [scope for _, _, scope, _ in rejects] == ["row", "row"], also


def test_an_error_that_every_field_of_its_column_takes_for_no_value_is_an_empty_cell(tmp_path: Path) -> None:
    content = workbook([["sku", "title", "price", "was"], ["S1", "x", 1, "#N/A"], ["S2", "y", 2, "#REF!"]])
    field = 'was = { column = "was", null = ["#N/A", "-"] }\n'
    assert lost(tmp_path, "f.xlsx", content, PRICED + field) == (["S1"], [(3, "was", "row", "D3: #REF!")])
    _, rejects = lost(tmp_path, "f.xlsx", content, PRICED + field + 'old = "was"\n')
    assert [line for line, *_ in rejects] == [2, 3]


def test_cells_without_a_value_are_found_however_a_program_writes_them(tmp_path: Path) -> None:
    header = '<row r="1"><c r="A1" t="str"><v>sku</v></c><c r="B1" t="str"><v>title</v></c><c r="C1" t="str"><v>price</v></c></row>'
    named = '<row r="{n}"><c r="A{n}" t="str"><v>S{n}</v></c><c r="B{n}" t="str"><v>x</v></c>{cell}</row>'
    cells = {
        '<c r="C{n}"><f>1+1</f></c>': "C{n}: =1+1",
        '<c r="C{n}"><f>1+1</f>\n<v/></c>': "C{n}: =1+1",
        '<c r="C{n}"><f t="shared" si="0"/></c>': "C{n}: =",
        "<c r='C{n}' t='e'><f>NA()</f><v>#N/A</v></c>": "C{n}: #N/A",
        '<c r="C{n}" t="str"><f>A1&amp;B1</f></c>': "C{n}: =A1&B1",
        '<c r="C{n}" t="str"><f>""</f><v></v></c>': None,  # its value is the empty text
        '<c r="C{n}"><f>1-1</f><v>0</v></c>': None,
        '<c r="C{n}" t="str"><v> t="e" &lt;f/></v></c>': None,
    }
    rows = [named.format(n=n, cell=cell.format(n=n)) for n, cell in enumerate(cells, 2)]
    places = [(n, "price", "row", text.format(n=n)) for n, text in enumerate(cells.values(), 2) if text]
    kept = [f"S{n}" for n, text in enumerate(cells.values(), 2) if not text]
    assert lost(tmp_path, "f.xlsx", sheet_of(header + "".join(rows))) == (kept, places)
    for row, place in zip(rows, places, strict=False):  # alone, so that no other cell leads to it
        assert lost(tmp_path, "f.xlsx", sheet_of(header + re.sub(r"\br=(['\"])([A-C]?)\d", r"r=\1\g<2>2", row)))[1], (
            place
        )
    # Without references, and with a prefix.
    bare = re.sub(r" r=(['\"])\w+['\"]", "", header + "".join(rows))
    assert lost(tmp_path, "f.xlsx", sheet_of(bare)) == (kept, places)
    prefixed = re.sub(r"(</?)(?=[a-z])", r"\1x:", bare)
    assert lost(tmp_path, "f.xlsx", sheet_of(prefixed, "x:")) == (kept, places)
    # XlsxWriter stores 0 for each formula, and has the workbook computed when it is opened.
    zero = header + named.format(n=2, cell='<c r="C2"><f>1+1</f><v>0</v></c>')
    assert lost(tmp_path, "f.xlsx", sheet_of(zero)) == (["S2"], [])
    assert lost(tmp_path, "f.xlsx", sheet_of(zero, stale=True)) == ([], [(2, "price", "row", "C2: =1+1")])
    disordered = header + rows[1] + rows[0]
    with pytest.raises(LoadRefused, match="has row 2 behind row 3: open it in a spreadsheet program, save it"):
        lost(tmp_path, "f.xlsx", sheet_of(disordered))


def test_cells_without_a_value_are_those_of_the_sheet_that_is_read(tmp_path: Path) -> None:
    content = workbook([["sku", "title", "price"], ["S1", "x", "=1+1"]], "Other")
    book = openpyxl.load_workbook(io.BytesIO(content))
    for row in ([5, 6], ["sku", "title", "price"], ["S2", "y", 3], ["S3", "y", "#N/A"]):
        book["Other"].append(row)
    saved = io.BytesIO()
    book.save(saved)
    path = put(tmp_path, saved.getvalue(), "f.xlsx")
    found = rows_of(path, a_mapping(tmp_path, PRICED, HEAD + 'sheet = "Other"\nskip_rows = 3\n'))
    assert ([row for row, *_ in found[0]], [line for line, _ in found[1]]) == ([5], [6])


def test_cells_of_opendocument_without_a_value_are_rejects(tmp_path: Path) -> None:
    """As LibreOffice writes an error, OpenOffice did, and programs that cannot compute write a formula."""
    cells = {
        'table:formula="of:=NA()" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#N/A</text:p>': "C{n}: #N/A",
        'table:formula="of:=1/0" office:value-type="float" office:value="0"><text:p>#DIV/0!</text:p>': "C{n}: #DIV/0!",
        'table:formula="of:=[.A2]&gt;1">': "C{n}: of:=[.A2]>1",
        'table:formula="of:=1+1" office:value-type="float" office:value="2"><text:p>2</text:p>': None,
        'table:formula="of:=&quot;#1&quot;" office:value-type="string"><text:p>#1</text:p>': None,
    }
    rows = [
        ["string||sku", "string||title", "string||price"],
        *([f"string||S{n}", "string||x", f"string||CELL{n}"] for n in range(2, 7)),
    ]
    files = unpacked(opendocument(rows))
    text = str(files["content.xml"], "utf-8").replace("xmlns:text=", 'xmlns:calcext="urn:x" xmlns:text=')
    for n, cell in enumerate(cells, 2):
        text = text.replace(f' office:value-type="string"><text:p>CELL{n}</text:p>', f" {cell}")
    places = [(n, "price", "row", shown.format(n=n)) for n, shown in enumerate(cells.values(), 2) if shown]
    assert lost(tmp_path, "f.ods", archive(files | {"content.xml": text})) == (["S5", "S6"], places)
    # Rows and cells that are repeated count, and so does one that calamine leaves out, below the last value.
    last = '<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="3" {}/></table:table-row>'
    more = last.format("") + last.format('table:formula="of:=1"') + "</table:table>"
    _, rejects = lost(tmp_path, "f.ods", archive(files | {"content.xml": text.replace("</table:table>", more)}))
    assert rejects[3:] == [(9, "sku", "row", "A9: of:=1"), (10, "sku", "row", "A9: of:=1")]


def test_a_cell_that_is_merged_over_several_rows_holds_for_each_of_them(tmp_path: Path) -> None:
    """The judge is openpyxl, which says which cells are merged; those of the header hold for no row below it."""
    rows = [
        ["Prices"],
        ["", "a", "b"],
        ["", "", "further"],
        ["", "1", "Milk"],
        ["", "2"],
        ["", "3"],
        [],
        ["", "4", "=1"],
    ]
    book = openpyxl.Workbook()
    for row in [*rows, ["", "5"], ["", "6", "Bread"], ["", "", "Egg"]]:
        book.active.append([cell or None for cell in row])
    for cells in ("A1:C1", "B2:B3", "C4:C7", "C8:C9", "B10:B11"):
        book.active.merge_cells(cells)
    written = io.BytesIO()
    book.save(written)
    sheet = openpyxl.load_workbook(io.BytesIO(written.getvalue())).active
    shown = {
        (row, column): str(sheet.cell(area.min_row, area.min_col).value)
        for area in sheet.merged_cells.ranges
        for row, column in area.cells
        if area.min_row > 2
    }
    path = put(tmp_path, written.getvalue(), "f.xlsx")
    found, rejects = rows_of(path, a_mapping(tmp_path, TWO, HEAD + "skip_rows = 1\n"))
    judged = [
        (row, *(shown.get((row, column)) or str(sheet.cell(row, column).value or "") for column in (2, 3)))
        for row in (3, 4, 5, 6, 10, 11)
    ]
    assert (found, [line for line, _ in rejects]) == (judged, [8, 9])
    assert found[3] == (6, "3", "Milk") and found[-1] == (11, "6", "Egg")


def test_a_cell_of_opendocument_that_is_merged_over_several_rows_holds_for_each_of_them(tmp_path: Path) -> None:
    rows = [["string||a", "string||b"], *([f"string||{n}", f"string||CELL{n}"] for n in range(1, 6))]
    text = str(unpacked(opendocument(rows))["content.xml"], "utf-8")
    # As LibreOffice writes it: each merged cell says over how many rows and columns, and those below are covered.
    typed = '<table:table-cell office:value-type="string"><text:p>CELL{}</text:p></table:table-cell>'
    spans = 'table:number-columns-spanned="1" table:number-rows-spanned="{}" office:value-type="string"'
    merged = typed.replace('office:value-type="string"', spans)
    for n, cell in ((1, merged.format(3, "Milk")), (4, merged.format(1, "Egg")), (5, "<table:table-cell/>")):
        text = text.replace(typed.format(n), cell.replace("CELL", ""))
    for n in (2, 3):
        text = text.replace(typed.format(n), "<table:covered-table-cell/>")
    content = archive(unpacked(opendocument(rows)) | {"content.xml": text})
    expected = [("1", "Milk"), ("2", "Milk"), ("3", "Milk"), ("4", "Egg"), ("5", "")]
    assert read(tmp_path, "f.ods", content) == expected


OLD_SHEET = Path(__file__).parents[3] / "data/files/70_excel97.xls"


def test_cells_of_excel_97_keep_their_type(tmp_path: Path) -> None:
    columns = ["sku", "name", "ean", "price", "date", "updated", "organic"]
    named = "".join(f'{name} = "{name}"\n' for name in columns[2:])
    text = f'[item]\nid = "sku"\nname = "name"\n[item.attributes]\n{named}'
    assert read(tmp_path, "f.xls", OLD_SHEET.read_bytes(), "skip_rows = 2\n", text) == [
        ("0012", "Kaffee 500g", "0401234567893", "1299.5", "2026-10-01", "2026-10-01 23:30:00", "true"),
        ("0013", "Zoë – 茶", "4006381333931", "0.1", "2026-02-28", "2026-02-28", "false"),
        ("0014", "Seife", "4006381333931", "7", "2024-02-29", "", ""),
    ]


def test_cells_of_opendocument_keep_their_type(tmp_path: Path) -> None:
    cells = {
        "string||0012": "0012",
        "float|7|7": "7",
        "float|1299.5|1.299,50": "1299.5",
        "float|0.1|0,10": "0.1",
        "float|4006381333931|4,01E+12": "4006381333931",
        "currency|1299.5|1.299,50 €": "1299.5",
        "date|2026-10-01|1. Oktober 26": "2026-10-01",
        "date|2026-10-01T23:30:00|01.10.26 23:30": "2026-10-01 23:30:00",
        "boolean|true|WAHR": "true",
        "string||Zoë – 茶 &amp; more": "Zoë – 茶 & more",
    }
    rows = [["string||a", "string||b"], *([f"float|{n}|{n}", cell] for n, cell in enumerate(cells))]
    assert read(tmp_path, "f.ods", opendocument(rows)) == [(str(n), text) for n, text in enumerate(cells.values())]


def test_the_sheet_with_rows_is_read_and_several_are_asked_about(tmp_path: Path) -> None:
    content = workbook([["Prices of October"], ["a", "b"], ["1", "x"]])
    assert read(tmp_path, "f.xlsx", content, "skip_rows = 1\n") == [("1", "x")]
    both = workbook([["a", "b"], ["1", "x"]], "Other")
    assert "name one by `sheet`: 'Sheet', 'Other'" in refused(tmp_path, "f.xlsx", both)
    assert read(tmp_path, "f.xlsx", both, 'sheet = "Sheet"\n') == [("1", "x")]
    book = openpyxl.load_workbook(io.BytesIO(both))
    book["Other"].sheet_state = "hidden"
    book.save(tmp_path / "hidden.xlsx")
    shown = (tmp_path / "hidden.xlsx").read_bytes()
    assert read(tmp_path, "f.xlsx", shown) == [("1", "x")]
    assert read(tmp_path, "f.xlsx", shown, 'sheet = "Other"\n', TWO.replace('"a"', '"x"').replace('"b"', '"y"')) == [
        ("1", "2")
    ]
    assert "has no sheet 'None'; it has 'Sheet', 'Other'" in refused(tmp_path, "f.xlsx", both, 'sheet = "None"\n')
    assert "the file is broken" in refused(tmp_path, "f.xlsx", both[:2_000])
    assert "is no sheet that can be read" in refused(
        tmp_path, "f.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600
    )


def test_an_archive_gives_its_one_file(tmp_path: Path) -> None:
    rows = "a,b\n1,x\n"
    assert read(tmp_path, "f.zip", archive({"p/prices.csv": rows, "__MACOSX/p/._prices.csv": "x"})) == [("1", "x")]
    assert read(tmp_path, "f.tar.gz", tarred({"prices.csv": rows.encode()})) == [("1", "x")]
    assert read(tmp_path, "f.tar", tarred({"prices.csv": rows.encode()}, "w")) == [("1", "x")]
    assert read(tmp_path, "f.zip", archive({"f.xlsx": workbook([["a", "b"], ["1", "x"]])})) == [("1", "x")]
    two = archive({"one.csv": rows, "two.csv": "a,b\n2,y\n"})
    assert "name one of them by `member` (or --member); it has one.csv, two.csv" in refused(tmp_path, "f.zip", two)
    assert read(tmp_path, "f.zip", two, 'member = "tw*.csv"\n') == [("2", "y")]
    assert "no file 'x.csv'" in refused(tmp_path, "f.zip", two, 'member = "x.csv"\n')
    assert "is no archive" in refused(tmp_path, "f.csv", rows, 'member = "x.csv"\n')
    assert "an archive within an archive" in refused(tmp_path, "f.zip", archive({"a.zip": two}))
    assert "is packed with xz: unpack it first" in refused(tmp_path, "f.csv.xz", lzma.compress(b"id,name\n1,A\n"))
    assert "is a PDF document" in refused(tmp_path, "f.csv", b"%PDF-1.7\n")


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def spoilt(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(200) + content[middle + 200 :]


def zipped(packing: int) -> bytes:
    return archive({"a.csv": LONG}, packing)


BROKEN: dict[str, Callable[[], bytes]] = {
    "cut.zip": lambda: cut(zipped(zipfile.ZIP_DEFLATED)),
    "spoilt.zip": lambda: spoilt(zipped(zipfile.ZIP_DEFLATED)),
    "lzma.zip": lambda: spoilt(zipped(zipfile.ZIP_LZMA)),
    "bzip2.zip": lambda: spoilt(zipped(zipfile.ZIP_BZIP2)),
    "longer.zip": lambda: zipped(zipfile.ZIP_STORED).replace(len(LONG).to_bytes(4, "little"), b"\0\0\xff\0"),
    "unknown-packing.zip": lambda: zipped(zipfile.ZIP_DEFLATED).replace(b"\x08\0", b"\x63\0"),
    "misnamed.zip": lambda: (
        zipped(zipfile.ZIP_DEFLATED).replace(b"a.csv", b"\xc7.csv").replace(b"\0\0\x08", b"\0\x08\x08")
    ),
    "no.tar": lambda: LONG,
    "cut.tar": lambda: cut(tarred({"a.csv": LONG}, "w")),
    "spoilt.tar.gz": lambda: gzip.compress(tarred({"a.csv": LONG}, "w"), 0).replace(b"\n700,", b"\n9,,,"),
    "spoilt.tar.xz": lambda: spoilt(tarred({"a.csv": LONG}, "w:xz")),
    "spoilt.csv.gz": lambda: spoilt(gzip.compress(LONG)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_called_broken_by_a_guess_and_by_a_load(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, BROKEN[name](), name)
    for reader in (sample, lambda path: rows_of(path, a_mapping(tmp_path, TWO, HEAD))):
        with pytest.raises(LoadRefused, match=f"^{name}: the file is broken: .+"):
            reader(path)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, archive({"a.csv": "a,b\n" + "1,x\n" * 100_000}), "f.zip")
    with pytest.raises(LoadRefused, match="unpacks to more than 1,000 bytes"):
        rows_of(path, a_mapping(tmp_path, TWO, HEAD), unpacked_bytes_max=1_000)


def test_lines_above_the_header_are_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, "f.csv", "sep=;\r\na;b\r\n1;x\r\n", 'delimiter = ";"\n') == [("1", "x")]
    above = "Price list\nExported\n\n"
    assert read(tmp_path, "f.csv", f"{above}a,b\n1,x\n", "skip_rows = 2\n") == [("1", "x")]
    rows, _ = rows_of(put(tmp_path, f"{above}a,b\n1,x\n"), a_mapping(tmp_path, TWO, HEAD + "skip_rows = 3\n"))
    assert rows == [(5, "1", "x")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_below_the_header_that_explain_it_are_left_out(tmp_path: Path, end: str) -> None:
    text = end.join(["Prices", "a,b", "An id,Text", '"two', 'lines",', "1,x", "2,y", ""])
    path = put(tmp_path, text)
    for first, rows in ((6, [(6, "1", "x"), (7, "2", "y")]), (7, [(7, "2", "y")])):
        mapping = a_mapping(tmp_path, TWO, HEAD + f"skip_rows = 1\nfirst_row = {first}\n")
        for block_bytes in (1, 2, 3, 5, 1 << 20):
            assert rows_of(path, mapping, block_bytes=block_bytes) == (rows, []), (first, block_bytes)
    for beyond in (8, 9):
        assert "not one row" in refused(tmp_path, "f.csv", text, f"skip_rows = 1\nfirst_row = {beyond}\n")
    sheet = workbook([["Prices"], ["a", "b"], ["An id", "Text"], [], ["1", "x"]])
    assert read(tmp_path, "f.xlsx", sheet, "skip_rows = 1\nfirst_row = 5\n") == [("1", "x")]


def test_a_long_line_that_is_left_out_is_not_kept(tmp_path: Path) -> None:
    text = "a,b\n" + "x" * (2 * csv_records.RECORD_BYTES_MAX) + "\n1,x\n"
    assert read(tmp_path, "f.csv", text, "first_row = 3\n") == [("1", "x")]


def test_escaped_quotation_marks_are_read_as_duckdb_reads_them(tmp_path: Path) -> None:
    text = '"a","b"\n"1","He said \\"go\\", game"\n"2","back\\\\"\n"3","two\nlines \\" more"\n'
    path = put(tmp_path, text)
    expected = duckdb.sql(f"SELECT * FROM read_csv('{path}', all_varchar=true, escape='\\', header=true)").fetchall()
    assert read(tmp_path, "a.csv", text, 'escape = "\\\\"\n') == expected


def test_cells_are_filled_down_within_their_group(tmp_path: Path) -> None:
    text = "a,b\nx,T\nx,\ny,\nz,Q\n" + "z,\n" * 1_500 + "y,\n"
    down = 'fill_down = { within = "a", columns = ["b"] }\n'
    found = read(tmp_path, "f.csv", text, down)
    assert found == [("x", "T"), ("x", "T"), ("y", ""), *[("z", "Q")] * 1_501, ("y", "")]


def test_a_row_without_its_group_belongs_to_the_one_above_where_the_group_is_filled_down_too(tmp_path: Path) -> None:
    text = "a,b,c\n,,0\nx,T,1\n,,2\ny,,3\n,,4\nz,Q,5\n" + ",x,6\n,,7\n" * 1_500
    down = 'fill_down = { within = "a", columns = ["a", "b"] }\n'
    found = read(tmp_path, "f.csv", text, down)
    assert found == [(None, None), ("x", "T"), ("x", "T"), ("y", ""), ("y", ""), ("z", "Q"), *[("z", "x")] * 3_000]


def test_cells_of_parquet_are_filled_down_as_what_they_are(tmp_path: Path) -> None:
    day, price = [date(2026, 1, 2), None, None, None], [Decimal("0.00"), None, Decimal("3.50"), None]
    kept, text = pa.array(["T", None, None, "U"]).dictionary_encode(), ["x", "", None, "y"]
    columns = {"a": ["g", "g", "g", "h"], "b": day, "c": price, "d": kept, "e": text}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    rule = FillDown(within="a", columns=("b", "c", "d", "e"))
    batches = reshape.filled_down(read_parquet.read_parquet(tmp_path / "f.parquet", tuple(columns), 2, 1 << 30), rule)
    rows = [row for batch in batches for row in zip(*(batch.columns[n].to_pylist() for n in "bcde"), strict=True)]
    first, zero = date(2026, 1, 2), Decimal("0.00")
    assert rows == [
        (first, zero, "T", "x"),
        (first, zero, "T", "x"),
        (first, Decimal("3.50"), "T", "x"),
        (None, None, "U", "y"),
    ]


def test_a_row_of_another_width_that_is_no_utf8_is_a_reject(tmp_path: Path) -> None:
    content = "a,b\n1,é\n2,x\xff,more\n3,x\xff\n4,y,more\n5,ü\n".encode("latin-1").replace(b"\xe9", "é".encode())
    path = put(tmp_path, content.replace(b"\xfc", "ü".encode()), "f.csv")
    rows, rejects = rows_of(path, a_mapping(tmp_path, TWO, HEAD))
    assert [row[1:] for row in rows] == [("1", "é"), ("5", "ü")]
    assert sorted(reject[:2] for reject in rejects) == [
        (3, "has 3 columns instead of 2"), (4, "is not valid UTF-8"), (5, "has 3 columns instead of 2")
    ]  # fmt: skip


def test_each_member_of_a_list_is_a_row(tmp_path: Path) -> None:
    objects = ['{"a": 1, "v": [{"b": "x"}, {"b": "y"}, {}]}', '{"a": 2, "v": []}', '{"a": 3}', '{"a": 4, "v": [5]}']
    rows = [("1", "x"), ("1", "y"), ("1", None), ("2", None), ("3", None), ("4", None)]
    mapping = TWO.replace('"b"', '"v.b"')
    each = 'each = "v"\n'
    assert read(tmp_path, "f.ndjson", "\n".join(objects), each, mapping) == rows
    assert read(tmp_path, "f.json", f"[{','.join(objects)}]", each, mapping) == rows
    many = json.dumps({"a": 1, "v": [{"b": n} for n in range(9_000)]})
    assert read(tmp_path, "f.ndjson", many, each, mapping) == [("1", str(n)) for n in range(9_000)]
    for name, content in (("f.csv", "a,b\n1,2\n"), ("f.xml", "<c><p><a>1</a><b>2</b></p></c>")):
        assert "leave it out" in refused(tmp_path, name, content, each + 'records = "c/p"\n')


def test_rows_without_a_value_in_a_named_column_are_not_read(tmp_path: Path) -> None:
    text = "a,b\n1,x\n2,\n3,  \n" + "4,\n" * 1_500 + "5,y\n"
    assert read(tmp_path, "f.csv", text, 'rows_with = "b"\n') == [("1", "x"), ("5", "y")]
    objects = '[{"a": 1, "b": "x"}, {"a": 2, "b": null}, {"a": 3}]'
    assert read(tmp_path, "f.json", objects, 'rows_with = "b"\n') == [("1", "x")]
    columns = {"a": [1, 2, 3], "b": [None, date(2026, 1, 2), None]}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    rows, _ = rows_of(tmp_path / "f.parquet", a_mapping(tmp_path, TWO, HEAD + 'rows_with = "b"\n'))
    assert [row[1] for row in rows] == ["2"]
    down = 'rows_with = "b"\nfill_down = { within = "a", columns = ["b"] }\n'
    assert read(tmp_path, "f.csv", "a,b\nx,T\nx,\ny,\n", down) == [("x", "T"), ("x", "T")]
    assert "not one row" in refused(tmp_path, "f.csv", "a,b\n1,\n2,\n", 'rows_with = "b"\n')
    assert "no column 'c'" in refused(tmp_path, "f.csv", "a,b\n1,\n2,\n", 'rows_with = "c"\n')


AMOUNTS: dict[str, dict[str, str | None]] = {
    # text: by currency the amount, None where it is none that can be read in one way
    "CHF 1'299.–": {"CHF": "1299.00"},
    "1 299,00 €": {"EUR": "1299.00"},
    "₹1,23,456.00": {"INR": "123456.00"},
    "US$ 12": {"USD": "12.00"},
    "12.-": {"CHF": "12.00"},
    "¥1,200": {"JPY": "1200", "CNY": None},
    "KWD 1.250": {"KWD": "1.250"},
    "1.234 €": {"EUR": None},
    "0.250": {"EUR": "0.25", "KWD": "0.250"},
    "1.999,00": {"EUR": "1999.00"},
    "1,999.00": {"EUR": "1999.00"},
    "2,4": {"EUR": "2.40"},
    "1.234.567": {"EUR": "1234567.00"},
    "-5.00": {"EUR": None},
    "(5.00)": {"EUR": None},
    "1.20 EUR/kg": {"EUR": None},
    "3 for 2": {"EUR": None},
    "5 %": {"EUR": None},
    "€.50": {"EUR": None},
    "1,2,3": {"EUR": None},
    "12 34": {"EUR": None},
    "free": {"EUR": None},
}


def test_an_amount_is_read_as_people_write_it_or_not_at_all() -> None:
    for text, of in AMOUNTS.items():
        batch = Batch({"p": pa.array([text], pa.string())}, [1])
        for currency, amount in of.items():
            read = read_amounts.amounts(Field(column="p", free_form=True), batch, Path("f.csv"), currency)
            expected = None if amount is None else int(amount.replace(".", ""))
            assert read.values.to_pylist() == [expected], (text, currency)


def test_digits_are_filled_up_with_the_zeros_that_were_lost() -> None:
    for text, kept in (
        ("31146262571", "00031146262571"),
        ("31146262571.0", "00031146262571"),
        ("5,01E+12", "5,01E+12"),
        ("", None),
    ):
        batch = Batch({"p": pa.array([text], pa.string())}, [1])
        assert clean.texts(Field(column="p", pad=14), batch, Path("f.csv")).to_pylist() == [kept], text


def test_serial_numbers_of_spreadsheets_are_the_days_that_openpyxl_reads() -> None:
    from openpyxl.utils.datetime import from_excel

    for serial in (61, 1_000, 45_931, 45_931.75, 60_000):
        expected = from_excel(serial).date()
        assert parsed(str(serial), ("excel",)) == (expected - EPOCH).days
    assert [parsed(text, ("excel",)) for text in ("60", "0", "-1", "2026-10-01", "1e5", "9999999")] == [None] * 6


def test_the_day_of_the_load_is_part_of_what_a_load_is_known_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workers.ingest import mapping_tables

    text = (
        TWO + '[observation]\nday = { load_day = true }\nchannel = "b"\nprice = "a"\ncurrency = { constant = "EUR" }\n'
    )
    path = put(tmp_path, "a,b\n1,x\n")

    def digest_on(day: int) -> bytes:
        moment: Callable[[], datetime] = lambda: datetime(2026, 10, day)  # noqa: E731
        monkeypatch.setattr(mapping_tables, "utc_now", moment)
        mapping = a_mapping(tmp_path, text, HEAD)
        assert mapping.observations[0].day.constant == f"2026-10-0{day}"
        return input_files.digest(mapping, [path], [input_files.input_file(path)])

    assert digest_on(1) == digest_on(1) != digest_on(2)
