"""Guessed mappings: of files with faults, of known shapes, and in many languages."""

import cProfile
import datetime
import gzip
import json
import pstats
import re
import tomllib
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from edge.dashboard.doubts import decided, doubts_of
from shared.clock import utc_now
from shared.errors import LoadRefused
from tests.unit.ingest.guessing import FILES, Tried, tried
from workers.ingest.column_roles import free_amounts, is_gtin
from workers.ingest.guess.guess import guess
from workers.ingest.mapping import Mapping, parse, read
from workers.ingest.preview import Previewer
from workers.ingest.shapes import FOLDER
from workers.ingest.transform import Transformer

# A guessed mapping can be read, and says what the file has.


PROJECT = Path(__file__).parents[3]


def put(folder: Path, content: str) -> Path:
    (folder / "a.csv").write_text(content)
    return folder / "a.csv"


def guessed(folder: Path, content: str | bytes, name: str = "my-prices 1.csv") -> tuple[Mapping, Path]:
    path, made = folder / name, folder / "guessed.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    made.write_text(guess(path).text.replace('currency = "?"', 'currency = { constant = "EUR" }'))
    return read(made), path


def test_rows_without_what_their_price_needs_are_said(tmp_path: Path) -> None:
    rows = "1,Tea,2.50,EUR,N,2026-10-01\n2,Milk,2.50,,N,2026-10-01\n3,Bun,2.50,EUR,N,\n4,Jam,2.50,EUR,,2026-10-01\n"
    found = tried(put(tmp_path, "id,name,price,currency,shop,sale start\n" + rows + "5,Oats,,,,\n,,9,,,\n"), tmp_path)
    assert [(row["line"], row["column"]) for row in found.found.rejects][:3] == [
        (3, "currency"), (4, "sale start"), (5, "shop")
    ]  # fmt: skip
    for of, line in (("currency", 3), ("day", 4), ("channel", 5)):
        assert f"1 of 6 rows has none and is rejected: line {line}" in found.doubts(of)


def test_whole_amounts_with_a_dash_are_prices(tmp_path: Path) -> None:
    found = tried(
        put(tmp_path, "sku;name;price;currency\n1;Tee;5,-;EUR\n2;Milch;12,-;EUR\n3;Brot;2,50;EUR\n"), tmp_path
    )
    assert [row[1] for row in found.prices] == ["5.00", "12.00", "2.50"]


def test_a_price_list_is_understood(tmp_path: Path) -> None:
    rows = "".join(
        f'A{n};Thing {n};Acme;4006381333931;{n % 28 + 1:02d}.07.2026;North;"1.2{n % 10:02d},50 €"\n' for n in range(40)
    )
    mapping, path = guessed(tmp_path, "sku;title;maker;ean;date;shop;price\n" + rows)
    assert (mapping.source, mapping.delimiter) == ("my_prices_1", ";")
    found = Previewer(mapping, shown=1).of_items([path], Transformer(mapping, {}))
    assert (found.counts["observations_read"], found.counts["rejected"]) == (40, 0)
    assert found.observations == [
        {
            "item": "Thing 0",
            "day": "2026-07-01",
            "channel": "North",
            "kind": "listing",
            "price": "1200.50",
            "list_price": None,
            "currency": "EUR",
            "units": 1,
        }
    ]
    assert found.items[0]["identifiers"] == {"gtin": "4006381333931"}


PRICES = ("15.00 USD", "1,015.00 USD", "9 EUR", "EUR 7.50", "US$ 12", "€3.25", "KWD 1.250")


def test_each_price_has_the_currency_that_its_cell_states(tmp_path: Path) -> None:
    rows = "".join(f"{n}\tThing {n}\t{price}\t2026-07-01\n" for n, price in enumerate(PRICES))
    mapping, path = guessed(tmp_path, "id\ttitle\tprice\tdate\n" + rows, "feed.tsv")
    found = Previewer(mapping, shown=20).of_items([path], Transformer(mapping, {}))
    query = """SELECT CAST(regexp_replace(price, '[^0-9.]', '', 'g') AS decimal(12, 3)),
        CASE WHEN contains(price, '€') THEN 'EUR' WHEN contains(price, 'US$') THEN 'USD'
             ELSE regexp_extract(price, '[A-Z]{3}') END FROM read_csv($1, delim = '\t', all_varchar = true)"""
    judged = [(price, currency) for price, currency in duckdb.execute(query, [str(path)]).fetchall()]
    assert [(Decimal(row["price"]), row["currency"]) for row in found.observations] == judged
    path.write_text(path.read_text() + "90\tA\t5.00\t2026-07-01\n91\tB\t5 GBP\t2026-07-01\n92\tC\t5 RUR\t2026-07-01\n")
    later = Previewer(mapping, shown=20).of_items([path], Transformer(mapping, {}))
    assert (later.counts["observations_read"], later.counts["rejected"]) == (len(PRICES), 3)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,name,price\n1,A,2.50\n", ["# CHECK day: the file states no day", 'currency = "?"']),
        (
            "id,name,price\n0,A,£5.00\n1,A,5.00\n2,A,6.00\n",
            ['currency = "?"', '1 of 3 prices have "£", and the others nothing'],
        ),
        (
            "Artikelnummer;Bezeichnung;Nettopreis;Bruttopreis\n1;A;10,00;11,90\n",
            ['price = "?"', "may each be the price", '"Nettopreis"', '"Bruttopreis"'],
        ),
        ("id,name,price_vat,price\n1,A,12,10\n", ['"price" and "price_vat" may each be the price']),
        ("id,name,price,day,store\n1,A,2,3,true\n2,B,2,0,false\n", ["the file states no day", '"SHOP"']),
        ("id,name,price_cents,currency\n1,A,1299,EUR\n", ['price = "?"', "hundredths"]),
        ("sku,name,price,currency,quantity\n1,A,2.50,EUR,12\n", ["may be the stock"]),
        ("shop,sku,name,price,currency\nN,1,A,1.00,EUR\nS,1,B,2.00,EUR\n", ['"1" is the id of "A" and of "B"']),
    ],
    ids=[
        "no day",
        "some prices",
        "two prices",
        "two prices of one name",
        "days of delivery",
        "hundredths",
        "the stock",
        "an id of two names",
    ],
)
def test_what_the_file_does_not_say_is_a_question_or_said(tmp_path: Path, content: str, said: list[str]) -> None:
    text = guess(put(tmp_path, content)).text
    assert [one for one in said if one not in text] == []


def test_blanks_after_the_commas_of_a_header_are_no_part_of_its_titles(tmp_path: Path) -> None:
    found = tried(put(tmp_path, "id, name, price, currency\n1, Tea, 2.50, EUR\n"), tmp_path)
    assert found.prices == [("Tea", "2.50", None, "EUR")]


def test_the_stock_is_not_taken_for_units_that_were_sold(tmp_path: Path) -> None:
    found = tried(put(tmp_path, "sku,name,price,currency,quantity\n1,A,2.50,EUR,12\n"), tmp_path)
    assert found.found.observations[0]["units"] == 1


@pytest.mark.parametrize(
    ("file", "currency", "price"),
    [
        ("06_backslash.csv", "EUR", ('He said "go", game', "9.99", None, "EUR")),
        ("10_feed.xml", "", ("Lamp", "10.20", None, "EUR")),
        ("15.zip", "EUR", ("A", "1.00", None, "EUR")),
    ],
)
def test_the_form_of_a_file_is_seen(
    tmp_path: Path, file: str, currency: str, price: tuple[str, str, str | None, str]
) -> None:
    assert tried(FILES / file, tmp_path, currency=currency).prices[0] == price


@pytest.mark.parametrize(
    ("rows", "agree"),
    [
        ("$5,CAD\n$6,CAD\n", True),
        ("€5,EUR\n$6,USD\n", True),
        ("€5,EUR\n$6,CAD\n", True),
        ("$5,CAD\n$6,EUR\n", False),
        ("€5,USD\n€6,USD\n", False),
    ],
)
def test_a_mark_beside_a_column_of_the_currency_is_taken_out_only_where_both_agree(
    tmp_path: Path, rows: str, agree: bool
) -> None:
    path = put(tmp_path, "price,currency,id,name\n" + "".join(f"{row},{n},A\n" for n, row in enumerate(rows.split())))
    text = guess(path).text
    assert ('currency = "?"' not in text) is agree
    if agree:
        (tmp_path / "m.toml").write_text(text)
        mapping = read(tmp_path / "m.toml")
        found = Previewer(mapping, shown=5).of_items([path], Transformer(mapping, {}))
        assert [(row["price"], row["currency"]) for row in found.observations] == [
            ("5.00", rows[3:6]), ("6.00", rows[10:13])
        ]  # fmt: skip


@pytest.mark.parametrize(("listed", "read"), [("€12", True), ("12", True), ("$12", False), ("12 kr", False)])
def test_a_list_price_has_the_currency_of_the_price_or_is_not_read(tmp_path: Path, listed: str, read: bool) -> None:
    rows = "".join(f"{n},A {n},€9,€12\n" for n in range(20)) + f"20,Last,€9,{listed}\n"
    mapping, path = guessed(tmp_path, "id,name,price,rrp\n" + rows)
    found = Previewer(mapping, shown=30).of_items([path], Transformer(mapping, {}))
    assert [row["list_price"] for row in found.observations] == ["12.00"] * 20 + (["12.00"] if read else [None])
    assert found.counts["rejected"] == 0


@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz"])
def test_members_become_paths(tmp_path: Path, name: str) -> None:
    raw = b'{"id":"1","name":"A","brand":{"name":"B"},"price":12.50,"currency":"USD","date":"2026-07-01"}\n'
    mapping, path = guessed(tmp_path, gzip.compress(raw) if name.endswith("gz") else raw, name)
    found = Previewer(mapping, shown=1).of_items([path], Transformer(mapping, {}))
    assert found.items[0]["brand"] == "B"
    assert found.observations[0]["price"] == "12.50"


@pytest.mark.parametrize("file", ["hk_pricewatch.csv.gz", "carbon_catalogue.csv.gz", "rivm_food_footprints.csv"])
def test_the_shipped_files_give_mappings_that_can_be_read(tmp_path: Path, file: str) -> None:
    made = tmp_path / "m.toml"
    text = guess(PROJECT / "deploy/demo/data" / file).text
    made.write_text(text.replace('= "?"', '= { constant = "EUR" }'))
    assert read(made).columns


def test_names_of_columns_reach_no_terminal_as_commands(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,"name\x1b]0;x\x07\u202e","q""uote\\"\n1,\x1b[31mA,\U0001f600\n')
    result = CliRunner().invoke(cli, ["ingest", "guess", str(path)])
    assert result.exit_code == 0, result.exception
    assert all(character.isprintable() or character == "\n" for character in result.output)
    made = tmp_path / "m.toml"
    made.write_text(result.output)
    assert read(made).columns[1] == "name\x1b]0;x\x07\u202e"


def test_a_check_digit_is_checked() -> None:
    for text, valid in (
        ("4006381333931", True),
        ("4006381333932", False),
        ("73513537", True),
        ("036000291452", True),
        ("1234567890123", False),
        ("40063813339", False),
    ):
        assert is_gtin(text) is valid, text


def test_values_in_lists_and_objects_are_guessed_by_their_paths(tmp_path: Path) -> None:
    offers = [{"price": 2.5, "day": "2026-07-01", "currency": "EUR"}]
    rows = [{"id": 1, "title": {"en": "Thing"}, "maker": maker, "offers": offers} for maker in (None, {"name": "Acme"})]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    of_lines, of_parquet = guessed(tmp_path, text, "a.ndjson")[0], tmp_path / "b.toml"
    of_parquet.write_text(guess(tmp_path / "a.parquet").text)
    for mapping in (of_lines, read(of_parquet)):
        [observation] = mapping.observations
        columns = [observation.price.column, observation.day.column, observation.currency.column]
        assert columns == ["offers.0.price", "offers.0.day", "offers.0.currency"]
        assert mapping.item is not None and mapping.item.brand is not None and mapping.item.brand.column == "maker.name"
    assert '"maker": always empty' not in of_parquet.read_text()


def test_a_time_with_a_zone_in_parquet_is_a_day(tmp_path: Path) -> None:
    moments = pa.array([1_784_000_000], pa.timestamp("s", tz="America/New_York"))
    pyarrow.parquet.write_table(
        pa.table({"id": [1], "name": ["A"], "price": [2.5], "seen_at": moments}), tmp_path / "a.parquet"
    )
    made = tmp_path / "m.toml"
    made.write_text(guess(tmp_path / "a.parquet").text.replace('currency = "?"', 'currency = { constant = "EUR" }'))
    assert read(made).observations[0].day.column == "seen_at"


def test_a_column_of_two_forms_of_days_is_one_with_two_formats(tmp_path: Path) -> None:
    rows = "A,A,1.00,2026-07-01\nB,B,2.00,02.07.2026\nC,C,3.00,2026-07-03\nD,D,4.00,04.07.2026\n"
    mapping, _ = guessed(tmp_path, "id,name,price,date\n" + rows)
    assert mapping.observations[0].day.format == ("%Y-%m-%d", "%d.%m.%Y")


def test_unreadable_days_do_not_hide_what_a_column_is(tmp_path: Path) -> None:
    mapping, _ = guessed(tmp_path, "id,name,price,date\nA,A,1.00,03.07.2026\nB,B,2.00,31.02.2026\n")
    assert mapping.observations[0].day.format == ("%d.%m.%Y",)


def test_a_parquet_file_without_a_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.parquet"
    pyarrow.parquet.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    with pytest.raises(LoadRefused, match="has no row"):
        guess(path)


def test_columns_of_a_fixed_width_are_not_said_to_be_no_rows(tmp_path: Path) -> None:
    path = put(tmp_path, "ITEMNO  TEXT        PRICE\n000001  CUP          1.50\n000002  BOLT, HEX    0.10\n")
    with pytest.raises(LoadRefused, match="no row below line 3, which seems to name the columns"):
        guess(path)


# Faults of real files: each is read right, or is a question to a person; none is guessed silently.


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
    [doubt] = [doubt for doubt in doubts_of(made.text) if "future" in doubt.sentence]
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
    assert doubt.choices[0].startswith('weight_kg = { column = "weight", multiply = "1", decimal = "," }')


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
    [doubt] = [doubt for doubt in made.doubts if doubt.choices]
    assert len(doubt.choices) == 2
    for reading in readings:
        assert any(reading in choice for choice in doubt.choices), doubt
    (tmp_path / "m.toml").write_text(made.text)
    with pytest.raises(LoadRefused, match=r'is still "\?": choose one of the readings'):
        read(tmp_path / "m.toml")
    loaded = []
    for choice in doubt.choices:
        (tmp_path / "m.toml").write_text(made.text.replace(f'{doubt.of} = "?"', choice))
        mapping = read(tmp_path / "m.toml")
        assert parse(decided(made.text, [choice])).observations == mapping.observations
        # What a reading says of its example is what it loads; of a price finer than its currency it loads nothing.
        value = choice.rpartition(" is ")[2]
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
    assert {doubt.sentence: [one.line for one in doubt.readings] for doubt in doubts_of(made.text)} == {
        f"{doubt.of}: {doubt.sentence}": list(doubt.choices) for doubt in made.doubts
    }
    asked = [doubt for doubt in doubts_of(made.text) if doubt.readings]
    assert [(doubt.sentence.partition(":")[0], doubt.open) for doubt in asked] == [
        ("category", False), ("day", True), ("price", True), ("currency", True), ("list_price", True)
    ]  # fmt: skip
    mapping = parse(decided(made.text, [doubt.readings[0].line for doubt in asked]))
    found = Previewer(mapping, shown=9).of_items([path], Transformer(mapping, {}))
    assert [(row["price"], row["list_price"], row["currency"], row["day"]) for row in found.observations] == [
        ("1234.00", "2345.00", "USD", "2026-04-03"), ("5.00", "6.00", "USD", "2026-04-05")
    ]  # fmt: skip
    assert [item["category"] for item in found.items] == ["food.rice", "food.oil"]
    kept = decided(made.text, [asked[0].sentence])
    assert 'category = "category"  #' in kept and "CHECK category" not in kept
    assert decided(made.text, []) == made.text
    with pytest.raises(LookupError):
        decided(kept, [asked[0].sentence])


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
    (tmp_path / "m.toml").write_text(made.text.replace('day = "?"', doubt.choices[0]))
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
        assert len(doubt.choices) == (2 if day else 1) and 'day = "?"' in made.text
        mapping = parse(made.text.replace('day = "?"', doubt.choices[0]))
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


# Files of known shapes and of many languages load by a guessed mapping.


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
    before = utc_now()
    found = tried(FILES / file["name"], tmp_path, currency=file.get("currency", ""))
    assert found.guess.shape == file.get("shape")
    assert rows_of(found) in [
        [[day.date().isoformat() if value == "load" else value for value in row] for row in file["rows"]]
        for day in (before, utc_now())
    ]
    assert found.found.counts["rejected"] == file.get("rejected", 0)
    assert found.found.counts["fields_rejected"] == 0


JUDGED = {  # the id and the price of each item, as DuckDB finds them in the file
    "71_etsy.csv": "SELECT TITLE, PRICE FROM read_csv($1, all_varchar = true)",
    "72_wix.csv": "SELECT handleId, price FROM read_csv($1, all_varchar = true) WHERE name IS NOT NULL",
    "73_meta_catalog.csv": """SELECT id, split_part(coalesce(sale_price, price), ' ', 1)
        FROM read_csv($1, all_varchar = true, skip = 1)""",
    "77_shopify_gaps.csv": """SELECT concat_ws('|', "Handle", "Option1 Value", coalesce("Option2 Value", '')), "Variant Price"
        FROM read_csv($1, all_varchar = true) WHERE "Variant Price" IS NOT NULL""",
    "79_shopify.json": """SELECT CAST(v.id AS text), v.price
        FROM (SELECT unnest(p.variants) AS v FROM (SELECT unnest(products) AS p FROM read_json($1)))""",
    "80_menu.json": "SELECT i.id, CAST(i.price AS text) FROM (SELECT unnest(items) AS i FROM read_json($1))",
    "81_awin.csv": "SELECT aw_product_id, search_price FROM read_csv($1, all_varchar = true)",
    "82_tiendanube.csv": """SELECT "SKU", replace(coalesce("Precio promocional", "Precio"), ',', '.')
        FROM read_csv($1, all_varchar = true, delim = ';')""",
    "92_odoo.csv": "SELECT id, list_price FROM read_csv($1, all_varchar = true)",
    "94_squarespace.csv": """SELECT "SKU", CASE "On Sale" WHEN 'Yes' THEN "Sale Price" ELSE "Price" END
        FROM read_csv($1, all_varchar = true)""",
    "95_prestashop.csv": """SELECT "Product ID", "Price tax excluded" FROM read_csv($1, all_varchar = true, delim = ';')""",
    "96_lazada.csv": """SELECT "Seller SKU", coalesce("Special Price (VND)", "Price (VND)")
        FROM read_csv($1, all_varchar = true)""",
}


@pytest.mark.parametrize("name", JUDGED)
def test_the_ids_and_prices_of_a_shop_are_those_that_duckdb_finds(tmp_path: Path, name: str) -> None:
    [currency] = [file.get("currency", "") for file in EXPECTED if file["name"] == name]
    found = [(row[0], Decimal(row[5])) for row in rows_of(tried(FILES / name, tmp_path, currency=currency))]
    judged = duckdb.execute(JUDGED[name], [str(FILES / name)]).fetchall()
    assert found == [(item, Decimal(price)) for item, price in judged]


@pytest.mark.parametrize(
    ("path", "column", "kilograms"),
    [
        (FILES / "93_square.csv", "Weight (lb)", "0.45359237"),
        (FILES / "42_shopify_new.csv", "Weight value (grams)", "0.001"),
    ],
    ids=["pounds", "grams"],
)
def test_a_weight_in_the_unit_that_its_column_names_is_in_kilograms(
    tmp_path: Path, path: Path, column: str, kilograms: str
) -> None:
    found = tried(path, tmp_path, currency="USD")
    judged = duckdb.execute(
        f"""SELECT CAST("{column}" AS DECIMAL(9, 4)) * {kilograms} FROM read_csv($1, all_varchar = true)
        WHERE "{column}" IS NOT NULL""",
        [str(path)],
    ).fetchall()
    weights = [item["attributes"].get("weight_kg") for item in found.found.items]
    assert [Decimal(weight) for weight in weights] == [weight for (weight,) in judged]
    assert found.doubts("weight") == ""


@pytest.mark.parametrize(
    ("column", "cells", "weights"),
    [
        ("Gewicht (g)", ["0,5", "1250"], ["0.0005", "1.25"]),
        ("Gewicht in kg", ["0,33", "12"], ["0.33", "12"]),
        ("Weight (oz)", ["16", "0"], ["0.45359237", "0"]),
        ("Weight (g)", ["500", "about 80"], [None, None]),
        ("Gewicht (g)", ["1,800", "0,500"], [None, None]),
    ],
)
def test_a_weight_is_computed_with_where_each_cell_is_a_number(
    tmp_path: Path, column: str, cells: list[str], weights: list[str | None]
) -> None:
    rows = "".join(f"{n};Tea {n};{cell};2.50;EUR\n" for n, cell in enumerate(cells))
    found = tried(put(tmp_path, f"SKU;Name;{column};Price;Currency\n{rows}"), tmp_path)
    assert [item["attributes"].get("weight_kg") for item in found.found.items] == weights
    assert (found.doubts("weight") == "") is (None not in weights)


def test_a_weight_whose_unit_stands_in_a_column_beside_it_is_in_kilograms(tmp_path: Path) -> None:
    rows = "1,Tea,146.4,g,2.50,EUR\n2,Rice,2,kg,3.50,EUR\n3,Salt,,,0.50,EUR\n"
    found = tried(put(tmp_path, f"product_id,name,weight,weight_unit,price,currency\n{rows}"), tmp_path)
    assert [item["attributes"] for item in found.found.items] == [{"weight_kg": "0.1464"}, {"weight_kg": "2"}, {}]


@pytest.mark.parametrize(
    ("unit", "kilograms"), [("lb", "0.45359237"), ("KILOGRAM", "1"), ("GRM", "0.001"), ("ONZ", "0.028349523125")]
)
def test_weights_in_the_one_unit_that_stands_beside_them_are_in_kilograms(
    tmp_path: Path, unit: str, kilograms: str
) -> None:
    rows = "".join(f"{n},Tea,1,{unit},2.50,EUR,2,kg\n" for n in range(3))
    path = put(tmp_path, f"id,name,netWeight,netWeightUOM,price,currency,grossWeight,grossWeightUOM\n{rows}")
    found = tried(path, tmp_path)
    assert [item["attributes"] for item in found.found.items] == [{"weight_kg": kilograms}] * 3
    assert found.doubts("weight") == ""
    path.write_text(path.read_text() + "9,Tea,1,bushel,2.50,EUR,2,kg\n")
    later = Previewer(found.mapping, shown=9).of_items([path], Transformer(found.mapping, {}))
    assert later.items[-1]["attributes"] == {}


def test_weights_are_read_in_the_units_that_a_column_beside_them_has(tmp_path: Path) -> None:
    rows = "1,Tea,0.3,lb,2.50,EUR\n2,Rice,2,kg,3.50,EUR\n3,Salt,1.1,lb,0.50,EUR\n"
    found = tried(put(tmp_path, f"product_id,name,weight,weight_unit,price,currency\n{rows}"), tmp_path)
    weights = [Decimal(item["attributes"]["weight_kg"]) for item in found.found.items]
    assert weights == [Decimal("0.136077711"), 2, Decimal("0.498951607")]
    assert found.doubts("weight") == ""


def test_weights_whose_column_of_units_has_unknown_ones_are_a_question(tmp_path: Path) -> None:
    rows = "1,Tea,0.3,bu,2.50,EUR\n2,Rice,2,kg,3.50,EUR\n3,Salt,1.1,bu,0.50,EUR\n"
    found = tried(put(tmp_path, f"product_id,name,weight,weight_unit,price,currency\n{rows}"), tmp_path)
    assert [item["attributes"]["weight"] for item in found.found.items] == ["0.3", "2", "1.1"]
    assert "kg or g" in found.doubts("weight")


@pytest.mark.parametrize(
    ("columns", "price"),
    [
        ("supply_price,retail_price", "2.50"),
        ("Pack price,Unit price", "2.50"),
        ("VE-Preis netto,Stückpreis netto", "2.50"),
        ("Precio de coste,PVP", "2.50"),
        ("Precio mayorista,Precio de venta", "2.50"),
        ("Prix de revient HT,Prix de vente TTC", "2.50"),
        ("Prezzo di costo,Prezzo di listino", "2.50"),
        ("Cena hurtowa,Cena detaliczna", "2.50"),
        ("Preço de atacado,Preço de varejo", "2.50"),
        ("Toptan fiyat,Perakende fiyat", "2.50"),
        ("Minimum price,Selling price", "2.50"),
    ],
)
def test_what_a_shop_pays_or_asks_for_a_pack_is_not_the_price(tmp_path: Path, columns: str, price: str) -> None:
    found = tried(put(tmp_path, f"sku,name,{columns},currency\n1,Tea,1.10,2.50,EUR\n"), tmp_path)
    assert [row["price"] for row in found.found.observations] == [price]


@pytest.mark.parametrize(
    ("columns", "warned"),
    [
        ("VK netto,UVP", True),
        ("price excl vat,rrp", True),
        ("Prix HT,Prix public TTC", True),
        ("Preis netto,UVP netto", False),
        ("price incl vat,rrp", False),
    ],
)
def test_a_price_without_tax_beside_a_recommended_one_is_said_to_be_no_reduction(
    tmp_path: Path, columns: str, warned: bool
) -> None:
    found = tried(put(tmp_path, f"sku,name,{columns},currency\n1,Tea,8.40,11.99,EUR\n"), tmp_path)
    assert [(row["price"], row["list_price"]) for row in found.found.observations] == [("8.40", "11.99")]
    assert ("seems to be without tax" in found.doubts("list_price")) is warned


def test_of_a_category_that_is_an_object_its_name_is_the_level(tmp_path: Path) -> None:
    category = {"id": 9, "name": "Clothing", "slug": "clothing"}
    content = json.dumps([{"sku": "1", "name": "Shirt", "price": "2.50", "categories": [category]}])
    path = tmp_path / "shop.json"
    path.write_text(content)
    assert [item["category"] for item in tried(path, tmp_path, currency="EUR").found.items] == ["clothing"]


def test_a_second_line_of_names_for_programs_is_the_header_where_all_its_cells_are_such(tmp_path: Path) -> None:
    rows = "1;tea;2.50;EUR\n2;cup;3.50;EUR\n3;pot;4.50;EUR\n"
    found = tried(put(tmp_path, f"SKU;Name;Price;Currency\nitem_sku;item_name;price;currency\n{rows}"), tmp_path)
    assert [item["id"] for item in found.found.items] == ["1", "2", "3"]
    assert 'the header is in line 2, below "SKU Name Price Currency"' in found.doubts("skip_rows")
    hyphens = guess(put(tmp_path, f"SKU;Name;Price;Currency\nitem-sku;item-name;unit-price;currency\n{rows}"))
    assert 'id = "item-sku"' in hyphens.text
    among = guess(put(tmp_path, f"SKU;Name;Price;Currency\nitem_sku;Name of item;price;currency\n{rows}"))
    assert "line 2 seems to name the columns too" in " ".join(doubt.sentence for doubt in among.doubts)


HEADERS = {  # id, name, brand, category, GTIN, price, list price, purchase price, currency, day, stock, link to a picture
    "Czech": "Kód produktu;Název zboží;Výrobce;Kategorie;Čárový kód;Cena s DPH;Běžná cena;Nákupní cena;Měna;Datum;Skladem;Obrázek",
    "Slovak": "Kód;Názov;Značka;Kategória;Čiarový kód;Predajná cena;Pôvodná cena;Nákupná cena;Mena;Dátum;Dostupnosť;Obrázok",
    "Swedish": "Artikelnr;Benämning;Varumärke;Varugrupp;Streckkod;Pris;Ordinarie pris;Inköpspris;Valuta;Datum;Lagersaldo;Bild",
    "Danish": "Varenummer;Varenavn;Mærke;Varegruppe;Stregkode;Salgspris;Vejledende pris;Kostpris;Valuta;Dato;Lager;Billede",
    "Norwegian": "Varenr;Produktnavn;Merke;Kategori;Strekkode;Pris;Førpris;Innkjøpspris;Valuta;Dato;Lagerbeholdning;Bilde",
    "Finnish": "Tuotenumero;Tuotenimi;Valmistaja;Tuoteryhmä;Viivakoodi;Hinta;OVH;Ostohinta;Valuutta;Päivämäärä;Varasto;Kuva",
    "Hungarian": "Cikkszám;Megnevezés;Gyártó;Kategória;Vonalkód;Bruttó ár;Eredeti ár;Beszerzési ár;Pénznem;Dátum;Készlet;Kép",
    "Romanian": "Cod produs;Denumire;Producător;Categorie;Cod de bare;Preț;Preț vechi;Preț de achiziție;Monedă;Data;Stoc;Imagine",
    "Turkish": "Stok Kodu;Ürün Adı;Marka;Kategori;Barkod;Satış Fiyatı;Liste Fiyatı;Alış Fiyatı;Para Birimi;Tarih;Stok;Resim",
    "Russian": "Артикул;Наименование;Бренд;Категория;Штрихкод;Цена;Старая цена;Закупочная цена;Валюта;Дата;Остаток;Изображение",
    "Ukrainian": "Код_товару;Назва_позиції;Виробник;Назва_групи;Штрихкод;Ціна;Стара ціна;Оптова ціна;Валюта;Дата;Наявність;Фото",
    "Korean": "상품코드;상품명;브랜드;카테고리;바코드;판매가;소비자가;매입가;통화;등록일;재고;대표이미지",
    "Arabic": "رمز المنتج;اسم المنتج;الماركة;التصنيف;الباركود;سعر البيع;السعر قبل الخصم;سعر التكلفة;العملة;التاريخ;المخزون;صورة المنتج",
    "Hebrew": "מק״ט;שם מוצר;מותג;קטגוריה;ברקוד;מחיר;מחיר מחירון;מחיר קנייה;מטבע;תאריך;מלאי;תמונה",
    "Persian": "کد کالا;نام کالا;برند;دسته‌بندی;بارکد;قیمت فروش;قیمت اصلی;قیمت خرید;ارز;تاریخ;موجودی;تصویر",
    "Hindi": "उत्पाद कोड;उत्पाद का नाम;ब्रांड;श्रेणी;बारकोड;मूल्य;अधिकतम खुदरा मूल्य;लागत मूल्य;मुद्रा;दिनांक;स्टॉक;चित्र",
    "Thai": "รหัสสินค้า;ชื่อสินค้า;ยี่ห้อ;หมวดหมู่;บาร์โค้ด;ราคาขาย;ราคาเต็ม;ราคาทุน;สกุลเงิน;วันที่;คงเหลือ;รูปสินค้า",
    "Vietnamese": "Mã hàng;Tên hàng;Thương hiệu;Nhóm hàng;Mã vạch;Giá bán;Giá niêm yết;Giá vốn;Tiền tệ;Ngày;Tồn kho;Hình ảnh",
    "Indonesian": "Kode Produk;Nama Produk;Merek;Kategori;Barcode;Harga Jual;Harga Normal;Harga Beli;Mata Uang;Tanggal;Stok;Gambar",
    "Greek": "Κωδικός;Όνομα προϊόντος;Κατασκευαστής;Κατηγορία;Barcode;Τιμή;Αρχική τιμή;Τιμή αγοράς;Νόμισμα;Ημερομηνία;Απόθεμα;Εικόνα",
    "Bulgarian": "Код на продукт;Име на продукт;Марка;Категория;Баркод;Цена;Стара цена;Доставна цена;Валута;Дата;Наличност;Снимка",
    "Croatian": "Šifra artikla;Naziv artikla;Robna marka;Kategorija;Barkod;Cijena;Redovna cijena;Nabavna cijena;Valuta;Datum;Zaliha;Slika",
    "Slovenian": "Šifra izdelka;Ime izdelka;Znamka;Kategorija;Črtna koda;Cena;Redna cena;Nabavna cena;Valuta;Datum;Zaloga;Slika",
}


@pytest.mark.parametrize("language", HEADERS)
def test_columns_are_known_by_their_names_in_further_languages(tmp_path: Path, language: str) -> None:
    rows = "K-1;Tea;Brewly;Drinks;4006381333931;4.20;5.00;1.10;EUR;2026-10-01;12;https://shop.example/1.jpg\n"
    found = tried(put(tmp_path, f"{HEADERS[language]}\n{rows}"), tmp_path)
    assert rows_of(found) == [["K-1", "Tea", "Brewly", "drinks", "4006381333931", "4.20", "5.00", "EUR", "2026-10-01"]]


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


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("prices.csv", PLAIN)
        archive.writestr("readme.txt", "read me")


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


def test_prices_with_a_unit_are_read_by_currency_and_not_one_by_one(tmp_path: Path) -> None:
    """The cost of a guess does not grow with its cells: there is one batch of amounts for each currency at each step."""
    calls = {}
    for rows in (10, 1_000):
        lines = (f"{n};Cosa {n};{n % 90},50 {'€' if n % 3 else '£'}/ud.;2026-07-01\n" for n in range(rows))
        path = put(tmp_path, "sku;name;price;date\n" + "".join(lines))
        profile = cProfile.Profile()
        assert 'price = { column = "price", match' in profile.runcall(guess, path).text
        stats = pstats.Stats(profile).get_stats_profile().func_profiles
        calls[rows] = int(stats["numbers"].ncalls)
    assert calls[10] == calls[1_000] <= 10


def test_amounts_of_several_currencies_keep_their_places() -> None:
    texts = ["€ 1,50", "¥150", "2,50 €", "nothing", "KWD 1.250", "£ 3.10"]
    assert free_amounts({"column": "price", "free_form": True}, texts) == [
        free_amounts({"column": "price", "free_form": True}, [text])[0] for text in texts
    ]
    assert free_amounts({"column": "price", "free_form": True}, texts) == [150, 15_000, 250, None, 1_250, 310]
