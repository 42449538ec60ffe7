"""Withdrawn items count nowhere; a merged item's facts are its survivor's. Judged by an index that was loaded so."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

from shared.bulk.schema import DATASETS, arrow_schema, key_of
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.releases import cut
from tests.support.reports import quiet
from tests.support.servers import Servers, begins_with
from tests.support.shop import MAPPING, load_rows, undone
from tests.support.workers import run
from workers.analytics.reports.publish import COMPUTATIONS
from workers.provenance import events, item_acts
from workers.search.job import make_index

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
