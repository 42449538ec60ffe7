"""Categories that a document names by their ids, and rows of one item in several categories."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.unit.workers.ingest.guessing import FILES, Tried, tried
from workers.ingest.guess.guess import guess

YML = """<yml_catalog date="2026-09-30 12:00"><shop><name>Kiln</name><categories>{groups}</categories><offers>{offers}</offers>
</shop></yml_catalog>"""
OFFER = """<offer id="{id}" available="true"><price>9.90</price><currencyId>EUR</currencyId><categoryId>{of}</categoryId>
<picture>https://shop.example/1.jpg</picture><name>Jug {id}</name></offer>"""


def feed(folder: Path, groups: str, *of: str) -> Path:
    path = folder / "feed.xml"
    offers = "".join(OFFER.format(id=number, of=one) for number, one in enumerate(of))
    path.write_text(YML.format(groups=groups, offers=offers))
    return path


def paths(found: Tried) -> list[str | None]:
    return [item["category"] for item in found.found.items]


def test_a_category_has_the_names_of_those_above_it_in_any_order_of_the_tree(tmp_path: Path) -> None:
    groups = '<category id="3" parentId="2">Jugs</category><category id="2" parentId="1">Clay</category>'
    groups += '<category id="1">Kitchen</category><category id="9">Gifts</category>'
    found = tried(feed(tmp_path, groups, "3", "1", "9"), tmp_path)
    assert paths(found) == ["kitchen.clay.jugs", "kitchen", "gifts"]
    assert "4 categories" in found.doubts("category")


def test_a_category_that_the_tree_does_not_have_is_none(tmp_path: Path) -> None:
    found = tried(feed(tmp_path, '<category id="1">Kitchen</category>', "1", "77"), tmp_path)
    assert paths(found) == ["kitchen", None]


def test_a_ring_of_categories_ends(tmp_path: Path) -> None:
    ring = '<category id="1" parentId="2">A</category><category id="2" parentId="1">B</category>'
    [category] = paths(tried(feed(tmp_path, ring, "1"), tmp_path))
    assert category is not None
    assert category.count(".") == 7


def test_names_with_the_mark_between_levels_keep_it(tmp_path: Path) -> None:
    groups = '<category id="1">Jugs &gt; 1 l</category><category id="2" parentId="1">Clay</category>'
    mapping = tomllib.loads(guess(feed(tmp_path, groups, "2")).text)
    assert mapping["item"]["category"]["split"] == " | "
    assert mapping["item"]["category"]["crosswalk"]["2"] == "Jugs > 1 l | Clay"


def test_a_tree_behind_the_offers_is_not_read(tmp_path: Path) -> None:
    path = feed(tmp_path, "", "1")
    text = path.read_text().replace("</offers>", '</offers><categories><category id="1">Late</category></categories>')
    path.write_text(text)
    assert paths(tried(path, tmp_path)) == [None]


@pytest.mark.parametrize("price", [",9.90", ""])
def test_rows_of_one_item_in_several_categories_are_said(tmp_path: Path, price: str) -> None:
    path = tmp_path / "a.csv"
    head = "sku,name,category" + (",price" if price else "")
    path.write_text(f"{head}\nJ-1,Jug,Jugs{price}\nJ-1,Jug,Gifts{price}\nR-1,Rug,Rugs{price}\n")
    sentence = " ".join(doubt.sentence for doubt in guess(path).doubts if doubt.of == "category")
    assert '"J-1", have several categories, "Jugs" and "Gifts"' in sentence


def test_items_with_one_category_each_are_not_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sku,name,category,price,date\nJ-1,Jug,Jugs,9,2026-10-01\nJ-1,Jug,Jugs,8,2026-10-02\n")
    assert not [doubt for doubt in guess(path).doubts if doubt.of == "category"]


def test_a_list_of_texts_is_the_path_of_a_category_however_long_it_is_in_each_row(tmp_path: Path) -> None:
    paths_of = {"J-1": ["Kitchen", "Jugs"], "R-1": ["Home"], "V-1": ["Kitchen", "Jugs", "Vases"]}
    rows = [
        {"asin": item, "title": f"Item {item}", "category_path": path, "last": path[-1]}
        for item, path in paths_of.items()
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert paths(tried(file, tmp_path)) == ["kitchen.jugs", "home", "kitchen.jugs.vases"]


def test_more_products_in_groups_than_a_mapping_can_list_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.ingest.files.xml_groups.GROUPS_MAX", 3)
    link = "<ARTICLE_TO_CATALOGGROUP_MAP><ART_ID>{}</ART_ID><CATALOG_GROUP_ID>11</CATALOG_GROUP_ID></ARTICLE_TO_CATALOGGROUP_MAP>"
    file = tmp_path / "catalogue.xml"
    text = (FILES / "123_bmecat_groups.xml").read_text(encoding="latin-1")
    file.write_text(text, encoding="latin-1")
    assert paths(tried(file, tmp_path))[0] == "schrauben.holzschrauben"
    file.write_text(text.replace("</T_NEW_CATALOG>", link.format("A-1") + "</T_NEW_CATALOG>"), encoding="latin-1")
    found = tried(file, tmp_path)
    assert paths(found) == [None, None, None]
    assert "products have groups, too many for a mapping" in found.doubts("category")
