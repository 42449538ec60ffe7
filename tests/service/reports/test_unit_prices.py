"""Figures of unit prices equal what another engine makes of the raw rows and of the sizes that it reads in names."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shared.db.connect import Connection, connect
from shared.errors import InvalidParameter
from shared.settings.settings import Settings
from tests.service.reports import test_price_index
from tests.service.reports.market import ON_THE_MARKET, known
from tests.service.reports.test_cohorts import aside, asked, compare, compare_outliers, condition, engine_of, plain
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.rates import load_rates
from tests.support.reports import quiet, work
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from workers.analytics.reports import brand_insights, category_insights, price_index
from workers.analytics.reports.cohorts import make
from workers.analytics.reports.result import with_unit

pytestmark = ON_THE_MARKET

# What a name ends with, such as 250g, in thousandths of the unit.
_SIZES = r"""
SELECT item_id, CASE unit WHEN 'g' THEN 'kg' WHEN 'kg' THEN 'kg' WHEN 'ml' THEN 'l' WHEN 'L' THEN 'l' ELSE 'piece' END AS unit,
       CAST(n AS BIGINT) * if(unit IN ('g', 'ml'), 1, 1000) AS thousandths
FROM (SELECT item_id, part.n AS n, part.unit AS unit
      FROM (SELECT id AS item_id, regexp_extract(name, ' ([0-9]+) ?(g|kg|ml|L|pack)$', ['n', 'unit']) AS part FROM named))
WHERE n <> ''"""
# Millionths of the currency for one unit, rounded half to even; all prices of sold items are in cents.
_VALUES = """
SELECT raw.* EXCLUDE (unit, thousandths, dividend), dividend // thousandths + CAST(2 * (dividend % thousandths) > thousandths OR
       (2 * (dividend % thousandths) = thousandths AND (dividend // thousandths) % 2 = 1) AS BIGINT) AS unit_price
FROM (SELECT raw.*, sizes.unit, thousandths, price_minor::HUGEINT * 10000 * 1000 AS dividend
      FROM everything AS raw JOIN sizes USING (item_id)) AS raw WHERE unit = ?"""


@pytest.fixture(scope="module")
def engine(market: Settings) -> duckdb.DuckDBPyConnection:
    with connect(market.worker_database_url, application="tests") as connection:
        engine = engine_of(connection)
        engine.execute("ALTER TABLE raw RENAME TO everything")
        engine.execute("CREATE TABLE named (id BIGINT, name TEXT)")
        engine.executemany(
            "INSERT INTO named VALUES (?, ?)", connection.execute("SELECT id, name FROM items").fetchall()
        )
    engine.execute(f"CREATE TABLE sizes AS {_SIZES}")
    with_units = test_price_index.engine_of(market)
    engine.register("arrived", with_units.sql("FROM raw").to_arrow_table())
    engine.execute("CREATE TABLE with_units AS SELECT * FROM arrived")
    return engine


@pytest.mark.parametrize("unit", ["kg", "l", "piece"])
def test_random_cohorts_of_unit_prices_equal_another_engine(
    connection: Connection, engine: duckdb.DuckDBPyConnection, unit: str
) -> None:
    engine.execute(f"CREATE OR REPLACE TABLE raw AS {_VALUES}", [unit])
    chance, (brands, categories) = random.Random(unit), known(connection)
    filled = 0
    for _ in range(60):
        parameters = asked(chance, brands, categories) | {"kind": "sale", "currency": "USD"}
        question = parameters | {"measure": "unit_price", "unit": unit}
        answer = make(connection, question, quiet)
        rows = engine.execute(plain(parameters, "unit_price")).fetchall()
        compare(answer, rows, len(parameters["group_by"]), decimals=6)
        compare_outliers(answer, engine.execute(aside(parameters)).fetchall(), parameters)
        assert answer.unit_prices is not None
        assert answer.unit_prices.items_without == items_without(engine, parameters, unit)
        filled += bool(rows)
    assert filled > 15


def items_without(engine: duckdb.DuckDBPyConnection, parameters: dict[str, Any], unit: str) -> int:
    """Count the items of a question that have prices and no content in the unit."""
    plausible = "TRUE" if parameters["outliers"] == "include" else "outlier IS NULL"
    query = (
        f"SELECT count(DISTINCT item_id) FROM everything WHERE {condition(parameters)} AND {plausible} "
        "AND item_id NOT IN (SELECT item_id FROM sizes WHERE unit = ?)"
    )
    [(count,)] = engine.execute(query, [unit]).fetchall()
    return int(count)


@pytest.mark.parametrize("unit", ["kg", "l", "piece"])
@pytest.mark.parametrize("seed", range(6))
def test_an_index_of_unit_prices_equals_plain_sql_over_what_is_sold_of_the_unit(
    connection: Connection, engine: duckdb.DuckDBPyConnection, unit: str, seed: int
) -> None:
    engine.execute(
        "CREATE OR REPLACE TABLE raw AS SELECT w.* REPLACE (price_minor * 1000 / thousandths AS price_minor, "
        "units * thousandths / 1000 AS units) FROM with_units w JOIN sizes USING (item_id) WHERE unit = ?",
        [unit],
    )
    chance, (brands, categories) = random.Random(seed), known(connection)
    parameters = test_price_index.asked(chance, brands, categories) | {"kind": "sale", "currency": "USD"}
    parameters |= {"brand": [], "category": chance.sample([one for one in categories if "." not in one], 4)}
    answer = price_index.make(connection, parameters | {"measure": "unit_price", "unit": unit}, quiet)
    assert answer.table.num_rows > 1
    test_price_index.compare(answer.table.to_pylist(), engine, parameters)


MONTHS = {"from": "2026-01-01", "to": "2026-06-30", "granularity": "month", "kind": "sale", "currency": "USD"}
KILOS = {"measure": "unit_price", "unit": "kg"}


def test_insights_of_unit_prices_equal_another_engine(
    connection: Connection, engine: duckdb.DuckDBPyConnection
) -> None:
    engine.execute(f"CREATE OR REPLACE TABLE raw AS {_VALUES}", ["kg"])
    ours = category_insights.make(connection, MONTHS | KILOS, quiet).table.to_pylist()
    theirs = engine.execute(
        "SELECT date_trunc('month', day)::DATE, split_part(category, '.', 1) AS top, count(DISTINCT item_id), count(*), "
        "median(unit_price) FROM raw WHERE outlier IS NULL AND kind = 'sale' AND category IS NOT NULL "
        "AND day BETWEEN '2026-01-01' AND '2026-06-30' GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert [(row["period"], row["category"], row["items"], row["observations"]) for row in ours] == [
        row[:4] for row in theirs
    ]
    assert [float(row["median"]) * 10**6 for row in ours] == pytest.approx([row[4] for row in theirs], abs=0.6)
    assert len(theirs) > 20


def test_all_figures_of_an_insight_are_of_the_same_unit(connection: Connection) -> None:
    brand, asked = known(connection)[0][0], MONTHS | KILOS
    [*rows] = brand_insights.make(connection, asked | {"slug": brand}, quiet).table.to_pylist()
    cohort = make(connection, asked | {"brand": [brand]}, quiet).table.to_pylist()
    names = ("period", "items", "observations", "set_aside", "list_price_n")
    assert [[row[name] for name in names] + [row["median"]] for row in rows] == [
        [row[name] for name in names] + [row["p50"]] for row in cohort
    ]
    part = rows[0]["categories"][0]
    month = {"from": "2026-01-01", "to": "2026-01-31"}
    of_category = make(connection, asked | month | {"category": [part["category"]]}, quiet).table.to_pylist()
    assert part["category_median"] == of_category[0]["p50"]
    jevons = {"method": "jevons", "brand": [brand], "from": "2025-12-01"}
    index = price_index.make(connection, asked | jevons, quiet).table.to_pylist()
    ratio = index[1]["index"] / index[0]["index"] - 1
    assert rows[0]["index_change"] == pytest.approx(ratio, abs=0.002)
    assert rows[0]["index_change"] is not None


SHOP = """
1,Rice 500g,Leaf,Food,Rice,,2026-06-02,NORTH,10,20
1,Rice 500g,Leaf,Food,Rice,,2026-06-03,NORTH,12,
2,Rice 8 oz,Leaf,Food,Rice,,2026-06-02,NORTH,10,
3,Cola 6 x 330 ml,Leaf,Food,Cola,,2026-06-02,NORTH,30,
4,Tea,Leaf,Food,Tea,,2026-06-02,NORTH,5,
5,Green tea,Leaf,Food,Tea,,2026-06-02,NORTH,5,
5,Green tea,Leaf,Food,Tea,,2026-06-03,NORTH,5,
6,Dental floss 50 m,Leaf,Home,Floss,,2026-06-02,NORTH,9,
"""


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Iterator[Connection]:
    load_rows(settings, tmp_path, SHOP.lstrip())
    with connect(settings.worker_database_url, application="tests", autocommit=True) as opened:
        yield opened


def test_each_unit_has_its_own_figures_and_names_the_items_that_have_none(shop: Connection) -> None:
    expected = {
        # 10.00 of 8 oz, which are 0.2267961850 kg, is the dearest.
        "kg": (
            2,
            ["20.000000", "24.000000", "44.092452"],
            ["Green tea", "Tea", "Cola 6 x 330 ml", "Dental floss 50 m"],
        ),
        "l": (1, ["15.151515"] * 3, ["Green tea", "Rice 500g", "Tea", "Rice 8 oz", "Dental floss 50 m"]),
        "piece": (1, ["5.000000"] * 3, ["Green tea", "Rice 500g", "Tea", "Rice 8 oz", "Dental floss 50 m"]),
        "m": (1, ["0.180000"] * 3, ["Green tea", "Rice 500g", "Tea", "Rice 8 oz", "Cola 6 x 330 ml"]),
    }
    for unit, (items, prices, without) in expected.items():
        question = {"brand": ["leaf"], "measure": "unit_price", "unit": unit, "from": "2026-06-01", "to": "2026-06-30"}
        answer = with_unit(make(shop, question, quiet))
        [row] = answer.table.to_pylist()
        assert (row["unit"], row["items"]) == (unit, items)
        assert [str(row[name]) for name in ("min", "p50", "max")] == prices
        assert answer.unit_prices is not None
        assert answer.unit_prices.items_without == len(without)
        listed = [one["name"] for one in answer.unit_prices.without]
        assert sorted(listed) == sorted(without)
        assert set(listed[: 1 if unit == "kg" else 2]) <= {"Green tea", "Rice 500g"}, "they have most observations"
        assert answer.units["p50"] == f"currency per {unit}"
        assert answer.units["items"] == "items"


def test_discounts_are_those_of_the_prices(shop: Connection) -> None:
    question = {"brand": ["leaf"], "from": "2026-06-01", "to": "2026-06-30"}
    [row] = make(shop, question | {"measure": "unit_price", "unit": "kg"}, quiet).table.to_pylist()
    assert (row["list_price_n"], row["promotion_share"], row["discount_mean"]) == (1, 1.0, 0.5)


def test_an_answer_of_prices_names_no_unit(shop: Connection) -> None:
    answer = with_unit(make(shop, {"brand": ["leaf"], "measure": "price", "unit": None}, quiet))
    assert "unit" not in answer.table.column_names
    assert answer.unit_prices is None


def test_a_unit_price_beyond_sums_of_63_bits_is_refused(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Gold 1g,Leaf,Home,Gold,,2026-06-02,NORTH,90000000000,\n")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as opened:
        with pytest.raises(InvalidParameter, match="a unit price is over 10,000,000,000"):
            make(opened, {"brand": ["leaf"], "measure": "unit_price", "unit": "kg"}, quiet)


def shop_with_rates(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder, SHOP.lstrip())
    load_rates(settings, folder)


class TestOverHttp:
    @pytest.fixture
    def contents(self) -> Contents:
        return shop_with_rates

    async def test_unit_prices_are_answered_in_another_currency_with_the_items_that_have_none(
        self, edge: Edge, settings: Settings
    ) -> None:
        key = api_key(settings)
        path = "/index/cohorts?brand=leaf&from=2026-06-01&to=2026-06-30&measure=unit_price"
        refused = await edge.get(path, key=key)
        assert (refused.status, refused.json["errors"][0]["parameter"]) == (400, "unit")
        asking = asyncio.create_task(edge.get(f"{path}&unit=l&convert=USD&rates=ecb", key=key))
        assert await work(settings, make) == ["succeeded"]
        answer = (await asking).json
        [row] = answer["data"]
        assert (row["unit"], row["currency"], row["original_currency"]) == ("l", "USD", "HKD")
        assert 0 < float(row["p50"]) < 15.151515
        assert answer["meta"]["units"]["p50"] == "currency per l"
        without = answer["meta"]["unit_prices"]
        assert (without["unit"], without["items_without"], len(without["without"])) == ("l", 5, 5)
