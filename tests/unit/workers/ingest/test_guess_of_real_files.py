"""Guesses of files as shops, wholesalers and tills export them: what was read wrongly there, with rows of our own."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from shared.toml_text import as_toml
from tests.unit.workers.ingest.guessing import Tried, tried
from workers.ingest.guess.guess import guess
from workers.ingest.load.preview import Previewer
from workers.ingest.mapping import parse
from workers.ingest.transform import Transformer

SHOPIFY = "Handle,Title,Vendor,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,"
SHOPIFY += "Variant SKU,Variant Grams,Variant Price,Variant Compare At Price,Variant Weight Unit\n"


def written(folder: Path, content: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def mapping_of(folder: Path, content: str, name: str = "a.csv") -> dict[str, Any]:
    return tomllib.loads(guess(written(folder, content, name)).text)


def asked(folder: Path, content: str, **options: str) -> Tried:
    return tried(written(folder, content), folder, **options)


def test_the_grams_of_shopify_are_grams_whatever_unit_the_shop_shows(tmp_path: Path) -> None:
    rows = (
        "jar,Jar,Kiln,Title,Default Title,,,,,J-1,420,8.00,,kg\nlid,Lid,Kiln,Title,Default Title,,,,,L-1,90,2.00,,lb\n"
    )
    found = asked(tmp_path, SHOPIFY + rows, currency="EUR")
    assert [item["attributes"] for item in found.found.items] == [{"weight_kg": "0.42"}, {"weight_kg": "0.09"}]


def test_an_option_that_only_later_products_have_is_a_part_of_the_id(tmp_path: Path) -> None:
    plain = "".join(f"jar-{n},Jar {n},Kiln,Size,S,,,,,,100,8.00,,kg\n" for n in range(1_100))
    later = "".join(
        f"vase,Vase,Kiln,Size,L,Glaze,{glaze},,,,100,{price},,kg\n" for glaze, price in (("blue", 30), ("red", 31))
    )
    mapping = mapping_of(tmp_path, SHOPIFY + plain + later)
    assert mapping["item"]["id"]["columns"] == ["Handle", "Option1 Value", "Option2 Value", "Option3 Value"]
    assert "Option2 Value" in mapping["item"]["name"]["columns"]


@pytest.mark.parametrize("last", ["A-1", ""], ids=["twice", "missing"])
def test_a_sku_of_which_only_a_row_behind_the_sample_says_that_it_is_no_id_is_none(tmp_path: Path, last: str) -> None:
    rows = [f"jar-{n},Jar {n},Kiln,Size,S,,,,,A-{n},100,8.00,,kg" for n in range(1_500)]
    rows += [f"vase,Vase,Kiln,Size,L,,,,,{last},100,30.00,,kg"]
    mapping = mapping_of(tmp_path, SHOPIFY + "\n".join(rows) + "\n")
    assert mapping["item"]["id"]["columns"][0] == "Handle"
    whole = mapping_of(tmp_path, SHOPIFY + "\n".join(rows[:-1]) + "\n")
    assert whole["item"]["id"] == "Variant SKU"


def test_a_price_for_several_units_is_a_question(tmp_path: Path) -> None:
    document = """<BMECAT><T_NEW_CATALOG><ARTICLE><SUPPLIER_AID>B-{0}</SUPPLIER_AID><ARTICLE_DETAILS><DESCRIPTION_SHORT>Bolt
    {0}</DESCRIPTION_SHORT></ARTICLE_DETAILS><ARTICLE_ORDER_DETAILS><PRICE_QUANTITY>{1}</PRICE_QUANTITY>
    </ARTICLE_ORDER_DETAILS><ARTICLE_PRICE_DETAILS><ARTICLE_PRICE><PRICE_AMOUNT>7.10</PRICE_AMOUNT><PRICE_CURRENCY>EUR</PRICE_CURRENCY>
    </ARTICLE_PRICE></ARTICLE_PRICE_DETAILS></ARTICLE>""".replace("BMECAT><T_NEW_CATALOG><", "")
    articles = "".join(document.format(n, quantity) for n, quantity in ((1, 50), (2, 1)))
    path = written(tmp_path, f"<BMECAT><T_NEW_CATALOG>{articles}</T_NEW_CATALOG></BMECAT>", "a.xml")
    sentences = [doubt.sentence for doubt in guess(path).doubts if doubt.of == "price"]
    assert any("PRICE_QUANTITY" in sentence and '"50"' in sentence for sentence in sentences)


def test_the_price_of_a_shop_counts_where_it_has_one_beside_regular_and_sale(tmp_path: Path) -> None:
    columns = "id,name,sku,type,status,price,regular_price,sale_price,categories,short_description\n"
    rows = "7,Robe,R-7,variable,publish,61,,,Linen; Baths &amp; Spas,x\n8,Towel,T-8,simple,publish,9,12,9,Linen,x\n"
    found = asked(tmp_path, columns + rows, currency="EUR")
    assert [row[:3] for row in found.prices] == [("Robe", "61.00", None), ("Towel", "9.00", "12.00")]
    assert [item["category"] for item in found.found.items] == ["linen", "linen"]


def test_an_id_that_rows_share_gives_way_to_that_of_each_variation_and_is_said(tmp_path: Path) -> None:
    rows = "70,Robe,7001,R-7,61,Cut: short\n70,Robe,7002,R-7,64,Cut: long\n80,Towel,8001,T-8,9,Cut: wide\n"
    found = asked(tmp_path, "parent_id,parent_name,id,sku,price,attributes\n" + rows, currency="EUR")
    assert [(row[0], row[1]) for row in found.prices] == [
        ("Robe – Cut: short", "61.00"), ("Robe – Cut: long", "64.00"), ("Towel – Cut: wide", "9.00")
    ]  # fmt: skip
    assert '"sku" has 2 distinct in 3 cells' in found.doubts("id")


NAMES = [
    ("Nr katalogowy;Pełny opis produktu;Cena sprzedaży;Opis podgrupy", "Pełny opis produktu", "Opis podgrupy"),
    ("urun_kodu;urun_aciklamasi;fiyat;kategori;urun_adi", "urun_adi", "kategori"),
    ("ID;Имя;Базовая цена;Описание;Категории", "Имя", "Категории"),
    ("SKU;Omschrijving;Prijs;Naam;Categorie", "Naam", "Categorie"),
    ("Produits;Prix", "Produits", None),
    ("Номенклатура;Цена", "Номенклатура", None),
    ("ID;PRODUCTOS;PRECIO", "PRODUCTOS", None),
]


@pytest.mark.parametrize(("header", "name", "category"), NAMES, ids=[header[:12] for header, _, _ in NAMES])
def test_the_name_is_neither_the_description_nor_the_group(
    tmp_path: Path, header: str, name: str, category: str | None
) -> None:
    columns = header.split(";")
    prices = ("Cena sprzedaży", "fiyat", "Базовая цена", "Prijs", "Prix", "Цена", "PRECIO")
    rows = [[f"{10 + n}" if column in prices else f"text {n} of it" for column in columns] for n in range(3)]
    item = mapping_of(tmp_path, "\n".join(";".join(row) for row in (columns, *rows)) + "\n")["item"]
    assert (item["name"], item.get("category")) == (name, category)


def test_long_texts_are_no_name_where_a_column_has_short_ones(tmp_path: Path) -> None:
    text = "A jar of clay that was burnt twice and then glazed by hand, " * 4
    rows = "".join(f'{n},"{text}{n}",Jar {n},{n}.50\n' for n in range(1, 5))
    found = asked(tmp_path, "sku,product name,short title,price\n" + rows, currency="EUR")
    assert found.mapping.item is not None
    assert found.mapping.item.name is not None
    assert found.mapping.item.name.column == "short title"


def test_one_text_for_many_items_is_asked_about(tmp_path: Path) -> None:
    rows = "".join(f"{n},{'Jars' if n % 2 else 'Lids'},{n}.50\n" for n in range(1, 31))
    found = asked(tmp_path, "sku,product name,price\n" + rows, currency="EUR")
    assert "2 distinct texts for 30 items" in found.doubts("name")


def test_columns_that_only_sound_like_a_field_are_not_taken_for_it(tmp_path: Path) -> None:
    rows = (
        '{n},Jar {n},4{n}2,"clay,jar",https://pics.example/{n}.jpg,https://shop.example/jar-{n},'
        "https://shop.example/clay,Kiln Street,{n}.50\n"
    )
    columns = "SKU,Title,reviews_count_shop,TAG,Image link,Product page,Category link,Shop,Price\n"
    mapping = mapping_of(tmp_path, columns + "".join(rows.format(n=n) for n in (1, 2, 3)))
    observation = mapping["observation"]
    assert (observation["channel"], observation["day"]) == ("Shop", {"load_day": True})
    assert mapping["item"]["identifiers"]["url"]["column"] == "Product page"
    assert "category" not in mapping["item"]


def test_lists_of_json_are_the_path_of_a_category(tmp_path: Path) -> None:
    rows = '1,Jar,"[""Home"",""Store & Keep"",""Jars""]",3\n2,Lid,"[""Home"",""Lids""]",2\n'
    found = asked(tmp_path, "sku,name,category,price\n" + rows, currency="EUR")
    assert [item["category"] for item in found.found.items] == ["home.store-keep.jars", "home.lids"]


def test_kinds_of_objects_are_no_category(tmp_path: Path) -> None:
    rows = [
        {"_type": "jar", "_id": f"j{n}", "name": f"Jar {n}", "seo": {"_type": "seo"}, "price": n} for n in (1, 2, 3)
    ]
    content = "\n".join(map(json.dumps, rows)) + "\n"
    assert "category" not in mapping_of(tmp_path, content, "a.ndjson")["item"]


def test_a_level_written_twice_is_one(tmp_path: Path) -> None:
    rows = [
        {"handle": f"jar-{n}", "title": "Jar", "category": kind, "categoryLabel": kind.title(), "price": n}
        for n, kind in ((1, "clay"), (2, "clay"), (3, "glass"))
    ]
    item = mapping_of(tmp_path, json.dumps(rows), "a.json")["item"]
    assert (item["id"], item["category"]) == ("handle", "categoryLabel")


def test_the_narrower_of_two_levels_may_stand_first(tmp_path: Path) -> None:
    rows = "1,a,Jars,Kitchen,3\n2,b,Lids,Kitchen,2\n3,c,Spades,Garden,9\n4,d,Jars,Kitchen,4\n"
    item = mapping_of(tmp_path, "sku,name,subcategory,category,price\n" + rows)["item"]
    assert item["category"] == ["category", "subcategory"]


@pytest.mark.parametrize("word", ["Unknown", "unbekannt", "не указан", "לא ידוע", "Sin marca", "不明"])
def test_a_word_for_unknown_is_no_brand(tmp_path: Path, word: str) -> None:
    rows = f"1,Jar,{word},Uncategorized,3\n2,Lid,Kiln,Lids,2\n"
    found = asked(tmp_path, "sku,name,brand,category,price\n" + rows, currency="EUR")
    assert [(item["brand"], item["category"]) for item in found.found.items] == [(None, None), ("Kiln", "lids")]


def test_html_is_taken_out_of_names_and_categories_also_behind_the_sample(tmp_path: Path) -> None:
    rows = [f"{n},Jar {n},Jars,3" for n in range(1_200)]
    rows += ["x,Pots &amp; <b>Pans</b>,Men&#39;s,4"]
    path = written(tmp_path, "sku,name,category,price\n" + "\n".join(rows) + "\n")
    mapping = tomllib.loads(guess(path).text)
    assert (mapping["item"]["name"], mapping["item"]["category"]) == (
        {"column": "name", "html": True}, {"column": "category", "html": True}
    )  # fmt: skip
    found = asked(tmp_path, "sku,name,category,price\n" + rows[-1] + "\n", currency="EUR")
    assert [(item["name"], item["category"]) for item in found.found.items] == [("Pots & Pans", "mens")]


def test_numbers_that_a_spreadsheet_cut_are_no_identifiers(tmp_path: Path) -> None:
    columns = "handleId,fieldType,name,description,productImageUrl,collection,sku,ribbon,price,surcharge,visible,"
    columns += "discountMode,discountValue,inventory,weight\n"
    rows = "".join(f"product_{n},Product,Jar {n},,j.jpg,Jars,7.25011E+13,,{n},,TRUE,PERCENT,0,1,\n" for n in (1, 2))
    path = written(tmp_path, columns + rows)
    assert "sku" not in tomllib.loads(guess(path).text)["item"].get("identifiers", {})
    assert any(doubt.of == "sku" and "7.25011E+13" in doubt.sentence for doubt in guess(path).doubts)


@pytest.mark.parametrize(("unit", "said"), [("/Stk.", False), ("/ kg", True), (" per box", True), (" pro Stk", False)])
def test_a_unit_behind_a_price_is_no_part_of_it(tmp_path: Path, unit: str, said: bool) -> None:
    rows = "".join(f'J-{n},Jar {n},"{n},50 €{unit}"\n' for n in (1, 2, 3))
    found = asked(tmp_path, "SKU,Name,Preis\n" + rows)
    assert [row[1:] for row in found.prices] == [(f"{n}.50", None, "EUR") for n in (1, 2, 3)]
    assert ("a unit stands behind prices" in found.doubts("price")) is said


@pytest.mark.parametrize(
    ("header", "code"),
    [("Preis Euro", "EUR"), ("Price (CAD)", "CAD"), ("Цена, руб", "RUB"), ("Cena Kč", "CZK"), ("Цена тенге", "KZT")],
)
def test_the_name_of_a_column_says_the_currency_in_a_word(tmp_path: Path, header: str, code: str) -> None:
    mapping = mapping_of(tmp_path, f"sku;name;{header}\n1;Jar;3.50\n2;Lid;2.50\n")
    assert mapping["observation"]["currency"] == {"constant": code}


def test_a_line_above_the_header_says_the_currency(tmp_path: Path) -> None:
    content = "Kiln Street;;\nPrices in euros, without delivery;;\nsku;name;price\n1;Jar;3.50\n2;Lid;2.50\n3;Pot;9.00\n"
    found = asked(tmp_path, content)
    assert {row[3] for row in found.prices} == {"EUR"}
    assert "Prices in euros" in found.doubts("currency")


def test_a_day_between_quotation_marks_is_a_day(tmp_path: Path) -> None:
    rows = "".join(f'{n},Jar {n},{n},EUR,"""2026-04-0{n}T08:00:00.000Z"""\n' for n in (1, 2, 3))
    found = asked(tmp_path, "sku,name,price,currency,date\n" + rows)
    assert [str(row["day"]) for row in found.found.observations] == ["2026-04-01", "2026-04-02", "2026-04-03"]


def test_a_line_above_the_header_says_the_day(tmp_path: Path) -> None:
    content = "Kiln Street;;\nPrices of 04.05.2024, EUR;;\nsku;name;price\n1;Jar;3.50\n2;Lid;2.50\n3;Pot;9.00\n"
    found = asked(tmp_path, content)
    assert {str(row["day"]) for row in found.found.observations} == {"2024-05-04"}
    assert "Prices of 04.05.2024" in found.doubts("day")


def test_a_sale_price_above_the_price_is_none(tmp_path: Path) -> None:
    rows = "1,Jar,10.00,14.00\n2,Lid,2.00,2.40\n3,Pot,5.00,\n"
    found = asked(tmp_path, "sku,name,price,special price\n" + rows, currency="EUR")
    assert [row[1:3] for row in found.prices] == [("10.00", None), ("2.00", None), ("5.00", None)]
    assert '"special price" is above "price" in 2 rows' in found.doubts("price")


def test_a_price_per_kilogram_beside_the_price_says_the_currency(tmp_path: Path) -> None:
    rows = "1,Jar,9.90,10.00 €/kg\n2,Lid,2.00,\n3,Pot,5.00,8.00 €/l\n"
    found = asked(tmp_path, "sku,title,price,basePrice\n" + rows)
    assert [row[1:] for row in found.prices] == [("9.90", None, "EUR"), ("2.00", None, "EUR"), ("5.00", None, "EUR")]
    assert '"basePrice" states one, EUR' in found.doubts("currency")


def test_the_categories_of_the_rest_interface_are_read(tmp_path: Path) -> None:
    rows = [
        {"id": n, "name": f"Jar {n}", "sku": f"J-{n}", "type": "simple", "status": "publish", "price": "3",
         "regular_price": "3", "sale_price": "", "tax_status": "taxable", "short_description": "x",
         "categories": [{"id": 4, "name": "Jars", "slug": "jars"}]}
        for n in (1, 2, 3)
    ]  # fmt: skip
    assert mapping_of(tmp_path, json.dumps(rows), "a.json")["item"]["category"] == "categories.0.name"


def test_a_language_of_names_is_no_price(tmp_path: Path) -> None:
    rows = "1,Jar,Krug\n2,Lid,Deckel\n3,Pot,Topf\n"
    assert "observation" not in mapping_of(tmp_path, "code,product_name_en,product_name_ar\n" + rows)
    texts = "".join(f"{n},Jar {n},Clay of 80 parts and sand of 20 parts that was burnt\n" for n in (1, 2, 3))
    assert "observation" not in mapping_of(tmp_path, "code,product_name_en,ingredients_text_ar\n" + texts)


GLUED = '1,Jar,"1.290,00RSD1.023,00RSD"\n2,Lid,"290,00RSD223,50RSD"\n3,Pot,"450,00RSD"\n'


def test_of_two_amounts_in_one_cell_the_lower_last_one_is_the_price(tmp_path: Path) -> None:
    found = asked(tmp_path, "sku,name,price\n" + GLUED)
    assert found.prices == [
        ("Jar", "1023.00", "1290.00", "RSD"), ("Lid", "223.50", "290.00", "RSD"), ("Pot", "450.00", None, "RSD")
    ]  # fmt: skip
    assert "2 of 3 cells have two amounts" in found.doubts("price")


def test_two_amounts_in_one_cell_of_which_either_is_the_lower_one_are_a_question_with_both(tmp_path: Path) -> None:
    rows = GLUED + '4,Cup,"12,00RSD15,00RSD"\n'
    [doubt] = [one for one in guess(written(tmp_path, "sku,name,price\n" + rows)).doubts if one.of == "price"]
    assert "3 of 4 cells have two amounts" in doubt.sentence
    last, first = (tomllib.loads(reading.statement)["price"] for reading in doubt.readings)
    for field, amounts in (
        (last, ["1023.00", "223.50", "450.00", "15.00"]), (first, ["1290.00", "290.00", "450.00", "12.00"])
    ):  # fmt: skip
        text = guess(tmp_path / "a.csv").text.replace('price = "?"', f"price = {as_toml(field)}")
        mapping = parse(re.sub(r"(?m)^currency = .*$", 'currency = { constant = "RSD" }', text))
        found = Previewer(mapping, shown=9).of_items([tmp_path / "a.csv"], Transformer(mapping, {}))
        assert [row["price"] for row in found.observations] == amounts


@pytest.mark.parametrize(
    ("other", "cells", "code"),
    [
        ("old_price", ("No old price", "SR 15", "SR 1,595"), "SAR"),
        ("per unit", ("| 4,726 €/L", "| 4,77 €/L", "| 0,38 €/100 ml"), "EUR"),
    ],
)
def test_other_amounts_say_the_currency_of_bare_prices(
    tmp_path: Path, other: str, cells: tuple[str, ...], code: str
) -> None:
    rows = "".join(f'{n},Jar {n},{n}.50,"{cell}"\n' for n, cell in enumerate(cells, 1))
    found = asked(tmp_path, f"sku,name,price,{other}\n{rows}")
    assert {row[3] for row in found.prices} == {code}
    assert f'only "{other}" states one, {code}' in found.doubts("currency")


def test_weights_that_look_like_a_currency_say_none(tmp_path: Path) -> None:
    rows = "".join(f"{n},Jar {n},{n}.50,{n} KGS,{n} CUP\n" for n in range(1, 6))
    assert 'currency = "?"' in guess(written(tmp_path, "sku,name,price,load,holds\n" + rows)).text


def test_the_name_of_a_file_says_the_currency(tmp_path: Path) -> None:
    path = written(tmp_path, "sku,name,price\n1,Jar,2.50\n2,Lid,1.00\n", "prices_EUR.csv")
    found = tried(path, tmp_path)
    assert {row[3] for row in found.prices} == {"EUR"} and "the name of the file" in found.doubts("currency")


@pytest.mark.parametrize(
    ("form", "code"),
    [('#,##0.00\\ "€"', "EUR"), ("[$$-409]#,##0.00", "USD"), ('#,##0.00 "zł"', "PLN"), ('"$"0.00', "?")],
)
def test_the_number_format_of_a_sheet_says_the_currency(tmp_path: Path, form: str, code: str) -> None:
    book = openpyxl.Workbook()
    for row in (["SKU", "Name", "Price"], [1, "Jar", 2.5], [2, "Lid", 1]):
        book.active.append(row)
    for row in book.active.iter_rows(min_row=2, min_col=3):
        row[0].number_format = form
    book.save(tmp_path / "a.xlsx")
    assert ('currency = "?"' if code == "?" else f'currency = {{ constant = "{code}" }}') in guess(
        tmp_path / "a.xlsx"
    ).text


def test_a_line_above_the_header_says_the_currency_in_a_case_of_its_word(tmp_path: Path) -> None:
    text = "Прайс-лист;;\nЦены указаны в гривне;;\nкод;название;цена\n1;Кувшин;12,50\n2;Чашка;8,00\n3;Блюдо;9,00\n"
    assert {row[3] for row in asked(tmp_path, text).prices} == {"UAH"}


def test_an_id_that_many_names_share_is_none(tmp_path: Path) -> None:
    rows = "".join(f"SKU,Jar {n},https://kiln.example/jar-{n},{n}.50\n" for n in range(1, 9))
    found = asked(tmp_path, "sku,title,url,price\n" + rows, currency="EUR")
    assert [item["id"] for item in found.found.items] == [f"https://kiln.example/jar-{n}" for n in range(1, 9)]
    assert '"sku" has 1 distinct in 8 cells' in found.doubts("id")


FEED = """<rss version="2.0"><channel><title>Kiln</title>{}</channel></rss>"""
ENTRY = """<item><title>Jar {0}</title><link>https://kiln.example/listing/44100{0}0/jar</link>
<pubDate>Tue, 06 Oct 2026 09:30:36 -0400</pubDate>
<description>&lt;p class="price"&gt;{0}.50 USD&lt;/p&gt; 12 cm high</description></item>"""


def test_a_feed_without_product_parts_has_its_price_in_the_description_and_its_id_in_the_link(tmp_path: Path) -> None:
    path = written(tmp_path, FEED.format("".join(map(ENTRY.format, range(1, 5)))), "a.xml")
    found = tried(path, tmp_path)
    assert [item["id"] for item in found.found.items] == [f"44100{n}0" for n in range(1, 5)]
    assert [row[1:] for row in found.prices] == [(f"{n}.50", None, "USD") for n in range(1, 5)]
    assert "is it the price?" in found.doubts("price") and '"link"' in found.doubts("id")


def test_a_text_with_two_amounts_has_no_price(tmp_path: Path) -> None:
    entries = "".join(ENTRY.format(n).replace("12 cm", "was 9.00 USD, 12 cm") for n in range(1, 5))
    assert "[observation]" not in guess(written(tmp_path, FEED.format(entries), "a.xml")).text


def test_a_column_of_three_levels_is_the_name_and_a_part_of_its_name_the_code(tmp_path: Path) -> None:
    rows = "Стол дубовый;ст-1;С-001;120,00;150,00\nСтул;ст-2;С-002;20,00;25,00\nПолка;ст-3;С-003;30,00;39,00\n"
    header = "Группа/ Номенклатура/ Свойство;Номенклатура.Артикул;Номенклатура.Код;Опт 1;Розница цена\n"
    found = asked(tmp_path, header + rows, currency="KZT")
    assert [row[:2] for row in found.prices] == [("Стол дубовый", "150.00"), ("Стул", "25.00"), ("Полка", "39.00")]
    [price] = [doubt for doubt in found.guess.doubts if doubt.of == "price"]
    assert "the retail price is taken" in price.sentence and len(price.readings) == 2


@pytest.mark.parametrize("retail", ["Price B", "Retail price net"])
def test_two_prices_of_which_none_alone_is_the_retail_price_stay_a_question(tmp_path: Path, retail: str) -> None:
    text = f"sku,name,Price A,{retail}\n1,Jar,2.00,3.00\n2,Lid,1.00,2.00\n3,Pot,4.00,5.00\n"
    assert ('price = "?"' in guess(written(tmp_path, text)).text) is (retail == "Price B")


@pytest.mark.parametrize(("end", "code"), [("example.rs", "RSD"), ("example.pl", "PLN"), ("example.com", "?")])
def test_addresses_in_the_domain_of_a_country_say_the_currency(tmp_path: Path, end: str, code: str) -> None:
    rows = "".join(f"{n},Jar {n},{n}00,https://www.{end}/jar-{n}\n" for n in range(1, 5))
    made = guess(written(tmp_path, "sku,name,price,permalink\n" + rows))
    assert f'currency = {{ constant = "{code}" }}' in made.text or (code == "?" and 'currency = "?"' in made.text)
    [doubt] = [one for one in made.doubts if one.of == "currency"]
    assert doubt.is_open is (code == "?") and len(doubt.readings) == 3


def test_a_second_column_of_names_is_said_with_both(tmp_path: Path) -> None:
    rows = "1,Clay jar,Jar K,3.00\n2,Clay lid,Lid K,1.00\n3,Clay pot,Pot K,2.00\n"
    made = guess(written(tmp_path, "sku,product name,title,price\n" + rows))
    [doubt] = [one for one in made.doubts if one.of == "name"]
    assert [(one.statement, one.example) for one in doubt.readings] == [
        ('name = "product name"', 'as in "Clay jar"; 3 of 3 cells, 3 distinct'),
        ('name = "title"', 'as in "Jar K"; 3 of 3 cells, 3 distinct'),
    ]
    assert not doubt.is_open and len(doubt.sentence) <= 300
    same = rows.replace("Jar K", "Clay jar").replace("Lid K", "Clay lid").replace("Pot K", "Clay pot")
    assert asked(tmp_path, "sku,product name,title,price\n" + same, currency="EUR").doubts("name") == ""


def test_a_name_that_is_that_of_a_series_is_asked_about_with_what_tells_its_items_apart(tmp_path: Path) -> None:
    rows = "".join(f"{n},{'ALPHA' if n % 2 else 'BETA'},{n} drawers of oak,{n}0\n" for n in range(1, 20))
    made = guess(written(tmp_path, "sku,name,details,price\n" + rows))
    [doubt] = [one for one in made.doubts if one.of == "name"]
    assert '"details" tells apart' in doubt.sentence
    assert [one.example for one in doubt.readings] == ["ALPHA – 1 drawers of oak", "ALPHA"]


def test_a_price_that_a_shop_pays_is_not_taken_and_said(tmp_path: Path) -> None:
    found = asked(tmp_path, "sku,name,Dealer price\n1,Jar,2.00\n2,Lid,1.00\n")
    assert found.prices == [] and '"Dealer price" may be what a shop pays' in found.doubts("observation")


def test_the_name_of_a_manufacturer_is_not_that_of_the_item(tmp_path: Path) -> None:
    rows = "1,Clay jug,Kiln,24.90\n2,Wool rug,Loom,129.00\n"
    found = asked(tmp_path, "part id,Description,ManufacturerName,price\n" + rows, currency="USD")
    assert [(item["name"], item["brand"]) for item in found.found.items] == [("Clay jug", "Kiln"), ("Wool rug", "Loom")]
