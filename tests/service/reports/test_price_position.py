"""The price position equals what DuckDB computes from the raw rows, and a market with planted gaps is read back."""

import math
import random
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from marshmallow import ValidationError
from scipy import stats

from edge.analytics.period_words import Periods
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.reports.price_position import PricePositionQuery
from edge.analytics.wording import RowContext
from edge.dashboard.summaries import summary_of
from shared.db.connect import Connection, connect
from shared.errors import InvalidParameter
from shared.money import minor_digits
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET, known
from tests.service.reports.test_cohorts import asked as asked_cohort
from tests.service.reports.test_cohorts import condition, counted
from tests.support.engine import single_threaded
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.price_position import make

pytestmark = ON_THE_MARKET

# A price for each item, channel and period; beside it the lowest of its item, and that of the base.
COMPARED = """
WITH prices AS (
    SELECT CAST(date_trunc('{granularity}', day) AS date) AS period, iid, any_value(brand) AS brand,
           any_value(category) AS category, currency, channel,
           CASE WHEN any_value(kind) = 'sale' THEN sum(price * units) / sum(units) ELSE exp(avg(ln(price))) END AS price
    FROM {counted} WHERE {condition} GROUP BY 1, 2, 5, 6),
beside AS (
    SELECT *, min(price) OVER item AS lowest, count(*) OVER item > 1 AS compared,
           max(CASE WHEN channel = '{base}' THEN price END) OVER item AS base
    FROM prices WINDOW item AS (PARTITION BY period, currency, iid)),
ranked AS (
    SELECT *, compared AND price < lowest * (1 + 1e-9) AS cheapest,
           count(*) FILTER (price < lowest * (1 + 1e-9)) OVER (PARTITION BY period, currency, iid) > 1 AS shared
    FROM beside)
SELECT {keys}, count(*) AS items, max(price) AS price, count(base) AS matched_items, avg(ln(price / base)) AS gap,
       stddev_samp(ln(price / base)) AS gap_deviation, count(*) FILTER (compared) AS compared_items,
       avg(ln(price / lowest)) FILTER (compared) AS gap_to_cheapest,
       stddev_samp(ln(price / lowest)) FILTER (compared) AS gap_to_cheapest_deviation,
       count(*) FILTER (cheapest) AS cheapest_items, count(*) FILTER (cheapest AND shared) AS tied_items
FROM ranked GROUP BY {keys}"""
COUNTS = ("items", "matched_items", "compared_items", "cheapest_items", "tied_items")
# From a table of Student's distribution: by the number of items, what 95 % are within.
STUDENT = {3: 4.302653, 4: 3.182446, 5: 2.776445, 6: 2.570582, 7: 2.446912, 10: 2.262157, 20: 2.093024}


RAW = """
SELECT o.day, o.item_id, i.iid, o.price_minor::float8 AS price, o.units, o.currency, h.code AS channel, b.slug AS brand,
       c.code AS category, CASE o.kind WHEN 'l' THEN 'listing' ELSE 'sale' END AS kind, o.outlier::text AS outlier
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id WHERE o.price_minor > 0"""


@pytest.fixture(scope="module")
def raw(market: Settings) -> duckdb.DuckDBPyConnection:
    with connect(market.worker_database_url, application="tests") as opened_connection:
        cursor = opened_connection.execute(RAW)
        names = [column.name for column in cursor.description or ()]
        columns = [list(column) for column in zip(*cursor, strict=True)]
    engine = single_threaded()
    engine.register("arrived", pa.table(columns, names=names))
    engine.execute("CREATE TABLE raw AS SELECT * FROM arrived")
    return engine


def asked(chance: random.Random, brands: list[str], categories: list[str]) -> dict[str, Any]:
    """Return a question of prices of one kind, sometimes beside a channel."""
    return {
        **asked_cohort(chance, brands, categories),
        "channel": chance.choice(([], [], [], ["NORTH", "KIOSK"])),
        "group_by": chance.choice(((), ("brand",), ("category",), ("brand", "category"), ("item",))),
        "kind": chance.choice(("listing", "sale")),
        "base_channel": chance.choice((None, "NORTH", "KIOSK")),
    }


def near(value: float, unit: float) -> Any:
    return pytest.approx(value, abs=unit)


def check_gap(row: dict[str, Any], expected: dict[str, Any], name: str, n: int, least: int) -> bool:
    """Compare a gap with the mean of logarithms, and its interval with their deviation; return whether it has one."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if n < least:
        assert row[name] is low is high is None
        return False
    spread = n >= 3 and expected[f"{name}_deviation"] > 1e-8
    assert (low is not None) == (high is not None) == spread
    # Two digits of the interval's width are shown; without an interval, six decimals.
    unit = 0.6e-6 if low is None else max((high - low) / 10, 0.6e-6)
    assert row[name] == near(math.expm1(expected[name]), unit)
    if n in STUDENT and spread:
        half = STUDENT[n] * expected[f"{name}_deviation"] / math.sqrt(n)
        lowest = math.expm1(expected[name] - half)
        assert low == near(max(lowest, 0) if name == "gap_to_cheapest" else lowest, unit)
        assert high == near(math.expm1(expected[name] + half), unit)
    return spread


def test_random_positions_equal_another_engine(connection: Connection, raw: duckdb.DuckDBPyConnection) -> None:
    chance, (brands, categories) = random.Random(30), known(connection)
    filled = intervals = 0
    for _ in range(120):
        parameters = asked(chance, brands, categories)
        of_items = "item" in parameters["group_by"]
        groups = ["iid" if name == "item" else name for name in parameters["group_by"]]
        keys = ["period", *groups, "channel", "currency"]
        query = COMPARED.format(
            granularity=parameters["granularity"],
            counted=counted(parameters),
            condition=condition(parameters),
            base=parameters["base_channel"],
            keys=", ".join(keys),
        )
        found = raw.execute(query)
        names = [column[0] for column in found.description]
        expected = {}
        for values in found.fetchall():
            row = dict(zip(names, values, strict=True))
            expected[tuple(row[name] for name in keys)] = row
        ours = make(connection, parameters, quiet).table.to_pylist()
        assert {tuple(row[name] for name in keys) for row in ours} == expected.keys()
        assert len(ours) == len(expected)
        for row in ours:
            theirs = expected[tuple(row[name] for name in keys)]
            least = 1 if of_items else 3
            assert {name: row[name] for name in COUNTS} == {name: theirs[name] for name in COUNTS}
            intervals += check_gap(row, theirs, "gap", row["matched_items"], least)
            intervals += check_gap(row, theirs, "gap_to_cheapest", row["compared_items"], least)
            share = row["cheapest_items"] / row["compared_items"] if row["compared_items"] >= least else None
            assert row["share_cheapest"] == (None if share is None else near(share, 0.6e-6))
            if of_items:
                price = theirs["price"] / 10 ** minor_digits(row["currency"])
                assert float(row["price"]) == pytest.approx(price, rel=1e-9, abs=1e-6)
        filled += bool(ours)
    assert filled > 30
    assert intervals > 100


def planted(days: int = 31) -> str:
    """Write a market of forty items: SOUTH asks 8 % more than NORTH on average; EAST has a quarter of all, for less."""
    chance, lines = random.Random(4), []
    for item in range(40):
        level = chance.uniform(5, 80)
        # Above and below in turn, so that their geometric mean is 8 % to the last digit of a cent.
        south = level * 1.08 * (1.02 if item % 2 else 1 / 1.02)
        prices = {"NORTH": level, "SOUTH": south, **({"EAST": level * 0.95} if item < 10 else {})}
        for shop, price in prices.items():
            for day in range(1, days + 1, 5):
                lines.append(
                    f"{item},Item {item},Brand {item % 2},Food,Tea,1,2026-03-{day:02d},{shop},{100 * price:.2f},\n"
                )
    return "".join(lines)


def ask(settings: Settings, **parameters: Any) -> list[dict[str, Any]]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        asked = {"from": "2026-03-01", "to": "2026-03-31", "granularity": "month", **parameters}
        rows: list[dict[str, Any]] = make(connection, asked, quiet).table.to_pylist()
        return rows


def test_a_planted_gap_is_read_back_within_its_interval(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted())
    east, north, south = ask(settings, base_channel="NORTH")
    assert south["gap"] == near(0.08, 0.001) and south["gap_low"] < 0.08 < south["gap_high"] < 0.09
    assert (east["gap"], east["matched_items"]) == (near(-0.05, 1e-4), 10)
    assert (north["gap"], north["gap_low"], north["gap_high"], north["matched_items"]) == (0.0, None, None, 40)
    assert [row["share_cheapest"] for row in (east, north, south)] == [1.0, 0.75, 0.0]
    assert east["gap_to_cheapest"] == 0.0 and north["gap_to_cheapest"] == near((1 / 0.95) ** 0.25 - 1, 0.006)
    wilson = stats.binomtest(30, 40).proportion_ci(method="wilson")
    assert (north["share_cheapest_low"], north["share_cheapest_high"]) == (
        near(wilson.low, 1e-6),
        near(wilson.high, 1e-6),
    )


def test_equal_prices_are_ties_and_both_channels_the_cheapest(settings: Settings, tmp_path: Path) -> None:
    prices = {1: ("3", "3"), 2: ("5", "5"), 3: ("7", "8"), 4: ("9", "8")}
    days = (f"2026-03-{day:02d}" for day in (2, 5, 9))
    rows = (
        f"{item},Item {item},Leaf,Food,Tea,1,{day},{shop},{price},\n"
        for day in days
        for item, pair in prices.items()
        for shop, price in zip(("NORTH", "SOUTH"), pair, strict=True)
    )
    load_rows(settings, tmp_path, "".join(rows))
    for row in ask(settings):
        assert (row["compared_items"], row["cheapest_items"], row["tied_items"]) == (4, 3, 2)
        assert row["share_cheapest"] == 0.75
        assert row["gap"] is None and row["matched_items"] == 0


def test_fewer_than_three_items_in_common_say_nothing(settings: Settings, tmp_path: Path) -> None:
    lines = planted().splitlines(keepends=True)
    few = [line for line in lines if int(line.partition(",")[0]) < 2]
    load_rows(settings, tmp_path, "".join(few))
    for row in ask(settings, base_channel="SOUTH"):
        assert row["compared_items"] == row["matched_items"] == 2
        assert {row[name] for name in ("gap", "gap_low", "gap_to_cheapest", "share_cheapest")} == {None}


def test_the_matrix_has_each_items_price_and_gaps_in_each_channel(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted())
    rows = ask(settings, base_channel="NORTH", group_by=["item"], granularity="day")
    assert len(rows) == 90 * 7
    by_cell = {(row["period"], row["iid"], row["channel"]): row for row in rows}
    for (day, iid, _), row in by_cell.items():
        north = by_cell[day, iid, "NORTH"]
        assert row["gap"] == near(float(row["price"] / north["price"]) - 1, 1e-6)
        lowest = min(found["price"] for key, found in by_cell.items() if key[:2] == (day, iid))
        assert (row["share_cheapest"] == 1.0) == (row["price"] == lowest)
        assert row["gap_low"] is row["share_cheapest_low"] is None
    assert {row["period"] for row in rows} == {date(2026, 3, day) for day in range(1, 32, 5)}


def test_a_matrix_that_nobody_could_read_is_refused(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted())
    parameters = {"from": "2026-03-01", "to": "2026-03-31", "group_by": ["item"]}
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert make(connection, parameters, quiet, matrix_rows_max=90).table.num_rows == 90
        with pytest.raises(InvalidParameter, match="90 rows, more than 89"):
            make(connection, parameters, quiet, matrix_rows_max=89)


def test_an_unknown_base_channel_is_refused(connection: Connection) -> None:
    with pytest.raises(InvalidParameter, match="base_channel"):
        make(connection, {"base_channel": "MOON"}, quiet)


def test_the_dashboard_says_which_channel_has_the_lowest_prices(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted())
    report, reading = (
        REPORTS_BY_KIND["price-position"],
        RowContext(Periods("month", date(2026, 3, 1), date(2026, 3, 31))),
    )
    rows = [{**row, "period": str(row["period"])} for row in ask(settings, base_channel="NORTH")]
    beside = summary_of(report, {"base_channel": "NORTH"}, rows, reading)
    assert beside.figure == "−5.0 %"
    assert beside.sentence.startswith("is the gap of EAST to NORTH for 10 items that both have")
    rows = [{**row, "period": str(row["period"])} for row in ask(settings, channel=["NORTH", "SOUTH"])]
    alone = summary_of(report, {}, rows, reading)
    assert f"{alone.figure} {alone.sentence}".startswith(
        "100.0 % of the 40 items that NORTH shares with other shops are cheapest there, the highest share of all"
    )
    rows = [{**row, "period": str(row["period"])} for row in ask(settings, channel=["NORTH"])]
    assert summary_of(report, {}, rows, reading).figure == "0 items"


def test_the_base_channel_must_be_in_the_answer() -> None:
    with pytest.raises(ValidationError, match="must be one of the values of `channel`"):
        PricePositionQuery().load({"channel": ["NORTH"], "base_channel": "SOUTH"})
    assert PricePositionQuery().load({"channel": ["NORTH"], "base_channel": "NORTH"})["base_channel"] == "NORTH"
