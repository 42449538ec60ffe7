"""Footprints of an item: from the nearest figures, with stages, cumulated over units or articles."""

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from shared.analytics.footprint import CODES, INDICATORS
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.http.test_price_history import CUSTARD, FACTORS, NEW, SALES, SOY
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import load_rows


@pytest.fixture(scope="module")
def contents() -> Contents:
    return load_rows


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
        "pedigree": None,
        "reference_year": None,
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
