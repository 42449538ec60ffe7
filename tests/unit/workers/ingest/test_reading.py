"""Files of every form are read row by row, as other readers read them; what is no row is a reject."""

import codecs
import csv
import gzip
import io
import json
import random
import re
from pathlib import Path

import duckdb
import pandas
import pyarrow as pa
import pyarrow.parquet
import pytest

from shared.errors import LoadRefused
from tests.unit.workers.ingest.reading import HEAD, TEXT, a_mapping, gathered, put, rows_of
from workers.ingest.files import csv_records, read_file
from workers.ingest.files.read_ndjson import read_ndjson
from workers.ingest.sampling.read_sample import sample


@pytest.mark.parametrize(
    ("content", "kept", "lost"),
    [
        ('1,"W,Widgets\n2,B,C\n3,B,C\n', [3, 4], [2]),  # never closed
        ('1,"10 inch,x\n2,B,C\n3,"5 inch,x\n4,B,C\n', [3, 5], [2, 4]),  # closed by what opens another
        ('1,A,x\n2,"B"oops,C\n3,C,x\n', [2, 4], [3]),  # text after the closing mark
        ('1,5" pipe,x\n2,B "quoted",C\n', [2, 3], []),  # a mark within a cell is a character
        ('1,"two\nlines",x\n2,"say ""hi""",C\n3,"",x\n', [2, 4, 5], []),
        ('1,"10 inch,x\n2,B,C\n3,5",x\n4,B,C\n', [5], [2, 3, 4]),  # swallowed rows are rejects of their own
        ("1,A\n2,B,C\n3,B,C,D\n", [3], [2, 4]),
        ("\n\n1,A,x\n\n2,B,C\n\n", [4, 6], []),
        ("1,A,x\r\n2,B,C\r\n", [2, 3], []),
        ('1,A,x\n2,B,"', [2], [3]),
        ('1,A,x\n"2,B,C', [2], [3]),
        ("1,A,x\n2,B,C", [2, 3], []),
        ("1,A,x\n,,\n\n2,B,C\n,B,\n,,\r\n,,", [2, 5, 6], []),  # as spreadsheets write what is below the last row
    ],
)
def test_a_stray_quotation_mark_costs_its_own_line(
    tmp_path: Path, content: str, kept: list[int], lost: list[int]
) -> None:
    path = put(tmp_path, "id,name,brand\n" + content)
    for block in (20, 64, 1 << 20):
        rows, rejects = rows_of(path, a_mapping(tmp_path), block_bytes=block)
        assert ([row[0] for row in rows], [line for line, _ in rejects]) == (kept, lost), block


def test_empty_cells_beyond_the_columns_cost_no_row(tmp_path: Path) -> None:
    """As in exports that end each line with a delimiter. The judge is DuckDB; cells with content stay rejects."""
    lines = ["1,A,x,", "2,B,y", "3,C,,,", '4,"D,",w,""', '5,"E\nF",v,', "6,G,"]
    path = put(tmp_path, "\n".join(["id,name,brand", *lines, ""]))
    names = "{'id': 'VARCHAR', 'name': 'VARCHAR', 'brand': 'VARCHAR'}"
    reader = f"read_csv(?, header = true, delim = ',', quote = '\"', auto_detect = false, columns = {names})"
    judged = duckdb.execute(f"select id, name, coalesce(brand, '') from {reader}", [str(path)]).fetchall()
    assert len(judged) == len(lines)
    for block in (20, 64, 1 << 20):
        rows, rejects = rows_of(path, a_mapping(tmp_path), block_bytes=block)
        assert ([row[1:] for row in rows], rejects) == (judged, []), block
        assert [row[0] for row in rows] == [2, 3, 4, 5, 6, 8]
    mixed = put(
        tmp_path,
        "id,name,brand\n1,A,x,\n2,B,y,z\n,,,\n3,C,x\n4,D,,x, \n5,E,y, \n6,\xe9,x,\n".encode("latin-1"),
        "b.csv",
    )
    wide = [(3, "has 4 columns instead of 3"), (6, "has 5 columns instead of 3"), (8, "is not valid UTF-8")]
    assert rows_of(mixed, a_mapping(tmp_path)) == ([(2, "1", "A", "x"), (5, "3", "C", "x"), (7, "5", "E", "y")], wide)
    escaped = put(tmp_path, "id,name,brand\n1,A,x\\,,\n2,B,y\\,\n", "c.csv")
    rows, rejects = rows_of(escaped, a_mapping(tmp_path, before='escape = "\\\\"\n'))
    assert ([row[3] for row in rows], rejects) == (["x,", "y,"], [])


def test_the_header_of_lines_that_end_with_a_delimiter_is_found(tmp_path: Path) -> None:
    rows = "A1;Milk;1,5;;\nA2;Egg;2,5;;\nA3;Tea;2,5;;\n"
    made = sample(put(tmp_path, f"Prices\nsku;title;price\n{rows}"))
    assert (made.columns, made.header, len(made.rows)) == (("sku", "title", "price"), 2, 3)
    made = sample(put(tmp_path, "sku;title;note\nA1;Milk;\nA2;Egg;\nA3;Tea;\n"))
    assert (made.columns, made.header) == (("sku", "title", "note"), 1)


def test_a_mapping_may_trust_cells_that_hold_rows(tmp_path: Path) -> None:
    path = put(tmp_path, 'id,name,brand\n1,"a\n2,b,c\nd",x\n')
    assert rows_of(path, a_mapping(tmp_path))[0] == []
    assert rows_of(path, a_mapping(tmp_path, before="cells_span_lines = true\n"))[0] == [(2, "1", "a\n2,b,c\nd", "x")]


def test_any_file_that_a_csv_writer_wrote_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The judge is Python's csv module. Few bytes a block, so that records end in every place of one."""
    chance = random.Random(7)
    mapping = a_mapping(tmp_path, before="cells_span_lines = true\n")
    for _ in range(120):
        written = io.StringIO()
        writer = csv.writer(
            written,
            quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
            lineterminator=chance.choice(["\n", "\r\n"]),
        )
        rows = [
            ["".join(chance.choices('ab,"\n é', k=chance.randrange(1, 9))) + "." for _ in range(3)]
            for _ in range(chance.randrange(1, 9))
        ]
        writer.writerows([["id", "name", "brand"], *rows])
        found, rejects = rows_of(put(tmp_path, written.getvalue()), mapping, block_bytes=40)
        assert rejects == []
        assert [list(row[1:]) for row in found] == rows


@pytest.mark.parametrize(
    ("before", "content"),
    [
        ("", codecs.BOM_UTF8 + "id,name,brand\n1,Café,x\n".encode()),
        ("", 2 * codecs.BOM_UTF8 + "id,name,brand\n1,Café,x\n".encode()),
        ("", 2 * codecs.BOM_UTF16_LE + "id,name,brand\n1,Café,x\n".encode("utf-16-le")),
        ('encoding = "latin-1"\n', "id,name,brand\n1,Café,x\n".encode("latin-1")),
        ("", "id,name,brand\n1,Café,x\n".encode("utf-16")),
        ('encoding = "utf-16"\n', "id,name,brand\n1,Café,x\n".encode("utf-16")),
        ('encoding = "cp1252"\ndelimiter = ";"\n', "id;name;brand\r\n1;Café;x\r\n".encode("cp1252")),
        ('delimiter = "\\t"\nquote = ""\n', "id\tname\tbrand\n1\tCafé\tx\n".encode()),
    ],
)
def test_a_file_is_read_in_its_own_encoding_and_form(tmp_path: Path, before: str, content: bytes) -> None:
    assert rows_of(put(tmp_path, content), a_mapping(tmp_path, before=before)) == ([(2, "1", "Café", "x")], [])


def test_without_quotation_marks_they_are_characters(tmp_path: Path) -> None:
    rows, rejects = rows_of(put(tmp_path, 'id,name,brand\n1,"a,b\n'), a_mapping(tmp_path, before='quote = ""\n'))
    assert (rows, rejects) == ([(2, "1", '"a', "b")], [])


def test_bytes_that_the_encoding_lacks_reject_their_row(tmp_path: Path) -> None:
    path = put(tmp_path, b"id,name,brand\n1,Caf\x81,x\n2,B,x\n")
    rows, rejects = rows_of(path, a_mapping(tmp_path, before='encoding = "cp1252"\n'))
    assert [row[0] for row in rows] == [3]
    assert rejects == [(2, "is not valid CP1252")]


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson"])
def test_a_line_of_any_length_is_a_reject_in_flat_memory(tmp_path: Path, name: str) -> None:
    long = b"x" * (9 << 20)
    content = {
        "a.csv": b"id,name,brand\n1,A,x\n2," + long + b",x\n3,C,x\n",
        "a.ndjson": b'{"id":1,"name":"A","brand":"x"}\n{"id":"' + long + b'"}\n{"id":3,"name":"C","brand":"x"}\n',
    }[name]
    rows, rejects = rows_of(put(tmp_path, gzip.compress(content), name + ".gz"), a_mapping(tmp_path))
    assert [row[1] for row in rows] == ["1", "3"]
    assert len(rejects) == 1
    assert "is longer than" in rejects[0][1]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.ndjson.gz"])
def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, gzip.compress(b"id,name,brand\n" + b"1,A,x\n" * 100_000), name)
    with pytest.raises(LoadRefused, match="unpacks to more"):
        rows_of(path, a_mapping(tmp_path), unpacked_bytes_max=100_000)


@pytest.mark.parametrize(
    ("header", "word"),
    [
        ("id,name\n", "no column 'brand'"),
        ("id,name,brands\n", "is 'brands' meant"),
        ("id,name,brand,brand\n", "2 columns"),
        ("\n\n", "header"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path: Path, header: str, word: str) -> None:
    with pytest.raises(LoadRefused, match=word):
        rows_of(put(tmp_path, header), a_mapping(tmp_path))


@pytest.mark.parametrize("name", ["name", " name", "name\t"])
def test_blanks_around_a_title_are_no_part_of_it_unless_they_tell_two_apart(tmp_path: Path, name: str) -> None:
    mapping = a_mapping(tmp_path, TEXT.replace('"name"', json.dumps(name)))
    for header in ("id, name, brand\n", "id,name,brand\n", "\tid ,name ,brand \n"):
        assert rows_of(put(tmp_path, header + "1,A,x\n"), mapping) == ([(2, "1", "A", "x")], [])
    twice = put(tmp_path, "id,name, name,name\t,brand\n1,name, name,name\t,x\n")
    assert rows_of(twice, mapping) == ([(2, "1", name, "x")], [])
    with pytest.raises(LoadRefused, match="has 2 columns"):
        rows_of(put(tmp_path, "id,  name,name  ,brand\n1,A,B,x\n"), mapping)


def test_a_header_may_name_twice_what_is_not_needed(tmp_path: Path) -> None:
    assert rows_of(put(tmp_path, "id,x,name,x,brand\n1,a,b,c,d\n"), a_mapping(tmp_path))[0] == [(2, "1", "b", "d")]


def test_members_are_found_by_paths_and_numbers_keep_their_digits(tmp_path: Path) -> None:
    mapping = a_mapping(tmp_path, TEXT.replace('"brand"', '"brand.names.1"'))
    rows = [{"id": 1.10, "name": True, "brand": {"names": ["a", "b"]}}, {"id": "x", "name": "n", "brand": None}]
    content = (
        "\n".join(map(json.dumps, rows)).replace("1.1", "1.10")
        + '\n{"id":12345678901234567890.12345678901234567890,"name":"n"}\n'
    )
    found, rejects = rows_of(put(tmp_path, content, "a.ndjson"), mapping)
    assert (found, rejects) == (
        [(1, "1.10", "true", "b"), (2, "x", "n", None), (3, "12345678901234567890.12345678901234567890", "n", None)],
        [],
    )


def test_a_member_that_no_row_has_is_an_error_unless_it_is_sparse(tmp_path: Path) -> None:
    path = put(tmp_path, '{"id":"1","name":"A","brand":{"name":"B"}}\n', "a.ndjson")
    with pytest.raises(LoadRefused, match=r"no row has a member 'brand.nam'.*is 'brand.name' meant"):
        rows_of(path, a_mapping(tmp_path, TEXT.replace('"brand"', '"brand.nam"')))
    sparse = TEXT.replace('"brand"', '{ column = "brand.nam", sparse = true }')
    assert rows_of(path, a_mapping(tmp_path, sparse))[0] == [(1, "1", "A", None)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id":1,"id":2,"name":"A","brand":"B"}', "names a member twice"),
        ('{"id":1,"name":{"x":1},"brand":"B"}', "an object or a list"),
        ("[1]", "not a JSON object"),
        ("{", "not a JSON object"),
        ('{"id":"\\ud800"}', "surrogate"),
        ('{"id":1,"x":' + "[" * 40 + "]" * 40 + "}", "nested deeper"),
        ('{"id":1,"x":' + "[" * 200_000 + "]" * 200_000 + "}", "nested deeper"),
        ("\\xff", "not a JSON object"),
    ],
    ids=["twice", "object", "list", "broken", "surrogate", "deep", "very deep", "noise"],
)
def test_a_line_that_is_no_plain_object_is_a_reject(tmp_path: Path, line: str, reason: str) -> None:
    good = '{"id":"9","name":"A","brand":"[[[[{{{{"}'
    rows, rejects = rows_of(put(tmp_path, f"{line}\n{good}\n", "a.ndjson"), a_mapping(tmp_path))
    assert [row[1] for row in rows] == ["9"]
    assert [line for line, _ in rejects] == [1]
    assert reason in rejects[0][1]


def test_a_header_without_an_end_is_refused_soon(tmp_path: Path) -> None:
    with pytest.raises(LoadRefused, match="header is too long"):
        rows_of(put(tmp_path, b"x" * (3 << 20)), a_mapping(tmp_path))
    assert csv_records.RECORD_BYTES_MAX == 1 << 20


NESTED = """[item]
id = "id"
name = "title.en"
brand = "offers.1.shop"
"""


def nested_parquet(folder: Path) -> Path:
    """Write rows of which each lacks something: the object, its member, the list, its second place."""
    rows = [
        {"id": 1, "title": {"en": "A"}, "offers": [{"shop": "x"}, {"shop": "y"}]},
        {"id": 2, "title": None, "offers": [{"shop": "z"}]},
        {"id": 3, "title": {"en": None}, "offers": []},
        {"id": 4, "title": {"en": "D"}, "offers": None},
        {"id": 5, "title": {"en": "E"}, "offers": [None, {"shop": "w"}]},
    ]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), folder / "a.parquet", row_group_size=2)
    return folder / "a.parquet"


def test_paths_in_parquet_hold_what_duckdb_finds_there(tmp_path: Path) -> None:
    path = nested_parquet(tmp_path)
    rows, rejects = rows_of(path, a_mapping(tmp_path, HEAD + NESTED))
    query = "SELECT id::text, title.en, offers[2].shop FROM read_parquet(?) ORDER BY id"
    assert ([row[1:] for row in rows], rejects) == (duckdb.execute(query, [str(path)]).fetchall(), [])


def test_a_batch_of_parquet_has_the_values_of_its_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    names = pa.array([f"Thing {n}" for n in range(1_000)]).dictionary_encode()
    pyarrow.parquet.write_table(pa.table({"id": [str(n) for n in range(1_000)], "name": names}), path)
    mapping = a_mapping(tmp_path, HEAD + '[item]\nid = "id"\nname = "name"\n')
    batches = list(read_file.read(path, mapping, batch_rows=10))
    assert [len(batch.columns["name"].dictionary) for batch in batches] == [10] * 100
    assert [name for batch in batches for name in batch.columns["name"].to_pylist()] == names.to_pylist()


def test_a_column_of_parquet_whose_name_has_a_point_is_that_column(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pa.table({"id": [1], "title.en": ["A"], "offers.1.shop": ["y"]}), path)
    assert rows_of(path, a_mapping(tmp_path, HEAD + NESTED))[0] == [(1, "1", "A", "y")]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("title", "'title' holds objects or lists; name a value of them by a path: title.en"),
        ("offers.0", "name a value of them by a path: offers.0.shop"),
        ("title.eng", "has no column 'title.eng'; it has id, title.en, offers.0.shop; is 'title.en' meant"),
        ("offers.first.shop", "has no column"),
        ("id.x", "has no column"),
    ],
)
def test_a_path_in_parquet_to_no_single_value_refuses_the_file(tmp_path: Path, column: str, said: str) -> None:
    mapping = a_mapping(tmp_path, HEAD + NESTED.replace("title.en", column))
    with pytest.raises(LoadRefused, match=re.escape(said)):
        rows_of(nested_parquet(tmp_path), mapping)


def test_a_misspelt_member_of_a_list_of_objects_is_answered_with_the_near_one(tmp_path: Path) -> None:
    path = put(tmp_path, '{"id": "1", "name": "A", "offers": [{"price": 1}]}\n', "a.ndjson")
    with pytest.raises(LoadRefused, match=re.escape("is 'offers.0.price' meant")):
        rows_of(path, a_mapping(tmp_path, TEXT.replace('"brand"', '"ofers.0.price"')))


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("header_ends", ["\r", "\r\n", "\n"])
def test_lines_may_end_in_each_way_that_pandas_reads(tmp_path: Path, header_ends: str, ends: str) -> None:
    lines = [f'{n},"Thing, {n}",B' for n in range(30)]
    path = put(tmp_path, "id,name,brand" + header_ends + ends.join(lines) + ends)
    frame = pandas.read_csv(path, dtype=str)
    for block in (7, 64, 1 << 20):
        rows, rejects = rows_of(path, a_mapping(tmp_path), block_bytes=block)
        assert ([row[1:] for row in rows], rejects) == (list(frame.itertuples(index=False, name=None)), []), block
        assert [row[0] for row in rows] == list(range(2, 32)), block


class Pieces(io.BytesIO):
    """A stream that returns a few bytes at a time, as one may."""

    most = 1

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.most)


@pytest.mark.parametrize("ends", ["\r", "\r\n"])
def test_lines_of_ndjson_may_end_in_a_carriage_return(tmp_path: Path, ends: str) -> None:
    objects = [{"id": str(n), "name": "A", "brand": "B"} for n in range(9)]
    stream = Pieces((ends.join(map(json.dumps, objects)) + ends).encode())
    for stream.most in (1, 10, 1_000):
        stream.seek(0)
        found = gathered(read_ndjson("a.ndjson", stream, a_mapping(tmp_path), 1_000))
        assert found == ([(n + 1, str(n), "A", "B") for n in range(9)], []), stream.most


def test_a_line_that_is_too_long_ends_at_a_carriage_return_too(tmp_path: Path) -> None:
    path = put(tmp_path, "id,name,brand\r1,A,x\r2," + "B" * (3 << 20) + ",x\r3,C,x\r")
    rows, rejects = rows_of(path, a_mapping(tmp_path))
    assert ([row[:2] for row in rows], [line for line, _ in rejects]) == ([(2, "1"), (4, "3")], [3])


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["a.csv", "a.ndjson"])
def test_a_byte_order_mark_of_each_encoding_is_heeded(tmp_path: Path, encoding: str, name: str) -> None:
    text = "id,name,brand\n1,豆奶,x\n" if name == "a.csv" else '{"id":"1","name":"豆奶","brand":"x"}\n'
    mark = "" if encoding in ("utf-32", "utf-8-sig") else "\ufeff"
    path = put(tmp_path, (mark + text).encode(encoding), name)
    rows, rejects = rows_of(path, a_mapping(tmp_path))
    assert ([row[1:] for row in rows], rejects) == ([("1", "豆奶", "x")], [])
    if name == "a.csv":
        codec = encoding.removesuffix("-le").removesuffix("-be")
        assert pandas.read_csv(path, dtype=str, encoding=codec).to_numpy().tolist() == [["1", "豆奶", "x"]]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", b"id,name,brand\n"), ("b.csv", b"id,name,brand\n\n\r\n"), ("c.ndjson", b"\n \n"), ("d.parquet", b"")],
)
def test_a_file_with_bytes_and_no_row_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = put(tmp_path, content, name)
    if name == "d.parquet":
        pyarrow.parquet.write_table(pa.table(dict.fromkeys(("id", "name", "brand"), pa.array([], pa.string()))), path)
    with pytest.raises(LoadRefused, match=f"^{name}: has [0-9,]+ bytes and not one row: leave the file out if "):
        rows_of(path, a_mapping(tmp_path))
