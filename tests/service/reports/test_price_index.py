"""The price index equals what DuckDB computes from the raw rows, however it is asked for."""

import asyncio
import math
import random
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shared.db.connect import Connection, connect
from shared.errors import InvalidParameter
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET, known
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.engine import single_threaded
from tests.support.reports import quiet, work
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from workers.analytics.reports.price_index import make

pytestmark = ON_THE_MARKET
RAW = """
SELECT o.day, o.item_id, o.price_minor, o.currency, h.code, b.slug, c.code, o.kind::text, o.units, o.outlier::text
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id
WHERE o.price_minor > 0 AND o.outlier IS NULL"""
# Matched pairs of periods, and the formula over them: GEKS is the mean over every link period of both ways.
GEKS = """
WITH cells AS ({cells}), pairs AS (
    SELECT a.currency, a.period AS t0, b.period AS t1, {formula} AS value
    FROM cells a JOIN cells b USING (currency, item_id, channel) GROUP BY ALL)
SELECT x.currency, x.t1, exp(avg(ln(x.value) + ln(y.value))) AS index, count(*) AS links
FROM (SELECT currency, t0 AS link, t1, value FROM pairs) x
JOIN (SELECT p.currency, p.t0, p.t1 AS link, p.value FROM pairs p
      JOIN (SELECT currency, min(period) AS first FROM cells GROUP BY 1) f ON p.currency = f.currency AND p.t0 = f.first) y
USING (currency, link) GROUP BY ALL"""
FORMULAE = {
    "geks-jevons": "exp(avg(ln(b.price) - ln(a.price)))",
    "geks-fisher": "sqrt(sum(b.price * a.units) / sum(a.price * a.units) * sum(b.price * b.units) / sum(a.price * b.units))",
    "geks-walsh": "sum(b.price * sqrt(a.units * b.units)) / sum(a.price * sqrt(a.units * b.units))",
}


@pytest.fixture(scope="module")
def raw(market: Settings) -> duckdb.DuckDBPyConnection:
    return engine_of(market)


def engine_of(market: Settings) -> duckdb.DuckDBPyConnection:
    """Give another engine the raw rows."""
    engine = single_threaded()
    engine.execute(
        "CREATE TABLE raw (day DATE, item_id BIGINT, price_minor DOUBLE, currency TEXT, channel TEXT, brand TEXT, "
        "category TEXT, kind TEXT, units DOUBLE, outlier TEXT)"
    )
    with connect(market.worker_database_url, application="tests") as opened_connection:
        columns = [list(column) for column in zip(*opened_connection.execute(RAW), strict=True)]
    # One statement for all rows: a statement for each takes half a minute.
    engine.register("rows", pa.table(columns, names=[f"c{n}" for n in range(len(columns))]))
    engine.execute("INSERT INTO raw SELECT * FROM rows")
    return engine


def asked(chance: random.Random, brands: list[str], categories: list[str]) -> dict[str, Any]:
    first = date(2025, 6, 20) + timedelta(days=chance.randrange(300))
    if chance.random() < 0.5:
        first = first.replace(day=1)
    granularity = chance.choice(("month", "month", "week", "quarter"))
    last = first + timedelta(days=chance.choice((30, 90) if granularity == "week" else (90, 200, 400)))
    which = chance.choice(("brand", "category", "category", "both"))
    method = chance.choice(tuple(FORMULAE))
    return {
        "brand": chance.sample(brands, chance.randint(1, 3)) if which != "category" else [],
        "category": chance.sample(categories, chance.randint(1, 3)) if which != "brand" else [],
        "from": first.isoformat(),
        "to": last.isoformat(),
        "granularity": granularity,
        "channel": chance.choice(([], [], ["NORTH", "KIOSK"])),
        "currency": chance.choice((None, "USD", "HKD")),
        "kind": "sale" if method != "geks-jevons" else chance.choice(("sale", "listing")),
        "method": method,
        "outliers": chance.choice(("exclude", "exclude", "include")),
        "match": chance.choice(("channel", "channel", "item")),
    }


def cells(parameters: dict[str, Any]) -> str:
    conditions = [
        f"day BETWEEN DATE '{parameters['from']}' AND DATE '{parameters['to']}'",
        f"kind = '{parameters['kind'][0]}'",
    ]
    if parameters["outliers"] == "exclude":
        conditions.append("outlier IS NULL")
    for name in ("brand", "channel"):
        if parameters[name]:
            conditions.append(f"{name} IN ({', '.join(repr(one) for one in parameters[name])})")
    if parameters["category"]:
        below = (f"category = '{one}' OR starts_with(category, '{one}.')" for one in parameters["category"])
        conditions.append(f"({' OR '.join(below)})")
    if parameters["currency"]:
        conditions.append(f"currency = '{parameters['currency']}'")
    channel = "channel" if parameters["match"] == "channel" else "''"
    price = "sum(price_minor * units) / sum(units)" if parameters["kind"] == "sale" else "exp(avg(ln(price_minor)))"
    return (
        f"SELECT currency, CAST(date_trunc('{parameters['granularity']}', day) AS DATE) AS period, item_id, "
        f"{channel} AS channel, {price} AS price, sum(units) AS units FROM raw WHERE {' AND '.join(conditions)} GROUP BY ALL"
    )


@pytest.mark.parametrize("seed", range(16))
def test_index_equals_plain_sql_over_the_raw_rows(
    connection: Connection, raw: duckdb.DuckDBPyConnection, seed: int
) -> None:
    chance = random.Random(seed)
    parameters = asked(chance, *known(connection))
    counted = raw.execute(
        f"SELECT currency, period, count(DISTINCT item_id) FROM ({cells(parameters)}) GROUP BY ALL"
    ).fetchall()
    if not counted and parameters["method"] != "geks-jevons":
        with pytest.raises(InvalidParameter, match="nothing of this was sold"):
            make(connection, parameters, quiet)
        return
    compare(make(connection, parameters, quiet).table.to_pylist(), raw, parameters)


def compare(rows: list[dict[str, Any]], raw: duckdb.DuckDBPyConnection, parameters: dict[str, Any]) -> None:
    """Compare the rows of an index with those of plain SQL."""
    query = f"SELECT currency, period, count(DISTINCT item_id) FROM ({cells(parameters)}) GROUP BY ALL"
    counted = raw.execute(query).fetchall()
    ours = {(row["currency"], row["period"]): row for row in rows}
    assert {(currency, period): n for currency, period, n in counted} == {
        key: row["items"] for key, row in ours.items()
    }
    periods = {currency: sum(1 for one, _, _ in counted if one == currency) for currency, _, _ in counted}
    query = GEKS.format(cells=cells(parameters), formula=FORMULAE[parameters["method"]])
    for currency, period, index, links in raw.execute(query).fetchall():
        if links == periods[currency]:  # SQL has no system of equations for periods that share no item
            row = ours[currency, period]
            assert row["index"] == pytest.approx(100 * index, rel=1e-7, abs=0.51 * step(row["low"], row["high"]))


def step(low: float | None, high: float | None) -> float:
    """Return the unit of the last digit that is shown: a tenth of the width's first digit."""
    return 1e-6 if low is None or high is None else max(1e-6, 10 ** (math.floor(math.log10(high - low)) - 1))


def test_matched_new_and_vanished_items_are_counted_against_the_period_before(
    connection: Connection, raw: duckdb.DuckDBPyConnection
) -> None:
    parameters = asked(random.Random(1), *known(connection)) | {
        "brand": [], "category": ["food"], "channel": [], "granularity": "month", "currency": "HKD", "kind": "listing",
        "from": "2026-03-01", "to": "2026-06-30", "method": "geks-jevons", "outliers": "exclude", "match": "channel",
    }  # fmt: skip
    rows = make(connection, parameters, quiet).table.to_pylist()
    priced: dict[date, set[tuple[int, str]]] = {}
    for _, period, item, channel, _, _ in raw.execute(cells(parameters)).fetchall():
        priced.setdefault(period, set()).add((item, channel))
    items = {period: {item for item, _ in pairs} for period, pairs in priced.items()}
    periods = sorted(items)
    assert [row["period"] for row in rows] == periods
    assert [
        rows[0][name] for name in ("matched_items", "share_matched", "new_items", "vanished_items", "compared_with")
    ] == [None] * 5
    for row, (before, here) in zip(rows[1:], pairwise(periods), strict=True):
        assert row["compared_with"] == before
        both = priced[here] & priced[before]
        matched = {item for item, _ in both}
        assert (row["matched_items"], row["new_items"], row["vanished_items"]) == (
            len(matched), len(items[here] - matched), len(items[before] - matched)
        )  # fmt: skip
        assert row["matched_prices"] == len(both) > len(matched)
        assert row["share_matched"] == pytest.approx(len(matched) / len(items[here]), abs=1e-6)
        assert row["low"] < row["index"] < row["high"]


@pytest.mark.parametrize("method", ["jevons", "dutot", "carli", "fisher", "tornqvist", "tpd", "geary-khamis"])
def test_every_splice_of_every_kind_of_method_is_answered_and_repeated(connection: Connection, method: str) -> None:
    # Three months more than a window: each splice links to a window, and to what it has linked before.
    question = {"category": ["food"], "from": "2025-12-01", "to": "2026-06-30", "method": method, "window": 4}
    for splice in ("movement", "window", "half", "mean", "mean-published", "fbew"):
        once, again = (make(connection, {**question, "splice": splice}, quiet).table for _ in range(2))
        assert once.equals(again)
        assert once.column("index")[0].as_py() == 100


@pytest.mark.parametrize(("method", "used"), [("jevons", False), ("geks-jevons", True)])
def test_the_answer_says_whether_a_window_was_used(connection: Connection, method: str, used: bool) -> None:
    question = {"category": ["food"], "from": "2025-07-01", "to": "2026-06-30", "method": method}
    alone, windowed = (make(connection, {**question, **more}, quiet) for more in ({}, {"window": 3}))
    assert ("`window` is not used" in windowed.method) is not used
    assert "`window` is not used" not in alone.method
    assert windowed.table.column("index").equals(alone.table.column("index")) is not used


def test_a_dearer_channel_that_comes_does_not_move_the_index_unless_items_are_matched(
    settings: Settings, tmp_path: Path
) -> None:
    """Six teas keep their price in NORTH; SOUTH offers them from June on for half as much again."""
    rows = [
        f"{number},Tea {number},Leaf,Drinks,Tea,1,2026-{month:02}-04,{store},{price},\n"
        for number in range(6)
        for month in (5, 6)
        for store, price in (("NORTH", "10"), ("SOUTH", "15"))
        if (month, store) != (5, "SOUTH")
    ]
    load_rows(settings, tmp_path, "".join(rows))
    question = {"category": ["drinks"], "from": "2026-05-01", "to": "2026-06-30"}
    with connect(settings.worker_database_url, application="tests") as opened:
        for method in ("geks-jevons", "jevons", "tpd", "carli"):
            asked = {**question, "method": method}
            channels, items = (
                make(opened, {**asked, **more}, quiet).table.to_pylist() for more in ({}, {"match": "item"})
            )
            assert [row["index"] for row in channels] == [100, 100]
            assert (channels[1]["items"], channels[1]["matched_items"], channels[1]["matched_prices"]) == (6, 6, 6)
            assert [row["index"] for row in items] == [100, pytest.approx(100 * 1.5**0.5, abs=1e-6)]
            assert {(row["low"], row["high"]) for row in (*channels, *items)} == {(None, None)}


def test_the_interval_depends_on_the_prices_alone(connection: Connection) -> None:
    question = {"category": ["food"], "from": "2026-01-01", "to": "2026-06-30", "method": "geks-jevons"}
    spelled: tuple[dict[str, Any], ...] = ({}, {"granularity": "month"}, {"splice": "movement"}, {"convert": "USD"})
    tables = [make(connection, {**question, **more}, quiet).table for more in spelled]
    assert all(table.equals(tables[0]) for table in tables)


def test_a_weighted_index_from_a_day_after_the_last_data_is_an_empty_answer(connection: Connection) -> None:
    answer = make(connection, {"brand": ["alco"], "method": "fisher", "from": "2030-01-01"}, quiet)
    assert (answer.table.num_rows, answer.days.first, answer.days.last) == (0, date(2030, 1, 1), date(2030, 1, 1))


@pytest.mark.parametrize("bound", ["comparisons_max", "logarithms_max"])
def test_more_pairs_of_periods_than_a_worker_can_compare_are_refused(connection: Connection, bound: str) -> None:
    question = {"category": ["food"], "from": "2025-07-01", "to": "2026-06-30", "method": "geks-jevons"}
    assert make(connection, question, quiet).table.num_rows
    with pytest.raises(InvalidParameter, match="too many periods"):
        make(connection, question, quiet, **{bound: 100})


class TestOverHttp:
    """The paid read: validation before any job, one job for every spelling of a question."""

    @pytest.fixture
    def contents(self) -> Contents:
        return open_shop

    @pytest.fixture
    def key(self, settings: Settings) -> str:
        return api_key(settings)

    async def test_impossible_question_is_400_and_names_the_parameter(self, edge: Edge, key: str) -> None:
        for query, parameter in (
            ("method=fisher&brand=vita&kind=listing", "method"),
            ("method=best&brand=vita", "method"),
            ("brand=vita&window=1", "window"),
            ("brand=vita&splice=glue", "splice"),
            ("brand=vita&kind=both", "kind"),
            ("method=jevons", "brand"),
            ("brand=vita&granularity=decade", "granularity"),
        ):
            answer = await edge.get(f"/index/prices/index?{query}", key=key)
            assert answer.status == 400, query
            assert [error["parameter"] for error in answer.json["errors"]] == [parameter], query

    async def test_question_is_paid_once_whatever_the_spelling_of_its_method(
        self, edge: Edge, settings: Settings, key: str
    ) -> None:
        asking = asyncio.create_task(
            edge.get("/index/prices/index?brand=vita&granularity=day&method=GEKS_Jevons", key=key)
        )
        assert await work(settings, make) == ["succeeded"]
        first = await asking
        assert first.status == 200, first.body
        assert [row["index"] for row in first.json["data"]][:1] == [100]
        assert first.json["meta"]["cost_units"] == 10
        again = await edge.get("/index/prices/index?brand=vita&granularity=day&method=geks-jevons", key=key)
        assert (again.json["meta"]["cached"], again.json["data"]) == (True, first.json["data"])
        csv = await edge.get("/index/prices/index?brand=vita&granularity=day&format=csv&dry_run=true", key=key)
        assert csv.json["cost_units"] == 1

    async def test_weighted_index_of_what_was_never_sold_says_why(
        self, edge: Edge, settings: Settings, key: str
    ) -> None:
        asking = asyncio.create_task(edge.get("/index/prices/index?brand=vita&method=fisher", key=key))
        await work(settings, make)
        answer = await asking
        assert answer.status == 400
        assert "nothing of this was sold" in answer.body.decode()
