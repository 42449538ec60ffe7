"""No source wipes another: claims, owners, identifiers."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

from shared.bulk.schema import DATASETS, arrow_schema, key_of
from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.identifiers import LAYOUT
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.test_values import put, rejected
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.releases import cut
from tests.support.reports import quiet
from tests.support.servers import Servers, begins_with
from tests.support.shop import MAPPING, load_rows, mapping, undone
from tests.support.workers import run
from workers.analytics.reports.publish import COMPUTATIONS
from workers.ingest.accounting import Summary
from workers.ingest.load import load
from workers.provenance import events, identifiers, item_acts, standing
from workers.search.build import make_index

# No source wipes another: fields come from claims, by rank, then by day; an IID belongs to one source's item.


FIRST = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"


def other(settings: Settings, folder: Path, rows: str, *, name: str = "other.csv") -> Summary:
    """Load rows of another source whose first column is its own id and whose last is an IID."""
    text = MAPPING.replace('source = "shop"', 'source = "other"').replace('id = "sku"', 'id = "sku"\niid = "list"')
    return load_rows(settings, folder, rows, text=text.replace('list_price = "list"\n', ""), name=name)


def first_load(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, FIRST)


@begins_with(first_load)
def test_a_field_that_comes_as_null_keeps_the_value_that_is_known(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Soy drink,,,,,2026-07-02,NORTH,11,12\n", name="b.csv")
    rows = execute(
        settings,
        """
        SELECT i.name, b.slug, c.code, i.product_type, i.attributes, i.version FROM items i
        LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id""",
    )
    assert rows == [("Soy drink", "vita", "drinks.soy-milk", "Soy milk", {"weight_kg": "1.0"}, 2)]


def test_an_older_file_that_comes_later_fills_in_and_replaces_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Newest name,Vita,,,,2026-07-05,NORTH,11,12\n")
    load_rows(settings, tmp_path, FIRST, name="older.csv")
    rows = execute(settings, "SELECT name, product_type, first_seen_on::text FROM items")
    assert rows == [("Newest name", "Soy milk", "2026-07-01")]


@begins_with(first_load)
def test_a_row_with_the_iid_of_another_sources_item_is_a_reject(settings: Settings, tmp_path: Path) -> None:
    before = execute(settings, "SELECT * FROM items")
    iid = mint("shop", "1").iid
    summary = other(
        settings, tmp_path, f"i6,Clash,,,,,2026-07-03,NORTH,5,{iid}\ni7,Own,,,,,2026-07-03,NORTH,6,IID-OWN-1\n"
    )
    assert summary.rejects == {"has an IID that belongs to another item": 1}
    assert execute(settings, "SELECT line, reason FROM rejects") == [(2, "has an IID that belongs to another item")]
    assert execute(settings, "SELECT * FROM items WHERE iid = $1", iid) == before
    assert execute(settings, "SELECT count(*) FROM observations WHERE item_id = $1", mint("shop", "1").key) == [(1,)]


def test_a_source_keeps_its_own_iid_and_cannot_change_it(settings: Settings, tmp_path: Path) -> None:
    other(settings, tmp_path, "i7,Own,,,,,2026-07-03,NORTH,6,IID-OWN-1\n")
    again = other(settings, tmp_path, "i7,Renamed,,,,,2026-07-04,NORTH,7,iid-own-1\n", name="again.csv")
    assert (again.rejects, again.counts["items_changed"]) == ({}, 1)
    with pytest.raises(LoadRefused, match="1 × has an IID that belongs to another item"):
        other(settings, tmp_path, "i7,Moved,,,,,2026-07-05,NORTH,7,IID-OWN-2\n", name="moved.csv")
    assert execute(settings, "SELECT iid, name FROM items") == [("IID-OWN-1", "Renamed")]


def test_a_rank_is_a_small_whole_number(tmp_path: Path) -> None:
    for value in ("-1", "32768", '"first"', "true", "1.5"):
        with pytest.raises(Exception, match="rank must be a whole number"):
            mapping(tmp_path, f"rank = {value}\n{MAPPING}")


@begins_with(first_load)
def test_a_repeated_value_is_kept_as_a_claim_and_a_replaced_one_too(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, FIRST + "\n", name="b.csv")
    load_rows(settings, tmp_path, FIRST.replace("10.90", "9"), name="c.csv")
    assert execute(settings, "SELECT price_minor, load_no FROM observations") == [(900, 3)]
    assert execute(settings, "SELECT price_minor, load_no FROM observation_claims ORDER BY 2") == [(1090, 1), (1090, 2)]
    assert execute(settings, "SELECT no FROM item_claims ORDER BY no") == [(1,), (2,), (3,)]
    assert execute(settings, "SELECT kind, load_id IS NOT NULL FROM events WHERE no > 0") == [("load", True)] * 3


def ranked(source: str, rank: int | None) -> str:
    """The mapping of one of several shops that are merged, with its rank."""
    text = MAPPING.replace('source = "shop"', f'source = "{source}"')
    return text if rank is None else f"rank = {rank}\n{text}"


def test_the_rank_decides_between_sources_else_the_survivors_own_and_never_the_order_of_loads(
    settings: Settings, tmp_path: Path
) -> None:
    rows = {
        "a": "1,A's name,Vita,Drinks,,,2026-07-09,NORTH,1,\n",
        "b": "1,B's name,,Drinks,B type,2,2026-07-01,SOUTH,2,\n",
    }
    shown = "SELECT i.name, i.product_type, b.slug, i.field_sources FROM items i LEFT JOIN brands b ON b.id = i.brand_id WHERE i.iid = $1"
    for number, (order, ranks, name) in enumerate(
        (
            ("ab", {"a": None, "b": None}, "B's name"),
            ("ba", {"a": None, "b": None}, "B's name"),
            ("ba", {"a": 1, "b": 2}, "A's name"),
            ("ab", {"a": 1, "b": None}, "A's name"),
            ("ab", {"a": 2, "b": 1}, "B's name"),
        )
    ):
        first, survivor = f"a{number}", f"b{number}"
        for shop in order:
            source = f"{shop}{number}"
            text = ranked(source, ranks[shop]) + "[match]\nnever = true\n"
            load_rows(settings, tmp_path, rows[shop], text=text, name=f"{source}.csv")
        with connect(settings.database_url, application="tests") as connection:
            item_acts.merge(connection, mint(first, "1").iid, mint(survivor, "1").iid, "tests", None)
        [(reported, kind, brand, sources)] = execute(settings, shown, mint(survivor, "1").iid)
        assert (reported, kind, brand) == (name, "B type", "vita"), (order, ranks)
        assert sources["name"] == f"{name[0].lower()}{number}", (order, ranks)
        assert (sources["brand"], sources["attributes.weight_kg"]) == (first, survivor), (order, ranks)


def test_a_new_rank_is_in_force_at_once_and_taken_back_with_its_load(settings: Settings, tmp_path: Path) -> None:
    for source in "ab":
        load_rows(
            settings,
            tmp_path,
            f"1,{source}'s name,,,,,2026-07-01,NORTH,1,\n",
            text=ranked(source, None),
            name=f"{source}.csv",
        )
    survivor = mint("b", "1").iid
    with connect(settings.database_url, application="tests") as connection:
        item_acts.merge(connection, mint("a", "1").iid, survivor, "tests", None)
    assert execute(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("b's name",)]
    load_rows(settings, tmp_path, "2,Another,,,,,2026-07-01,NORTH,1,\n", text=ranked("a", 1), name="ranked.csv")
    assert execute(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("a's name",)]
    undone(settings, "4")
    assert execute(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("b's name",)]


FACTORS = (
    'source = "{source}"\ntitle = "L"\nlicense = "CC0-1.0"\n[factors]\nmethod = "mean"\n[factors.code]\ncolumn = "group"\n'
    '[factors.indicators]\nco2e_kg = "gwp"\n'
)


def factors(settings: Settings, folder: Path, source: str, rows: str) -> None:
    path = folder / f"{source}-{abs(hash(rows))}.csv"
    path.write_text("group,gwp\n" + rows)
    load(settings, mapping(folder, FACTORS.format(source=source)), [path])


def four_loads(settings: Settings, folder: Path) -> None:
    """Load an item, and factors of two laboratories."""
    load_rows(settings, folder, FIRST)
    factors(settings, folder, "lab_a", "drinks,1\n")
    factors(settings, folder, "lab_b", "drinks,2\ndesserts,9\n")
    factors(settings, folder, "lab_a", "drinks,3\n")


@begins_with(four_loads)
@pytest.mark.parametrize(
    ("load", "kept"),
    [
        ("2", [("desserts", 9, "lab_b"), ("drinks", 3, "lab_a")]),
        ("3", [("drinks", 3, "lab_a")]),
        ("4", [("desserts", 9, "lab_b"), ("drinks", 2, "lab_b")]),
    ],
)
def test_undoing_a_load_of_factors_restores_the_former_factors(
    settings: Settings, load: str, kept: list[tuple[str, int, str]]
) -> None:
    version = "SELECT version FROM items"
    assert execute(settings, version) == [(4,)]
    undone(settings, load)
    held = "SELECT f.code, f.per_kg::int, s.name FROM impact_factors f JOIN sources s ON s.id = f.source_id ORDER BY 1"
    assert execute(settings, held) == kept
    assert execute(settings, version) == [(3,)]


@begins_with(first_load)
def test_new_terms_of_a_source_are_a_change_that_answers_show(settings: Settings, tmp_path: Path) -> None:
    summary = load_rows(settings, tmp_path, FIRST, text=MAPPING.replace("CC0-1.0", "CC-BY-4.0"))
    assert (summary.state, summary.data_version) == ("committed", 2)
    undone(settings, "2")
    assert execute(settings, "SELECT license FROM sources") == [("CC0-1.0",)]


# Withdrawn items count nowhere; a merged item's facts are its survivor's. Judged by an index that was loaded so.


IMPACT = '[[impacts]]\nindicator = "co2e_kg"\nvalue = "weight"\nbasis = "measured"\nmethod = "weighed"\n'

TEXT = MAPPING + IMPACT

OLD = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.5,2026-06-03,EAST,12,\n1,Soy milk 1L,Vita,Drinks,Soy milk,1.5,2026-07-01,NORTH,10.90,12\n"

NEW = "2,Soy drink,Leaf,Drinks,Soy milk,,2026-07-02,SOUTH,9.00,\n"

THIRD = "3,Custard,Vita,Desserts,Custard,,2026-07-02,WEST,25,30\n"


def three_items(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, OLD + NEW + THIRD, text=TEXT)


MERGED, SURVIVOR, THIRD_IID = (mint("shop", number).iid for number in "123")

QUESTIONS: dict[str, dict[str, Any]] = {
    "cohorts": {
        "brand": [],
        "category": ["drinks", "desserts"],
        "from": "2026-05-01",
        "to": "2026-07-31",
        "granularity": "day",
        "channel": [],
        "currency": None,
        "group_by": ["brand", "channel"],
        "kind": None,
    },
    "category-insights": {"from": "2026-06-01", "to": "2026-07-31", "granularity": "month"},
    "brand-insights": {"from": "2026-06-01", "to": "2026-07-31"},
    "sustainability-rollup": {
        "brand": [],
        "category": [],
        "from": "2026-05-01",
        "to": "2026-07-31",
        "granularity": "month",
        "channel": [],
        "group_by": ["brand"],
        "kind": None,
    },
}


def act(settings: Settings, what: Any, *iids: str) -> int:
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        return int(what(connection, *iids, "tests", None))


def key_of_a_customer(settings: Settings) -> str:
    """Return a key that may order several exports a second: how many it may is not what is tested here."""
    execute(settings, "UPDATE plans SET burst_units = 10000")
    return api_key(settings, "institutional")


def reports(settings: Settings) -> dict[str, Any]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        return {
            name: COMPUTATIONS[name](connection, parameters, quiet).table.to_pylist()
            for name, parameters in QUESTIONS.items()
        }


def released(settings: Settings, dataset: str) -> list[dict[str, Any]]:
    rows = execute(
        settings,
        "SELECT sha256 FROM release_files WHERE dataset = $1 AND data_version = "
        "(SELECT max(data_version) FROM releases) ORDER BY place",
        dataset,
    )
    paths = [str(settings.results_dir / key_of(row[0])) for row in rows]
    listed: list[dict[str, Any]] = (
        pyarrow.dataset.dataset(paths, schema=arrow_schema(DATASETS[dataset])).to_table().to_pylist()
    )
    return listed


async def exported(
    edge: Edge, settings: Settings, key: str, dataset: str, **more: Any
) -> dict[str, list[dict[str, Any]]]:
    """Export a dataset by a job, and return its rows by what they are: rows, or what a copy must drop."""
    body = json.dumps({"dataset": dataset, "format": "ndjson", **more}).encode()
    ordered = await edge.ask("POST", "/index/exports", key=key, body=body)
    jobs = [row[0] for row in execute(settings, "SELECT id::text FROM jobs WHERE state = 'queued' AND kind = 'export'")]
    assert [await asyncio.to_thread(run, settings, job) for job in jobs] == ["succeeded"]
    manifest = (await edge.get(f"/index/exports/{ordered.json['id']}", key=key)).json["manifest"]
    found: dict[str, list[dict[str, Any]]] = {"rows": [], "gone": []}
    for file in manifest["files"]:
        answer = await edge.get("/" + file["url"].split("/v1/")[1], key=key)
        found[file["content"]] += [json.loads(line) for line in answer.body.splitlines()]
    return found


@begins_with(three_items)
def test_after_a_withdrawal_reports_are_those_of_an_index_without_the_item(
    servers: Servers, settings: Settings, tmp_path: Path
) -> None:
    before = reports(settings)
    act(settings, item_acts.withdraw, SURVIVOR)
    with servers.fresh() as other:
        load_rows(other, tmp_path, OLD + THIRD, text=TEXT, name="without.csv")
        assert reports(settings) == reports(other)
    assert execute(settings, "SELECT slug, item_count, channels FROM brands ORDER BY slug") == [
        ("leaf", 0, []),
        ("vita", 2, ["EAST", "NORTH", "WEST"]),
    ]
    act(settings, item_acts.restore, SURVIVOR)
    assert reports(settings) == before


@begins_with(three_items)
def test_after_a_merge_reports_are_those_of_an_index_that_had_one_item(
    servers: Servers, settings: Settings, tmp_path: Path
) -> None:
    before = reports(settings)
    act(settings, item_acts.merge, MERGED, SURVIVOR)
    with servers.fresh() as other:
        rows = OLD.replace("1,Soy milk 1L,Vita", "2,Soy drink,Leaf") + NEW.replace("milk,,", "milk,1.5,") + THIRD
        load_rows(other, tmp_path, rows, text=TEXT, name="one.csv")
        assert reports(settings) == reports(other)
    assert [row["items"] for row in reports(settings)["brand-insights"]] == [1, 1]
    act(settings, item_acts.restore, MERGED)
    assert reports(settings) == before


@begins_with(three_items)
async def test_the_survivor_shows_what_the_merged_item_had(edge: Edge, settings: Settings) -> None:
    key = api_key(settings, "institutional")
    paths = [f"/index/lookup/{iid}" for iid in (MERGED, SURVIVOR)]
    before = [(answer.body, answer.head["ETag"]) for path in paths for answer in [await edge.get(path, key=key)]]
    act(settings, item_acts.merge, MERGED, SURVIVOR)
    await edge.resources.version.read()
    moved = await edge.get(paths[0], key=key)
    assert (moved.status, moved.head["Location"].rsplit("/", 1)[1]) == (301, SURVIVOR)
    record = (await edge.get(paths[1], key=key)).json
    assert (record["name"], record["brand"]["slug"], record["version"]) == ("Soy drink", "leaf", 2)
    assert [one["channel"] for one in record["channels"]] == ["EAST", "NORTH", "SOUTH"]
    assert record["price_band"]["observations"] == 3 and record["first_seen_on"] == "2026-06-03"
    assert record["identifiers"] == [{"scheme": "sku", "value": "2"}, {"scheme": "sku", "value": "1"}]
    assert (record["attributes"], record["sustainability"]["co2e_kg"]) == ({"weight_kg": "1.5"}, 1.5)
    prices = (await edge.get(f"/index/pricing/{SURVIVOR}?from=2026-06-01", key=key)).json
    assert [(row["day"], row["channel"]) for row in prices["data"]] == [
        ("2026-06-03", "EAST"),
        ("2026-07-01", "NORTH"),
        ("2026-07-02", "SOUTH"),
    ]
    figures = (await edge.get(f"/index/sustainability/{SURVIVOR}", key=key)).json
    assert figures["data"][0]["per_unit"] == 1.5 and figures["meta"]["coverage"]["observed_days"] == 3
    act(settings, item_acts.restore, MERGED)
    await edge.resources.version.read()
    after = [(answer.body, answer.head["ETag"]) for path in paths for answer in [await edge.get(path, key=key)]]
    assert after == before


@begins_with(three_items)
async def test_exports_releases_and_search_know_the_survivor_alone(edge: Edge, settings: Settings) -> None:
    key = key_of_a_customer(settings)
    act(settings, item_acts.merge, MERGED, SURVIVOR)
    act(settings, item_acts.withdraw, THIRD_IID)
    wanted = Counter({SURVIVOR: 3})
    whole = await exported(edge, settings, key, "observations")
    assert Counter(row["iid"] for row in whole["rows"]) == wanted
    leaf = await exported(edge, settings, key, "observations", filter={"brand": "leaf"})
    assert Counter(row["iid"] for row in leaf["rows"]) == wanted
    changed = await exported(edge, settings, key, "observations", since=1)
    assert Counter(row["iid"] for row in changed["rows"]) == wanted
    assert {row["iid"]: row["reason"] for row in changed["gone"]} == {MERGED: "merged", THIRD_IID: "withdrawn"}
    assert [row["iid"] for row in (await exported(edge, settings, key, "impacts"))["rows"]] == [SURVIVOR]
    cut(settings)
    rows = released(settings, "observations")
    assert [(row["iid"], str(row["day"])) for row in rows] == [
        (SURVIVOR, day) for day in ("2026-06-03", "2026-07-01", "2026-07-02")
    ]
    assert {(row["iid"], row["status"], row["survivor_iid"]) for row in released(settings, "items")} == {
        (SURVIVOR, "active", None),
        (MERGED, "merged", SURVIVOR),
    }
    assert [row["slug"] for row in released(settings, "brands")] == ["leaf"]
    assert [row["code"] for row in released(settings, "categories")] == ["drinks", "drinks.soy-milk"]
    assert make_index(settings.worker_database_url, settings.search_dir)["items"] == 1


async def test_a_copy_hears_of_items_that_an_undone_load_had_brought(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, OLD, text=TEXT)
    load_rows(settings, tmp_path, NEW, text=TEXT, name="b.csv")
    key = key_of_a_customer(settings)
    undone(settings, "2")
    changed = await exported(edge, settings, key, "items", since=2)
    assert changed["gone"] == [{"iid": SURVIVOR, "reason": "removed"}]
    load_rows(settings, tmp_path, NEW, text=TEXT, name="b.csv")
    again = await exported(edge, settings, key, "items", since=2)
    assert ([row["iid"] for row in again["rows"]], again["gone"]) == ([SURVIVOR], [])


@pytest.mark.parametrize(
    ("acts", "refused"),
    [
        ([(item_acts.withdraw, MERGED)], (item_acts.withdraw, MERGED)),
        ([(item_acts.merge, MERGED, SURVIVOR)], (item_acts.withdraw, MERGED)),
        ([(item_acts.merge, MERGED, SURVIVOR)], (item_acts.merge, THIRD_IID, MERGED)),
        ([(item_acts.withdraw, SURVIVOR)], (item_acts.merge, MERGED, SURVIVOR)),
        ([], (item_acts.merge, MERGED, MERGED)),
        ([], (item_acts.restore, MERGED)),
        ([], (item_acts.withdraw, "IID-NONE")),
    ],
    ids=lambda value: (
        "-".join(getattr(part, "__name__", "") for part in value if callable(part)) if isinstance(value, tuple) else ""
    ),
)
@begins_with(three_items)
def test_an_act_that_does_not_fit_is_refused_and_changes_nothing(
    settings: Settings, acts: list[Any], refused: Any
) -> None:
    for one in acts:
        act(settings, *one)
    before = execute(settings, "SELECT max(no), (SELECT max(version) FROM data_versions) FROM events")
    with pytest.raises(item_acts.ActRefused):
        act(settings, *refused)
    assert execute(settings, "SELECT max(no), (SELECT max(version) FROM data_versions) FROM events") == before


@begins_with(three_items)
def test_merging_a_survivor_moves_the_items_merged_into_it(settings: Settings) -> None:
    act(settings, item_acts.merge, MERGED, SURVIVOR)
    before = execute(settings, "SELECT iid, version, updated_at, status, survivor_iid FROM items ORDER BY iid")
    act(settings, item_acts.merge, SURVIVOR, THIRD_IID)
    assert set(execute(settings, "SELECT iid, survivor_iid FROM items WHERE status = 'merged'")) == {
        (MERGED, THIRD_IID),
        (SURVIVOR, THIRD_IID),
    }
    act(settings, item_acts.restore, SURVIVOR)
    assert execute(settings, "SELECT iid, version, updated_at, status, survivor_iid FROM items ORDER BY iid") == before


@begins_with(three_items)
def test_a_load_that_speaks_of_a_merged_item_changes_its_survivor(
    servers: Servers, settings: Settings, tmp_path: Path
) -> None:
    act(settings, item_acts.merge, MERGED, SURVIVOR)
    more = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.5,2026-07-01,EAST,7,\n"
    load_rows(settings, tmp_path, more, text=TEXT, name="more.csv")
    assert execute(settings, "SELECT version FROM items WHERE iid = $1", SURVIVOR) == [(3,)]
    assert execute(settings, "SELECT status FROM items WHERE iid = $1", MERGED) == [("merged",)]
    with servers.fresh() as other:
        rows = (
            (OLD + more).replace("1,Soy milk 1L,Vita", "2,Soy drink,Leaf") + NEW.replace("milk,,", "milk,1.5,") + THIRD
        )
        load_rows(other, tmp_path, rows, text=TEXT, name="one.csv")
        assert reports(settings) == reports(other)


def test_a_release_has_the_days_of_a_survivor_in_order_whichever_item_they_are_of(
    settings: Settings, tmp_path: Path
) -> None:
    between = NEW.replace("2026-07-02", "2026-06-02") + NEW.replace("2026-07-02", "2026-06-04")
    load_rows(settings, tmp_path, OLD + between, text=TEXT)
    act(settings, item_acts.merge, MERGED, SURVIVOR)
    cut(settings)
    days = [(row["iid"], str(row["day"])) for row in released(settings, "observations")]
    assert days == [(SURVIVOR, day) for day in ("2026-06-02", "2026-06-03", "2026-06-04", "2026-07-01")]


# Identifiers of a load become rows in one form, follow undo, and a wrong one costs nothing but itself.


MAPPING_IDENTIFIERS = """
source = "{source}"
title = "T"
license = "CC0-1.0"
[item]
id = "id"
name = "id"
brand = "brand"
[item.identifiers]
ean = "ean"
isbn = "isbn"
mpn = "mpn"
sku = "sku"
url = "url"
style_code = "style"
"""

HEADER = "id,brand,ean,isbn,mpn,sku,url,style\n"

ROWS = """SELECT i.name, t.scheme, t.value, t.brand, s.name, t.load_no FROM item_identifiers t
JOIN items i ON i.id = t.item_id JOIN sources s ON s.id = t.source_id ORDER BY 1, 2, 3, 5"""


def load_rows_identifiers(settings: Settings, folder: Path, rows: str, source: str = "shop") -> None:
    put(settings, folder, MAPPING_IDENTIFIERS.replace("{source}", source), HEADER + rows, f"{source}.csv")


def identified(settings: Settings, folder: Path) -> None:
    """Load an item with identifiers of all kinds, two with a wrong one each, and one that has one number twice."""
    whole = "whole,Sony Corp.,4006381333931,0-306-40615-2,WH-1000/XM4,A 1,https://S.test/a/?utm_source=x,zz\n"
    wrong = "a,,4006381333932,,,,,\nb,,,0306406152,,,ftp://x,\n"
    load_rows_identifiers(settings, folder, f"{whole}{wrong}twice,,9780306406157,0306406152,,,,\n")


@begins_with(identified)
def test_each_identifier_of_an_item_is_a_row_in_the_form_in_which_it_is_compared(settings: Settings) -> None:
    assert [row[1:] for row in execute(settings, ROWS) if row[0] == "whole"] == [
        ("gtin", "04006381333931", "", "shop", 1),
        ("gtin", "09780306406157", "", "shop", 1),
        ("mpn", "WH1000XM4", "sony", "shop", 1),
        ("sku", "A 1", "", "shop", 1),
        ("url", "s.test/a", "", "shop", 1),
    ]


@begins_with(identified)
def test_a_wrong_check_digit_costs_neither_the_row_nor_the_text(settings: Settings) -> None:
    assert rejected(settings) == [
        ("shop.csv", 3, "ean", "4006381333932", "its ean has a wrong check digit; the correct one is 1", "field"),
        ("shop.csv", 4, "url", "ftp://x", "its url must be an absolute http or https address", "field"),
    ]
    assert execute(settings, "SELECT name, identifiers FROM items WHERE name IN ('a', 'b') ORDER BY 1") == [
        ("a", [{"scheme": "ean", "value": "4006381333932"}]),
        ("b", [{"scheme": "isbn", "value": "0306406152"}, {"scheme": "url", "value": "ftp://x"}]),
    ]
    found = [row for row in execute(settings, ROWS) if row[0] in ("a", "b")]
    assert found == [("b", "gtin", "09780306406157", "", "shop", 1)]


@begins_with(identified)
def test_an_ean_and_an_isbn_that_are_one_number_are_one_row(settings: Settings) -> None:
    found = [row[1:3] for row in execute(settings, ROWS) if row[0] == "twice"]
    assert found == [("gtin", "09780306406157")]


def test_the_newest_value_of_a_source_counts_and_undo_gives_the_former_back(settings: Settings, tmp_path: Path) -> None:
    load_rows_identifiers(settings, tmp_path, "a,,4006381333931,,,,,\n")
    load_rows_identifiers(settings, tmp_path, "a,,4006381333931,,,s1,,\n")
    load_rows_identifiers(settings, tmp_path, "a,,96385074,,,,,\nb,,4006381333931,,,,,\n")
    assert execute(settings, ROWS) == [
        ("a", "gtin", "00000096385074", "", "shop", 3),
        ("a", "sku", "s1", "", "shop", 2),
        ("b", "gtin", "04006381333931", "", "shop", 3),
    ]
    for left in ([("a", "gtin", 1), ("a", "sku", 2)], [("a", "gtin", 1)], []):
        undone(settings)
        assert [(row[0], row[1], row[5]) for row in execute(settings, ROWS)] == left


def test_two_sources_of_one_identifier_have_a_row_each(settings: Settings, tmp_path: Path) -> None:
    load_rows_identifiers(settings, tmp_path, "a,,4006381333931,,,,,\n")
    load_rows_identifiers(settings, tmp_path, "b,,04006381333931,,,,,\n", source="other")
    assert [(row[0], row[4]) for row in execute(settings, ROWS)] == [("a", "shop"), ("b", "other")]


def two_loads(settings: Settings, folder: Path) -> None:
    load_rows_identifiers(settings, folder, "a,,4006381333931,,,,,\n")
    load_rows_identifiers(settings, folder, "b,,96385074,,,,,\n")


@begins_with(two_loads)
@pytest.mark.parametrize(
    "forget",
    [
        "DELETE FROM identifiers_derived",  # an index that was loaded before these rows were kept
        "UPDATE identifiers_derived SET layout = 0",  # rows in another form
        "UPDATE identifiers_derived SET event_no = 1",  # a later load by code that does not know of them
    ],
)
def test_rows_that_are_missing_are_derived_before_anything_else_changes(settings: Settings, forget: str) -> None:
    before = execute(settings, ROWS)
    with connect(settings.database_url, application="test") as connection:
        connection.execute(forget.encode())
        connection.execute("DELETE FROM item_identifiers WHERE value = '00000096385074'")
        connection.commit()
        standing.lock(connection)
    assert execute(settings, ROWS) == before
    with connect(settings.database_url, application="test") as connection:
        assert connection.execute(identifiers.SQL.progress).fetchone() == (LAYOUT, 2, False)
