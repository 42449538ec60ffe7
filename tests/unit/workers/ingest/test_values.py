"""Values of files are read exactly, in the words and shapes of real files, or are rejects with their place and reason."""

import bz2
import datetime
import gzip
import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shared.index.iid import mint
from tests.support.shop import HEADER, MAPPING, MEASURED, PRICED, ROWS
from workers.ingest.load.preview import Preview, Previewer
from workers.ingest.mapping import parse
from workers.ingest.read_amounts import NO_FIGURE
from workers.ingest.transform import Transformer

FIGURES = MEASURED.replace('value = "co2"', 'value = { column = "co2", multiply = 1000 }')

# One shop whose items have no other name than their id.
NAMED_BY_ID = PRICED.replace('"name"', '"id"').replace('"cur"', '{ constant = "HKD" }')


def read(text: str, *files: Path) -> Preview:
    """Read files by a mapping as a load does."""
    mapping = parse(text)
    return Previewer(mapping, shown=99).of_items([*files], Transformer(mapping, {}))


def put(folder: Path, text: str, content: str, name: str = "a.csv") -> Preview:
    """Read a file of any content by a mapping."""
    (folder / name).write_text(content)
    return read(text, folder / name)


def rejected(found: Preview) -> list[tuple[object, ...]]:
    """Return line, column and value of each reject, in the order of lines."""
    return sorted((row["line"], row["column"], row["value"]) for row in found.rejects)


def names(found: Preview) -> list[str]:
    return [item["name"] for item in found.items]


def test_a_text_that_is_no_number_rejects_its_row_with_column_and_value(tmp_path: Path) -> None:
    texts = (
        "1,234.5",
        "-5",
        "about 5",
        "NaN",
        "inf",
        "0x1",
        "1_0",
        "²",
        "1 2",
        "9" * 1001,
        "1e9999",
        "1e400",
        "1e-400",
    )
    rows = "".join(f'{number},"{text}"\n' for number, text in enumerate(texts))
    found = put(tmp_path, FIGURES, f"id,co2\n{rows}b,1\n")
    assert rejected(found) == [(line, "co2", text[:300]) for line, text in enumerate(texts, 2)]
    assert {(row["file"], row["reason"], row["scope"]) for row in found.rejects} == {("a.csv", NO_FIGURE, "row")}
    assert (found.counts["rejected"], found.counts["items_read"]) == (len(texts), 1)


def test_bounds_that_do_not_enclose_their_figure_are_rejects(tmp_path: Path) -> None:
    bounds = (("0.6", "0.7"), ("0.1", "0.4"), ("0", "1"), ("-1", "1"), ("x", "1"))
    rows = "".join(f"{number},0.5,{low},{high}\n" for number, (low, high) in enumerate(bounds))
    text = FIGURES + 'low = { column = "lo", multiply = 1000 }\nhigh = { column = "hi", multiply = 1000 }\n'
    found = put(tmp_path, text, f"id,co2,lo,hi\n{rows}b,0.5,0.4,0.7\n")
    assert rejected(found) == [(line, "lo", low) for line, (low, _) in enumerate(bounds, 2)]
    assert {row["scope"] for row in found.rejects} == {"row"}
    assert [row["per_unit"] for row in found.impacts] == ["500.0"]


def test_nan_in_ndjson_costs_its_field_and_is_not_counted_as_a_row(tmp_path: Path) -> None:
    row = '{{"id": "{}", "name": "A", "day": "2026-07-01", "shop": {}, "price": {}, "cur": "EUR"}}'
    lines = [row.format("a", '"N"', "1.50"), row.format("b", '"N"', "NaN"), row.format("c", "[]", "-Infinity")]
    found = put(tmp_path, PRICED, "\n".join(lines), "a.ndjson")
    assert [found.counts[name] for name in ("rows", "rejected", "items_read")] == [3, 1, 2]
    assert (found.counts["observations_read"], found.counts["observations_absent"]) == (1, 1)
    places = sorted((row["line"], row["column"], row["scope"]) for row in found.rejects)
    assert places == [(2, "price", "field"), (3, "shop", "row")]


def test_two_ids_that_claim_one_iid_are_a_reject_and_no_merge(tmp_path: Path) -> None:
    taken = mint("shop", "i5").iid
    content = (
        f"id,iid,name\ni1,IID-ABC-123,First\ni2,iid-abc-124,Second\ni3,IID-ABC-123,Same as the first\ni4,BAD,Bad\n"
        f"i5,,Minted\ni6,{taken},Claims the minted one\ni1,IID-ABC-999,Another of the first\n"
    )
    found = put(tmp_path, PRICED.partition("[observation]")[0] + 'iid = "iid"\n', content)
    assert names(found) == ["First", "Second", "Minted"]
    assert rejected(found) == [
        (4, "iid", "IID-ABC-123"),
        (5, "iid", "BAD"),
        (7, "iid", taken),
        (8, "iid", "IID-ABC-999"),
    ]


def test_an_item_may_be_known_by_the_name_of_its_file_alone(tmp_path: Path) -> None:
    text = PRICED.replace('"id"', '{ file_name = "([0-9]+)" }').replace('"name"', '{ constant = "Tea" }')
    rows = "day,shop,price,cur\n2026-07-01,S1,2.00,USD\n2026-07-02,S1,3.00,USD\n"
    found = put(tmp_path, text, rows, "prices-17.csv")
    assert [(item["iid"], item["name"]) for item in found.items] == [(mint("shop", "17").iid, "Tea")]
    assert found.counts["observations_read"] == 2


def test_a_row_without_a_price_keeps_its_item(tmp_path: Path) -> None:
    content = "id,name,day,shop,price,cur\na,A,,,,\nb,B,2026-07-01,S1,1.00,USD\nc,C,2026-07-01,S1,ask us,USD\n"
    found = put(tmp_path, PRICED, content)
    assert (names(found), found.counts["observations_read"]) == (["A", "B"], 1)
    assert rejected(found) == [(4, "price", "ask us")]


def test_an_unreadable_list_price_is_no_silent_null(tmp_path: Path) -> None:
    found = put(tmp_path, MAPPING, HEADER + ROWS.replace("NORTH,10.90,12", "NORTH,10.90,about 12"))
    assert rejected(found) == [(2, "list", "about 12")]


def test_an_id_of_several_columns_is_one_only_where_all_parts_are_the_same(tmp_path: Path) -> None:
    head = PRICED.partition("[item]")[0]
    text = f'{head}[item]\nid = ["a", "b"]\nname = {{ columns = ["a", "b"], join = "-" }}\n'
    found = put(tmp_path, text, "a,b\nx|y,z\nx,y|z\nx,\n x ,y\nx,y\n")
    assert sorted(item["id"] for item in found.items) == ["x\\|y|z", "x|y", "x|y\\|z"]
    assert rejected(found) == [(4, "a, b", "x|")]


def test_a_row_may_hold_two_prices(tmp_path: Path) -> None:
    before, _, table = NAMED_BY_ID.partition("[observation]")
    online = "[[observation]]" + table.replace('"shop"', '{ constant = "ONLINE" }')
    text = before + online + online.replace("ONLINE", "STORE").replace('"price"', '"store"')
    found = put(tmp_path, text, "id,day,price,store\na,2026-07-01,1,2\nb,2026-07-01,,3\nc,2026-07-01,x,4\n")
    prices = sorted((row["item"], row["channel"], row["price"]) for row in found.observations)
    assert prices == [("a", "ONLINE", "1.00"), ("a", "STORE", "2.00"), ("b", "STORE", "3.00")]
    assert (found.counts["observations_absent"], found.counts["rejected"]) == (1, 1)


def test_the_kind_may_stand_in_a_column(tmp_path: Path) -> None:
    text = NAMED_BY_ID + 'kind = { column = "type", crosswalk = { "offer" = "listing", "sold" = "sale" } }\n'
    rows = "".join(f"a,2026-07-01,S,{price},{kind}\n" for price, kind in enumerate(("offer", "sold", "gift"), 1))
    found = put(tmp_path, text, f"id,day,shop,price,type\n{rows}")
    assert [(row["kind"], row["price"]) for row in found.observations] == [("listing", "1.00"), ("sale", "2.00")]
    assert rejected(found) == [(4, "type", "gift")]


def test_named_groups_of_one_pattern_fill_several_fields(tmp_path: Path) -> None:
    pattern = "column = \"t\", match = '^(?P<maker>[A-Z][a-z]+) (?P<model>.*?) (?P<size>[0-9]+ ?ml)$'"
    item = f'id = "t"\nname = {{ {pattern}, group = "model" }}\nbrand = {{ {pattern}, group = "maker" }}\n'
    attributes = f'size = {{ {pattern}, group = "size" }}\nvolume_l = {{ column = "t", unit = "l" }}\n'
    text = f"{PRICED.partition('[item]')[0]}[item]\n{item}[item.attributes]\n{attributes}"
    [found] = put(tmp_path, text, "t\nAcme Cola Zero 330 ml\n").items
    assert (found["name"], found["brand"]) == ("Cola Zero", "Acme")
    assert found["attributes"] == {"size": "330 ml", "volume_l": "0.33"}


def test_times_of_parquet_are_days_in_utc(tmp_path: Path) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=8))
    moments = [datetime.datetime(2026, 8, 5, hour, tzinfo=zone) for hour in (1, 9)]
    table = pa.table({"id": [1, 2], "day": moments, "shop": ["S", "S"], "price": [1.5, 2.25]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    found = read(NAMED_BY_ID, tmp_path / "a.parquet").observations
    assert [(row["day"], row["price"]) for row in found] == [("2026-08-04", "1.50"), ("2026-08-05", "2.25")]


def test_every_form_of_file_gives_the_same_rows(tmp_path: Path) -> None:
    text = HEADER + ROWS
    expected = put(tmp_path, MAPPING, text).document()
    assert (expected["counts"]["items_read"], expected["counts"]["observations_read"]) == (3, 5)
    as_text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(HEADER.strip().split(","), pa.string()))
    table = pyarrow.csv.read_csv(pa.BufferReader(text.encode()), convert_options=as_text)
    pyarrow.parquet.write_table(table, tmp_path / "shop.parquet")
    lines = "\n".join(json.dumps(row) for row in table.to_pylist()).encode()
    for form, content in {
        "csv.gz": gzip.compress(text.encode()),
        "csv.zst": pa.compress(text.encode(), "zstd", asbytes=True),
        "csv.bz2": bz2.compress(text[:80].encode()) + bz2.compress(text[80:].encode()),
        "ndjson": lines,
        "ndjson.gz": gzip.compress(lines),
        "parquet": (tmp_path / "shop.parquet").read_bytes(),
        "bom.csv": b"\xef\xbb\xbf" + text.encode(),
        "crlf.csv": text.replace("\n", "\r\n").encode(),
    }.items():
        (tmp_path / f"shop.{form}").write_bytes(content)
        assert read(MAPPING, tmp_path / f"shop.{form}").document() == expected, form


def test_a_row_without_any_of_the_parts_of_a_text_leaves_those_of_other_rows_where_they_are(tmp_path: Path) -> None:
    """Arrow's own join leaves such a row out: https://github.com/narwhals-dev/narwhals/issues/3965."""
    content = (
        "id,first,second,year,month\n1,Green,tea,2026,09\n2,,,,\n3,,Cup,2026,10\n4, ,,2025,12\n5,Pot,,,\n6,,,2026,08\n"
    )
    text = """
source = "s"
title = "S"
license = "own"
[item]
id = "id"
name = "id"
brand = { columns = ["first", "second"] }
category = [{ columns = ["second", "first"], join = "/" }]
[item.attributes]
made = { columns = ["year", "month"], join = "-" }
[observation]
day = { columns = ["year", "month"], join = "-", format = "%Y-%m" }
channel = { constant = "c" }
price = { constant = "1" }
currency = { constant = "EUR" }
"""
    found = put(tmp_path, text, content)
    judged = duckdb.execute(
        """SELECT id, nullif(concat_ws(' ', nullif(trim(first), ''), second), ''), nullif(concat_ws('-', year, month), ''),
        CAST(last_day(CAST(nullif(concat_ws('-', year, month, '01'), '01') AS date)) AS text)
        FROM read_csv($1, all_varchar = true) WHERE year IS NOT NULL ORDER BY id""",
        [str(tmp_path / "a.csv")],
    ).fetchall()
    days = {row["item"]: str(row["day"]) for row in found.observations}
    assert judged == [
        (item["id"], item["brand"], item["attributes"].get("made"), days.get(item["name"])) for item in found.items
    ]
    assert sorted(row["line"] for row in found.rejects) == [3, 6]


def test_a_number_that_a_spreadsheet_has_cut_is_no_id_and_identifies_nothing(tmp_path: Path) -> None:
    """Other items may have the same: a row with such an id would replace another item."""
    header = "id,name,day,shop,price,cur,code\n"
    rows = "4.01E+12,Cup,2026-07-01,S,1,EUR,a\n"
    rows += '"4,01E+12",Jar,2026-07-01,S,1,EUR,b\n3E5,Lid,2026-07-01,S,1,EUR,9.2E+11\n'
    found = put(
        tmp_path, PRICED.replace("[observation]", '[item.identifiers]\nsku = "code"\n[observation]'), header + rows
    )
    assert names(found) == ["Lid"]
    assert rejected(found) == [(2, "id", "4.01E+12"), (3, "id", "4,01E+12"), (4, "code", "9.2E+11")]
    assert {row["scope"] for row in found.rejects if row["line"] == 4} == {"field"}
