"""Rollups equal what DuckDB computes from the raw rows: by units sold, and by articles in the assortment."""

import math
import random
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from shared.analytics.footprint import CODES
from shared.db.connect import Connection, connect
from shared.errors import JobRefused
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET, known, opened
from tests.support.engine import single_threaded
from tests.support.reports import quiet
from tests.support.servers import Servers, begins_with
from tests.support.shop import MAPPING, load_rows
from workers.analytics.reports.filters import Tree, filter_of
from workers.analytics.reports.quantities import Quantities
from workers.analytics.reports.query import Reader
from workers.analytics.reports.sustainability_rollup import make
from workers.analytics.reports.window import range_of
from workers.analytics.rollups import layout

pytestmark = ON_THE_MARKET
NAMES = ("co2e_kg", "water_l", "waste_kg", "land_use_m2a")
TABLES = {
    "raw": """SELECT o.day, o.item_id, o.units, o.kind::text AS kind, o.currency::text AS currency, h.code AS channel
        FROM observations o JOIN channels h ON h.id = o.channel_id""",
    "items": """SELECT i.id, b.slug AS brand, c.code AS category, i.product_type, i.first_seen_on,
        coalesce(i.attributes ->> 'weight_basis', 'as_sold') AS basis, coalesce((i.attributes ->> 'weight_kg')::float8,
        (i.attributes ->> 'volume_l')::float8 * (i.attributes ->> 'density_kg_per_l')::float8) AS weight
        FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id""",
    "impacts": "SELECT item_id, indicator, per_unit::float8 AS per_unit, basis FROM impacts",
    "factors": "SELECT scope, code, indicator, basis, per_kg::float8 AS per_kg FROM impact_factors",
}
FIGURES = """CREATE TABLE figures AS
    SELECT item_id, indicator, coalesce(own, average) AS per_unit,
        CASE WHEN basis = 'measured' THEN 3 WHEN basis = 'modelled' THEN 2 WHEN average IS NULL THEN 0 ELSE 1 END AS evidence
    FROM (SELECT i.id AS item_id, n.indicator, p.per_unit AS own, p.basis, i.weight * coalesce(
            (SELECT per_kg FROM factors f WHERE f.scope = 'product_type' AND f.code = i.product_type AND f.indicator = n.indicator
             AND f.basis = i.basis),
            (SELECT max_by(per_kg, length(f.code)) FROM factors f WHERE f.scope = 'category' AND f.indicator = n.indicator
             AND f.basis = i.basis AND (i.category = f.code OR starts_with(i.category, f.code || '.')))) AS average
        FROM items i CROSS JOIN (VALUES ('co2e_kg'), ('water_l'), ('waste_kg'), ('land_use_m2a')) n(indicator)
        LEFT JOIN impacts p ON p.item_id = i.id AND p.indicator = n.indicator)"""
UNPRICED = """CREATE TABLE unpriced AS SELECT * FROM items
    WHERE id IN (SELECT item_id FROM impacts) AND id NOT IN (SELECT item_id FROM raw)"""
# Of the assortment each item once; an unpriced item is in each period from the one in which it was first seen.
QUANTITIES = """
    SELECT period, {groups} item_id, CASE WHEN {once} THEN 1 ELSE sum(units) END AS units FROM (
        SELECT {period_of_day} AS period, brand, category, channel, currency, day, item_id, units, kind
        FROM raw JOIN items ON items.id = raw.item_id
        UNION ALL
        SELECT DISTINCT {period_of_day}, brand, category, NULL, NULL, greatest(first_seen_on, DATE '{first}'), id, 0, '-'
        FROM unpriced CROSS JOIN (SELECT CAST(unnest(generate_series(DATE '{first}', DATE '{last}', INTERVAL 1 DAY)) AS date) AS day)
        WHERE {unpriced} AND day >= first_seen_on)
    WHERE {where} GROUP BY period, {groups} item_id"""

WHOLE = {
    **{"brand": [], "category": [], "channel": [], "currency": None, "group_by": ["category"]},
    **{"from": "2026-03-01", "to": "2026-05-31", "granularity": "month"},
}


@pytest.fixture(scope="module")
def market(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with opened(servers, tmp_path_factory.mktemp("market")) as settings:
        with connect(settings.database_url, application="tests") as connection:
            source = "SELECT id FROM sources WHERE name = 'generated'"
            connection.execute(
                f"""INSERT INTO impact_factors SELECT * FROM (VALUES
                ('category', 'food', 'co2e_kg', 2.0, 3, 'mean of the lab'), ('category', 'food.tea', 'co2e_kg', 5.0, 1, 'tea'),
                ('category', 'food', 'water_l', 100.0, 3, 'mean'), ('product_type', 'Rice', 'co2e_kg', 9.0, 1, 'rice'),
                ('category', 'drinks', 'land_use_m2a', 0.5, 1, 'land')
                ) v, ({source}) s""".encode()
            )
            connection.execute(
                f"""INSERT INTO impact_factors (scope, code, indicator, per_kg, samples, method, basis, source_id)
                SELECT v.*, s.id FROM (VALUES ('category', 'food', 'co2e_kg', 0.25, 4, 'as eaten', 'as_consumed'),
                ('category', 'food.tea', 'waste_kg', 3.0, 1, 'as eaten', 'as_consumed'),
                ('product_type', 'Rice', 'co2e_kg', 4.0, 1, 'rice', 'dry')) v, ({source}) s""".encode()
            )
            # Some weigh as they are consumed, and some state their volume in place of their weight.
            connection.execute(
                """UPDATE items SET attributes = attributes || '{"weight_basis": "as_consumed"}' WHERE id % 3 = 0"""
            )
            connection.execute("""UPDATE items SET attributes = attributes - 'weight_kg'
                || '{"volume_l": "0.75", "density_kg_per_l": "0.92", "weight_basis": "dry"}' WHERE id % 5 = 0""")
            # Some of the items that have figures of their own lose their prices.
            connection.execute(
                f"""INSERT INTO impacts
                SELECT i.id, 'co2e_kg', i.n * 1.25, CASE WHEN i.n % 2 = 0 THEN 'measured' ELSE 'modelled' END, 'weighed', s.id,
                    '2026-01-01' FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM items) i, ({source}) s
                WHERE i.n % 7 = 0""".encode()
            )
        unpriced = (
            "1,Bench,Oakley,Home,Garden,2,2026-05-02,NORTH,1,\n2,Chair,Oakley,Home,Garden,2,2026-02-02,NORTH,1,\n"
        )
        load_rows(settings, tmp_path_factory.mktemp("garden"), unpriced, text=MAPPING.replace('"shop"', '"garden"'))
        _unprice(settings)
        yield settings


def _unprice(settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("""INSERT INTO impacts SELECT i.id, 'waste_kg', 2.5, 'modelled', 'weighed', s.id, '2026-01-01'
            FROM items i JOIN brands b ON b.id = i.brand_id, sources s WHERE b.slug = 'oakley' AND s.name = 'garden'""")
        connection.execute("""DELETE FROM observations o USING items i JOIN brands b ON b.id = i.brand_id
            WHERE o.item_id = i.id AND b.slug = 'oakley'""")
        layout.rebuild_rollups(connection)


@pytest.fixture(scope="module")
def engine(market: Settings) -> duckdb.DuckDBPyConnection:
    found = single_threaded()
    with connect(market.worker_database_url, application="tests") as opened_connection:
        for name, query in TABLES.items():
            cursor = opened_connection.execute(query)
            names = [column.name for column in cursor.description or ()]
            arrived = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in cursor])
            found.register("arrived", arrived)
            found.execute(f"CREATE TABLE {name} AS SELECT * FROM arrived")
    found.execute(FIGURES)
    found.execute(UNPRICED)
    return found


def condition_of(asked: dict[str, Any]) -> str:
    """Return which rows a question is about."""
    conditions = [f"day BETWEEN DATE '{asked['from']}' AND DATE '{asked['to']}'"]
    for name in ("brand", "channel"):
        if asked[name]:
            conditions.append(f"{name} IN ({', '.join(repr(one) for one in asked[name])})")
    if asked["category"]:
        below = (f"category = '{one}' OR category LIKE '{one}.%'" for one in asked["category"])
        conditions.append(f"({' OR '.join(below)})")
    if asked["currency"]:
        conditions.append(f"currency = '{asked['currency']}'")
    return " AND ".join(conditions)


def period_of(asked: dict[str, Any]) -> str:
    """Return the first day of a row's period."""
    granularity = asked["granularity"]
    return f"CAST(date_trunc('{granularity}', day) AS date)" if granularity else f"DATE '{asked['from']}'"


def quantities_of(engine: duckdb.DuckDBPyConnection, asked: dict[str, Any]) -> tuple[str, str]:
    """Return the basis of an answer, and a query of period, groups, item and units."""
    where = condition_of(asked)
    sales = f"SELECT count(*) FROM raw JOIN items ON items.id = raw.item_id WHERE kind = 's' AND {where}"
    [(sold,)] = engine.execute(sales).fetchall()
    basis = asked["basis"] or ("sales" if sold else "assortment")
    return basis, QUANTITIES.format(
        period_of_day=period_of(asked),
        groups="".join(f"{name}, " for name in asked["group_by"]),
        once=basis == "assortment",
        unpriced=basis == "assortment" and "channel" not in asked["group_by"],
        first=asked["from"],
        last=asked["to"],
        where=where + (" AND kind = 's'" if basis == "sales" else ""),
    )


def expected(engine: duckdb.DuckDBPyConnection, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return basis, then period, groups, items, units, the three sums, and items by evidence."""
    basis, quantities = quantities_of(engine, asked)
    groups = "".join(f"{name}, " for name in asked["group_by"])
    sums = ", ".join(f"sum(units * per_unit) FILTER (WHERE indicator = '{one}')" for one in NAMES)
    counts = ", ".join(f"count(DISTINCT item_id) FILTER (WHERE best = {n})" for n in (3, 2, 1))
    return [
        (basis, *row)
        for row in engine.execute(f"""
        SELECT period, {groups} count(DISTINCT item_id), sum(units) FILTER (WHERE indicator = 'co2e_kg'), {sums}, {counts}
        FROM ({quantities}) JOIN figures USING (item_id)
        JOIN (SELECT item_id, max(evidence) AS best FROM figures GROUP BY item_id) USING (item_id)
        GROUP BY {groups} period""").fetchall()
    ]


def asked(chance: random.Random, brands: list[str], categories: list[str]) -> dict[str, Any]:
    first = date(2026, 1, 20) + timedelta(days=chance.randrange(150))
    return {
        "brand": chance.sample(brands, chance.randint(1, 3)) if chance.random() < 0.4 else [],
        "category": chance.sample(categories, chance.randint(1, 3)) if chance.random() < 0.4 else [],
        "from": first.isoformat(),
        "to": (first + timedelta(days=chance.choice((0, 5, 40, 90)))).isoformat(),
        "granularity": chance.choice((None, "day", "week", "month")),
        "basis": chance.choice((None, "sales", "assortment")),
        "channel": chance.choice(([], [], [], ["NORTH", "KIOSK"])),
        "currency": chance.choice((None, None, "USD", "HKD")),
        "group_by": chance.sample(("brand", "category", "channel"), chance.choice((0, 0, 1, 2))),
    }


def test_random_rollups_equal_another_engine(connection: Connection, engine: duckdb.DuckDBPyConnection) -> None:
    chance, (brands, categories) = random.Random(0), known(connection)
    bases = set()
    for _ in range(40):
        parameters = asked(chance, [*brands[:8], "oakley"], categories)
        answer = make(connection, parameters, quiet)
        width = 1 + len(parameters["group_by"])
        theirs = {row[1 : width + 1]: (row[0], *row[width + 1 :]) for row in expected(engine, parameters)}
        ours = {tuple(row.values())[:width]: row for row in answer.table.to_pylist()}
        assert ours.keys() == theirs.keys(), parameters
        for key, (basis, items, units, *sums, measured, modelled, averaged) in theirs.items():
            mine = ours[key]
            bases.add(basis)
            assert (mine["basis"], answer.basis) == (basis, basis)
            assert (mine["items"], mine["units"]) == (items, units if basis == "sales" else None)
            for name, total in zip(NAMES, sums, strict=True):
                assert mine[name] == (None if total is None else pytest.approx(total, rel=1e-8)), (name, parameters)
                low, central, high = (mine[f"{name}_{bound}"] for bound in ("low", "central", "high"))
                if not total:
                    assert (low, central, high) == (total, total, total)
                    continue
                assert low <= central <= high, (name, parameters)
                assert low <= mine[name] <= high, (name, parameters)
            by_evidence = (mine["measured_items"], mine["modelled_items"], mine["category_average_items"])
            assert by_evidence == (measured, modelled, averaged)
            assert mine["items_measured"] == pytest.approx(measured / items, abs=1e-6)
            assert mine["items_covered"] == pytest.approx(sum(by_evidence) / items, abs=1e-6)
    assert bases == {"sales", "assortment"}


def test_a_displacement_rate_adds_what_the_units_sold_avoid_and_changes_nothing_else(connection: Connection) -> None:
    question = {**WHOLE, "basis": "sales"}
    plain, found = make(connection, question, quiet), set[str]()
    for given, rate in (
        ({"displacement_rate": 0.0}, 0),
        ({"displacement_rate": 1.0}, 1),
        ({"displacement": "resale"}, 0.646),
    ):
        answer = make(connection, {**question, **given}, quiet)
        assert answer.displacement is not None and answer.displacement.rate == rate
        for row, other in zip(answer.table.to_pylist(), plain.table.to_pylist(), strict=True):
            avoided = {one.pop("indicator"): one for one in row.pop("avoided")}
            assert avoided.keys() == {name for name in CODES if row[name] is not None}
            found |= avoided.keys()
            for name, bounds in avoided.items():
                assert bounds == {bound: pytest.approx(rate * row[f"{name}_{bound}"], rel=1e-8) for bound in bounds}
            assert other.pop("avoided") is None
            assert row == other
    assert plain.displacement is None and found


def test_items_that_were_not_sold_avoid_nothing(connection: Connection) -> None:
    answer = make(connection, {**WHOLE, "basis": "assortment", "displacement": "resale"}, quiet)
    assert {row["avoided"] for row in answer.table.to_pylist()} == {None}


@begins_with(load_rows)
def test_listings_count_each_article_once_however_often_it_was_seen(settings: Settings) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(
            "INSERT INTO impacts SELECT i.id, 'co2e_kg', 2, 'measured', 'm', s.id, '2026-01-01' FROM items i, sources s"
        )
        [row] = make(connection, {"granularity": "month"}, quiet).table.to_pylist()
    assert (row["basis"], row["items"], row["units"], row["co2e_kg"]) == ("assortment", 3, None, 6.0)


@begins_with(load_rows)
def test_the_parts_of_a_total_by_stage_add_up_to_it(settings: Settings) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("""INSERT INTO impacts SELECT i.id, 'co2e_kg', 1.1 * (row_number() OVER (ORDER BY i.id)), 'modelled', 'm',
            s.id, '2026-01-01' FROM items i, sources s""")
        connection.execute("""INSERT INTO impact_stages SELECT i.id, v.indicator, v.stage, v.per_unit, 'modelled', 'm', s.id, '2026-01-01'
            FROM items i CROSS JOIN (VALUES ('co2e_kg', 'upstream', 0.7), ('co2e_kg', 'end of life', -0.1), ('water_l', 'use', 9.0))
            v(indicator, stage, per_unit), sources s WHERE v.stage <> 'end of life' OR i.product_type = 'Custard'""")
        rows = make(connection, {"granularity": "month", "group_by": ["brand"]}, quiet).table.to_pylist()
    assert [[part["stage"] for part in row["stages"]] for row in rows] == [
        ["end of life", "upstream", None],
        ["upstream", None],
    ]
    for row in rows:
        assert {part["indicator"] for part in row["stages"]} == {
            "co2e_kg"
        }  # of a stage without a total nothing is said
        parts = {part["stage"]: part["sum"] for part in row["stages"]}
        assert parts["upstream"] == pytest.approx(0.7 * row["items"])
        assert sum(Decimal(repr(part)) for part in parts.values()) == Decimal(repr(row["co2e_kg"]))


@pytest.mark.parametrize(
    ("pedigree", "factors"), [(None, (1.54, 1.04, 1.1, 1.04, 1.18)), ("(2,3,1,2,4)", (1.54, 1.04, 1.0, 1.04, 2.08))]
)
@begins_with(load_rows)
def test_the_total_of_many_figures_is_as_wide_as_their_pedigree_stated_or_assumed(
    settings: Settings, tmp_path: Path, pedigree: str | None, factors: tuple[float, ...]
) -> None:
    rows = "".join(f"W{n},Modelled chair {n},Chairs,Home,Chair,2,2026-06-02,NORTH,1,\n" for n in range(250))
    load_rows(settings, tmp_path, rows)
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("""INSERT INTO impacts SELECT i.id, 'co2e_kg', 2.0, 'modelled', 'm', s.id, '2026-01-01'
            FROM items i JOIN brands b ON b.id = i.brand_id, sources s WHERE b.slug = 'chairs'""")
        connection.execute("UPDATE impacts SET pedigree = $1", (pedigree,))
        [row] = make(connection, {"brand": ["chairs"]}, quiet).table.to_pylist()
    assert (row["items"], row["co2e_kg"]) == (250, 500.0)
    assert row["co2e_kg_low"] < row["co2e_kg_central"] < 500.0 < row["co2e_kg_high"]
    sigma = math.hypot(*map(math.log, factors), math.log(1.05) / 2)
    worlds = 2.0 * np.exp(sigma * np.random.default_rng(1).standard_normal((4_000, 250)) - sigma**2 / 2).sum(axis=1)
    expected = np.quantile(worlds, [0.025, 0.5, 0.975]).tolist()
    assert [row[f"co2e_kg_{bound}"] for bound in ("low", "central", "high")] == pytest.approx(expected, rel=0.015)


def test_items_without_a_price_are_in_the_assortment_from_the_day_they_were_first_seen_on(
    connection: Connection,
) -> None:
    parameters = {"brand": ["oakley"], "from": "2026-04-01", "to": "2026-06-30", "granularity": "month"}
    rows = make(connection, parameters, quiet).table.to_pylist()
    assert [(row["items"], row["waste_kg"], row["modelled_items"]) for row in rows] == [
        (1, 2.5, 1),
        (2, 5.0, 2),
        (2, 5.0, 2),
    ]


def test_more_periods_than_can_be_answered_are_refused(connection: Connection) -> None:
    parameters = {"brand": ["oakley"], "from": "2026-04-01", "to": "2026-06-30", "granularity": "day"}
    tree = Tree.read(connection)
    chosen = filter_of(connection, tree, parameters)
    reader = Reader(connection, tree, range_of(connection, tree, chosen, parameters))
    with pytest.raises(JobRefused, match="too many periods"):
        Quantities(reader, chosen, once=True, pairs_max=10).add_unpriced()
    Quantities(reader, chosen, once=True, pairs_max=10_000).add_unpriced()
