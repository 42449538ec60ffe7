"""Faults of real files: each is read right, or is a question to a person; none is guessed silently."""

import datetime
import json
import re
import tomllib
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from shared.errors import LoadRefused
from shared.mapping_doubts import decide, doubt_of
from tests.unit.workers.ingest.guessing import FILES, tried
from tests.unit.workers.ingest.test_guess import put
from tests.unit.workers.ingest.test_guess_of_shapes import PLAIN
from workers.ingest.guess.guess import guess
from workers.ingest.load.preview import Previewer
from workers.ingest.mapping import parse, read
from workers.ingest.transform import Transformer


def test_a_sale_price_is_the_price_in_the_currency_of_its_cell(tmp_path: Path) -> None:
    found = tried(FILES / "01_merchant.tsv", tmp_path)
    assert found.prices == [
        ("Oat Drink 1L", "12.50", "15.00", "USD"),
        ("Rice Drink 1L", "1015.00", None, "USD"),
        ("Soy Drink 1L", "9.00", None, "EUR"),
    ]
    assert found.found.items[0]["identifiers"] == {"gtin": "7394376616501", "url": "https://shop.example/a1"}
    assert found.found.items[1]["identifiers"]["mpn"] == "R-200"
    assert found.found.items[0]["category"] == "food.drinks.plant"
    assert "day on which it is loaded" in found.doubts("day")


def test_a_list_price_of_another_currency_than_its_row_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text((FILES / "01_merchant.tsv").read_text().replace("15.00 USD", "15.00 EUR"))
    found = tried(path, tmp_path)
    assert found.prices[0] == ("Oat Drink 1L", "12.50", None, "USD")
    assert [(row["column"], row["value"]) for row in found.found.rejects] == [("price", "15.00 EUR")]


def test_quotation_marks_may_be_plain_characters(tmp_path: Path) -> None:
    found = tried(FILES / "02_off.tsv", tmp_path, currency="EUR")
    assert found.mapping.quote == ""
    assert [item["name"] for item in found.found.items] == ['"Nut" spread', '"Nut spread big', 'Bread 12" loaf']


def test_the_lines_and_commas_of_quoted_texts_are_no_rows_and_cells(tmp_path: Path) -> None:
    lines = "\n".join(["Warm, soft", "Wash cold, dry flat", "Write to us, we answer"] * 20)
    words = ", ".join(["kettle", "steel"] * 15)
    for text in (lines, words):
        rows = "".join(f'{n},Thing {n},"{text}",2.50,EUR\n' for n in range(9))
        found = tried(put(tmp_path, "id,name,text,price,currency\n" + rows), tmp_path)
        assert [item["id"] for item in found.found.items] == [str(n) for n in range(9)]


def test_a_negative_amount_is_not_taken_for_one_in_another_currency(tmp_path: Path) -> None:
    rows = "".join(f"{n},Thing {n},{n}.00,EUR\n" for n in range(1, 8))
    text = f"sku,name,price,currency\n{rows}8,Back,\u22125.00,EUR\n9,Back too,(6.00),EUR\n"
    found = tried(put(tmp_path, text), tmp_path)
    assert [price for _, price, _, _ in found.prices] == [f"{n}.00" for n in range(1, 8)]
    assert [row["value"] for row in found.found.rejects] == ["\u22125.00", "(6.00)"]
    assert 'line 9 "\u22125.00"' in found.doubts("price") and found.doubts("currency") == ""


def test_an_amount_with_an_exponent_is_said_to_be_rejected(tmp_path: Path) -> None:
    found = tried(put(tmp_path, "sku,name,price,currency\n1,A,1.50,EUR\n2,B,1.1e0,EUR\n3,C,2.50,EUR\n"), tmp_path)
    assert 'line 3 "1.1e0"' in found.doubts("price")
    assert [price for _, price, _, _ in found.prices] == ["1.50", "2.50"]


def test_members_of_a_list_with_ids_of_their_own_are_items_of_their_own(tmp_path: Path) -> None:
    def written(**ids: str) -> Path:
        sizes = [{"price": "19.00"} | {name: f"{value}-{size}" for name, value in ids.items()} for size in "SM"]
        (tmp_path / "p.json").write_text(json.dumps({"products": [{"id": 7, "title": "Tee", "variants": sizes}]}))
        return tmp_path / "p.json"

    found = tried(written(id="V"), tmp_path, currency="EUR")
    assert [item["id"] for item in found.found.items] == ["V-S", "V-M"]
    found = tried(written(), tmp_path, currency="EUR")
    assert 'several members of "variants" have the id "7"' in found.doubts("id")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (("7,Mug,9.90,2026-10-01", "7,Mug,6.00,2026-10-01"), True),
        (("7,Mug,9.90,2026-10-01", "7,Mug,9.90,2026-10-01"), False),
        (("7,Mug,9.90,2026-10-01", "7,Mug,6.00,2026-10-02"), False),
        (("7,Mug,9.90,2026-10-01 09:15", "7,Mug,6.00,2026-10-01 17:40"), True),
        (("7,Mug,9.90,2026-10-01T09:15:00Z", "7,Mug,6.00,2026-10-01T17:40:02Z"), True),
        (("7,Mug,9.90,2026-10-01 09:15", "7,Mug,9.90,2026-10-01 17:40"), False),
        (("7,Mug,9.90,2026-10-01 09:15", "7,Mug,6.00,2026-10-02 09:15"), False),
    ],
    ids=["two price lists", "twice", "two days", "two times", "two times of UTC", "one price", "two days and times"],
)
def test_prices_of_one_item_that_would_replace_one_another_are_said(
    tmp_path: Path, rows: tuple[str, ...], said: bool
) -> None:
    made = guess(put(tmp_path, "\n".join(("sku,name,price,date", *rows)) + "\n"))
    assert any("the last price replaces the others" in doubt.sentence for doubt in made.doubts) is said


def test_offers_of_several_shops_are_prices_of_one_item(tmp_path: Path) -> None:
    offers = [{"id": f"o{n}", "seller": f"Shop {n}", "price": f"{n}.50", "priceCurrency": "EUR"} for n in (1, 2)]
    path = tmp_path / "p.json"
    path.write_text(json.dumps([{"sku": "P", "title": "Cup", "offers": offers}]))
    found = tried(path, tmp_path)
    assert ([item["id"] for item in found.found.items], len(found.prices)) == (["P"], 2)
    assert found.doubts("id") == ""


def test_rows_with_one_stock_are_not_one_product(tmp_path: Path) -> None:
    rows = "S1,Mug,8.00,5\nS2,,9.50,5\nS3,Board,34.99,2\n"
    made = guess(put(tmp_path, f"sku,name,price,stock\n{rows}"))
    assert "fill_down" not in made.text and "line 3" in next(d.sentence for d in made.doubts if d.of == "name")
    below = guess(put(tmp_path, rows.replace("S2,", "S1,").join(["sku,name,price,stock\n", ""])))
    assert 'fill_down = { within = "sku", columns = ["name"] }' in below.text


def test_a_row_without_a_number_is_no_line_that_explains_the_columns(tmp_path: Path) -> None:
    rows = "M,Mug,on request,n/a\nB,Board,34.99,2\nT,Tea,4.99,9\nC,Cup,3.50,1\n"
    made = guess(put(tmp_path, f"sku,name,price,stock\n{rows}"))
    assert "first_row" not in made.text and "guessed from the first 4 rows" in made.text
    explained = guess(put(tmp_path, f"sku,name,price,stock\n{rows.replace('on request,n/a', 'At least 1,At most 99')}"))
    assert "first_row = 3" in explained.text


def test_a_formula_that_keeps_a_code_as_text_is_read(tmp_path: Path) -> None:
    rows = '="007",A,="4006381333931",="1.50",EUR\n8,B,,2.50,EUR\n'
    found = tried(put(tmp_path, f"sku,name,ean,price,currency\n{rows}"), tmp_path)
    assert [(item["id"], item["identifiers"]) for item in found.found.items] == [
        ("007", {"gtin": "4006381333931"}),
        ("8", {}),
    ]
    assert [row[1] for row in found.prices] == ["1.50", "2.50"]


def test_what_programs_write_for_a_missing_value_is_none(tmp_path: Path) -> None:
    rows = "1,Cup,NULL,4.50\n2,Plate,N/A,NULL\n3,Bowl,\\N,5.50\n4,Dish,-,n/a\n5,NULL,Acme,6.50\n"
    found = tried(put(tmp_path, "sku,name,brand,price\n" + rows), tmp_path, currency="EUR")
    assert [(item["name"], item["brand"]) for item in found.found.items] == [
        (name, None) for name in ("Cup", "Plate", "Bowl", "Dish")
    ]
    assert [row[:2] for row in found.prices] == [("Cup", "4.50"), ("Bowl", "5.50")]
    assert [row["line"] for row in found.found.rejects] == [6]
    assert "line 6" in found.doubts("name")


def test_days_with_points_show_what_a_column_is(tmp_path: Path) -> None:
    text = "Artikelnummer;Bezeichnung;Preis;Stichwort\n1;Tee;12.50;01.10.2026\n2;Kaffee;9.50;13.10.2026\n"
    found = tried(put(tmp_path, text), tmp_path, currency="EUR")
    assert [row["day"] for row in found.found.observations] == ["2026-10-01", "2026-10-13"]
    assert 'is "Stichwort" the day of the price?' in found.doubts("day")


def test_what_is_no_table_is_named(tmp_path: Path) -> None:
    for content, said in (
        (b"<!DOCTYPE html><html><body>Sign in<br></body></html>", "is an HTML page"),
        (b"<html><table><tr><td>1</table></html>", "is an HTML page"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 4, "the file is not text"),
    ):
        (tmp_path / "a.csv").write_bytes(content)
        with pytest.raises(LoadRefused, match=said):
            guess(tmp_path / "a.csv")


def test_units_to_which_a_price_refers_are_said(tmp_path: Path) -> None:
    text = "Artikelnummer;Bezeichnung;Preis;Preiseinheit\n1;Schraube;12,50;100\n2;Bohrer;4,50;1\n"
    found = tried(put(tmp_path, text), tmp_path, currency="EUR")
    assert '"Preiseinheit" seems to say for how many units a price is, such as "100"' in found.doubts("price")
    assert "units" not in tried(put(tmp_path, text.replace("100", "1")), tmp_path, currency="EUR").doubts("price")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_character_needs_no_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("sku;name;price;currency\r\n1;Käse;5,00;EUR\r\n".encode(encoding))
    found = tried(path, tmp_path)
    assert (found.prices, found.mapping.encoding) == ([("Käse", "5.00", None, "EUR")], encoding)
    assert "no byte order mark" in found.doubts("encoding")


def test_a_sample_of_parquet_has_rows_of_several_row_groups(tmp_path: Path) -> None:
    table = pa.table({"id": ["1", "2", "3"], "name": ["A", "B", "C"], "ean": [4006381333931, None, 31146262571]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    found = tried(tmp_path / "a.parquet", tmp_path)
    assert found.found.items[2]["identifiers"] == {"gtin": "00031146262571"}


def test_a_file_of_a_known_shape_without_any_price_has_its_items(tmp_path: Path) -> None:
    path = put(tmp_path, "Handle,Title,Variant Price,Variant SKU,Vendor,Option1 Name,Option1 Value\na,A,,S,V,Size,M\n")
    found = tried(path, tmp_path, currency="EUR")
    assert found.guess.shape == "Shopify product export"
    assert [item["id"] for item in found.found.items] == ["S"]


def test_levels_of_a_category_may_be_parts_with_names(tmp_path: Path) -> None:
    parts = '<a name="Category">Home</a><a name="Subcategory">Cups</a>'
    rows = "".join(f"<p><id>{n}</id><name>Cup</name>{parts if n else ''}</p>" for n in range(3))
    (tmp_path / "f.xml").write_text(f"<c>{rows}</c>")
    found = tried(tmp_path / "f.xml", tmp_path)
    assert [item["category"] for item in found.found.items] == [None, "home.cups", "home.cups"]


def test_a_sale_price_of_zero_is_none(tmp_path: Path) -> None:
    rows = "1,A,9.90,0.00,EUR\n2,B,19.00,15.00,EUR\n3,C,5.00,,EUR\n"
    found = tried(put(tmp_path, "sku,name,price,sale price,currency\n" + rows), tmp_path)
    assert found.prices == [("A", "9.90", None, "EUR"), ("B", "15.00", "19.00", "EUR"), ("C", "5.00", None, "EUR")]
    marked = "1,A,9.90 EUR,0.00 EUR\n2,B,19.00 EUR,15.00 EUR\n"
    found = tried(put(tmp_path, "sku,name,price,sale price\n" + marked), tmp_path)
    assert found.prices == [("A", "9.90", None, "EUR"), ("B", "15.00", "19.00", "EUR")]


@pytest.mark.parametrize("text", ["variable", "auf Anfrage", "On request", "a consultar"])
def test_an_item_whose_price_depends_is_one_without_a_price(tmp_path: Path, text: str) -> None:
    found = tried(put(tmp_path, f"sku,name,price,currency\n1,A,9.90,EUR\n2,B,{text},EUR\n"), tmp_path)
    assert [item["id"] for item in found.found.items] == ["1", "2"]
    assert found.prices == [("A", "9.90", None, "EUR")]
    several = guess(put(tmp_path, f"sku,name,Price [Main],Price [Kiosk]\n1,A,9.90,9.00\n2,B,{text},5.00\n")).text
    assert f'null = ["{text}"]' in several


def test_a_list_price_of_zero_is_none(tmp_path: Path) -> None:
    found = tried(put(tmp_path, "sku;name;VK;UVP;Währung\n1;A;9,90;0,00;EUR\n2;B;19,00;25,00;EUR\n"), tmp_path)
    assert found.prices == [("A", "9.90", None, "EUR"), ("B", "19.00", "25.00", "EUR")]
    assert found.doubts("list_price") == ""


@pytest.mark.parametrize(
    ("header", "row", "chosen"),
    [
        ("CustomLabel,*Title,*ConditionID,*StartPrice", "M,Mug,1000,9.90", {"id": "CustomLabel"}),
        ("Item number,Title,Start date,Current price", "7,Mug,Sep-01-26,9.90", {"day": {"load_day": True}}),
        ("sku,title,price,deliveryTime", "7,Mug,9.90,1-3 days", {"day": {"load_day": True}}),
        ("id,name,start date,end date,price", "7,Mug,2026-01-02,2049-12-31,9.90", {"day": {"load_day": True}}),
        ("product_id,name(en-gb),model,price", "7,Mug,Product 15,9.90", {"name": "name(en-gb)"}),
        ("sku,name,type,category,category text,price", "7,Mug,physical,Home,Home,9.90", {"category": "category"}),
        ("sku,name,type,price", "7,Mug,Mugs,9.90", {"category": "type"}),
        ("sku,name,price,compare to price", "7,Mug,9.90,12.00", {"price": "price"}),
        ("sku,name,price gross,purchase prices net", "7,Mug,9.90,3.00", {"price": "price gross"}),
        ("*ItemCode,ItemName,PurchasesUnitPrice,SalesUnitPrice", "7,Mug,3.00,9.90", {"price": "SalesUnitPrice"}),
        ("Item Name,SKU,Rate,Purchase Rate,Tax Rate", "Mug,7,9.90,3.00,20", {"price": "Rate"}),
        ("sku,Opis oferty,Tytuł oferty,Cena PL", "7,<p>Mug</p>,Mug,9.90", {"name": "Tytuł oferty", "price": "Cena PL"}),
        (
            "Artikelnr,Bezeichnung 1,Bezeichnung 2,Preis 1",
            "7,Mug,grey,9.90",
            {"name": "Bezeichnung 1", "price": "Preis 1"},
        ),
        ("sku,name,Price list 2026", "7,Mug,9.90", {"price": "Price list 2026"}),
        ("Variation.id,Item.name1,Variation.name,Price", "7,Mug,grey,9.90", {"name": "Item.name1"}),
        ("Artikelnr,Kurzbezeichnung,Bezeichnung,Preis", "7,Mug gr,Mug grey,9.90", {"name": "Bezeichnung"}),
        (
            "Internal ID,Name,Display Name,UPC Code,Price",
            "7,M-7,Mug,036000291452,9.90",
            {"id": "Internal ID", "name": "Display Name"},
        ),
    ],
)
def test_columns_of_further_shops_are_what_they_are(
    tmp_path: Path, header: str, row: str, chosen: dict[str, Any]
) -> None:
    document = tomllib.loads(guess(put(tmp_path, f"{header}\n{row}\n")).text)
    fields = document["item"] | document["observation"]
    assert {name: fields[name] for name in chosen} == chosen


@pytest.mark.parametrize(
    "column", ["InventoryType", "Listing type", "product-id-type", "conditionCategory", "shipping_group"]
)
def test_kinds_of_everything_but_of_articles_are_no_category(tmp_path: Path, column: str) -> None:
    found = tried(put(tmp_path, f"sku,name,price,currency,{column}\n7,Mug,9.90,EUR,Standard\n"), tmp_path)
    assert [item["category"] for item in found.found.items] == [None]


@pytest.mark.parametrize(
    "column",
    [
        "Created Time", "Product creation date", "Date de création", "Fecha de alta", "Data di creazione", "Data de cadastro",
        "Erstellt am", "Data dodania", "Begindatum", "Oprettet", "Created On", "Date Last Sold", "Date de début de remise", "Quantity as-of Date", "Product available date",
    ],
)  # fmt: skip
def test_the_day_on_which_an_article_was_added_is_not_that_of_its_price(tmp_path: Path, column: str) -> None:
    found = tried(put(tmp_path, f"sku,name,price,currency,{column}\n7,Mug,9.90,EUR,2025-03-02\n"), tmp_path)
    assert "day = { load_day = true }" in found.guess.text.splitlines()


@pytest.mark.parametrize(
    ("columns", "price", "list_price"),
    [
        ("Precio de compra sin IVA;Precio con IVA", "9.90", None),
        ("Prezzo di acquisto (IVA escl.);Prezzo (IVA incl.)", "9.90", None),
        ("Cost price excl. VAT;Price (incl. 20% tax)", "9.90", None),
        ("Inköpspris exkl. moms;Pris inkl. moms", "9.90", None),
        ("Inkoopprijs excl. btw;Prijs incl. btw", "9.90", None),
        ("Piyasa Satış Fiyatı (KDV Dahil);Trendyol'da Satılacak Fiyat (KDV Dahil)", "9.90", "12.00"),
        ("Prix de vente conseillé;Prix de vente TTC", "9.90", "12.00"),
        ("P.V.P. recomendado;Precio neto", "9.90", "12.00"),
        ("Vergleichspreis/EUR [ManufacturerPrices/EUR];Listenpreis/EUR [ListPrices/EUR]", "9.90", "12.00"),
    ],
)
def test_what_a_column_says_of_tax_does_not_hide_what_it_is(
    tmp_path: Path, columns: str, price: str, list_price: str | None
) -> None:
    found = tried(put(tmp_path, f"sku;name;Währung;{columns}\n7;Mug;EUR;12.00;9.90\n"), tmp_path)
    assert found.prices == [("Mug", price, list_price, "EUR")]


def test_prices_with_and_without_tax_are_a_question(tmp_path: Path) -> None:
    text = guess(put(tmp_path, "sku;name;Precio sin IVA;Precio con IVA\n7;Mug;8.00;9.68\n")).text
    assert '"Precio sin IVA" and "Precio con IVA" may each be the price' in text
    said = guess(put(tmp_path, "sku;name;Preis zzgl. MwSt;UVP\n7;Mug;8.00;9.90\n")).doubts
    assert any("seems to be without tax" in doubt.sentence for doubt in said)


@pytest.mark.parametrize(
    ("header", "rows", "chosen"),
    [
        ("Item No.,Sales Item,Item Description,price", ("7,Y,Mug,9.90", "8,N,Cup,5.00"), {"name": "Item Description"}),
        ("gtin,countryCode,name,price", ("4006381333931,276,Mug,9.90", "4006381333948,276,Cup,5.00"), {"id": "gtin"}),
        ("item code,name,price", ("7,Mug,9.90", "7,Mug,5.00"), {"id": "item code"}),
        ("sku,product token,info_product_name_en,price", ("7,p_1,Mug,9.90",), {"name": "info_product_name_en"}),
        ("sku,item_weight_unit,info_product_name_en,price", ("7,lb,Mug,9.90", "8,lb,Cup,5.00"),
         {"name": "info_product_name_en"}),
        ("*Product Code,*Product Description,Supplier Name,price", ("7,Mug,Acme,9.90",), {"name": "*Product Description"}),
        ("sku,name,EAN VPE,EAN Stück,price", ("7,Mug,4006381333931,4006381333948,9.90",),
         {"identifiers": {"gtin": "EAN Stück"}}),
        ("sku,ID produktu (EAN/ISBN),title,price", ("7,4006381333931,Mug,9.90",),
         {"identifiers": {"gtin": "ID produktu (EAN/ISBN)"}}),
        ("sku,name,price,Discount from", ("7,Mug,9.90,2026-09-01", "8,Cup,5.00,", "9,Pot,5.00,"), {"day": {"load_day": True}}),
        ("sku,name,price,number", (*(f"{n},Mug {n},9.90,{4000 + n}" for n in range(20)), "99,Total,9.90,all"),
         {"day": {"load_day": True}}),
        ("sku,name,price,date", ("7,Mug,9.90,2026-10-01 08:22:14.123 UTC",),
         {"day": {"column": "date", "format": "%Y-%m-%d %H:%M:%S.%f UTC"}}),
        ("sku,name,price,inventory_main_outlet", ("7,Mug,9.90,4", "8,Cup,5.00,0"), {"channel": {"constant": "SHOP"}}),
        ("sku,name,brand,manufacturer,price", ("7,Mug,https://maker.example/brand,Acme,9.90",), {"brand": "manufacturer"}),
        ("sku,item code,name,price", ("8.93E+12,A7,Mug,9.90", "9.12E+12,A8,Cup,5.00"), {"id": "item code"}),
    ],
    ids=["flags", "a country", "one item", "a token", "a unit", "a supplier", "a carton", "an ISBN", "a discount", "numbers", "UTC",
         "a stock", "an address", "cut numbers"],
)  # fmt: skip
def test_the_cells_of_a_column_say_what_it_is_not(
    tmp_path: Path, header: str, rows: tuple[str, ...], chosen: dict[str, Any]
) -> None:
    document = tomllib.loads(guess(put(tmp_path, "\n".join((header, *rows)) + "\n")).text)
    fields = document["item"] | document["observation"]
    assert {name: fields[name] for name in chosen} == chosen


def test_days_that_are_all_in_the_future_are_a_question(tmp_path: Path) -> None:
    made = guess(put(tmp_path, "sku,name,price,currency,valid\n7,Mug,9.90,EUR,2190-01-01\n8,Cup,5.00,EUR,2190-01-01\n"))
    assert 'day = "?"' in made.text
    assert 'all days of "valid" are in the future' in made.text
    [doubt] = [doubt for doubt in made.doubts if "future" in doubt.sentence]
    assert [reading.statement for reading in doubt.readings] == ["day = { load_day = true }"]


@pytest.mark.parametrize(("column", "channel"), [("Seller SKU", "SHOP"), ("shop_sku", "SHOP"), ("Store code", "N")])
def test_a_sku_of_a_seller_is_no_shop(tmp_path: Path, column: str, channel: str) -> None:
    found = tried(put(tmp_path, f"sku,name,price,currency,{column}\n7,Mug,9.90,EUR,N\n"), tmp_path)
    assert found.found.observations[0]["channel"] == channel


def test_the_price_in_another_currency_is_no_list_price(tmp_path: Path) -> None:
    columns = "USD Unit Retail Price,CAD Unit Retail Price"
    text = guess(put(tmp_path, f"sku,name,{columns}\n7,Mug,9.90,13.90\n8,Cup,5.00,7.00\n")).text
    assert 'price = "?"' in text
    assert '"CAD Unit Retail Price" and "USD Unit Retail Price" may each be the price' in text
    assert "list_price" not in text


@pytest.mark.parametrize(
    ("prices", "currency", "said"),
    [
        (("1990", "1250", "800", "3499", "425"), "EUR", True),
        (("1990", "1250", "8", "3499", "425"), "EUR", False),
        (("1990", "1250", "800.00", "3499", "425"), "EUR", False),
        (("199", "129", "800", "349", "425"), "SEK", False),
    ],
    ids=["cents", "a low one", "decimals", "crowns"],
)
def test_prices_that_are_all_high_and_whole_may_count_hundredths(
    tmp_path: Path, prices: tuple[str, ...], currency: str, said: bool
) -> None:
    rows = "".join(f"{n},Mug {n},{price},{currency}\n" for n, price in enumerate(prices))
    found = tried(put(tmp_path, "sku,name,price,currency\n" + rows), tmp_path)
    assert ('whole amounts alone, such as "1990"' in found.doubts("price")) is said


def test_a_rate_of_something_is_no_price(tmp_path: Path) -> None:
    found = tried(put(tmp_path, "sku,name,Return rate,Refresh rate\n7,Screen,2.5,144\n8,Lamp,1.5,60\n"), tmp_path)
    assert "no column seems to be a price" in found.doubts("observation")


def test_a_column_that_may_end_a_sale_price_is_said(tmp_path: Path) -> None:
    rows = "7,Mug,9.90,8.00,2026-10-01\n8,Cup,5.00,,\n"
    found = tried(put(tmp_path, f"sku,name,price,discount price,discount-end-date\n{rows}"), tmp_path, currency="EUR")
    assert [row[1] for row in found.prices] == ["8.00", "5.00"]
    assert '"discount-end-date" may say that it is over' in found.doubts("price")


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        (("1,A-S,Shirt S,9.90", "1,A-M,Shirt M,9.90", "2,B,Cap,5.00"), "Seller SKU"),
        (("1,A-1,Shirt,9.90", "1,A-2,Shirt,9.90", "2,A-3,Cap,5.00"), "Item ID"),
        (("1,A-S,Shirt S,9.90", "1,,Shirt M,9.90", "2,B,Cap,5.00"), "Item ID"),
        ((",A-S,Shirt S,9.90", "7,A-M,Shirt M,9.90", "8,B,Cap,5.00"), "Seller SKU"),
        ((",A-S,Shirt,9.90", "7,A-M,Cap,9.90", "7,B,Cap,5.00"), "Item ID"),
    ],
    ids=["variants", "sales", "no other id", "gaps", "gaps among sales"],
)
def test_an_id_of_several_variants_gives_way_to_one_that_each_row_has(
    tmp_path: Path, rows: tuple[str, ...], column: str
) -> None:
    text = guess(put(tmp_path, "\n".join(("Item ID,Seller SKU,Name,Price", *rows)) + "\n")).text
    assert tomllib.loads(text)["item"]["id"] == column


def test_a_name_that_only_the_first_variant_has_is_that_of_all(tmp_path: Path) -> None:
    header = "Handle,SKU,Name,Category,Price,Currency\n"
    rows = "shirt,1,Shirt,Tops,9.90,EUR\nshirt,2,,,9.90,EUR\ncap,3,Cap,,5.00,EUR\ncap,4,,,6.00,EUR\n"
    found = tried(put(tmp_path, header + rows), tmp_path)
    items = [(item["id"], item["name"], item["category"]) for item in found.found.items]
    assert items == [("1", "Shirt", "tops"), ("2", "Shirt", "tops"), ("3", "Cap", None), ("4", "Cap", None)]
    assert 'the same "Handle"' in found.doubts("name")
    total = tried(put(tmp_path, f"{header}{rows}cap,5,Cup,,5.00,EUR\nsum,,,,9.99,EUR\n"), tmp_path)
    assert "fill_down" not in total.guess.text


def test_an_id_of_several_gtins_gives_way_although_each_variant_has_its_own_day(tmp_path: Path) -> None:
    rows = "1,10,Shirt,4006381333931,9.90,2026-10-01\n1,11,Shirt,4006381333948,9.90,2026-10-02\n"
    text = guess(put(tmp_path, f"Item.id,Variation.id,Item.name,EAN,Price,Date\n{rows}")).text
    assert tomllib.loads(text)["item"]["id"] == "Variation.id"


def test_a_day_in_the_name_of_a_file_is_one_that_there_is(tmp_path: Path) -> None:
    for name, asked in (("prices-20260930.csv", True), ("shop_2026-09-30.csv", True), ("u7279101060.csv", False)):
        (tmp_path / name).write_text(PLAIN.decode().replace(",date", "").replace(",2026-10-01", ""))
        assert ('day = "?"' in guess(tmp_path / name).text) is asked, name


def test_a_link_that_is_too_long_costs_the_link_alone(tmp_path: Path) -> None:
    path = put(tmp_path, f"sku,name,price,currency,link\n1,Tea,2.50,EUR,https://shop.example/{'%D9' * 90}\n")
    found = tried(path, tmp_path)
    assert (found.found.counts["rejected"], found.found.counts["fields_rejected"]) == (0, 1)
    assert [item["identifiers"] for item in found.found.items] == [{}]


def test_a_text_that_is_too_long_costs_no_more_than_its_field(tmp_path: Path) -> None:
    head = 'source = "s"\ntitle = "S"\nlicense = "CC0-1.0"\non_error = "field"\n[item]\nid = "id"\nname = "name"\n'
    more = 'brand = "brand"\ncategory = ["a", "b"]\nproduct_type = "kind"\n[item.identifiers]\nmpn = "mpn"\n'
    (tmp_path / "m.toml").write_text(head + more + '[item.attributes]\nnote = "note"\n')
    bounds = {"brand": 300, "a": 300, "b": 300, "kind": 300, "mpn": 200, "note": 65_536}
    rows = "".join(f"{n},Thing," + ",".join("x" * (bound + n) for bound in bounds.values()) + "\n" for n in (0, 1))
    path = put(tmp_path, f"id,name,{','.join(bounds)}\n{rows}")
    mapping = read(tmp_path / "m.toml")
    found = Previewer(mapping, shown=2).of_items([path], Transformer(mapping, {}))
    assert (found.counts["rejected"], found.counts["fields_rejected"]) == (0, len(bounds))
    kept, cut = found.items
    assert (len(kept["brand"]), len(kept["identifiers"]["mpn"]), len(kept["attributes"]["note"])) == (300, 200, 65_536)
    assert (cut["brand"], cut["category"], cut["identifiers"], cut["attributes"]) == (None, None, {}, {})


def test_an_id_of_several_columns_with_gaps_stays_exact(tmp_path: Path) -> None:
    head = 'source = "s"\ntitle = "S"\nlicense = "CC0-1.0"\n[item]\nname = { first_of = ["a", "b"] }\n'
    (tmp_path / "m.toml").write_text(f'{head}id = {{ columns = ["a", "b", "c"], gaps = true }}\n')
    path = put(tmp_path, "a,b,c\nx,y,\nx,,y\nx,,\n,y,z\nx|y,,\n")
    mapping = read(tmp_path / "m.toml")
    found = Previewer(mapping, shown=9).of_items([path], Transformer(mapping, {}))
    assert [item["id"] for item in found.items] == ["x|y|", "x||y", "x||", "x\\|y||"]
    assert found.counts["rejected"] == 1


def test_a_table_of_rates_has_no_items() -> None:
    with pytest.raises(LoadRefused, match=r"no items here.*exchange rates.*`itemindex rates load` reads the forms"):
        guess(FILES / "03_nbp.csv")
    result = CliRunner().invoke(cli, ["ingest", "guess", str(FILES / "03_nbp.csv")])
    assert result.exit_code != 0


def test_prices_of_two_habits_are_said_with_their_rows(tmp_path: Path) -> None:
    found = tried(FILES / "04_mixed.csv", tmp_path, currency="EUR")
    assert [row[1] for row in found.prices] == ["19.99", "1999.00"]
    assert found.found.counts["rejected"] == 2
    assert found.doubts("price") == '2 of 4 cells cannot be read and are rejected: line 4 "1.999,00", line 5 "2,4"'


def test_a_weight_without_a_unit_is_shown_and_not_computed_with(tmp_path: Path) -> None:
    found = tried(FILES / "05_weight.csv", tmp_path)
    assert found.found.items[0]["attributes"] == {"weight": "1,800"}
    [doubt] = [doubt for doubt in found.guess.doubts if doubt.of == "weight"]
    assert "kg or g" in doubt.sentence
    assert doubt.readings[0].statement.startswith('weight_kg = { column = "weight", multiply = "1", decimal = "," }')


def test_no_id_is_taken_from_a_column_that_a_spreadsheet_has_shortened(tmp_path: Path) -> None:
    found = tried(FILES / "07_excel.csv", tmp_path, currency="EUR")
    assert [item["id"] for item in found.found.items] == ["Tea 80 bags", "Tea 40 bags"]
    assert 'a spreadsheet has cut numbers of "EAN" (line 2 "5,01E+12")' in found.doubts("id")
    assert dict(found.mapping.item.identifiers).keys() == {"gtin"} if found.mapping.item else False
    rejected = {row["value"]: row["reason"] for row in found.found.rejects}
    assert "spreadsheet such as Excel" in rejected["5,01E+12"]


def test_variants_of_a_shop_have_the_title_of_their_product(tmp_path: Path) -> None:
    found = tried(FILES / "12_shopify.csv", tmp_path, currency="GBP")
    assert found.prices == [
        ("Organic Tee – S", "19.00", "25.00", "GBP"),
        ("Organic Tee – M", "19.00", "25.00", "GBP"),
        ("Blue Mug", "9.00", None, "GBP"),
    ]
    item = found.found.items[1]
    assert (item["brand"], item["category"], item["identifiers"]["gtin"]) == ("Acme", "shirts", "0012345678905")


def test_a_line_that_states_the_delimiter_is_no_header(tmp_path: Path) -> None:
    found = tried(FILES / "13_sep.csv", tmp_path, currency="EUR")
    item = found.found.items[0]
    assert (item["id"], item["name"], item["category"]) == ("100", "Kaffee 500g", "getranke")


def test_days_of_a_spreadsheet_are_seen(tmp_path: Path) -> None:
    found = tried(FILES / "14_serial.csv", tmp_path)
    assert [row["day"] for row in found.found.observations] == ["2025-10-01", "2025-10-02"]


def test_a_barcode_that_is_a_number_gets_its_zeros_again(tmp_path: Path) -> None:
    found = tried(FILES / "16.ndjson", tmp_path)
    assert found.found.items[0]["identifiers"] == {"gtin": "00031146262571"}
    assert ("price", "NaN", "field") in {(row["column"], row["value"], row["scope"]) for row in found.found.rejects}
    assert found.prices[0] == ("Bar", "1.10", None, "USD")


def test_each_amount_is_read_in_its_own_habit_and_currency(tmp_path: Path) -> None:
    with pytest.raises(LoadRefused, match=r'currency is still "\?"'):
        tried(FILES / "18_prices.csv", tmp_path)
    found = tried(FILES / "18_prices.csv", tmp_path, marks={"¥": "JPY"})
    assert [(row[1], row[3]) for row in found.prices] == [
        ("1299.00", "CHF"),
        ("1299.00", "EUR"),
        ("123456.00", "INR"),
        ("12.00", "USD"),
        ("1200", "JPY"),
        ("1.250", "KWD"),
    ]
    assert '"¥", as in "¥1,200", may be CNY, JPY' in found.doubts("currency")
    assert 'line 6 "12.-"' in found.doubts("currency")


def test_a_column_that_is_there_twice_is_said_and_chosen_by_a_person(tmp_path: Path) -> None:
    made = guess(FILES / "19_dup.csv")
    assert '# CHECK columns: 2 columns are called "name" ("Lamp" and "Lampe")' in made.text
    assert 'name = "?"' in made.text


def test_prices_of_zero_and_below_are_said(tmp_path: Path) -> None:
    found = tried(FILES / "20_zero.csv", tmp_path)
    assert [row[1] for row in found.prices] == ["0.00", "5.00"]
    assert 'negative and is rejected: line 3 "-5.00"' in found.doubts("price")
    assert 'zero and is loaded as such: line 2 "0.00"' in found.doubts("price")


def test_lines_may_end_with_a_carriage_return(tmp_path: Path) -> None:
    assert len(tried(FILES / "21_cr.csv", tmp_path).prices) == 2


def test_a_total_below_the_rows_is_said(tmp_path: Path) -> None:
    found = tried(FILES / "24_footer.csv", tmp_path)
    assert (len(found.prices), found.found.counts["rejected"]) == (2, 1)
    assert "line 4 (the last one seems to be a total)" in found.doubts("name")


def test_a_header_below_titles_is_found(tmp_path: Path) -> None:
    found = tried(FILES / "25_preamble.csv", tmp_path)
    assert (found.mapping.skip_rows, len(found.prices)) == (3, 2)


@pytest.mark.parametrize(
    ("rows", "readings"),
    [
        ("1,A,2.50,EUR,03/04/2026\n", ('format = "%d/%m/%Y"', 'format = "%m/%d/%Y"')),
        ("1,A,2.50,EUR,03-04-26\n", ('format = "%d-%m-%y"', 'format = "%m-%d-%y"')),
        ("1,A,2.50,EUR,13/04/2026\n2,B,1.00,EUR,04/13/2026\n", ('format = "%d/%m/%Y"', 'format = "%m/%d/%Y"')),
        ("1,A,1.234,EUR,2026-04-03\n", ('price = "price"', 'thousands = "."')),
        ('1,A,"1,234",EUR,2026-04-03\n', ('thousands = ","', 'decimal = ","')),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen(
    tmp_path: Path, rows: str, readings: tuple[str, str]
) -> None:
    path = put(tmp_path, "id,name,price,currency,date\n" + rows)
    made = guess(path)
    assert '= "?"' in made.text
    [doubt] = [doubt for doubt in made.doubts if doubt.readings]
    assert len(doubt.readings) == 2
    for reading in readings:
        assert any(reading in f"{one.statement}  # {one.example}" for one in doubt.readings), doubt
    (tmp_path / "m.toml").write_text(made.text)
    with pytest.raises(LoadRefused, match=r'is still "\?": choose one of the readings'):
        read(tmp_path / "m.toml")
    loaded = []
    for reading in doubt.readings:
        (tmp_path / "m.toml").write_text(made.text.replace(f'{doubt.of} = "?"', reading.statement))
        mapping = read(tmp_path / "m.toml")
        text, left = decide(made.mapping, made.doubts, [reading.statement])
        assert parse(text).observations == mapping.observations and doubt not in left
        # What a reading says of its example is what it loads; of a price finer than its currency it loads nothing.
        value = reading.example.rpartition(" is ")[2]
        found = Previewer(mapping, shown=9).of_items([path], Transformer(mapping, {}))
        texts = [row[doubt.of] for row in found.observations]
        loaded.append(value)
        if doubt.of == "day":
            assert value == "no day" or value in texts
        else:
            assert texts == ([f"{Decimal(value):.2f}"] if Decimal(value) == round(Decimal(value), 2) else [])
    assert len(set(loaded)) == 2


OPEN = """id,name,price,rrp,date,category
1,A,"$1,234","2,345",03/04/2026,Food / Rice
2,B,$5,6,05/04/2026,Food / Oil
"""


def test_every_doubt_with_readings_can_be_decided_one_after_the_other(tmp_path: Path) -> None:
    path = put(tmp_path, OPEN)
    made = guess(path)
    assert [doubt_of(json.loads(json.dumps(asdict(doubt)))) for doubt in made.doubts] == list(made.doubts)
    assert "CHECK" not in made.mapping and made.text.count("\n# CHECK ") == sum(
        1 + len(doubt.readings) for doubt in made.doubts
    )
    asked = [doubt for doubt in made.doubts if doubt.readings]
    assert [(doubt.of, doubt.is_open) for doubt in asked] == [
        ("category", False), ("day", True), ("price", True), ("currency", True), ("list_price", True)
    ]  # fmt: skip
    chosen, left = decide(made.mapping, made.doubts, [doubt.readings[0].statement for doubt in asked])
    assert left == tuple(doubt for doubt in made.doubts if not doubt.readings)
    mapping = parse(chosen)
    found = Previewer(mapping, shown=9).of_items([path], Transformer(mapping, {}))
    assert [(row["price"], row["list_price"], row["currency"], row["day"]) for row in found.observations] == [
        ("1234.00", "2345.00", "USD", "2026-04-03"), ("5.00", "6.00", "USD", "2026-04-05")
    ]  # fmt: skip
    assert [item["category"] for item in found.items] == ["food.rice", "food.oil"]
    kept, left = decide(made.mapping, made.doubts, [asked[0].said])
    assert kept == made.mapping and asked[0] not in left
    assert decide(made.mapping, made.doubts, []) == (made.mapping, made.doubts)
    with pytest.raises(LookupError):
        decide(kept, left, [asked[0].said])


@pytest.mark.parametrize(
    ("rows", "day"),
    [
        ("1,A,2.50,EUR,03/04/2026\n2,B,2.50,EUR,24/04/2026\n", "2026-04-03"),
        ("1,A,2.50,EUR,03/04/2026\n2,B,2.50,EUR,04/24/2026\n", "2026-03-04"),
        ("1,A,2.50,EUR,04/04/2026\n", "2026-04-04"),
    ],
)
def test_one_day_that_fits_one_order_alone_decides_for_all(tmp_path: Path, rows: str, day: str) -> None:
    path = put(tmp_path, "id,name,price,currency,date\n" + rows)
    assert tried(path, tmp_path).found.observations[0]["day"] == day


@pytest.mark.parametrize(
    "days",
    [
        ("March 3, 2026", "December 31, 2025"),
        ("3. März 2026", "31. Dezember 2025"),
        ("3 mars 2026", "31 décembre 2025"),
        ("3 de marzo de 2026", "31 de diciembre de 2025"),
        ("3 marzo 2026", "31 dicembre 2025"),
        ("3 maart 2026", "31 december 2025"),
        ("3 marca 2026", "31 grudnia 2025"),
        ("3 de março de 2026", "31 de dezembro de 2025"),
        ("2026年3月3日", "2025年12月31日"),
        ("3 mrt. 2026", "31 dec. 2025"),
    ],
)
def test_months_have_their_names_in_each_language(tmp_path: Path, days: tuple[str, ...]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f'{row}\n' for row in ["id,name,price,currency,date", *(
        f'{n},A,2.50,EUR,"{day}"' for n, day in enumerate(days)
    )]))  # fmt: skip
    found = tried(path, tmp_path).found
    assert [row["day"] for row in found.observations] == ["2026-03-03", "2025-12-31"]


@pytest.mark.parametrize("sign", ["$", "¥", "kr"])
def test_a_sign_of_several_currencies_is_a_question(tmp_path: Path, sign: str) -> None:
    made = guess(put(tmp_path, f"id,name,price\n1,A,{sign} 5.25\n2,B,{sign} 6.00\n"))
    assert "in place of" in " ".join(doubt.sentence for doubt in made.doubts if doubt.of == "currency")
    (tmp_path / "m.toml").write_text(made.text)
    with pytest.raises(LoadRefused, match="currency is still"):
        read(tmp_path / "m.toml")


def test_a_sign_of_several_is_the_currency_that_stands_beside_it_but_for_the_dollar(tmp_path: Path) -> None:
    for first, other, meant in (
        ("¥980", "980円", '"¥" = "JPY"'),
        ("Rs. 980", "₹980", '"Rs." = "INR"'),
        ("$98", "CA$98", '"$" = "?"'),
    ):
        assert meant in guess(put(tmp_path, f"id,name,price\n1,A,{first}\n2,B,{other}\n")).text


def test_a_list_price_that_states_a_currency_beside_prices_that_do_not_is_checked_against_it(tmp_path: Path) -> None:
    path = put(tmp_path, "id,name,price,rrp,currency\n1,A,2.50,$3.50,EUR\n2,B,2.50,€3.50,EUR\n")
    assert [row[2] for row in tried(path, tmp_path).prices] == [None, "3.50"]


@pytest.mark.parametrize(
    ("header", "currency"), [("Price (CHF)", "CHF"), ("price_usd", "USD"), ("Preis in €", "EUR"), ("Price all", "")]
)
def test_the_name_of_a_column_may_state_the_currency(tmp_path: Path, header: str, currency: str) -> None:
    path = put(tmp_path, f"id,name,{header}\n1,A,2.50\n")
    said = f'currency = {{ constant = "{currency}" }}' if currency else 'currency = "?"'
    assert said in guess(path).text.splitlines() or f"{said}  #" in guess(path).text


@pytest.mark.parametrize(
    ("column", "cell"), [("date added", "2009-02-03"), ("Artikelnummer im Shop", "100-1"), ("price per kg", "5.00")]
)
def test_a_column_is_not_taken_for_what_another_word_of_its_name_means(tmp_path: Path, column: str, cell: str) -> None:
    path = put(tmp_path, f"id,name,price,currency,{column}\n1,A,2.50,EUR,{cell}\n2,B,3.50,EUR,{cell}\n")
    assert f'# "{column}": ' in guess(path).text


@pytest.mark.parametrize(
    ("column", "cell"), [("date", "Mitte Oktober 2026"), ("price", "auf Anfrage"), ("price", "1,2,3,4 bis 5 Stück")]
)
def test_a_price_or_a_day_that_cannot_be_read_is_not_left_out(tmp_path: Path, column: str, cell: str) -> None:
    row = {"id": "1", "name": "A", "price": "2.50", "currency": "EUR", "date": "2026-10-01"} | {column: f'"{cell}"'}
    path = put(tmp_path, ",".join(row) + "\n" + ",".join(row.values()) + "\n" + ",".join(row.values()) + "\n")
    (tmp_path / "m.toml").write_text(guess(path).text)
    with pytest.raises(LoadRefused, match=r'still "\?"'):
        read(tmp_path / "m.toml")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Getränke", "cp1252"),
        ("Crème brûlée à la façon", "cp1252"),
        ("España niño jamón", "cp1252"),
        ("Feijão, maçã, pão", "cp1252"),
        ("Žluťoučký kůň dřevěná", "cp1250"),
        ("Tükörfúrógép őrült hűtő", "cp1250"),
        ("Żółty ser i pączek", "cp1250"),
        ("Żółty ser i pączek", "iso8859_2"),
        ("Чай зелёный крупный лист", "cp1251"),
    ],
)
def test_an_encoding_is_known_by_the_letters_of_its_languages(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"id;name;price\n1;{text};2.50\n2;{text};3.50\n".encode(encoding))
    found = tried(path, tmp_path, currency="EUR")
    assert (found.mapping.encoding, found.found.items[0]["name"]) == (encoding, text)
    assert text.split()[0].strip(",") in found.doubts("encoding")


@pytest.mark.parametrize(("price", "listed"), [("2,50", "1250.00"), ("2.50", "1.25")])
def test_a_list_price_is_written_as_the_price_is(tmp_path: Path, price: str, listed: str) -> None:
    path = put(tmp_path, f"id;name;price;rrp;currency\n1;A;{price};1.250;EUR\n")
    assert tried(path, tmp_path).prices == [("A", "2.50", listed, "EUR")]


def test_the_day_in_a_files_name_is_a_question(tmp_path: Path) -> None:
    path = tmp_path / "prices-2026-10-01.csv"
    path.write_text("id,name,price,currency\n1,A,2.50,EUR\n")
    made = guess(path)
    [doubt] = [doubt for doubt in made.doubts if doubt.of == "day"]
    (tmp_path / "m.toml").write_text(made.text.replace('day = "?"', doubt.readings[0].statement))
    assert read(tmp_path / "m.toml").observations[0].day.file_name == "([0-9]{4}-[0-9]{2}-[0-9]{2})"


def test_weeks_are_days_and_parts_of_a_day_are_a_question(tmp_path: Path) -> None:
    """They were no days: each price was of the day of the load, and the last one replaced the others."""
    path = put(tmp_path, "id,name,week,price,currency\n1,A,2026-W05,2.50,EUR\n1,A,2026-W06,2.60,EUR\n")
    assert [str(row["day"]) for row in tried(path, tmp_path).found.observations] == ["2026-02-01", "2026-02-08"]
    for header, cells, day in (
        ("Jahr,KW", "2026,5", "2026-02-01"),
        ("year,month", "2026,2", "2026-02-28"),
        ("KW", "5", ""),
    ):
        path = put(tmp_path, f"id,name,{header},price,currency\n1,A,{cells},2.50,EUR\n2,B,{cells},2.60,EUR\n")
        made = guess(path)
        [doubt] = [doubt for doubt in made.doubts if doubt.of == "day"]
        assert len(doubt.readings) == (2 if day else 1) and 'day = "?"' in made.text
        mapping = parse(made.text.replace('day = "?"', doubt.readings[0].statement))
        found = Previewer(mapping, shown=9).of_items([path], Transformer(mapping, {}))
        assert not day or [str(row["day"]) for row in found.observations] == [day, day]


def test_prices_of_months_in_columns_are_said_with_what_loads_them(tmp_path: Path) -> None:
    days: list[Any]
    for days in (["Jan 2026", "Feb 2026", "Mrz 2026"], [datetime.date(2026, month, 1) for month in (1, 2, 3)]):
        book = openpyxl.Workbook()
        book.active.append(["SKU", "Product", *days])
        book.active.append(["A1", "Milk", 1.29, 1.35, 1.35])
        book.active.append(["A2", "Bread", 2.49, 2.59, None])
        book.save(tmp_path / "f.xlsx")
        made = guess(tmp_path / "f.xlsx")
        [said] = [doubt.sentence for doubt in made.doubts if doubt.of == "observation"]
        assert "make rows of them" in said, days
        one = said.partition("with ")[2].replace(" and price", "\nprice")
        tables = "".join(
            f"[[observation]]\n{one.replace('-31', day).replace(str(days[0]), str(days[n]))}\n"
            'channel = { constant = "S" }\ncurrency = { constant = "EUR" }\n'
            for n, day in ((0, "-31"), (1, "-30"))
        )
        mapping = parse(made.text + tables)
        found = Previewer(mapping, shown=9).of_items([tmp_path / "f.xlsx"], Transformer(mapping, {}))
        assert [row["price"] for row in found.observations] == ["1.29", "1.35", "2.49", "2.59"]


def test_a_second_line_of_names_is_said(tmp_path: Path) -> None:
    two = "Article,,Price,\nSKU,Name,Retail,Was\nA1,Milk,1.29,1.49\nA2,Bread,2.49,\n"
    doubts = {doubt.of: doubt.sentence for doubt in guess(put(tmp_path, two)).doubts}
    assert 'line 2 seems to name the columns too, as in "Retail"' in doubts["skip_rows"]
    for one in (two.partition("\n")[2], "id,name,price\n1,A,n/a\n2,B,2\n"):
        assert "skip_rows" not in [doubt.of for doubt in guess(put(tmp_path, one)).doubts]


@pytest.mark.parametrize(
    ("header", "column"),
    [("id,name,description", "name"), ("id,description,name", "name"), ("id,description", "description")],
)
def test_a_description_is_the_name_only_where_no_column_is(tmp_path: Path, header: str, column: str) -> None:
    path = put(tmp_path, f"{header},price,currency\n1{',A long text' * header.count(',')},2.50,EUR\n")
    assert f'name = "{column}"' in guess(path).text


def test_a_file_of_one_row_is_described_in_the_singular(tmp_path: Path) -> None:
    text = guess(put(tmp_path, "id,name,price,currency,date\n1,A,2.50,EUR,2026-10-01\n")).text
    assert "guessed from the first row of the file" in text and "1 distinct in 1 row\n" in text
    assert not re.search(r"\b1 \w+s\b", text), text


def test_every_line_of_a_guess_has_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "sku,name,brand,price,currency,date\n"
        + "".join(f"{n},Thing {n},{'B' if n > 2 else ''},{n}.50,EUR,2026-10-01\n" for n in range(1, 1_001))
    )
    text = guess(path).text
    assert 'id = "sku"  # 1,000 distinct in 1,000 rows' in text
    assert 'brand = "brand"  # 998 of 1,000 cells' in text
    assert 'price = "price"  # 1,000 of 1,000 cells have an amount' in text


@pytest.mark.parametrize("header", ["4006381333931,2.50,2026-10-01", "1;2;3"])
def test_a_file_without_names_of_columns_is_refused(tmp_path: Path, header: str) -> None:
    path = put(tmp_path, f"{header}\n{header}\n")
    with pytest.raises(LoadRefused, match="add a line with their names"):
        guess(path)


def test_how_many_prices_would_be_replaced_is_said_with_an_example(tmp_path: Path) -> None:
    """Where nothing in a file tells two rates of a room apart, a person decides what they are."""
    rows = ("Room A,90", "Room A,75", "Room B,120", "Room B,99", "Room B,120", "Room C,60")
    doubts = [one.sentence for one in guess(put(tmp_path, "\n".join(("name,price", *rows)) + "\n")).doubts]
    said = 'of 6 rows 2 have the id of an earlier one on the same day at another price, as "Room A" at "90" and "75"'
    assert [said in one for one in doubts].count(True) == 1
