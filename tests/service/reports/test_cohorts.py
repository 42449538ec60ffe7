"""Cohorts equal what another engine says of the raw rows."""

import random
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shared.db.connect import Connection, connect
from shared.errors import BrandNotFound, CategoryNotFound, InvalidParameter
from shared.money import minor_digits
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET, known
from tests.support.engine import single_threaded
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.cohorts import make

pytestmark = ON_THE_MARKET


RAW = """
SELECT o.day, o.item_id, o.price_minor, o.currency, h.code AS channel, b.slug AS brand, c.code AS category,
       CASE o.kind WHEN 'l' THEN 'listing' ELSE 'sale' END AS kind, o.list_minor, o.outlier::text AS outlier
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id"""

PERCENTS = (0.1, 0.25, 0.5, 0.75, 0.9)


@pytest.fixture(scope="module")
def raw(market: Settings) -> duckdb.DuckDBPyConnection:
    with connect(market.worker_database_url, application="tests") as opened_connection:
        return engine_of(opened_connection)


def engine_of(connection: Connection) -> duckdb.DuckDBPyConnection:
    """Give another engine the raw rows."""
    rows = connection.execute(RAW).fetchall()
    names = (
        "day",
        "item_id",
        "price_minor",
        "currency",
        "channel",
        "brand",
        "category",
        "kind",
        "list_minor",
        "outlier",
    )
    engine = single_threaded()
    engine.register("arrived", pa.table({name: [row[n] for row in rows] for n, name in enumerate(names)}))
    engine.execute("CREATE TABLE raw AS SELECT * FROM arrived")
    return engine


def asked(chance: random.Random, brands: list[str], categories: list[str]) -> dict[str, Any]:
    first = date(2025, 6, 20) + timedelta(days=chance.randrange(380))
    if chance.random() < 0.4:
        first = first.replace(day=1)
    last = first + timedelta(days=chance.choice((0, 3, 30, 60, 120, 400)))
    if chance.random() < 0.4:
        last = (last.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    which = chance.choice(("brand", "category", "both"))
    return {
        "brand": chance.sample(brands, chance.randint(1, 3)) if which != "category" else [],
        "category": chance.sample(categories, chance.randint(1, 3)) if which != "brand" else [],
        "from": first.isoformat(),
        "to": last.isoformat(),
        "granularity": chance.choice(("day", "week", "month", "month")),
        "channel": chance.choice(([], [], ["NORTH"], ["NORTH", "KIOSK"])),
        "currency": chance.choice((None, "USD", "HKD")),
        "group_by": chance.sample(("brand", "category", "channel"), chance.choice((0, 0, 1, 2))),
        "kind": chance.choice((None, "listing", "sale", "both")),
        "outliers": chance.choice(("exclude", "exclude", "include")),
    }


def counted(parameters: dict[str, Any]) -> str:
    """Return the rows that count, as SQL."""
    return "raw" if parameters["outliers"] == "include" else "(SELECT * FROM raw WHERE outlier IS NULL) AS counted"


def condition(parameters: dict[str, Any]) -> str:
    """Write the conditions of a question as SQL."""
    conditions = [f"day BETWEEN DATE '{parameters['from']}' AND DATE '{parameters['to']}'"]
    for name in ("brand", "channel"):
        if parameters[name]:
            conditions.append(f"{name} IN ({', '.join(repr(one) for one in parameters[name])})")
    if parameters["category"]:
        below = (f"category = '{one}' OR category LIKE '{one}.%'" for one in parameters["category"])
        conditions.append(f"({' OR '.join(below)})")
    if parameters["currency"]:
        conditions.append(f"currency = '{parameters['currency']}'")
    where = " AND ".join(conditions)
    if parameters.get("kind") in ("listing", "sale"):
        where += f" AND kind = '{parameters['kind']}'"
    elif parameters.get("kind") is None:
        where += f" AND (kind = 'listing' OR NOT EXISTS (SELECT 1 FROM {counted(parameters)} WHERE {where} AND kind = 'listing'))"
    return where


def aside(parameters: dict[str, Any]) -> str:
    """Write as SQL how many outliers a question has, by period, groups and currency."""
    groups = "".join(f", {name}" for name in parameters["group_by"])
    period = f"CAST(date_trunc('{parameters['granularity']}', day) AS date)"
    return (
        f"SELECT {period}{groups}, currency, count(*) FROM raw WHERE outlier IS NOT NULL AND {condition(parameters)} "
        f"GROUP BY {period}{groups}, currency"
    )


def plain(parameters: dict[str, Any], value: str = "price_minor") -> str:
    """Write the same question as plain SQL over the raw rows; `value` is what the distribution is of."""
    groups = "".join(f", {name}" for name in parameters["group_by"])
    period = f"CAST(date_trunc('{parameters['granularity']}', day) AS date)"
    listed = ", ".join(f"quantile_cont(CAST({value} AS FLOAT8), {share})" for share in PERCENTS)
    depth = "CASE WHEN price_minor < list_minor THEN 1 - CAST(price_minor AS FLOAT8) / list_minor END"
    return (
        f"SELECT {period} AS period{groups}, currency, count(DISTINCT item_id), count(*), avg({value}), "
        f"stddev_samp({value}), {listed}, min({value}), max({value}), min(day), max(day), "
        f"count(list_minor), count(*) FILTER (WHERE price_minor < list_minor), avg({depth}), "
        f"quantile_cont({depth}, 0.5) "
        f"FROM {counted(parameters)} WHERE {condition(parameters)} GROUP BY {period}{groups}, currency"
    )


def test_a_day_of_outliers_alone_has_no_row_and_is_counted(settings: Settings, tmp_path: Path) -> None:
    """Rows have prices, so the sum of their outliers may be less than what the answer says of all."""
    days = [(f"2026-03-{day:02d}", 10_000 if day == 9 else 10) for day in range(1, 21)]
    load_rows(settings, tmp_path, "".join(f"1,Leaf,Leaf,Food,Tea,1,{day},NORTH,{price},\n" for day, price in days))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        answer = make(connection, {"brand": ["leaf"], "granularity": "day"}, quiet)
    rows = answer.table.to_pylist()
    assert date(2026, 3, 9) not in {row["period"] for row in rows} and len(rows) == 19
    assert (sum(row["set_aside"] for row in rows), answer.outliers.set_aside) == (0, 1)


def compare_outliers(answer: Any, rows: list[tuple[Any, ...]], parameters: dict[str, Any]) -> int:
    """Compare the counts of outliers; return how many there were."""
    names = answer.table.column_names[: len(parameters["group_by"]) + 2]
    expected = {tuple(key): n for *key, n in rows}
    for row in answer.table.to_pylist():
        assert row["set_aside"] == expected.get(tuple(row[name] for name in names), 0)
    total = sum(expected.values())
    assert (answer.outliers.mode, answer.outliers.set_aside) == (parameters["outliers"], total)
    return total


def compare(answer: Any, rows: list[tuple[Any, ...]], groups: int, decimals: int | None = None) -> None:
    """Compare all figures; `decimals` are those of the other engine's integers, None for those of the currency."""
    ours = answer.table.to_pylist()
    names = answer.table.column_names
    keyed = {tuple(row[name] for name in names[: groups + 2]): row for row in ours}
    assert len(keyed) == len(ours)
    assert keyed.keys() == {tuple(row[: groups + 2]) for row in rows}
    for row in rows:
        mine = keyed[tuple(row[: groups + 2])]
        items, n, mean, deviation, *percentiles, least, most, first, last, listed, cut, deep, middle = row[groups + 2 :]
        unit = Decimal(1).scaleb(minor_digits(mine["currency"]) if decimals is None else decimals)
        rounded = 0.0 if decimals is None else 0.5  # an answer has no more decimals than unit prices have
        assert (mine["items"], mine["observations"], mine["price_n"]) == (items, n, n)
        assert (mine["min"] * unit, mine["max"] * unit) == (least, most)
        assert (mine["first_day"], mine["last_day"]) == (first, last)
        for name, theirs in zip(("p10", "p25", "p50", "p75", "p90"), percentiles, strict=True):
            assert float(mine[name] * unit) == pytest.approx(float(theirs), rel=1e-12, abs=rounded), name
        assert float(mine["mean"] * unit) == pytest.approx(float(mean), rel=1e-9, abs=max(1e-3, rounded))
        if n == 1:
            assert mine["stddev"] is None
        else:
            assert float(mine["stddev"] * unit) == pytest.approx(float(deviation), rel=1e-6, abs=max(1e-2, rounded))
        assert sum(channel["observations"] for channel in mine["channels"]) == n
        assert mine["list_price_n"] == listed
        assert mine["promotion_share"] == (pytest.approx(cut / listed, abs=1e-6) if listed else None)
        assert mine["discount_mean"] == (pytest.approx(float(deep), abs=1e-6) if cut else None)
        assert mine["discount_median"] == (pytest.approx(float(middle), abs=1e-6) if cut else None)


def test_random_cohorts_equal_another_engine(connection: Connection, raw: duckdb.DuckDBPyConnection) -> None:
    chance, (brands, categories) = random.Random(10), known(connection)
    filled = outliers = 0
    for _ in range(120):
        parameters = asked(chance, brands, categories)
        rows = raw.execute(plain(parameters)).fetchall()
        answer = make(connection, parameters, quiet)
        compare(answer, rows, len(parameters["group_by"]))
        outliers += bool(compare_outliers(answer, raw.execute(aside(parameters)).fetchall(), parameters))
        filled += bool(rows)
    assert filled > 60
    assert outliers > 10


def test_by_default_it_is_the_last_90_days_that_hold_data_of_the_brand(connection: Connection) -> None:
    answer = make(connection, {"brand": ["vita"]}, quiet)
    newest = connection.execute(f"SELECT max(day) FROM ({RAW}) r WHERE brand = 'vita'").fetchone()
    assert newest is not None
    assert (answer.days.last, answer.days.first) == (newest[0], newest[0] - timedelta(days=89))
    assert answer.coverage["days"] == 90
    assert answer.coverage["observed_days"] + answer.coverage["missing_days"] == 90
    assert answer.coverage["last"] == answer.days.last


def test_days_without_data_are_reported_as_missing_and_no_row_is_made_up(connection: Connection) -> None:
    answer = make(connection, {"brand": ["vita"], "from": "2020-01-01", "to": "2020-01-31"}, quiet)
    assert answer.table.num_rows == 0
    assert (answer.coverage["days"], answer.coverage["observed_days"], answer.coverage["first"]) == (31, 0, None)
    assert "mean" in answer.table.column_names


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"brand": ["unknown"]}, BrandNotFound),
        ({"category": ["no.where"]}, CategoryNotFound),
        ({"brand": ["vita"], "channel": ["MOON"]}, InvalidParameter),
    ],
)
def test_a_question_that_cannot_be_answered_names_the_parameter(
    connection: Connection, parameters: Any, error: Any
) -> None:
    with pytest.raises(error):
        make(connection, parameters, quiet)


def test_the_caller_may_stop_it_and_the_connection_is_free_again(connection: Connection) -> None:
    class Stopped(Exception):
        pass

    def stop(stage: str, done: int, total: int | None) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        make(connection, {"brand": ["vita"]}, stop)
    assert connection.info.transaction_status.name == "IDLE"
