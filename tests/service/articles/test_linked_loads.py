"""Items of several sources with one GTIN are one article from the load on that brings the second."""

from pathlib import Path
from typing import Any

from shared.config import Settings
from shared.db.connect import connect
from shared.ids import mint
from tests.support.shop import MAPPING, load_rows
from workers.ingest.load import Summary
from workers.provenance import events
from workers.provenance.undo import undo

HEADER = "sku,ean,name,brand,group,kind,weight,day,store,price,list\n"
SOY, SOY_AGAIN = "4006381333931", "04006381333931"
A, B = mint("shop_a", "1").iid, mint("shop_b", "x").iid


def text_of(source: str, more: str = "") -> str:
    text = MAPPING.replace('source = "shop"', f'source = "{source}"')
    return text.replace('sku = "sku"\n', 'sku = "sku"\ngtin = "ean"\n') + more


def shop(settings: Settings, folder: Path, source: str, rows: str, more: str = "") -> Summary:
    return load_rows(settings, folder, rows, text=text_of(source, more), name=f"{source}.csv", header=HEADER)


def row(sku: str, ean: str, name: str = "Soy milk 1L", day: str = "2026-07-01", price: str = "10") -> str:
    return f"{sku},{ean},{name},Vita,Drinks,Soy milk,1.0,{day},NORTH,{price},\n"


def ask(settings: Settings, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with connect(settings.database_url, application="tests") as connection:
        return connection.execute(query, values or None).fetchall()


def test_an_equal_gtin_makes_one_article_and_the_older_iid_survives(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    summary = shop(settings, tmp_path, "shop_b", row("x", SOY_AGAIN, "Vita soy milk 1 l", "2026-07-02"))
    assert summary.counts["items_merged"] == 1
    assert set(ask(settings, "SELECT iid, status, survivor_iid FROM items")) == {(A, "active", None), (B, "merged", A)}
    [(version, identifiers)] = ask(settings, "SELECT version, identifiers FROM items WHERE iid = $1", A)
    assert version == 2
    assert [one["value"] for one in identifiers] == ["1", SOY, "x", SOY_AGAIN]
    assert ask(settings, "SELECT n, items FROM month_cells WHERE scope = 'a'") == [(2, 1)]


def test_undoing_the_load_gives_the_article_back_as_it_was(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    before = ask(settings, "SELECT * FROM items")
    summary = shop(settings, tmp_path, "shop_b", row("x", SOY, day="2026-06-30"))
    assert set(ask(settings, "SELECT iid, survivor_iid FROM items")) == {(A, B), (B, None)}
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        undo(connection, summary.load_id, "tests", None)
    changed = ask(settings, "SELECT * FROM items")
    assert [one[:-2] for one in changed] == [one[:-2] for one in before]
    assert ask(settings, "SELECT * FROM inactive_items") == ask(settings, "SELECT * FROM links") == []
