"""GET /index/pricing and /index/sustainability: what they answer, what they cost, whom they refuse."""

import csv
import io
import json
import re

import pyarrow.parquet
import pytest

from edge.analytics import price_history, prior_price, sustainability
from edge.index import record
from shared.analytics.results import META_KEY
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows

SOY, CUSTARD, NEW = mint("shop", "1").iid, mint("shop", "2").iid, mint("shop", "3").iid

FACTORS = """INSERT INTO impact_factors SELECT * FROM (VALUES ('category', 'drinks', 'co2e_kg', 2.0, 3, 'mean of three'),
    ('category', 'drinks.soy-milk', 'water_l', 50.0, 1, 'soy'), ('category', 'drinks', 'water_l', 9.0, 2, 'drinks'),
    ('product_type', 'Custard', 'co2e_kg', 8.0, 1, 'custard')) v, (SELECT id FROM sources) s"""


@pytest.fixture(scope="module")
def contents() -> Contents:
    return load_rows


def test_a_read_of_one_item_opens_each_months_partition_once(settings: Settings) -> None:
    for statement in (
        price_history.SQL.prices,
        prior_price.SQL.listings,
        sustainability.SQL.figures,
        record.SQL.records,
    ):
        with connect(settings.database_url, application="test") as connection:
            plan = connection.execute(f"EXPLAIN (GENERIC_PLAN, COSTS OFF) {statement}").fetchall()
        opened = re.findall(r" on (observations_\d{4}_\d\d)\b", "\n".join(line for (line,) in plan))
        assert opened, statement
        assert len(opened) == len(set(opened)), statement


async def test_a_range_a_channel_and_a_currency_narrow_it(shared_edge: Edge, shared_key: str) -> None:
    answer = await shared_edge.get(
        f"/index/pricing/{SOY}?from=2026-07-02&to=2026-07-31&channel=NORTH&currency=HKD", key=shared_key
    )
    assert [row["low"] for row in answer.json["data"]] == ["11.50"]
    assert answer.json["meta"]["coverage"]["days"] == 30
    none = await shared_edge.get(f"/index/pricing/{SOY}?currency=USD&to=2026-07-31", key=shared_key)
    assert (none.status, none.json["data"], none.json["meta"]["coverage"]["observed_days"]) == (200, [], 0)


async def test_each_format_has_the_same_rows(shared_edge: Edge, shared_key: str) -> None:
    path = f"/index/pricing/{SOY}"
    plain = await shared_edge.get(path, key=shared_key)
    rows = csv.DictReader(
        io.StringIO((await shared_edge.get(f"{path}?format=csv", key=shared_key)).body.decode(), newline="")
    )
    lines = await shared_edge.get(path, key=shared_key, head={"Accept": "application/x-ndjson"})
    parquet = await shared_edge.get(path, key=shared_key, head={"Accept": "application/vnd.apache.parquet"})
    table = pyarrow.parquet.read_table(io.BytesIO(parquet.body))
    assert [row["low"] for row in rows] == [row["low"] for row in plain.json["data"]]
    assert [json.loads(line) for line in lines.body.splitlines()] == plain.json["data"]
    assert lines.head["Content-Type"].startswith("application/x-ndjson")
    assert [f"{row['low']:.2f}" for row in table.to_pylist()] == [row["low"] for row in plain.json["data"]]
    assert json.loads(table.schema.metadata[META_KEY])["result_sha256"] == plain.json["meta"]["result_sha256"]


async def test_a_pricing_history_states_prices_per_litre_of_what_its_name_says(
    shared_edge: Edge, shared_key: str
) -> None:
    meta = (await shared_edge.get(f"/index/pricing/{SOY}", key=api_key(shared_edge.settings))).json["meta"]
    assert {(row["per"], row["content"], row["read_in"]) for row in meta["unit_prices"]} == {("l", "1", "name")}
    for row, statistic in zip(meta["unit_prices"], meta["statistics"], strict=True):
        assert (row["days"], row["currency"], row["kind"]) == (
            statistic["days"],
            statistic["currency"],
            statistic["kind"],
        )
        for name in ("low", "median", "high"):
            assert float(row[name]) == float(statistic[name])
    assert "unit_prices.low" in meta["rounding"]


async def test_a_range_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage(
    shared_edge: Edge, shared_key: str
) -> None:
    for read in ("pricing", "sustainability"):
        answer = await shared_edge.get(f"/index/{read}/{SOY}?from=2026-11-20", key=shared_key)
        meta = answer.json["meta"]
        assert (answer.status, meta["from"], meta["to"]) == (200, "2026-11-20", "2026-11-20"), read
        assert (meta["coverage"]["days"], meta["coverage"]["observed_days"]) == (1, 0), read
        refused = await shared_edge.get(f"/index/{read}/{SOY}?from=2026-11-20&to=2026-11-19", key=shared_key)
        assert (refused.status, refused.json["detail"]) == (
            400,
            "`from`: `2026-11-20` is not valid; must not be after `to`, which is 2026-11-19.",
        )


async def test_an_item_without_observations_is_an_empty_answer(edge: Edge, key: str, settings: Settings) -> None:
    execute(settings, "DELETE FROM observations WHERE item_id = $1", mint("shop", "3").key)
    for path in ("pricing", "sustainability"):
        answer = await edge.get(f"/index/{path}/{NEW}", key=key)
        assert answer.status == 200
        assert answer.json["meta"]["coverage"]["observed_days"] == 0


async def test_a_bad_parameter_is_named_and_costs_nothing(shared_edge: Edge, shared_key: str) -> None:
    for query, parameter in BAD_PARAMETERS:
        answer = await shared_edge.get(f"/index/pricing/{SOY}?{query}", key=shared_key)
        assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, parameter), query
        assert await shared_edge.used(shared_key) == 0, query


async def test_allowed_values_are_named_as_callers_write_them(shared_edge: Edge, shared_key: str) -> None:
    for path in (f"pricing/{SOY}", "cohorts"):
        [error] = (await shared_edge.get(f"/index/{path}?from_=2026-07-01", key=shared_key)).json["errors"]
        assert error["parameter"] == "from_"
        allowed = error["detail"].partition("allowed: ")[2].split(", ")
        assert "from" in allowed and "from_" not in allowed


async def test_a_rate_that_is_none_is_refused(shared_edge: Edge, shared_key: str) -> None:
    for query in (
        "displacement=gift",
        "displacement_rate=1.1",
        "displacement_rate=-0.1",
        "displacement_rate=nan",
        "displacement_rate=%EF%BC%91",
        "displacement_rate=0_1",
        "displacement_rate=%200.5",
        "displacement_rate=0.5&displacement=resale",
    ):
        answer = await shared_edge.get(f"/index/sustainability/{SOY}?{query}", key=shared_key)
        assert answer.status == 400, query
        assert answer.json["errors"][0]["parameter"].startswith("displacement"), query


async def test_a_representation_that_the_caller_has_is_304_and_is_not_counted(
    shared_edge: Edge, shared_key: str
) -> None:
    first = await shared_edge.get(f"/index/sustainability/{SOY}", key=shared_key)
    again = await shared_edge.get(
        f"/index/sustainability/{SOY}", key=shared_key, head={"If-None-Match": first.head["ETag"]}
    )
    assert (again.status, again.body) == (304, b"")
    assert await shared_edge.used(shared_key) == 2


SALES = MAPPING.replace(
    'currency = { constant = "HKD" }',
    'currency = { constant = "HKD" }\nkind = "sale"\nidentity = "event"\nunits = "list"',
).replace('list_price = "list"\n', "")


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


async def test_unknown_is_counted_merged_redirects_and_withdrawn_is_gone(
    edge: Edge, key: str, settings: Settings
) -> None:
    assert (await edge.get("/index/pricing/IID-UNKNOWN", key=key)).status == 404
    assert await edge.used(key) == 2
    execute(settings, "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", SOY, CUSTARD)
    execute(settings, "UPDATE items SET status = 'withdrawn' WHERE iid = $1", SOY)
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
    assert await edge.used(key) == 2
