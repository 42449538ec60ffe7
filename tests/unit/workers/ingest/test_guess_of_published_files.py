"""Guesses of files as public repositories have them: what was read wrongly there, with rows of our own."""

from pathlib import Path

import pytest

from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import Tried, tried
from workers.ingest.guess.guess import guess


def asked(folder: Path, content: str, name: str = "a.csv", **options: str) -> Tried:
    path = folder / name
    path.write_text(content)
    return tried(path, folder, **options)


def test_the_category_of_a_feed_of_google_is_one_where_no_product_type_is(tmp_path: Path) -> None:
    offer = "<item><g:id>{0}</g:id><g:title>Jug {0}</g:title><g:price>9.50 EUR</g:price>{1}</item>"
    named = [f"<g:category>Home &gt; {one}</g:category>" for one in ("Jugs", "Vases")]
    offers = "".join(offer.format(n, category) for n, category in enumerate(named))
    feed = f'<rss xmlns:g="http://base.google.com/ns/1.0"><channel>{offers}</channel></rss>'
    found = asked(tmp_path, feed, "a.xml")
    assert [item["category"] for item in found.found.items] == ["home.jugs", "home.vases"]


def test_columns_of_one_name_with_numbers_are_levels_below_the_one_without(tmp_path: Path) -> None:
    rows = "J-1;Кувшин;Дом;Кувшины;90\nV-1;Ваза;Дом;Вазы;70\nR-1;Ковёр;Шерсть;Ковры;900\n"
    found = asked(tmp_path, f"Артикул;Наименование;Раздел;Раздел.1;Цена\n{rows}", currency="RUB")
    assert [item["category"] for item in found.found.items] == ["дом.кувшины", "дом.вазы", "шерсть.ковры"]


def test_of_several_parts_for_categories_the_first_is_the_category(tmp_path: Path) -> None:
    product = "<product><id>{0}</id><name>Jug {0}</name><price>9.50</price><category>Jugs</category><category>Gifts</category></product>"
    found = asked(tmp_path, f"<products>{product.format(1)}{product.format(2)}</products>", "a.xml", currency="EUR")
    assert [item["category"] for item in found.found.items] == ["jugs", "jugs"]


@pytest.mark.parametrize("header", ["€ без ПДВ", "€ incl. VAT", "Ціна, € без ПДВ", "EUR netto"])
def test_amounts_that_are_called_by_a_currency_and_a_tax_are_the_price(tmp_path: Path, header: str) -> None:
    found = asked(tmp_path, f"Код;Назва товару;{header}\nJ-1;Глек;9,50\nV-1;Ваза;7,00\n")
    assert [row[1] for row in found.prices] == ["9.50", "7.00"]
    assert {row[3] for row in found.prices} == {"EUR"}


def test_amounts_with_and_without_a_tax_are_a_question(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("SKU;Name;€ excl. VAT;€ incl. VAT\nJ-1;Jug;9,50;11,40\nV-1;Vase;7,00;8,40\n")
    [doubt] = [one for one in guess(tmp_path / "a.csv").doubts if one.of == "price"]
    assert [reading.example for reading in doubt.readings] == ['of the first item "9,50"', 'of the first item "11,40"']


def test_a_price_for_a_quantity_of_cxml_is_said(tmp_path: Path) -> None:
    header = "SKU,Name,Price,Currency,PriceBasisQuantity.@quantity"
    found = asked(tmp_path, f"{header}\nB-1,Bolt,7.10,EUR,50\nD-1,Drill,99.00,EUR,1\n")
    assert '"PriceBasisQuantity.@quantity" seems to say for how many units a price is' in found.doubts("price")


def test_the_language_of_a_text_is_no_name(tmp_path: Path) -> None:
    article = "<article><code>J-{0}</code><item><text lang='en'>Jug {0}</text></item><cost>5</cost></article>"
    found = asked(tmp_path, f"<list>{article.format(1)}</list>", "a.xml")
    assert [item["name"] for item in found.found.items] == ["Jug 1"]


@pytest.mark.parametrize("zero", ["0", "0.00", "0,0"])
def test_a_weight_of_zero_is_none(tmp_path: Path, zero: str) -> None:
    rows = f"J-1;Jug;{zero};9.50;EUR\nV-1;Vase;500;7.00;EUR\n"
    found = asked(tmp_path, f"SKU;Name;Weight (g);Price;Currency\n{rows}")
    assert [item["attributes"] for item in found.found.items] == [{}, {"weight_kg": "0.5"}]
    none = asked(tmp_path, f"SKU;Name;Weight (g);Price;Currency\n{rows.replace('500', zero)}")
    assert none.mapping.item is not None and none.mapping.item.attributes == ()
    assert '# "Weight (g)": 1 distinct in 2 cells' in none.guess.text


def test_a_weight_of_zero_beside_its_unit_is_none(tmp_path: Path) -> None:
    rows = "J-1,Jug,0,kg,9.50,EUR\nV-1,Vase,2,kg,7.00,EUR\nR-1,Rug,300,g,7.00,EUR\n"
    found = asked(tmp_path, f"sku,name,weight,weight_unit,price,currency\n{rows}")
    assert [item["attributes"] for item in found.found.items] == [{}, {"weight_kg": "2"}, {"weight_kg": "0.3"}]
    assert found.found.counts["fields_rejected"] == 0


def test_declared_entities_are_refused_with_the_command_that_writes_their_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<!DOCTYPE a [<!ENTITY kiln "Kiln">]><a><b><id>1</id><name>&kiln;</name></b></a>')
    with pytest.raises(LoadRefused, match=r"xmllint --nonet --noent --dropdtd FILE > COPY[.]xml"):
        guess(path)


# Of the languages of WooCommerce: the columns of an export as it has them in each.
WOOCOMMERCE = {
    "da": "ID,Type,Varenummer,Navn,Udgivet,Er fremhævet (udvalgt)?,Kategorier,Tilbudspris,Normalpris,Vægt (kg)",
    "el": "ID,Τύπος,Κωδικός προϊόντος,Όνομα,Δημοσιευμένο,Είναι προτεινόμενο;,Κατηγορίες,Τιμή προσφοράς,Κανονική τιμή,Βάρος (kg)",
    "fi": "ID,Laji,Tuotetunnus (SKU),Nimi,Julkaistu,On esittelyssä?,Osastot,Alennettu hinta,Normaali hinta,Paino (kg)",
    "id": "ID,Tipe,SKU,Nama,Telah Terbit,Apakah diunggulkan?,Kategori,Harga obral,Harga normal,Berat (kg)",
    "ja": "ID,タイプ,SKU,名前,公開済み,オススメですか ?,カテゴリー,セール価格,標準価格,重量 (kg)",
    "nb": "ID,Type,Varenummer,Navn,Publisert,Er fremhevet?,Kategorier,Utsalgspris,Ordinær pris,Vekt (kg)",
    "th": "ID,ชนิด,รหัสสินค้า,ชื่อ,เผยแพร่แล้ว,เป็นรายการเด่นหรือไม่?,หมวดหมู่,ราคาที่ลด,ราคาปกติ,น้ำหนัก (kg)",
    "vi": "ID,Loại,Mã sản phẩm,Tên,Đã đăng,Là sản phẩm nổi bật?,Danh mục,Giá khuyến mãi,Giá bán thường,Cân nặng (kg)",
    "zh_TW": "代碼,類型,貨號,名稱,已發佈,精選？,分類,折扣價,原價,重量 (kg)",
}


@pytest.mark.parametrize("language", WOOCOMMERCE)
def test_an_export_of_woocommerce_is_recognized_in_its_language(tmp_path: Path, language: str) -> None:
    rows = "7,simple,J-7,Jug,1,0,Home > Jugs,8.50,9.50,0.6\n8,simple,V-8,Vase,1,0,Home > Vases,,7.00,0.9\n"
    found = asked(tmp_path, f"{WOOCOMMERCE[language]}\n{rows}", currency="EUR")
    assert found.guess.shape == "WooCommerce product export"
    assert [row[:3] for row in found.prices] == [("Jug", "8.50", "9.50"), ("Vase", "7.00", None)]
    assert [(item["category"], item["attributes"]) for item in found.found.items] == [
        ("home.jugs", {"weight_kg": "0.6"}), ("home.vases", {"weight_kg": "0.9"})
    ]  # fmt: skip
    assert [item["identifiers"] for item in found.found.items] == [{"sku": "J-7"}, {"sku": "V-8"}]


# The columns of an import of PrestaShop as it has them in each language.
PRESTASHOP = {
    "de": "ID;Aktiv (0/1);Name;Kategorien (x, y, z. ..);Preis inkl. MwSt.;ID Steuersatz;Einkaufspreis;Artikel-Nr.;Hersteller",
    "es": "ID;Activo (0/1);Nombre;Categorías (x,y,z...);Precios con IVA;ID regla de impuestos;Precio al por mayor;Referencia nº;Fabricante",
    "fr": "ID;Actif (0/1);Nom;Catégories (x,y,z...);Prix TTC;ID règles de taxes;Prix d'achat;Référence;Fabricant",
    "it": "Id;Attivo (0/1);Nome;Categorie (x, y, z...);Prezzo tasse incl.;ID regole tasse;Prezzo di acquisto;Riferimento;Produttore",
    "pl": "ID;Aktywny (0 lub 1);Nazwa;Kategorie (x,y,z...);Cena zawiera podatek. (brutto);ID zasad podatku;Cena hurtowa (zakupu);"
    "Indeks #;Producent",
    "ru": "ID;Активен (0/1);Название;Категории (x,y,z...);Цена c налогами;ID налога;Оптовая цена;Артикул №;Производитель",
    "ja": "ID;実行中（0/1）;名前;カテゴリ（x,y,z...）;税込価格;税ルールID;卸売価格;リファレンス #;メーカー",
}


@pytest.mark.parametrize("language", PRESTASHOP)
def test_products_of_prestashop_are_recognized_in_its_language(tmp_path: Path, language: str) -> None:
    rows = "7;1;Jug;Home/Jugs,Gifts;9.50;1;4.00;J-7;Kiln\n8;1;Vase;Home/Vases;7.00;1;3.00;V-8;Kiln\n"
    found = asked(tmp_path, f"{PRESTASHOP[language]}\n{rows}", currency="EUR")
    assert found.guess.shape == "PrestaShop products"
    assert [row[:2] for row in found.prices] == [("Jug", "9.50"), ("Vase", "7.00")]
    assert [(item["id"], item["brand"], item["category"]) for item in found.found.items] == [
        ("7", "Kiln", "home.jugs"), ("8", "Kiln", "home.vases")
    ]  # fmt: skip
    assert [item["identifiers"] for item in found.found.items] == [{"sku": "J-7"}, {"sku": "V-8"}]


def test_listings_of_etsy_are_recognized_in_german(tmp_path: Path) -> None:
    header = "TITEL,BESCHREIBUNG,PREIS,WÄHRUNGSCODE,STÜCKZAHL,TAGS,MATERIALIEN,BILD1,BESTANDSEINHEIT"
    rows = 'Krug,Ein Krug,19.50,EUR,2,"ton,krug",Ton,https://example.com/1.jpg,K-1\n'
    rows += 'Vase,Eine Vase,25.00,EUR,1,"ton,vase",Ton,https://example.com/2.jpg,V-1\n'
    found = asked(tmp_path, f"{header}\n{rows}")
    assert found.guess.shape == "Etsy listings"
    assert [(item["id"], item["name"]) for item in found.found.items] == [("K-1", "Krug"), ("V-1", "Vase")]
    assert found.prices == [("Krug", "19.50", None, "EUR"), ("Vase", "25.00", None, "EUR")]
