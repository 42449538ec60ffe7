"""Items of several sources with one GTIN are one article from the load on that brings the second."""

import random
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pyarrow.parquet
import pytest

from shared.bulk.schema import key_of
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import HEADER, OAT, SOY, TEA, A, B, articles, gtins, row, shop, text_of
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.releases import cut
from tests.support.servers import Servers, begins_with
from tests.support.shop import load_rows, undone
from workers.ingest.load.linking import CONFLICTING, CROWDED, REPEATED


def one_shop(settings: Settings, folder: Path) -> None:
    shop(settings, folder, "shop_a", row("1", SOY))


@begins_with(one_shop)
def test_an_equal_gtin_makes_one_article_and_the_older_iid_survives(settings: Settings, tmp_path: Path) -> None:
    summary = shop(settings, tmp_path, "shop_b", row("x", f"0{SOY}", "Vita soy milk 1 l", "2026-07-02"))
    assert summary.counts["items_merged"] == 1
    assert articles(settings) == {A: A, B: A}
    [(version, identifiers)] = execute(settings, "SELECT version, identifiers FROM items WHERE iid = $1", A)
    assert version == 2
    assert [one["value"] for one in identifiers] == ["1", SOY, "x", f"0{SOY}"]
    assert execute(settings, "SELECT n, items FROM month_cells WHERE scope = 'a'") == [(2, 1)]


def test_an_index_of_records_that_cannot_be_kept_or_read_is_made_anew_and_fails_no_load(
    settings: Settings, tmp_path: Path
) -> None:
    kept = tmp_path / "match"
    settings = replace(settings, match_dir=kept)
    kept.touch()
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    assert shop(settings, tmp_path, "shop_b", row("x", SOY)).counts["items_merged"] == 1, "no room for it"
    kept.unlink()
    assert shop(settings, tmp_path, "shop_c", row("y", SOY)).counts["items_merged"] == 1
    for number, broken in enumerate(("stamp.json", "segment-*/*.npy")):
        paths = list(kept.glob(broken))
        assert paths
        for path in paths:
            path.write_bytes(b"")
        merged = shop(settings, tmp_path, f"shop_{number}", row("z", SOY)).counts["items_merged"]
        assert merged == 1, f"{broken} is empty"
    assert execute(settings, "SELECT DISTINCT state FROM loads") == [("committed",)]


FIGURES = """source = "figures"
title = "Figures"
license = "CC0-1.0"
[item]
id = "iid"
join_by = "iid"
[[impacts]]
indicator = "co2e_kg"
value = "co2"
basis = "measured"
method = "weighed"
"""


def test_an_item_that_no_source_names_any_more_links_nothing_by_an_index_that_was_kept(
    settings: Settings, tmp_path: Path
) -> None:
    settings = replace(settings, match_dir=tmp_path / "match")
    named = shop(settings, tmp_path, "shop_a", row("1", SOY))
    shop(settings, tmp_path, "shop_b", row("x", OAT, "Oat drink"))
    load_rows(settings, tmp_path, f"{A},2.5\n", text=FIGURES, name="figures.csv", header="iid,co2\n")
    undone(settings, named.load_id)
    shop(settings, tmp_path, "shop_c", row("y", SOY))
    assert execute(settings, "SELECT iid FROM items WHERE iid = $1", A) == [(A,)]
    assert execute(settings, "SELECT count(*) FROM links WHERE kind = 'identifier'") == [(0,)]


def test_names_in_other_languages_take_no_article_apart(settings: Settings, tmp_path: Path) -> None:
    names = ("Nutella hazelnut spread 400 g", "Nutella hazelnut spread jar 400 g")
    others = ("Haselnusscreme Brotaufstrich Glas", "Pâte à tartiner aux noisettes", "Crema di nocciole 0.4 kg")
    for number, name in enumerate((*names, *others)):
        line = row("x", "4008400402123", name, f"2026-07-0{number + 1}").replace("Vita", "")
        shop(settings, tmp_path, f"shop_{'abcde'[number]}", line)
        if number:
            assert articles(settings)[B] == mint("shop_a", "x").iid
    known = articles(settings)
    spread, translated, other, italian = (known[mint(f"shop_{one}", "x").iid] for one in "acde")
    assert spread == italian
    assert len({spread, translated, other}) == 3
    waiting = execute(settings, "SELECT count(*) FROM links WHERE decision = 'review'")
    assert waiting == [(7,)]


def test_a_pack_and_a_single_one_are_two_articles_even_in_a_chain(settings: Settings, tmp_path: Path) -> None:
    for source, name in (("a", "Cola 330 ml can"), ("b", "Cola"), ("c", "Cola 24 x 330 ml cans")):
        shop(settings, tmp_path, f"shop_{source}", row("x", SOY, name))
    known = articles(settings)
    first, second, pack = (known[mint(f"shop_{one}", "x").iid] for one in "abc")
    assert first == second != pack


@begins_with(one_shop)
def test_undoing_the_load_gives_the_article_back_as_it_was(settings: Settings, tmp_path: Path) -> None:
    columns = "iid, name, identifiers, version, updated_at, status, survivor_iid, first_seen_on, field_sources"
    before = execute(settings, f"SELECT {columns} FROM items")
    summary = shop(settings, tmp_path, "shop_b", row("x", SOY, day="2026-06-30"))
    assert articles(settings) == {A: B, B: B}
    undone(settings, summary.load_id)
    assert execute(settings, f"SELECT {columns} FROM items") == before
    assert (
        execute(settings, "SELECT item_id FROM inactive_items") == execute(settings, "SELECT left_id FROM links") == []
    )


def test_contradicting_pack_sizes_wait_for_a_person(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY, "Soy milk 1L"))
    shop(settings, tmp_path, "shop_b", row("x", SOY, "Soy milk 2L"))
    assert articles(settings) == {A: A, B: B}
    assert execute(settings, "SELECT kind, decision FROM links") == [("identifier", "review")]


RULES = {  # of a shop's mapping, with what becomes of the identifier that one of its items shares
    "never = true": [],
    'own_identifiers = ["gtin"]': [],
    'trust = "review"': ["review"],
    'trust = "identifiers"': ["link"],
}


def test_the_match_section_of_a_mapping_is_followed(settings: Settings, tmp_path: Path) -> None:
    codes = gtins(len(RULES))
    for number, rules in enumerate(RULES):
        shop(settings, tmp_path, f"shop_{number}", row("1", codes[number], "Oat"), f"[match]\n{rules}\n")
    shop(settings, tmp_path, "other", "".join(row(code, code, "Oat flakes") for code in codes))
    query = """SELECT l.decision FROM links l JOIN item_sources t ON t.item_id IN (l.left_id, l.right_id)
        JOIN sources s ON s.id = t.source_id WHERE l.kind = 'identifier' AND s.name = $1"""
    for number, (rules, linked) in enumerate(RULES.items()):
        assert [one[0] for one in execute(settings, query, f"shop_{number}")] == linked, rules


@begins_with(one_shop)
def test_rules_that_change_are_applied_to_what_was_loaded_before(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_b", row("x", SOY))
    shop(settings, tmp_path, "shop_a", row("1", SOY), "[match]\nnever = true\n")
    assert articles(settings) == {A: A, B: B}
    [(last,)] = execute(settings, "SELECT max(no)::text FROM events")
    undone(settings, last)
    assert articles(settings) == {A: A, B: A}


def test_items_that_their_source_declares_one_article_are_joined(settings: Settings, tmp_path: Path) -> None:
    rows = row("1", SOY, "Soy milk 1L") + row("2", SOY, "Soy milk one litre")
    shop(settings, tmp_path, "shop_a", rows)
    assert set(articles(settings).values()) == {A, mint("shop_a", "2").iid}
    shop(settings, tmp_path, "shop_a", rows, '[match]\narticle_identifier = "gtin"\n')
    assert len(set(articles(settings).values())) == 1


ONCE, MARKET = ("[match]\none_per_source = true\n", "[match]\none_per_source = false\n")
TWO_OFFERS = row("1", SOY) + row("2", SOY, "Soy drink of Vita one litre", price="12")


async def test_a_second_offer_of_a_source_with_another_title_belongs_to_the_article_and_keeps_its_price(
    edge: Edge, tmp_path: Path
) -> None:
    settings = edge.settings
    shop(settings, tmp_path, "shop_a", row("1", SOY), MARKET)
    load = shop(settings, tmp_path, "shop_a", TWO_OFFERS, MARKET)
    shop(settings, tmp_path, "shop_b", row("x", SOY))
    second = mint("shop_a", "2").iid
    [survivor] = set(articles(settings).values())
    assert REPEATED not in load.field_rejects
    prices = """SELECT t.source_item_id, o.price_minor FROM observations o JOIN items i ON i.id = o.item_id
        JOIN item_sources t ON t.item_id = i.id ORDER BY 1"""
    assert execute(settings, prices) == [("1", 1000), ("2", 1200), ("x", 1000)]
    [(identifiers,)] = execute(settings, "SELECT identifiers FROM items WHERE iid = $1", survivor)
    assert {one["value"] for one in identifiers} == {"1", "2", "x", SOY}
    record = (await edge.get(f"/index/lookup/{survivor}")).json
    members = [(one["source"], one["id"], one["iid"]) for one in record["members"]]
    assert sorted(members) == [("shop_a", "1", A), ("shop_a", "2", second), ("shop_b", "x", B)]
    undone(settings, load.load_id)
    assert sorted(articles(settings)) == sorted([A, B])


def test_offers_of_one_source_that_contradict_each_other_stay_apart(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY, "Soy milk 1L") + row("2", SOY, "Soy milk 2L"), MARKET)
    shop(settings, tmp_path, "shop_b", row("x", SOY, "Soy milk"))
    assert len(set(articles(settings).values())) == 2


def test_a_market_that_says_so_has_several_offers_of_an_article_without_another_source(
    settings: Settings, tmp_path: Path
) -> None:
    shop(settings, tmp_path, "shop_a", TWO_OFFERS, MARKET)
    assert len(set(articles(settings).values())) == 1
    assert execute(settings, "SELECT count(*) FROM rejects") == [(0,)]


def test_two_items_of_a_source_that_lists_each_product_once_are_never_one_article(
    settings: Settings, tmp_path: Path
) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY) + row("2", SOY, "Soy milk 1L new"), ONCE)
    shop(settings, tmp_path, "shop_b", row("x", SOY))
    found = articles(settings)
    assert found[A] != found[mint("shop_a", "2").iid]
    assert len(set(found.values())) == 3  # the number does not say which of the two it is


def test_a_load_that_would_merge_a_tenth_of_the_index_is_stopped_unless_that_is_meant(
    settings: Settings, tmp_path: Path
) -> None:
    def rows(prefix: str) -> str:
        return "".join(row(f"{prefix}{n}", code, f"Milk {n}") for n, code in enumerate(gtins(12)))

    shop(settings, tmp_path, "shop_a", rows("a"))
    with pytest.raises(LoadRefused, match=r"would merge 12 items.*of the 12 of the index.*--allow-merges"):
        shop(settings, tmp_path, "shop_b", rows("b"))
    assert execute(settings, "SELECT count(*) FROM items") == [(12,)]
    assert execute(settings, "SELECT count(*) FROM links") == [(0,)]
    shop(settings, tmp_path, "shop_b", rows("b"), merges_allowed=True)
    assert len(set(articles(settings).values())) == 12


def rejected(settings: Settings) -> set[tuple[str, str]]:
    return set(execute(settings, "SELECT reason, value FROM rejects"))


def test_an_identifier_of_a_hundred_items_joins_nothing_and_is_a_reject(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", "".join(row(str(n), SOY, f"Milk {n}") for n in range(101)))
    summary = shop(settings, tmp_path, "shop_b", row("x", SOY, "Milk 1"))
    assert (summary.counts["items_merged"], summary.field_rejects[CROWDED]) == (0, 1)
    assert rejected(settings) == {(CROWDED, f"0{SOY}")}


def test_a_source_that_changes_its_ids_gets_new_items_and_a_reject_for_each(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_b", row("x", OAT, "Oat drink"))
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    shop(settings, tmp_path, "shop_a", row("one", SOY))
    assert len(set(articles(settings).values())) == 3
    assert rejected(settings) == {(REPEATED, f"0{SOY}")}


def test_identifiers_that_contradict_each_other_are_a_reject_and_nothing_is_lost(
    settings: Settings, tmp_path: Path
) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY) + row("2", OAT, "Soy milk 1L new"), ONCE)
    text = (
        text_of("shop_b")
        .replace('list_price = "list"\n', "")
        .replace('gtin = "ean"\n', 'gtin = "ean"\nisbn = "list"\n')
    )
    both = row("x", SOY).replace(",\n", f",{OAT}\n")
    load_rows(settings, tmp_path, both, text=text, name="shop_b.csv", header=HEADER)
    assert {reason for reason, _ in rejected(settings)} == {CONFLICTING}
    assert execute(settings, "SELECT count(*) FROM items") == [(3,)]


def test_a_source_that_lists_each_product_once_gives_no_number_twice(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    shop(settings, tmp_path, "shop_b", row("x", SOY), ONCE)
    shop(settings, tmp_path, "shop_b", row("x", SOY) + row("y", SOY, "Soy milk 1L"), ONCE)
    assert rejected(settings) == {(REPEATED, f"0{SOY}")}
    assert execute(settings, "SELECT count(*) FROM items") == [(3,)]


LOADS = [
    (source, row(f"{source}{n}", code, name, day))
    for source in ("shop_a", "shop_b", "shop_c")
    for n, (code, name, day) in enumerate(
        ((SOY, "Soy milk 1L", "2026-07-02"), (SOY, "Soy milk 1 l", "2026-07-01"), (OAT, "Oat drink", "2026-07-02"))
    )
] + [("shop_c", row("9", TEA, "Tea", "2026-07-01"))]


def articles_after(servers: Servers, folder: Path, loads: list[tuple[str, str]]) -> dict[str, str]:
    with servers.fresh() as settings:
        for source, rows in loads:
            shop(settings, folder, source, rows)
        return articles(settings)


def test_the_order_of_loads_changes_no_article(servers: Servers, tmp_path: Path) -> None:
    shops = [(source, "".join(rows for _, rows in loads)) for source, loads in groupby(LOADS, lambda load: load[0])]
    in_order = articles_after(servers, tmp_path, shops)
    assert articles_after(servers, tmp_path, random.Random(1).sample(LOADS, len(LOADS))) == in_order
    assert len(set(in_order.values())) < len(in_order)


@begins_with(one_shop)
def test_the_data_as_files_lists_merges_and_their_reasons(settings: Settings, tmp_path: Path) -> None:
    version = shop(settings, tmp_path, "shop_b", row("x", SOY)).data_version
    cut(settings)
    [(sha256,)] = execute(settings, "SELECT sha256 FROM release_files WHERE dataset = 'merged'")
    table = pyarrow.parquet.read_table(settings.results_dir / key_of(sha256))
    assert table.to_pylist() == [{"from": B, "to": A, "reason": "identifier", "data_version": version}]


def test_undoing_a_load_gives_back_the_links_of_others_that_it_had_judged_anew(
    settings: Settings, tmp_path: Path
) -> None:
    links = "SELECT left_id, right_id, kind, score, decision, evidence, no FROM links ORDER BY 1, 2"
    names = ("Vita soy drink 1L chilled", "Maison oat drink barista 1L", "Green tea jasmine 500ml")
    for source in ("shop_a", "shop_b"):
        shop(settings, tmp_path, source, "".join(row(f"{source}{n}", "", name) for n, name in enumerate(names)))
    before = execute(settings, links)
    assert before
    more = [row(f"c{n}", "", f"{name} new") for n, name in enumerate(names * 4)]
    load = shop(settings, tmp_path, "shop_c", "".join(more), merges_allowed=True)
    assert execute(settings, links) != before
    undone(settings, load.load_id)
    assert execute(settings, links) == before
