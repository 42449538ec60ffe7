"""Guesses of what published files have and earlier ones did not: codes of others, marks, sparse headers, escaped tags."""

import tomllib
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.unit.workers.ingest.guessing import Tried, tried
from workers.ingest.clean import without_html
from workers.ingest.guess.guess import Guess, guess
from workers.ingest.load.preview import Previewer
from workers.ingest.mapping import parse
from workers.ingest.transform import Transformer


def written(folder: Path, content: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def guessed(folder: Path, content: str, name: str = "a.csv") -> tuple[Guess, dict[str, Any]]:
    made = guess(written(folder, content, name))
    return made, tomllib.loads(made.text)


def said(made: Guess, of: str) -> str:
    return " ".join(doubt.sentence for doubt in made.doubts if doubt.of == of)


@pytest.mark.parametrize(
    ("column", "role"),
    [("retailer_sku", "channel"), ("vendor_sku", "brand"), ("vendor_leadtime_days", "brand"), ("BrandCode", "brand")],
)
def test_the_codes_and_numbers_of_others_are_no_names(tmp_path: Path, column: str, role: str) -> None:
    _, mapping = guessed(tmp_path, f"id,name,price,{column}\n1,Jug,9.90,17\n2,Rug,129,18\n")
    assert mapping["observation"]["channel"] == {"constant": "SHOP"}
    assert "brand" not in mapping["item"]


@pytest.mark.parametrize("column", ["ProductSubcategoryID", "category_id", "category"])
def test_the_number_of_a_category_is_no_category(tmp_path: Path, column: str) -> None:
    _, mapping = guessed(tmp_path, f"id,name,price,{column}\n1,Jug,9.90,20\n2,Rug,129,35\n")
    assert "category" not in mapping["item"]


@pytest.mark.parametrize(
    ("header", "file", "code", "sentence"),
    [
        ("Price (CAD)", "a.csv", "CAD", '"$" is CAD, because the column "Price (CAD)" says so'),
        (
            "Price",
            "prices_AUD.csv",
            "AUD",
            '"$" is taken for AUD: is AUD for all prices, as the name of the file says?',
        ),
    ],
)
def test_a_dollar_is_that_of_the_country_which_the_file_names(
    tmp_path: Path, header: str, file: str, code: str, sentence: str
) -> None:
    made, mapping = guessed(tmp_path, f"sku,name,{header}\n1,Jug,$9.90\n2,Rug,$129.00\n", file)
    assert mapping["observation"]["currency"]["crosswalk"] == {"$": code}
    assert sentence in said(made, "currency")


def test_a_dollar_that_no_part_of_the_file_names_stays_a_question(tmp_path: Path) -> None:
    _, mapping = guessed(tmp_path, "sku,name,price\n1,Jug,$9.90\n2,Rug,$129.00\n")
    assert mapping["observation"]["currency"]["crosswalk"] == {"$": "?"}


def test_a_word_for_two_currencies_is_a_question_with_both(tmp_path: Path) -> None:
    made, mapping = guessed(tmp_path, "sku,nom,prix\n1,Cruche,9 000 Fcfa\n2,Tapis,12 000 Fcfa\n")
    assert mapping["observation"]["currency"]["crosswalk"] == {"Fcfa": "?"}
    [doubt] = [doubt for doubt in made.doubts if doubt.of == "currency"]
    assert [reading.statement for reading in doubt.readings] == ['Fcfa = "XAF"', 'Fcfa = "XOF"']


def test_a_real_price_is_no_price_in_real(tmp_path: Path) -> None:
    made, mapping = guessed(tmp_path, "name,price,realPrice\nJug,9.90,8.90\nRug,129,99\n")
    assert mapping["observation"]["currency"] == "?"
    assert '"price" and "realPrice" may each be it' in said(made, "price")


def test_a_sheet_saved_as_csv_has_its_header_below_sparse_titles(tmp_path: Path) -> None:
    rows = ["Kiln & Loom,,,,,,,", ",,,,,,,", ",,,Price,,,,", ",Item,Unit,Euro,Origin,,,"]
    rows += [f",Jug {n},pc,{n}.50,own,,," for n in range(1, 9)]
    _, mapping = guessed(tmp_path, "\n".join(rows) + "\n")
    assert mapping["skip_rows"] == 3
    assert mapping["item"]["name"] == "Item"
    assert mapping["observation"]["price"] == "Euro"
    assert mapping["observation"]["currency"] == {"constant": "EUR"}


def test_of_sheets_with_products_and_groups_the_products_are_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Export"
    for row in (["Code", "Product_name", "Price"], ["J-1", "Jug", 9.9], ["R-1", "Rug", 129]):
        page.append(row)
    groups = book.create_sheet("Groups")
    for row in (["Group_number", "Group_name"], [1, "Jugs"], [2, "Rugs"]):
        groups.append(row)
    book.save(tmp_path / "a.xlsx")
    found = tried(tmp_path / "a.xlsx", tmp_path, currency="EUR")
    assert found.prices == [("Jug", "9.90", None, "EUR"), ("Rug", "129.00", None, "EUR")]
    assert 'only "Export" has names and prices' in found.doubts("sheet")


def test_a_name_of_a_series_is_asked_about_and_not_replaced_by_a_description(tmp_path: Path) -> None:
    rows = "".join(f"{n},Jug,A jug of {n} litres for the kitchen.,9.90\n" for n in range(1, 30))
    made, mapping = guessed(tmp_path, "id,name,descriptionFull,price\n" + rows)
    assert mapping["item"]["name"] == "name"
    assert '"name" is shared by items' in said(made, "name")


def test_rows_that_an_id_does_not_tell_apart_are_said_where_there_are_no_prices(tmp_path: Path) -> None:
    rows = "".join(f"C-8,{colour},0.5\nC-9,{colour},0.7\n" for colour in ("red", "green", "blue"))
    made, _ = guessed(tmp_path, "model,finish,thickness\n" + rows)
    assert "6 rows have 2 ids" in said(made, "id")


def test_ids_that_most_rows_lack_give_way_to_the_name_and_are_asked(tmp_path: Path) -> None:
    head = "ID,Nom,UGS,Publié,Description courte,Tarif régulier,Tarif promo,Catégories\n"
    rows = "".join(f"{n if n < 3 else ''},Cruche {n},,1,,9,,Cruches\n" for n in range(1, 12))
    made, mapping = guessed(tmp_path, head + rows)
    assert mapping["item"]["id"] == "Nom"
    assert '9 of 11 rows have no "ID": the name is taken' in said(made, "id")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Jug &lt;span class=H&gt;red&lt;/span&gt;", "Jug red"),
        ("a &lt; b &amp; c", "a < b & c"),
        ("<b>Jug</b> &amp;amp; rug", "Jug &amp; rug"),
    ],
)
def test_tags_written_as_entities_are_tags(text: str, plain: str) -> None:
    assert without_html(text) == plain


PRODUCT = """<PRODUCT><SUPPLIER_PID>J-1</SUPPLIER_PID><PRODUCT_DETAILS><DESCRIPTION_SHORT>Jug</DESCRIPTION_SHORT>
<MANUFACTURER_NAME>Kiln</MANUFACTURER_NAME></PRODUCT_DETAILS><PRODUCT_PRICE_DETAILS><PRODUCT_PRICE>
<PRICE_AMOUNT>17.500</PRICE_AMOUNT><PRICE_CURRENCY>EUR</PRICE_CURRENCY></PRODUCT_PRICE></PRODUCT_PRICE_DETAILS></PRODUCT>"""


def catalogue(folder: Path) -> Tried:
    around = "<CATALOG><CATALOG_ID>C</CATALOG_ID><CATALOG_NAME>Catalogue of jugs</CATALOG_NAME></CATALOG>"
    text = f"<BMECAT><HEADER>{around}</HEADER><T_NEW_CATALOG>{PRODUCT}</T_NEW_CATALOG></BMECAT>"
    return tried(written(folder, text, "a.xml"), folder)


def test_one_product_of_a_catalogue_is_the_item_and_not_the_catalogue(tmp_path: Path) -> None:
    assert catalogue(tmp_path).mapping.records == "BMECAT/T_NEW_CATALOG/PRODUCT"


def test_three_decimals_of_a_document_with_points_are_no_thousands(tmp_path: Path) -> None:
    assert catalogue(tmp_path).prices == [("Jug", "17.50", None, "EUR")]


def test_the_root_of_several_categories_of_magento_is_none(tmp_path: Path) -> None:
    head = "sku,name,price,attribute_set_code,store_view_code,product_type,visibility,categories\n"
    cells = [
        '"Default Category/Jugs/Clay,Default Category"',
        '"Default Category,Default Category/Rugs"',
        "Default Category",
    ]
    rows = "".join(f"{n},Item {n},9,Default,,simple,4,{cell}\n" for n, cell in enumerate(cells))
    found = tried(written(tmp_path, head + rows), tmp_path, currency="EUR")
    assert [item["category"] for item in found.found.items] == ["jugs.clay", "rugs", None]


def test_the_cost_of_odoo_is_no_price(tmp_path: Path) -> None:
    head = "id,name,type,standard_price,produce_delay,route_ids/id\n"
    _, mapping = guessed(tmp_path, f"{head}jug,Jug,goods,4,0,stock.buy\nrug,Rug,goods,9,0,stock.buy\n")
    assert "observation" not in mapping


ISRAEL = """<Root><Items>{items}</Items></Root>"""
ISRAELI = """<Item><PriceUpdateDate>2026-09-30 14:31:00</PriceUpdateDate><ItemCode>{code}</ItemCode><ItemNm>{name}</ItemNm>
<UnitQty>{unit}</UnitQty><Quantity>{quantity}</Quantity><ItemPrice>6.90</ItemPrice></Item>"""


@pytest.mark.parametrize(
    ("unit", "quantity", "attributes"),
    [
        ("ליטר", "1", {"volume_l": "1"}),
        ("מיליליטר", "750", {"volume_l": "0.75"}),
        ("גרם", "1000", {"weight_kg": "1"}),
        ("קילוגרם", "2.5", {"weight_kg": "2.5"}),
        ("יחידה", "1", {}),
    ],
)
def test_quantities_in_hebrew_units_are_weights_and_volumes(
    tmp_path: Path, unit: str, quantity: str, attributes: dict[str, str]
) -> None:
    items = ISRAELI.format(code=4006381333931, name="חלב", unit=unit, quantity=quantity)
    items += ISRAELI.format(code=4006381333948, name="קמח", unit=unit, quantity=quantity)
    found = tried(written(tmp_path, ISRAEL.format(items=items), "a.xml"), tmp_path)
    assert [item["attributes"] for item in found.found.items] == [attributes, attributes]


def test_prices_finer_than_their_currency_are_said_with_how_to_round_them(tmp_path: Path) -> None:
    made, _ = guessed(tmp_path, "sku,name,price,currency\n1,Jug,9.900,EUR\n2,Rug,60.745,EUR\n3,Vase,7.5,EUR\n")
    [doubt] = [doubt for doubt in made.doubts if doubt.of == "price"]
    assert '1 of 3 cells has more decimals than EUR and is rejected: line 3 "60.745"' in doubt.sentence
    [rounding] = doubt.readings
    text = made.text.replace('price = "price"', rounding.statement)
    path = tmp_path / "a.csv"
    mapping = parse(text, path)
    found = Previewer(mapping, shown=9).of_items([path], Transformer(mapping, {}))
    assert [row["price"] for row in found.observations] == ["9.90", "60.74", "7.50"]


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["Kiln J1", "Kiln J2"], ["Kiln J1", "Kiln J2"]),
        (["J1", "J2"], ["Kiln J1", "Kiln J2"]),
        (["Kilnwood J1", "J2"], ["Kiln Kilnwood J1", "Kiln J2"]),
    ],
)
def test_a_brand_with_which_models_begin_is_no_second_part_of_their_names(
    tmp_path: Path, models: list[str], names: list[str]
) -> None:
    offers = "".join(
        f'<offer id="{n}" available="true"><price>9</price><currencyId>EUR</currencyId><categoryId>1</categoryId>'
        f"<vendor>Kiln</vendor><model>{model}</model></offer>"
        for n, model in enumerate(models)
    )
    text = f'<yml_catalog date="2026-09-30"><shop><offers>{offers}</offers></shop></yml_catalog>'
    found = tried(written(tmp_path, text, "a.xml"), tmp_path)
    assert [item["name"] for item in found.found.items] == names
