"""Files of known shapes and of many languages load by a guessed mapping."""

import cProfile
import datetime
import json
import pstats
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

from shared.clock import utc_now
from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import FILES, Tried, tried
from tests.unit.workers.ingest.test_guess import put
from workers.ingest.guess.amount_readings import free_amounts
from workers.ingest.guess.guess import guess
from workers.ingest.load.preview import Previewer
from workers.ingest.shapes import FOLDER
from workers.ingest.transform import Transformer

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
        ("Weight (oz)", ["16", "32"], ["0.45359237", "0.90718474"]),
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


def test_of_several_sheets_the_only_one_with_names_and_prices_is_read_and_asked(tmp_path: Path) -> None:
    sheet(tmp_path / "a.xlsx", second=True)
    found = tried(tmp_path / "a.xlsx", tmp_path)
    assert rows_of(found) == SHEET
    assert 'only "Prices" has names and prices' in found.doubts("sheet")
    assert rows_of(tried(tmp_path / "a.xlsx", tmp_path, sheet="Prices")) == SHEET


def test_of_several_sheets_with_prices_and_other_columns_one_is_named(tmp_path: Path) -> None:
    sheet(tmp_path / "a.xlsx", second=True)
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    for row in (["Article name", "Price", "Stock"], ["Bürste", 2, 7]):
        book["Notes"].append(row)
    book["Notes"].delete_rows(1, 2)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(LoadRefused, match="'Prices', 'Notes'"):
        guess(tmp_path / "a.xlsx")


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


def test_each_shape_says_what_it_is_and_where_it_is_described_and_has_a_file() -> None:
    for path in FOLDER.glob("*.toml"):
        text = path.read_text()
        document = tomllib.loads(text)
        assert text.startswith("# ")
        assert "https://" in text.splitlines()[0], path.name
        assert {"title", "about", "identified", "item"} <= document.keys(), path.name
        tried_out = {file.get("shape") for file in EXPECTED} | {"Google Merchant Center product feed"}
        assert document["title"] in tried_out, f"{path.name} needs a file in {FILES}, named in expected.toml there"


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
