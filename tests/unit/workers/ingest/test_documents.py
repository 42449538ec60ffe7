"""Which elements of XML and JSON are the products, and XML that is not well-formed; the judge of the latter is lxml."""

import io
import json
from html.entities import html5
from pathlib import Path

import pytest
from lxml import etree

from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import tried
from workers.ingest.files.mended_xml import MendedXml, mended_in
from workers.ingest.guess.guess import guess
from workers.ingest.load.preview import Previewer
from workers.ingest.mapping import read as read_mapping
from workers.ingest.transform import Transformer

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>Lamps</title><link>https://lamps.example/</link>
<item><g:id>L-1</g:id><title>Desk lamp</title><g:price>49.00 EUR</g:price>
<g:shipping><g:country>DE</g:country><g:price>4 EUR</g:price><g:service>Mail</g:service></g:shipping>
<g:shipping><g:country>AT</g:country><g:price>6 EUR</g:price><g:service>Mail</g:service></g:shipping>
<g:shipping><g:country>FR</g:country><g:price>8 EUR</g:price><g:service>Mail</g:service></g:shipping></item>
</channel></rss>"""
FEATURES = """<Answer><Product ID="7" Title="Torch" Part_no="T-7"><EANCode EAN="4006381333931"/>
<Feature ID="1" Value="red"><Name ID="4" Value="Colour"/></Feature>
<Feature ID="2" Value="LED"><Name ID="5" Value="Lamp"/></Feature>
<Feature ID="3" Value="IP44"><Name ID="6" Value="Class"/></Feature></Product></Answer>"""
TREE = """<shop><name>Lamps</name><url>https://lamps.example/</url><tree>
<category id="1"><name>Lamps</name><url>/lamps</url></category><category id="2"><name>Indoors</name><url>/in</url></category>
<category id="3"><name>Outdoors</name><url>/out</url></category></tree>
<list><block><product id="L-1"><name>Desk lamp</name><price>49.00</price></product></block>
<block><product id="L-2"><name>Garden lamp</name><price>79.00</price></product></block></list></shop>"""


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "path", "names"),
    [
        (FEED, "rss/channel/item", ["Desk lamp"]),
        (FEATURES, "Answer/Product", ["Torch"]),
        (TREE, "shop/list/block/product", ["Desk lamp", "Garden lamp"]),
        (FEED.replace("L-1", "L-1</g:id><g:gtin>4006381333931</g:gtin><g:id>L-1"), "rss/channel/item", ["Desk lamp"]),
    ],
    ids=["shippings", "features", "categories", "twice"],
)
def test_the_element_that_is_a_product_is_the_row(tmp_path: Path, text: str, path: str, names: list[str]) -> None:
    made = guess(put(tmp_path, "a.xml", text))
    assert f'records = "{path}"' in made.text
    if "currency = " in made.text and 'currency = "?"' not in made.text:
        assert [item["name"] for item in tried(tmp_path / "a.xml", tmp_path).found.items] == names


def test_the_list_of_products_is_the_rows_of_a_document(tmp_path: Path) -> None:
    document = {
        "categories": [{"id": n, "name": f"Shelf {n}"} for n in range(9)],
        "shop": {"name": "Lamps", "url": "https://lamps.example/"},
        "data": {"page": {"list": [{"sku": f"L-{n}", "name": f"Lamp {n}", "price": f"{n}.50"} for n in range(3)]}},
    }
    read = tried(put(tmp_path, "a.json", json.dumps(document, indent=1)), tmp_path, currency="EUR")
    assert (read.mapping.records, len(read.prices)) == ("data.page.list", 3)


@pytest.mark.parametrize("pictures", [0, 1, 4])
def test_a_document_that_is_one_product_is_one_row(tmp_path: Path, pictures: int) -> None:
    listed = [{"id": n, "name": f"view {n}", "url": f"https://lamps.example/{n}.jpg"} for n in range(pictures)]
    document = {"sku": "L-1", "name": "Desk lamp", "price": "49.00", "pictures": listed}
    read = tried(put(tmp_path, "a.json", json.dumps(document, indent=1)), tmp_path, currency="EUR")
    assert [row[:2] for row in read.prices] == [("Desk lamp", "49.00")]


BROKEN = FEED.replace("Desk lamp", "Desk & garden&nbsp;lamp\x0b A&B; caf&eacute;").replace(
    "</item>", "<link>https://lamps.example/?a=1&b=2&amp;c=3&copy=4</link><!-- a & b --><x><![CDATA[c & d]]></x></item>"
)


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_xml_is_mended_the_same_wherever_its_pieces_end(size: int) -> None:
    mended = MendedXml(io.BytesIO(BROKEN.encode()))
    text = b"".join(iter(lambda: mended.read(size), b""))
    item = etree.fromstring(text).find(".//item")
    assert item.findtext("title") == f"Desk & garden{html5['nbsp;']}lamp A&B; café"
    assert item.findtext("link") == "https://lamps.example/?a=1&b=2&c=3&copy=4"
    assert item.findtext("x") == "c & d"
    assert sum(mended.mended.values()) == 7


@pytest.mark.parametrize("text", [FEED, FEATURES, TREE, "<a><!-- & &nbsp; --><b c='&#38;&#x26;'>&lt;&#9;</b></a>"])
def test_well_formed_xml_is_not_mended(text: str) -> None:
    assert mended_in(io.BytesIO(text.encode())) == ""


def test_a_mended_document_says_how_much_and_is_refused_unless_its_mapping_says_so(tmp_path: Path) -> None:
    path = put(tmp_path, "a.xml", BROKEN)
    read = tried(path, tmp_path)
    assert read.doubts("mend_xml").startswith('the file is no well-formed XML: 4 bare "&"')
    assert read.found.items[0]["name"].startswith("Desk & garden")
    (tmp_path / "m.toml").write_text(read.guess.text.replace("mend_xml = true\n", ""))
    strict = read_mapping(tmp_path / "m.toml")
    with pytest.raises(LoadRefused, match=r"no well-formed XML.*mend_xml = true in the mapping"):
        Previewer(strict, shown=5).of_items([path], Transformer(strict, {}))


def test_a_document_without_items_is_told_of_its_elements_and_not_of_lines(tmp_path: Path) -> None:
    rows = "".join(f"<point><lat>{n}.5</lat><lon>{n}</lon></point>" for n in range(5))
    with pytest.raises(LoadRefused, match=r'elements at "track/point".*`records`.*--dry-run') as refused:
        guess(put(tmp_path, "a.xml", f"<track>{rows}</track>"))
    assert "line" not in str(refused.value) and "exchange rates" not in str(refused.value)


def test_no_doubt_is_longer_than_can_be_read(tmp_path: Path) -> None:
    """A header of forty long names that stands twice, and two hundred rows without a name."""
    names = [f"a column with quite a long name {n}" for n in range(40)]
    lines = [";".join(["sku", "name", *names, *names])] + [
        ";".join([f"S{n}", "" if n % 2 else f"Tea {n}", *(["x" * 60] * 80)]) for n in range(200)
    ]
    made = guess(put(tmp_path, "a.csv", "\n".join(lines)))
    assert max(len(doubt.sentence) for doubt in made.doubts) <= 300
    assert all(len(line) <= 300 + len("# CHECK ") + 20 for line in made.text.splitlines() if line.startswith("# CHECK"))
