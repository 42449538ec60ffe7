"""Guessed mappings: of files with faults, of known shapes, and in many languages."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import FILES, tried
from workers.ingest.guess.cell_kinds import is_gtin
from workers.ingest.guess.guess import guess
from workers.ingest.load.preview import Previewer
from workers.ingest.mapping import Mapping, read
from workers.ingest.transform import Transformer

PROJECT = Path(__file__).parents[4]


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


def test_the_price_list_of_the_guide_is_guessed_as_the_guide_shows(tmp_path: Path) -> None:
    guide = (PROJECT / "docs/guides/bring-your-own-data.md").read_text()
    blocks = guide.split("```")
    [listed] = [block for block in blocks if block.startswith("\nKiln & Loom, price list\n")]
    shown = next(block for block in blocks if "CHECK license" in block)
    path = tmp_path / "prices.csv"
    path.write_text(listed.lstrip("\n"))
    assert shown.removeprefix("toml\n") in guess(path).text
