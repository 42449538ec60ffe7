"""The light reads: prices, footprints, unit prices, conversions, outliers, prior prices."""

import asyncio
import csv
import io
import json
import math
import random
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet
import pytest

from edge.analytics import price_history, prior_price, sustainability
from edge.index import lookup
from shared.analytics.footprint import CODES, INDICATORS
from shared.analytics.results import META_KEY
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows

# GET /index/pricing and /index/sustainability: what they answer, what they cost, whom they refuse.


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
        lookup.SQL.records,
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


# Footprints of an item: from the nearest figures, with stages, cumulated over units or articles.


async def test_figures_come_from_the_nearest_rung_and_say_which(edge: Edge, key: str, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(FACTORS)
        connection.execute(
            "INSERT INTO impacts SELECT $1, 'co2e_kg', 0.7, 'measured', 'weighed', id, '2026-01-01' FROM sources",
            (mint("shop", "1").key,),
        )
    co2e, water, waste, *others = (await edge.get(f"/index/sustainability/{SOY}", key=key)).json["data"]
    assert [row["per_unit"] for row in others] == [None] * len(others)
    assert (co2e["per_unit"], co2e["cumulative"], co2e["basis"], co2e["scope"], co2e["source"]) == (
        0.7,
        0.7,
        "measured",
        "item",
        "shop",
    )
    assert (water["per_unit"], water["scope"], water["code"], water["method"]) == (
        50.0,
        "category",
        "drinks.soy-milk",
        "soy",
    )
    assert (waste["per_unit"], waste["cumulative"], waste["basis"], waste["source"]) == (None, None, None, None)
    custard = (await edge.get(f"/index/sustainability/{CUSTARD}", key=key)).json["data"][0]
    assert (custard["scope"], custard["code"], custard["per_unit"], custard["weight_kg"]) == (
        "product_type",
        "Custard",
        1.6,
        0.2,
    )
    unweighed = (await edge.get(f"/index/sustainability/{NEW}", key=key)).json["data"]
    assert [row["per_unit"] for row in unweighed] == [None] * len(INDICATORS)
    record = (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]
    unknown = dict.fromkeys(CODES)
    assert record == {
        **unknown,
        "co2e_kg": 0.7,
        "water_l": 50.0,
        "basis": "measured",
        "method": "weighed",
        "samples": 1,
    }


async def test_every_indicator_has_its_row_with_its_stages(edge: Edge, key: str, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        for table, columns, values in (
            ("impacts", "indicator, per_unit, basis", ("land_use_m2a", "0.375", "modelled")),
            ("impact_stages", "indicator, per_unit, basis, stage", ("land_use_m2a", "0.5", "modelled", "upstream")),
            (
                "impact_stages",
                "indicator, per_unit, basis, stage",
                ("land_use_m2a", "-0.125", "modelled", "end of life"),
            ),
        ):
            places = ", ".join(f"${n}" for n in range(2, len(values) + 2))
            connection.execute(
                f"INSERT INTO {table} (item_id, method, source_id, as_of, {columns}) "
                f"SELECT $1, 'stated', id, '2026-01-01', {places} FROM sources",
                (mint("shop", "1").key, *values),
            )
    data = (await edge.get(f"/index/sustainability/{SOY}", key=key)).json["data"]
    assert [(row["indicator"], row["unit"]) for row in data] == [(one.code, one.unit) for one in INDICATORS]
    land = next(row for row in data if row["indicator"] == "land_use_m2a")
    assert (land["per_unit"], land["basis"]) == (0.375, "modelled")
    assert [(stage["stage"], stage["per_unit"]) for stage in land["stages"]] == [
        ("end of life", -0.125),
        ("upstream", 0.5),
    ]
    assert (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]["land_use_m2a"] == 0.375


async def test_cumulative_figures_count_units_sold_else_one_article(
    edge: Edge, key: str, settings: Settings, tmp_path: Path
) -> None:
    execute(settings, FACTORS)
    listed = (await edge.get(f"/index/sustainability/{SOY}", key=key)).json
    assert (listed["meta"]["basis"], listed["meta"]["coverage"]["observed_days"]) == ("assortment", 2)
    row = listed["data"][0]
    assert (row["units_observed"], row["cumulative"], row["cumulative_basis"], row["samples"]) == (
        0,
        2.0,
        "assortment",
        3,
    )
    sold = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,7.00,5\n"
    await asyncio.to_thread(load_rows, settings, tmp_path, sold, text=SALES, name="sales.csv")
    now = (await edge.get(f"/index/sustainability/{SOY}", key=key)).json
    row = now["data"][0]
    assert (now["meta"]["basis"], row["units_observed"], row["cumulative"]) == ("sales", 5, 10.0)


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


async def test_a_figure_comes_out_as_it_was_loaded(edge: Edge, key: str, settings: Settings) -> None:
    figures = {"co2e_kg": "3718044", "water_l": "87589.36467", "waste_kg": "0.123456789012345"}
    with connect(settings.database_url, application="tests") as connection:
        for indicator, figure in figures.items():
            connection.execute(
                "INSERT INTO impacts SELECT $1, $2, $3::numeric, 'modelled', 'stated', id, '2026-01-01' FROM sources",
                (mint("shop", "1").key, indicator, figure),
            )
    answer = (await edge.get(f"/index/sustainability/{SOY}", key=key)).json
    record = (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]
    for row in answer["data"][:3]:
        assert Decimal(repr(row["per_unit"])) == Decimal(figures[row["indicator"]])
        assert Decimal(repr(record[row["indicator"]])) == Decimal(figures[row["indicator"]])
        assert (row["units_observed"], row["cumulative"]) == (0, row["per_unit"])  # only listed: one article
    rounded = {"per_unit", "cumulative", "per_kg", "weight_kg", "stages.per_unit"}
    bounds = {f"{prefix}{bound}" for prefix in ("", "cumulative_") for bound in ("low", "central", "high")}
    assert set(answer["meta"]["rounding"]) == rounded | bounds | {"avoided_low", "avoided", "avoided_high"}


# GET /index/sustainability: each figure with its interval, what it rests on, and what second-hand sales avoid.


SOLD = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,7.00,5\n"


def own_figure(settings: Settings, indicator: str, basis: str, *spread: float | None) -> None:
    """Give the soy milk a figure of 2 with what its source states of the spread: low, high, deviation."""
    insert = "INSERT INTO impacts SELECT $1, $2, 2.0, $3, 'stated', id, '2026-01-01', $4, $5, $6 FROM sources"
    execute(settings, insert, mint("shop", "1").key, indicator, basis, *(spread or (None, None, None)))


def factor(
    settings: Settings, code: str, samples: int, log_deviation: float, per_kg: float = 2.0, basis: str = "as_sold"
) -> None:
    """Add a factor of CO2e a kilogram to a category."""
    insert = """INSERT INTO impact_factors (scope, code, indicator, per_kg, samples, log_samples, log_deviation, basis,
        method, source_id) SELECT 'category', $1, 'co2e_kg', $2, $3, $3, $4, $5, 'mean', id FROM sources"""
    execute(settings, insert, code, per_kg, samples, log_deviation, basis)


def around(mean: float, sigma: float) -> list[float]:
    """Return the bounds and the median of a log-normal with this mean."""
    median = mean * math.exp(-(sigma**2) / 2)
    return [median * math.exp(z * sigma) for z in (-1.959964, 0, 1.959964)]


async def rows(edge: Edge, key: str, query: str = "") -> dict[str, dict[str, object]]:
    """Return the answer's rows by indicator."""
    answer = await edge.get(f"/index/sustainability/{SOY}{query}", key=key)
    assert answer.status == 200, answer.json
    return {row["indicator"]: row for row in answer.json["data"]}


async def test_a_source_s_own_spread_takes_precedence_over_the_pedigree_matrix(
    edge: Edge, key: str, settings: Settings
) -> None:
    own_figure(settings, "co2e_kg", "measured", 1.5, 4.0, None)
    own_figure(settings, "water_l", "measured", None, None, 1.0)
    own_figure(settings, "waste_kg", "modelled")
    own_figure(settings, "land_use_m2a", "measured")
    found = await rows(edge, key)
    bounds, deviation, modelled, measured = (
        [found[name][bound] for bound in ("low", "central", "high", "interval_from")]
        for name in ("co2e_kg", "water_l", "waste_kg", "land_use_m2a")
    )
    [_, median, _] = around(2.0, math.log(4.0 / 1.5) / (2 * 1.959964))
    assert bounds == [1.5, pytest.approx(median, rel=1e-6), 4.0, "source"]
    expected = around(2.0, math.sqrt(math.log(1.25)))
    assert deviation == [*(pytest.approx(one, rel=1e-6) for one in expected), "source"]
    # Published factors: measured 1.03, 1.03 and √1.05; modelled 1.54, 1.04, 1.1, 1.04, 1.18 and √1.05, as GSDs.
    narrow = math.hypot(math.log(1.03), math.log(1.03), math.log(1.05) / 2)
    wide = math.hypot(*map(math.log, (1.54, 1.04, 1.1, 1.04, 1.18)), math.log(1.05) / 2)
    for sigma, row in ((narrow, measured), (wide, modelled)):
        assert row == [*(pytest.approx(one, rel=1e-6) for one in around(2.0, sigma)), "pedigree"]
    assert found["acidification_kg_so2e"]["low"] is None
    assert (found["co2e_kg"]["as_of"], found["acidification_kg_so2e"]["as_of"]) == ("2026-01-01", None)


async def test_a_category_average_is_as_wide_as_its_samples_and_says_how_many(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 9, 0.4)
    row = (await rows(edge, key))["co2e_kg"]
    assert (row["per_unit"], row["samples"], row["interval_from"]) == (2.0, 9, "samples")
    student = 2.306004  # 97.5 % of Student's distribution, 8 degrees of freedom
    sigma = student / 1.959964 * 0.4 * math.sqrt(1 + 1 / 9)
    assert [row[name] for name in ("low", "central", "high")] == pytest.approx(around(2.0, sigma), rel=3e-4)


async def test_a_category_borrows_the_spread_within_the_others_and_those_of_one_group_count_once(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 2, 0.4)
    for code in ("a", "b"):  # one food group that stands for two categories
        factor(settings, code, 21, 0.8, per_kg=3.0)
    row = (await rows(edge, key))["co2e_kg"]
    student = 2.131450  # 97.5 % of Student's distribution, 1 + 14 degrees of freedom
    sigma = student / 1.959964 * math.sqrt((0.4**2 + 14 * 0.8**2) / 15 * (1 + 1 / 2))
    assert [row[name] for name in ("low", "central", "high")] == pytest.approx(around(2.0, sigma), rel=3e-4)
    assert row["interval_from"] == "samples"


async def test_a_category_with_too_few_samples_gives_way_to_the_nearest_above_it_with_enough(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 4, 0.1)
    alone = (await rows(edge, key))["co2e_kg"]
    assert (alone["code"], alone["samples"]) == ("drinks.soy-milk", 4)
    factor(settings, "drinks", 5, 0.3, per_kg=3.0)
    assert ((await rows(edge, key))["co2e_kg"]["code"], (await rows(edge, key))["co2e_kg"]["samples"]) == ("drinks", 5)
    record = (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]
    assert record["samples"] == 5


async def test_a_factor_applies_where_the_item_weighs_on_its_basis(edge: Edge, key: str, settings: Settings) -> None:
    """A kilogram of powder is not a kilogram of the drink."""
    factor(settings, "drinks", 9, 0.4, basis="as_consumed")
    assert (await rows(edge, key))["co2e_kg"]["per_unit"] is None
    assert (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"] is None
    factor(settings, "drinks", 9, 0.4, per_kg=7.0)
    assert (await rows(edge, key))["co2e_kg"]["per_unit"] == 7.0
    change = "UPDATE items SET attributes = attributes || $1::jsonb, version = version + 1 WHERE iid = $2"
    execute(settings, change, '{"weight_basis": "as_consumed"}', SOY)
    row = (await rows(edge, key))["co2e_kg"]
    assert (row["per_unit"], row["weight_basis"]) == (2.0, "as_consumed")


async def test_the_weight_of_a_volume_is_its_litres_times_their_density(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks", 9, 0.4)
    change = "UPDATE items SET attributes = $1::jsonb WHERE iid = $2"
    for attributes, weight in (
        ('{"volume_l": "1.5", "density_kg_per_l": "1.03"}', 1.545),
        ('{"weight_kg": "1.4", "volume_l": "1.5", "density_kg_per_l": "1.03"}', 1.4),
        ('{"volume_l": "1.5"}', None),
        ('{"volume_l": "1.5", "density_kg_per_l": "heavy"}', None),
    ):
        execute(settings, change, attributes, SOY)
        row = (await rows(edge, key))["co2e_kg"]
        assert row["weight_kg"] == weight, attributes
        assert row["per_unit"] == (None if weight is None else pytest.approx(2.0 * weight)), attributes


async def test_second_hand_sales_avoid_by_the_rate_that_the_caller_or_wrap_states(
    edge: Edge, key: str, settings: Settings, tmp_path: Path
) -> None:
    own_figure(settings, "co2e_kg", "measured", 1.0, 4.0, None)
    listed = (await rows(edge, key, "?displacement=resale"))["co2e_kg"]
    assert listed["avoided"] is None  # offers displace nothing
    await asyncio.to_thread(load_rows, settings, tmp_path, SOLD, text=SALES, name="sales.csv")
    plain = (await rows(edge, key))["co2e_kg"]
    assert (plain["cumulative_low"], plain["cumulative"], plain["cumulative_high"]) == (5.0, 10.0, 20.0)
    assert plain["cumulative_low"] < plain["cumulative_central"] < plain["cumulative"]  # a median is below the mean
    assert plain["avoided"] is None
    for query, rate in (("displacement_rate=0", 0), ("displacement_rate=1", 1), ("displacement=resale", 0.646)):
        row = (await rows(edge, key, f"?{query}"))["co2e_kg"]
        avoided = [row[name] for name in ("avoided_low", "avoided", "avoided_high")]
        assert avoided == pytest.approx([5 * rate, 10 * rate, 20 * rate])
    meta = (await edge.get(f"/index/sustainability/{SOY}?displacement=repair", key=key)).json["meta"]["displacement"]
    assert meta["rate"] == 0.822 and "WRAP" in meta["citation"]
    assert "those sold new included" in meta["counted"]


async def test_each_channel_has_its_observations_and_its_last_day(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    dice = random.Random(3)
    counted, last = Counter({"NORTH": 3, "SOUTH": 2}), {"NORTH": "2026-07-02", "SOUTH": "2026-07-02"}
    for load in range(3):
        rows = set()
        for _ in range(300):
            day = f"2026-0{dice.choice('3456')}-{dice.randint(1, 30):02}"
            rows.add((dice.randint(10 + load * 100, 109 + load * 100), day, dice.choice(["EAST", "west", "Ω-shop"])))
        for _, day, channel in rows:
            counted[channel] += 1
            last[channel] = max(day, last.get(channel, ""))
        lines = (f"{item},Item {item},Vita,Drinks,Tea,1,{day},{channel},5,\n" for item, day, channel in sorted(rows))
        load_rows(settings, tmp_path, "".join(lines), name=f"{load}.csv")
    key = api_key(settings)
    found, cursor = [], ""
    for _ in range(3):
        page = (await edge.get(f"/index/channels?limit=2{cursor}", key=key)).json
        assert page["total"] == {"value": 5, "relation": "eq"}
        found += page["data"]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert found == [
        {"code": code, "observations": counted[code], "last_seen_on": last[code]} for code in sorted(counted)
    ]
    begun = (await edge.get("/index/channels?q=%CF%89", key=key)).json  # a small omega
    assert [entry["code"] for entry in begun["data"]] == ["Ω-shop"]
