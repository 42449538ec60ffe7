"""GET /index/pricing and /index/sustainability: what they answer, what they cost, whom they refuse."""

import asyncio
import csv
import io
import json
import re
from pathlib import Path

import pyarrow.parquet
import pytest

from edge.analytics import price_history, prior_price, sustainability
from edge.index import lookup
from shared.analytics.results import META_KEY
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows

SOY, CUSTARD, NEW = mint("shop", "1").iid, mint("shop", "2").iid, mint("shop", "3").iid
FACTORS = """INSERT INTO impact_factors SELECT * FROM (VALUES ('category', 'drinks', 'co2e_kg', 2.0, 3, 'mean of three'),
    ('category', 'drinks.soy-milk', 'water_l', 50.0, 1, 'soy'), ('category', 'drinks', 'water_l', 9.0, 2, 'drinks'),
    ('product_type', 'Custard', 'co2e_kg', 8.0, 1, 'custard')) v, (SELECT id FROM sources) s"""


@pytest.fixture
def contents() -> Contents:
    return load_rows


@pytest.mark.parametrize(
    "statement",
    [price_history.SQL.prices, prior_price.SQL.listings, sustainability.SQL.figures, lookup.SQL.records],
    ids=["prices", "prior price", "sustainability", "record"],
)
def test_a_read_of_one_item_opens_each_months_partition_once(settings: Settings, statement: str) -> None:
    with connect(settings.database_url, application="test") as connection:
        plan = connection.execute(f"EXPLAIN (GENERIC_PLAN, COSTS OFF) {statement}").fetchall()
    opened = re.findall(r" on (observations_\d{4}_\d\d)\b", "\n".join(line for (line,) in plan))
    assert opened
    assert len(opened) == len(set(opened))


async def used(edge: Edge, key: str) -> int:
    return int((await edge.get("/", key=key)).json["quota"][0]["used"])


async def test_a_pricing_history_is_exact_by_day_channel_and_kind(edge: Edge, key: str) -> None:
    answer = await edge.get(f"/index/pricing/{SOY}", key=key)
    assert answer.status == 200
    assert answer.json["data"] == [
        {
            "day": "2026-07-01",
            "channel": "NORTH",
            "kind": "listing",
            "currency": "HKD",
            "low": "10.90",
            "median": "10.90",
            "high": "10.90",
            "close": "10.90",
            "n": 1,
        },
        {
            "day": "2026-07-02",
            "channel": "NORTH",
            "kind": "listing",
            "currency": "HKD",
            "low": "11.50",
            "median": "11.50",
            "high": "11.50",
            "close": "11.50",
            "n": 1,
        },
        {
            "day": "2026-07-02",
            "channel": "SOUTH",
            "kind": "listing",
            "currency": "HKD",
            "low": "9.00",
            "median": "9.00",
            "high": "9.00",
            "close": "9.00",
            "n": 1,
        },
    ]
    meta = answer.json["meta"]
    assert (meta["from"], meta["to"], meta["rows"], meta["cost_units"], meta["cached"]) == (
        "2026-04-04",
        "2026-07-02",
        3,
        2,
        False,
    )
    assert meta["coverage"] == {
        "days": 90,
        "observed_days": 2,
        "missing_days": 88,
        "first": "2026-07-01",
        "last": "2026-07-02",
    }
    assert [one["days"] for one in meta["statistics"]] == [7, 30, 90, 365]
    week = meta["statistics"][0]
    assert (week["low"], week["median"], week["high"], week["n"]) == ("9.00", "10.90", "11.50", 3)
    assert await used(edge, key) == 2


async def test_a_range_a_channel_and_a_currency_narrow_it(edge: Edge, key: str) -> None:
    answer = await edge.get(f"/index/pricing/{SOY}?from=2026-07-02&to=2026-07-31&channel=NORTH&currency=HKD", key=key)
    assert [row["low"] for row in answer.json["data"]] == ["11.50"]
    assert answer.json["meta"]["coverage"]["days"] == 30
    none = await edge.get(f"/index/pricing/{SOY}?currency=USD&to=2026-07-31", key=key)
    assert (none.status, none.json["data"], none.json["meta"]["coverage"]["observed_days"]) == (200, [], 0)


async def test_an_item_without_observations_is_an_empty_answer(edge: Edge, key: str, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("DELETE FROM observations WHERE item_id = $1", (mint("shop", "3").key,))
    for path in ("pricing", "sustainability"):
        answer = await edge.get(f"/index/{path}/{NEW}", key=key)
        assert answer.status == 200
        assert answer.json["meta"]["coverage"]["observed_days"] == 0


@pytest.mark.parametrize("read", ["pricing", "sustainability"])
async def test_a_range_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage(
    edge: Edge, key: str, read: str
) -> None:
    answer = await edge.get(f"/index/{read}/{SOY}?from=2026-11-20", key=key)
    meta = answer.json["meta"]
    assert (answer.status, meta["from"], meta["to"]) == (200, "2026-11-20", "2026-11-20")
    assert (meta["coverage"]["days"], meta["coverage"]["observed_days"]) == (1, 0)
    refused = await edge.get(f"/index/{read}/{SOY}?from=2026-11-20&to=2026-11-19", key=key)
    assert (refused.status, refused.json["detail"]) == (
        400,
        "`from`: `2026-11-20` is not valid; must not be after `to`, which is 2026-11-19.",
    )


async def test_each_format_has_the_same_rows(edge: Edge, key: str) -> None:
    path = f"/index/pricing/{SOY}"
    plain = await edge.get(path, key=key)
    rows = csv.DictReader(io.StringIO((await edge.get(f"{path}?format=csv", key=key)).body.decode(), newline=""))
    lines = await edge.get(path, key=key, head={"Accept": "application/x-ndjson"})
    parquet = await edge.get(path, key=key, head={"Accept": "application/vnd.apache.parquet"})
    table = pyarrow.parquet.read_table(io.BytesIO(parquet.body))
    assert [row["low"] for row in rows] == [row["low"] for row in plain.json["data"]]
    assert [json.loads(line) for line in lines.body.splitlines()] == plain.json["data"]
    assert lines.head["Content-Type"].startswith("application/x-ndjson")
    assert [f"{row['low']:.2f}" for row in table.to_pylist()] == [row["low"] for row in plain.json["data"]]
    assert json.loads(table.schema.metadata[META_KEY])["result_sha256"] == plain.json["meta"]["result_sha256"]


async def test_a_format_that_is_not_offered_is_406_and_costs_nothing(edge: Edge, key: str) -> None:
    answer = await edge.get(f"/index/pricing/{SOY}", key=key, head={"Accept": "image/png"})
    assert answer.status == 406
    assert await used(edge, key) == 0


async def test_a_dry_run_says_the_cost_and_charges_nothing(edge: Edge, key: str) -> None:
    for path in ("pricing", "sustainability"):
        answer = await edge.get(f"/index/{path}/{SOY}?dry_run=true", key=key)
        assert (answer.status, answer.json["cost_units"], answer.json["format"]) == (200, 2, "json")
    assert await used(edge, key) == 0


async def test_a_representation_that_the_caller_has_is_304_and_is_not_counted(edge: Edge, key: str) -> None:
    first = await edge.get(f"/index/sustainability/{SOY}", key=key)
    again = await edge.get(f"/index/sustainability/{SOY}", key=key, head={"If-None-Match": first.head["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert await used(edge, key) == 2


SALES = MAPPING.replace(
    'currency = { constant = "HKD" }',
    'currency = { constant = "HKD" }\nkind = "sale"\nidentity = "event"\nunits = "list"',
).replace('list_price = "list"\n', "")


async def test_listings_and_sales_are_never_mixed(edge: Edge, key: str, settings: Settings, tmp_path: Path) -> None:
    sold = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,7.00,5\n"
    await asyncio.to_thread(load_rows, settings, tmp_path, sold, text=SALES, name="sales.csv")
    whole = (await edge.get(f"/index/pricing/{SOY}", key=key)).json
    week = {one["kind"]: one for one in whole["meta"]["statistics"] if one["days"] == 7}
    assert [(one["low"], one["high"], one["n"]) for one in (week["listing"], week["sale"])] == [
        ("9.00", "11.50", 3),
        ("7.00", "7.00", 1),
    ]
    for kind, count in (("listing", 3), ("sale", 1)):
        answer = (await edge.get(f"/index/pricing/{SOY}?kind={kind}", key=key)).json
        assert [row["kind"] for row in answer["data"]] == [kind] * count
        assert {one["kind"] for one in answer["meta"]["statistics"]} == {kind}
    band = (await edge.get(f"/index/lookup/{SOY}")).json["price_band"]
    assert (band["kind"], band["low"], band["observations"]) == ("listing", "9.00", 3)


@pytest.mark.parametrize("path", ["pricing", "sustainability"])
async def test_a_caller_without_permission_is_refused_before_anything_is_charged(
    edge: Edge, settings: Settings, path: str
) -> None:
    assert (await edge.get(f"/index/{path}/{SOY}")).json["accepted"] == ["api-key"]
    answer = await edge.get(f"/index/{path}/{SOY}", key=api_key(settings, "free"))
    assert (answer.status, answer.json["required_plan"], answer.json["current_plan"]) == (403, "brand", "free")


BAD_PARAMETERS = [
    ("from=2026-02-30", "from"),
    ("to=20260701", "to"),
    ("from=2026-07-03&to=2026-07-01", "from"),
    ("channel=MOON", "channel"),
    ("currency=hkd", "currency"),
    ("currency=XXX", "currency"),
    ("format=xml", "format"),
    ("dry_run=1", "dry_run"),
    ("chanel=NORTH", "chanel"),
]


async def test_a_bad_parameter_is_named_and_costs_nothing(edge: Edge, key: str) -> None:
    for query, parameter in BAD_PARAMETERS:
        answer = await edge.get(f"/index/pricing/{SOY}?{query}", key=key)
        assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, parameter), query
        assert await used(edge, key) == 0, query


async def test_allowed_values_are_named_as_callers_write_them(edge: Edge, key: str) -> None:
    for path in (f"pricing/{SOY}", "cohorts"):
        [error] = (await edge.get(f"/index/{path}?from_=2026-07-01", key=key)).json["errors"]
        assert error["parameter"] == "from_"
        allowed = error["detail"].partition("allowed are: ")[2].split(", ")
        assert "from" in allowed and "from_" not in allowed


async def test_unknown_is_counted_merged_redirects_and_withdrawn_is_gone(
    edge: Edge, key: str, settings: Settings
) -> None:
    assert (await edge.get("/index/pricing/IID-UNKNOWN", key=key)).status == 404
    assert await used(edge, key) == 2
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, CUSTARD))
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE iid = $1", (SOY,))
    moved = await edge.get(f"/index/pricing/{CUSTARD}", key=key)
    assert (moved.status, moved.head["Location"]) == (301, f"http://testserver/v1/index/pricing/{SOY}")
    for path, below, query in (
        ("pricing", "", "dry_run=true"),
        ("pricing", "", "channel=NORTH&from=2026-07-01&format=csv"),
        ("pricing", "/reference", "dry_run=true"),
        ("sustainability", "", "format=ndjson"),
    ):
        followed = await edge.get(f"/index/{path}/{CUSTARD}{below}?{query}", key=key)
        assert followed.head["Location"] == f"http://testserver/v1/index/{path}/{SOY}{below}?{query}"
    assert (await edge.get(f"/index/sustainability/{SOY}", key=key)).status == 410
    assert await used(edge, key) == 2
