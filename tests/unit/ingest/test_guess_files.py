"""Files of known shapes and of ten languages load by a guessed mapping, with the values that other readers read."""

import datetime
import gzip
import io
import json
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas
import pyarrow as pa
import pyarrow.parquet
import pytest

from shared.clock import utc_now
from shared.errors import LoadRefused
from tests.unit.ingest.guessing import FILES, Tried, tried
from workers.ingest.guess import guess
from workers.ingest.shapes import FOLDER

EXPECTED = tomllib.loads((FILES / "expected.toml").read_text())["file"]


def rows_of(found: Tried) -> list[list[str]]:
    """Return id, name, brand, category, GTIN, price, list price, currency and day of each item."""
    prices = {row["item"]: row for row in found.found.observations}
    rows = []
    for item in found.found.items:
        price = prices.get(item["name"], {})
        values = [item["id"], item["name"], item["brand"], item["category"], item["identifiers"].get("gtin")]
        values += [price.get(name) for name in ("price", "list_price", "currency", "day")]
        rows.append([value or "" for value in values])
    return rows


@pytest.mark.parametrize("file", EXPECTED, ids=[file["name"] for file in EXPECTED])
def test_a_file_loads_with_nothing_edited_but_the_currency_that_it_does_not_state(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    found = tried(FILES / file["name"], tmp_path, currency=file.get("currency", ""))
    assert found.guess.shape == file.get("shape")
    today = utc_now().date().isoformat()
    assert rows_of(found) == [[today if value == "load" else value for value in row] for row in file["rows"]]
    assert found.found.counts["rejected"] == file.get("rejected", 0)
    assert found.found.counts["fields_rejected"] == 0


# What DuckDB reads of the same files: id and price.
DUCKDB = {
    "30_en_shop.csv": "SELECT SKU, replace(\"Price (GBP)\", ',', '') FROM read_csv($1, all_varchar = true)",
    "32_fr_magasin.csv": "SELECT Référence, replace(regexp_replace(\"Prix TTC\", '[^0-9,]', '', 'g'), ',', '.')"
    " FROM read_csv($1, delim = ';', all_varchar = true)",
    "33_es_tienda.csv": "SELECT Código, replace(Precio, ',', '.') FROM read_csv($1, delim = ';', all_varchar = true)",
    "34_it_listino.csv": 'SELECT "Codice articolo", replace(coalesce("Prezzo scontato", "Prezzo di listino"), \',\', \'.\')'
    " FROM read_csv($1, delim = '|', all_varchar = true)",
    "42_shopify_new.csv": "SELECT SKU, Price FROM read_csv($1, all_varchar = true)",
    "45_magento.csv": "SELECT sku, coalesce(special_price, price) FROM read_csv($1, all_varchar = true)",
    "46_amazon_report.txt": "SELECT \"seller-sku\", price FROM read_csv($1, delim = '\t', quote = '', all_varchar = true)",
    "50_open_prices.jsonl": "SELECT coalesce(product_code, category_tag), price::varchar FROM read_json($1)",
    "53_schema.ndjson": "SELECT productID, offers.price::varchar FROM read_json($1)",
    "58_array.json": "SELECT sku, price::varchar FROM read_json($1)",
    "60_pipe.txt": "SELECT ItemNo, UnitPrice FROM read_csv($1, delim = '|', all_varchar = true)",
    "61_mysql.csv": "SELECT id, price FROM read_csv($1, escape = '\\', quote = '\"', all_varchar = true)",
    "68_quotes.tsv": "SELECT sku, price FROM read_csv($1, delim = '\t', quote = '', all_varchar = true)",
    "69_thousands.csv": "SELECT sku, replace(price, '''', '') FROM read_csv($1, delim = ';', quote = '\"', all_varchar = true)",
}


@pytest.mark.parametrize("name", DUCKDB)
def test_duckdb_reads_the_same_prices(name: str) -> None:
    judged = duckdb.execute(DUCKDB[name], [str(FILES / name)]).fetchall()
    [file] = [file for file in EXPECTED if file["name"] == name]
    assert {(str(key), Decimal(price)) for key, price in judged} == {(row[0], Decimal(row[5])) for row in file["rows"]}


PANDAS = {
    "31_de_kasse.csv": {
        "sep": ";",
        "encoding": "cp1252",
        "thousands": ".",
        "decimal": ",",
        "columns": ["Artikel-Nr.", "VK-Preis (EUR)"],
    },
    "38_zh_shop.csv": {"encoding": "gb18030", "columns": ["商品编号", "价格(CNY)"]},
    "59_utf16.csv": {"sep": "\t", "encoding": "utf-16", "columns": ["sku", "price"]},
    "62_mac.csv": {"columns": ["Item code", "Price"]},
    "63_excel_days.csv": {"sep": ";", "skiprows": 1, "decimal": ",", "columns": ["Artikelnummer", "Preis"]},
}


@pytest.mark.parametrize("name", PANDAS)
def test_pandas_reads_the_same_prices(name: str) -> None:
    options = dict(PANDAS[name])
    key, price = options.pop("columns")
    frame = pandas.read_csv(FILES / name, dtype={key: str}, **options)
    [file] = [file for file in EXPECTED if file["name"] == name]
    assert dict(zip(frame[key], frame[price], strict=True)) == {row[0]: float(row[5]) for row in file["rows"]}


def sheet(path: Path, *, titles: int = 0, second: bool = False) -> None:
    """Write a workbook whose cells have types: texts with zeros, days, numbers."""
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Prices"
    for number in range(titles):
        page.append([f"Title {number}"])
    page.append(["Article number", "Article name", "EAN", "Price", "Currency", "Date"])
    page.append(["0017", "Käsereibe", "4006381333931", 1299.5, "EUR", datetime.date(2026, 9, 3)])
    page.append(["0018", "Bürste", "0012345678905", 2, "EUR", datetime.date(2026, 9, 4)])
    if second:
        book.create_sheet("Notes").append(["a", "b"])
        book["Notes"].append(["c", "d"])
    book.save(path)


SHEET = [
    ["0017", "Käsereibe", "", "", "4006381333931", "1299.50", "", "EUR", "2026-09-03"],
    ["0018", "Bürste", "", "", "0012345678905", "2.00", "", "EUR", "2026-09-04"],
]


@pytest.mark.parametrize("titles", [0, 2])
def test_a_sheet_loads_with_the_types_of_its_cells(tmp_path: Path, titles: int) -> None:
    sheet(tmp_path / "a.xlsx", titles=titles)
    assert rows_of(tried(tmp_path / "a.xlsx", tmp_path)) == SHEET
    judged = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert judged is not None
    assert [str(row[0]) for row in judged.iter_rows(min_row=titles + 2, values_only=True)] == ["0017", "0018"]


def test_of_several_sheets_one_is_named(tmp_path: Path) -> None:
    sheet(tmp_path / "a.xlsx", second=True)
    with pytest.raises(LoadRefused, match="'Prices', 'Notes'"):
        guess(tmp_path / "a.xlsx")
    assert rows_of(tried(tmp_path / "a.xlsx", tmp_path, sheet="Prices")) == SHEET


PLAIN = b"sku,name,price,currency,date\n1,Tea,4.20,EUR,2026-10-01\n"
PLAIN_ROWS = [["1", "Tea", "", "", "", "4.20", "", "EUR", "2026-10-01"]]


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("prices.csv", PLAIN)
        archive.writestr("readme.txt", "read me")


def tarred(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("data/prices.csv")
        entry.size = len(PLAIN)
        archive.addfile(entry, io.BytesIO(PLAIN))


@pytest.mark.parametrize(
    ("name", "write", "member"),
    [
        ("a.zip", zipped, "prices.csv"),
        ("a.tar.gz", tarred, ""),
        ("a.csv.gz", lambda path: path.write_bytes(gzip.compress(PLAIN)), ""),
    ],
    ids=["zip", "tar", "gzip"],
)
def test_a_packed_file_loads(tmp_path: Path, name: str, write: Callable[[Path], None], member: str) -> None:
    write(tmp_path / name)
    assert rows_of(tried(tmp_path / name, tmp_path, member=member)) == PLAIN_ROWS


def test_an_archive_of_several_files_asks_for_one(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip")
    with pytest.raises(LoadRefused, match=r"prices\.csv, readme\.txt"):
        guess(tmp_path / "a.zip")


def test_a_dump_of_open_food_facts_in_parquet_is_recognized(tmp_path: Path) -> None:
    rows = [
        {"code": code, "product_name": [{"lang": "main", "text": name}], "brands": "Ferro,Other", "quantity": "400 g",
         "categories": "Spreads, Sweet spreads", "creator": "anna", "last_modified_t": 1_700_000_000}
        for code, name in (("3017620422003", "Nut spread"), ("3228857000166", "Bread"))
    ]  # fmt: skip
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "food.parquet")
    found = tried(tmp_path / "food.parquet", tmp_path)
    assert found.guess.shape == "Open Food Facts dump"
    assert [row[:3] for row in rows_of(found)] == [
        ["3017620422003", "Nut spread", "Ferro"],
        ["3228857000166", "Bread", "Ferro"],
    ]
    assert found.found.items[0]["attributes"] == {"weight_kg": "0.4"}


def test_a_dump_of_open_prices_in_parquet_has_its_days_and_decimals(tmp_path: Path) -> None:
    rows = {
        "product_code": pa.array(["3017620422003", None]),
        "category_tag": pa.array([None, "en:tomatoes"]),
        "price": pa.array([Decimal("3.20"), Decimal("2.75")], pa.decimal128(10, 2)),
        "currency": pa.array(["EUR", "EUR"]),
        "location_osm_id": pa.array([652825274, 652825274]),
        "location_osm_type": pa.array(["NODE", "NODE"]),
        "date": pa.array([datetime.date(2026, 8, 14), datetime.date(2026, 8, 15)]),
    }
    pyarrow.parquet.write_table(pa.table(rows), tmp_path / "prices.parquet")
    found = tried(tmp_path / "prices.parquet", tmp_path)
    assert found.guess.shape == "Open Prices dump"
    assert [(row[0], row[5], row[8]) for row in rows_of(found)] == [
        ("3017620422003", "3.20", "2026-08-14"),
        ("en:tomatoes", "2.75", "2026-08-15"),
    ]
    judged = duckdb.execute("SELECT price FROM read_parquet($1)", [str(tmp_path / "prices.parquet")]).fetchall()
    assert [price for (price,) in judged] == [Decimal(row[5]) for row in rows_of(found)]


def test_each_shape_says_what_it_is_and_where_it_is_described() -> None:
    for path in FOLDER.glob("*.toml"):
        text = path.read_text()
        document = tomllib.loads(text)
        assert text.startswith("# ")
        assert "https://" in text.splitlines()[0], path.name
        assert {"title", "about", "identified", "item"} <= document.keys(), path.name
        assert {file.get("shape") for file in EXPECTED} | {"Google Merchant Center product feed"} >= {document["title"]}


def test_a_shape_is_known_by_its_columns_and_not_by_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "shopify_products.csv"
    path.write_bytes((FILES / "45_magento.csv").read_bytes().upper().replace(b"SPECIAL_PRICE", b"Special Price"))
    assert guess(path).shape == "Magento (Adobe Commerce) product export"
    path.write_bytes(PLAIN)
    assert guess(path).shape is None


def test_a_document_of_one_line_is_read_by_its_list(tmp_path: Path) -> None:
    products = [{"id": n, "title": f"Thing {n}", "price": n + 0.5, "currency": "EUR"} for n in range(1, 4)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"products": products, "page": 1}))
    assert [row[5] for row in rows_of(tried(path, tmp_path))] == ["1.50", "2.50", "3.50"]


def test_a_column_with_a_line_end_writes_no_line_of_the_mapping(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        'Handle,Title,Variant Price,Variant SKU,"Vendor\nsource = ""x""",Option1 Name,Option1 Value\na,A,1.00,S,V,Size,M\n'
    )
    text = guess(path).text
    assert guess(path).shape == "Shopify product export"
    assert sum(line.startswith("source = ") for line in text.splitlines()) == 1


def test_a_known_shape_without_any_id_asks_for_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    rows = [{"@type": "Product", "name": name, "offers": {"price": "1.00", "priceCurrency": "EUR"}} for name in "AB"]
    path.write_text(json.dumps(rows))
    assert 'id = "?"' in guess(path).text
