"""Comparisons of footprints equal what DuckDB computes from the raw rows, and read a world back whose truth is known."""

import random
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shared.calendar_periods import first_day
from shared.db.connect import Connection, connect
from shared.money import minor_digits
from shared.settings.settings import Settings
from tests.service.reports import test_rollup
from tests.service.reports.market import ON_THE_MARKET, known
from tests.service.reports.test_rollup import FIGURES, TABLES, UNPRICED, asked, condition_of, period_of, quantities_of
from tests.support.database import execute
from tests.support.engine import single_threaded
from tests.support.reports import quiet
from tests.support.servers import Servers
from tests.support.shop import HEADER, MAPPING, load_rows
from workers.analytics.reports.footprint_comparison import make
from workers.analytics.reports.result import with_partial_periods
from workers.analytics.reports.sustainability_rollup import make as make_rollup

pytestmark = ON_THE_MARKET
rollup_market = test_rollup.market
NEAR = {"rel": 1e-8}
PRICES = """SELECT o.day, o.item_id, o.price_minor, o.units, o.kind::text AS kind, o.currency::text AS currency, h.code AS channel
    FROM observations o JOIN channels h ON h.id = o.channel_id WHERE o.outlier IS NULL"""
ORIGINS = """SELECT p.item_id, s.name AS source, p.method, p.pedigree, p.reference_year AS year
    FROM impacts p JOIN sources s ON s.id = p.source_id WHERE p.indicator = 'co2e_kg'"""
STAGES = "SELECT item_id, stage, per_unit::float8 AS per_unit FROM impact_stages WHERE indicator = 'co2e_kg'"
FACTOR_YEAR = 2021
# As on paper: three factors a cell, and the limits where a cell is new, gone, or has no footprint.
DECOMPOSED = """
    WITH cells AS (
        SELECT coalesce(n.cell, b.cell) AS cell, coalesce(n.units, 0)::DOUBLE AS n1, coalesce(b.units, 0)::DOUBLE AS n0,
               coalesce(n.footprint, 0) AS e1, coalesce(b.footprint, 0) AS e0
        FROM now n FULL JOIN before b ON n.cell IS NOT DISTINCT FROM b.cell),
    whole AS (SELECT sum(n1) AS total1, sum(n0) AS total0 FROM cells),
    weighted AS (
        SELECT *, n1 = 0 OR n0 = 0 AS appears, total1 = 0 OR total0 = 0 AS all_appear, e1 - e0 AS difference,
               CASE WHEN e1 = e0 THEN e1 WHEN e1 > 0 AND e0 > 0 THEN (e1 - e0) / ln(e1 / e0) END AS weight
        FROM cells, whole)
    SELECT sum(CASE WHEN appears THEN CASE WHEN all_appear THEN difference ELSE 0 END
                    WHEN e1 * e0 = 0 THEN 0 ELSE weight * ln(total1 / total0) END),
           sum(CASE WHEN appears THEN CASE WHEN all_appear THEN 0 ELSE difference END
                    WHEN e1 * e0 = 0 THEN 0 ELSE weight * ln((n1 / total1) / (n0 / total0)) END),
           sum(CASE WHEN appears THEN 0 WHEN e1 * e0 = 0 THEN difference ELSE weight * ln((e1 / n1) / (e0 / n0)) END)
    FROM weighted"""


@pytest.fixture(scope="module")
def market(rollup_market: Settings) -> Settings:
    """The market of rollups, in which some sources state stages, and the quality and year of their data."""
    execute(
        rollup_market,
        """UPDATE impacts SET reference_year = 2020 + item_id % 5, pedigree = CASE WHEN item_id % 2 = 0
        THEN '(' || concat_ws(',', 1 + item_id % 5, 1 + item_id % 4, 1 + item_id % 3, 2, 4) || ')' END""",
    )
    execute(rollup_market, "UPDATE impact_factors SET reference_year = $1", FACTOR_YEAR)
    execute(
        rollup_market,
        """INSERT INTO impact_stages SELECT item_id, indicator, v.stage, per_unit * v.part, basis, method, source_id, as_of
        FROM impacts CROSS JOIN (VALUES ('upstream', 0.75), ('use', 0.5), ('end of life', -0.25)) v(stage, part)
        WHERE item_id % 3 = 0""",
    )
    return rollup_market


@pytest.fixture(scope="module")
def engine(market: Settings) -> duckdb.DuckDBPyConnection:
    found = single_threaded()
    with connect(market.worker_database_url, application="tests") as opened_connection:
        for name, query in {**TABLES, "prices": PRICES, "origins": ORIGINS, "stages": STAGES}.items():
            cursor = opened_connection.execute(query)
            names = [column.name for column in cursor.description or ()]
            arrived = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in cursor])
            found.register("arrived", arrived)
            found.execute(f"CREATE TABLE {name} AS SELECT * FROM arrived")
    found.execute(FIGURES)
    found.execute(UNPRICED)
    return found


def parts_of(engine: duckdb.DuckDBPyConnection, query: str, groups: int) -> dict[tuple[Any, ...], dict[Any, Any]]:
    """Return the rows of a query by period and groups, and then by the first of its other columns."""
    found: dict[tuple[Any, ...], dict[Any, Any]] = defaultdict(dict)
    for row in engine.execute(query).fetchall():
        found[row[: groups + 1]][row[groups + 1]] = row[groups + 2 :]
    return found


def whole_before(period: date, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the question about the period before one."""
    granularity, last = parameters["granularity"], period - timedelta(days=1)
    if granularity:
        first = first_day(last, granularity)
    else:
        first = period - (date.fromisoformat(parameters["to"]) - period) - timedelta(days=1)
    return {**parameters, "from": first.isoformat(), "to": last.isoformat()}


def test_random_comparisons_equal_another_engine(connection: Connection, engine: duckdb.DuckDBPyConnection) -> None:
    chance, (brands, categories) = random.Random(1), known(connection)
    seen: dict[str, int] = defaultdict(int)
    for _ in range(25):
        parameters = asked(chance, [*brands[:8], "oakley"], categories)
        parameters |= {"granularity": chance.choice((None, "week", "month", "quarter"))}
        if chance.random() < 0.5:  # whole periods, which are compared
            parameters |= {"from": "2026-02-01", "to": "2026-04-30"}
        mix = chance.choice(("category", "brand"))
        answer = make(connection, {**parameters, "mix": mix}, quiet)
        basis, quantities = quantities_of(engine, parameters)
        engine.execute(f"CREATE OR REPLACE TABLE entries AS {quantities}")
        engine.execute("""CREATE OR REPLACE TABLE known AS SELECT * FROM entries JOIN figures USING (item_id)
            WHERE indicator = 'co2e_kg' AND per_unit IS NOT NULL""")
        names = ["period", *parameters["group_by"]]
        keys, width = ", ".join(names), len(names)
        totals = engine.execute(f"""SELECT {keys}, count(*), sum(e.units), count(per_unit), sum(e.units * per_unit),
            sum(e.units * per_unit) / nullif(sum(e.units) FILTER (WHERE per_unit IS NOT NULL), 0)
            FROM entries e LEFT JOIN (SELECT * FROM figures WHERE indicator = 'co2e_kg') USING (item_id) GROUP BY {keys}""")
        theirs = {row[:width]: row[width:] for row in totals.fetchall()}
        rows = with_partial_periods(answer).table.to_pylist()
        assert {tuple(row[name] for name in names): row["items"] for row in rows} == {
            key: one[0] for key, one in theirs.items()
        }, parameters
        judged = {
            "per_kg": parts_of(
                engine,
                f"""SELECT {keys}, i.basis, count(*), sum(k.units * i.weight), sum(k.units * per_unit)
                FROM known k JOIN (SELECT id, basis, weight FROM items) i ON i.id = item_id
                WHERE i.weight IS NOT NULL GROUP BY {keys}, i.basis""",
                width - 1,
            ),
            "per_money": parts_of(engine, _money(engine, parameters, basis, keys), width - 1),
            "stages": parts_of(
                engine,
                f"""SELECT {keys}, stage, sum(k.units * s.per_unit) FROM known k JOIN stages s USING (item_id)
                JOIN origins USING (item_id) GROUP BY {keys}, stage""",
                width - 1,
            ),
            "quality": parts_of(engine, _quality(keys), width - 1),
        }
        for row in rows:
            key = tuple(row[name] for name in names)
            items, units, with_figure, total, per_unit = theirs[key]
            assert (row["items"], row["units"]) == (items, units if basis == "sales" else None)
            assert row["items_with_figure"] == with_figure
            assert row["footprint"] == (None if total is None else pytest.approx(total, **NEAR))
            assert row["per_unit"] == (None if total is None else pytest.approx(per_unit, **NEAR))
            if total is not None:
                assert row["footprint_low"] <= row["footprint"] <= row["footprint_high"]
            _compare_ratios(row, judged["per_kg"][key], judged["per_money"][key])
            stages = {one["stage"]: one["sum"] for one in row["stages"] if one["stage"] is not None}
            assert stages == {stage: pytest.approx(value, **NEAR) for stage, (value,) in judged["stages"][key].items()}
            if row["stages"]:
                assert sum(Decimal(repr(one["sum"])) for one in row["stages"]) == Decimal(repr(row["footprint"]))
            _compare_quality(row, judged["quality"][key])
            seen["changes"] += _compare_change(engine, row, {**parameters, "basis": basis}, mix, names)
            seen[basis] += 1
            seen["stages"] += bool(stages)
            seen["scores"] += row["reliability"] is not None
            seen["currencies"] += len(row["per_money"]) > 1
            seen["bases"] += len(row["per_kg"]) > 1
    assert min(seen[name] for name in ("changes", "sales", "assortment", "stages", "scores", "currencies", "bases")) > 5


def _money(engine: duckdb.DuckDBPyConnection, parameters: dict[str, Any], basis: str, keys: str) -> str:
    """Return a query of the items, the value and the footprint in each currency."""
    where = condition_of(parameters)
    listed = f"SELECT count(*) FROM prices JOIN items ON items.id = item_id WHERE kind = 'l' AND {where}"
    [(listings,)] = engine.execute(listed).fetchall()
    kind = "l" if basis == "assortment" and listings else "s"
    prices = f"""SELECT {period_of(parameters)} AS period, brand, category, channel, currency, item_id, price_minor, units
        FROM prices JOIN items ON items.id = item_id WHERE kind = '{kind}' AND {where}"""
    units = "1" if basis == "assortment" else "sum(units)"
    return f"""SELECT {keys}, currency, count(*), sum(units * price), sum(units * per_unit) FROM (
        SELECT {keys}, currency, item_id, quantile_cont(price_minor, 0.5) AS price, {units} AS units FROM ({prices})
        GROUP BY {keys}, currency, item_id) JOIN figures USING (item_id)
        WHERE indicator = 'co2e_kg' AND per_unit IS NOT NULL AND price > 0 GROUP BY {keys}, currency"""


def _quality(keys: str) -> str:
    """Return a query of the share of figures with scores and with years, the scores, and the years."""
    scores = ", ".join(
        f"sum(weight * scores[{n}]::DOUBLE) FILTER (WHERE pedigree IS NOT NULL) / sum(weight) FILTER (WHERE pedigree IS NOT NULL)"
        for n in range(1, 6)
    )
    return f"""SELECT {keys}, 'quality', sum(weight) FILTER (WHERE pedigree IS NOT NULL) / sum(weight), {scores},
        sum(weight) FILTER (WHERE year IS NOT NULL) / sum(weight), min(year), max(year) FROM (
            SELECT k.*, o.pedigree, string_split(trim(o.pedigree, '()'), ',') AS scores, k.units * per_unit AS weight,
                   CASE WHEN o.item_id IS NULL THEN {FACTOR_YEAR} ELSE o.year END AS year
            FROM known k LEFT JOIN origins o USING (item_id)) GROUP BY {keys} HAVING sum(weight) > 0"""


def _compare_ratios(row: dict[str, Any], per_kg: dict[Any, Any], per_money: dict[Any, Any]) -> None:
    assert {one.pop("weight_basis"): one for one in row["per_kg"]} == {
        basis: {
            "items": items,
            "weight_kg": pytest.approx(weight, **NEAR),
            "footprint": pytest.approx(footprint, **NEAR),
            "per_kg": pytest.approx(footprint / weight, **NEAR),
        }
        for basis, (items, weight, footprint) in per_kg.items()
    }
    digits = {currency: 10 ** minor_digits(currency) for currency in per_money}
    assert {one.pop("currency"): one for one in row["per_money"]} == {
        currency: {
            "items": items,
            "value": pytest.approx(float(minor) / digits[currency], **NEAR),
            "footprint": pytest.approx(footprint, **NEAR),
            "per_money": pytest.approx(footprint / (float(minor) / digits[currency]), **NEAR),
        }
        for currency, (items, minor, footprint) in per_money.items()
    }


def _compare_quality(row: dict[str, Any], expected: dict[Any, Any]) -> None:
    names = ("pedigree_share", "reliability", "completeness", "temporal", "geographical", "technology", "year_share")
    values = expected.get("quality", (None,) * 9)
    for name, value in zip((*names, "year_first", "year_last"), values, strict=True):
        shown = value or (0.0 if name.endswith("_share") and expected else None)
        assert row[name] == (None if shown is None else pytest.approx(float(shown), abs=2e-6)), name
    assumptions = row["assumptions"]
    if row["footprint"]:
        assert sum(one["share"] for one in assumptions) == pytest.approx(1, abs=1e-5)
        assert sum(one["variance_share"] for one in assumptions) == pytest.approx(1, abs=1e-5)
        assert sum(one["items"] for one in assumptions) <= row["items_with_figure"]
        named = [one["variance_share"] for one in assumptions if one["scope"]]
        assert named == sorted(named, reverse=True)


def _compare_change(
    engine: duckdb.DuckDBPyConnection, row: dict[str, Any], asked_now: dict[str, Any], mix: str, names: list[str]
) -> bool:
    """Compare the change of a row with that of DuckDB; return whether there is one."""
    before = whole_before(row["period"], asked_now)
    _, quantities = quantities_of(engine, before)
    found = engine.execute(f"SELECT count(*) FROM ({quantities})").fetchall()
    if row["partial_period"] or row["footprint"] is None or found == [(0,)]:
        assert [
            row[name] for name in ("compared_with", "footprint_before", "change", "volume", "mix", "intensity")
        ] == [None] * 6
        return False
    assert row["compared_with"] == date.fromisoformat(before["from"])
    own = " AND ".join(f"{name} IS NOT DISTINCT FROM ?" for name in names[1:]) or "true"
    values = [row[name] for name in names[1:]]
    for table, source, also in (
        ("before", f"({quantities})", "true"),
        ("now", "entries", f"period = DATE '{row['period']}'"),
    ):
        engine.execute(
            f"""CREATE OR REPLACE TABLE {table} AS SELECT i.{mix} AS cell, sum(e.units) AS units, sum(e.units * per_unit) AS footprint
            FROM (SELECT * FROM {source} WHERE {own} AND {also}) e JOIN figures USING (item_id) JOIN items i ON i.id = item_id
            WHERE indicator = 'co2e_kg' AND per_unit IS NOT NULL GROUP BY i.{mix}""",
            values,
        )
    [(total,)] = engine.execute("SELECT coalesce(sum(footprint), 0) FROM before").fetchall()
    assert row["footprint_before"] == pytest.approx(total, **NEAR)
    [parts] = engine.execute(DECOMPOSED).fetchall()
    scale = max(row["footprint"], total)
    for name, part in zip(("volume", "mix", "intensity"), parts, strict=True):
        assert row[name] == pytest.approx(part, rel=1e-7, abs=1e-7 * scale), name
    shown = [Decimal(repr(row[name])) for name in ("change", "volume", "mix", "intensity")]
    assert shown[0] == sum(shown[1:])
    difference = Decimal(repr(row["footprint"])) - Decimal(repr(row["footprint_before"]))
    assert shown[0] == pytest.approx(difference, abs=Decimal(scale) * Decimal("1e-8"))
    return True


def test_figures_and_intervals_are_those_of_the_rollup(connection: Connection) -> None:
    question = {"from": "2026-02-01", "to": "2026-05-31", "granularity": "month", "group_by": ["category"]}
    for indicator in ("co2e_kg", "water_l"):
        compared = make(connection, {**question, "indicator": indicator}, quiet).table.to_pylist()
        rolled_up = make_rollup(connection, question, quiet).table.to_pylist()
        for one, other in zip(compared, rolled_up, strict=True):
            names = {
                "": "footprint",
                "_low": "footprint_low",
                "_central": "footprint_central",
                "_high": "footprint_high",
            }
            assert [one[name] for name in names.values()] == [other[f"{indicator}{end}"] for end in names]
            assert (one["items"], one["units"], one["category"]) == (other["items"], other["units"], other["category"])


SALES = MAPPING.replace(
    'currency = { constant = "HKD" }',
    'currency = { constant = "HKD" }\nkind = "sale"\nidentity = "event"\nunits = "units"',
)
CARBON = """
source = "carbon"
title = "C"
license = "CC0-1.0"
[item]
id = "sku"
join_by = "id"
join_source = "shop"
[[impacts]]
indicator = "co2e_kg"
value = "co2"
basis = "modelled"
method = "m"
"""
# Two kinds of drink; a litre of milk has 3 kg, and of soy drink 0.5 kg, in a large pack twice as much.
ITEMS = {"1": ("Milk", 3.0), "2": ("Soy", 0.5), "3": ("Soy", 1.0)}


def planted(settings: Settings, folder: Path, sold: dict[str, dict[str, int]], name: str = "sold.csv") -> None:
    """Load a world in which months have these units of the items."""
    lines = [
        f"{item},Drink {item},Vita,Drinks,{ITEMS[item][0]},1,{month}-15,NORTH,10,,{units}\n"
        for month, by_item in sold.items()
        for item, units in by_item.items()
    ]
    load_rows(settings, folder, "".join(lines), text=SALES, name=name, header=HEADER.replace("\n", ",units\n"))
    known_items = {item for by_item in sold.values() for item in by_item}
    figures = "".join(f"{item},{figure}\n" for item, (_, figure) in ITEMS.items() if item in known_items)
    load_rows(settings, folder, figures, text=CARBON, name="carbon.csv", header="sku,co2\n")


@pytest.mark.parametrize(
    ("sold", "parts"),
    [
        ({"1": 200, "2": 200, "3": 200}, {"volume": 450.0}),  # twice as much of everything
        ({"1": 50, "2": 125, "3": 125}, {"mix": -112.5}),  # as many units, and soy for milk
        ({"1": 100, "2": 50, "3": 150}, {"intensity": 25.0}),  # as many of each kind, in larger packs
        ({"1": 100, "2": 100, "3": 100}, {}),
    ],
)
def test_a_planted_change_of_one_factor_alone_is_read_back_as_that(
    settings: Settings, tmp_path: Path, sold: dict[str, int], parts: dict[str, float]
) -> None:
    planted(settings, tmp_path, {"2026-05": {"1": 100, "2": 100, "3": 100}, "2026-06": sold})
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        asked_of = {"from": "2026-06-01", "to": "2026-06-30", "granularity": "month"}
        [row] = make(connection, asked_of, quiet).table.to_pylist()
        [of_items] = make(connection, {**asked_of, "from": "2026-06-02"}, quiet).table.to_pylist()
    assert row["footprint_before"] == 450.0
    expected = {"volume": 0.0, "mix": 0.0, "intensity": 0.0, **parts}
    assert {name: row[name] for name in expected} == expected
    assert row["change"] == sum(parts.values())
    assert of_items["change"] is None  # a month that the range cuts is compared with none


def test_money_weight_and_quality_of_a_planted_world_are_read_back(settings: Settings, tmp_path: Path) -> None:
    planted(settings, tmp_path, {"2026-06": {"1": 10, "2": 20}})
    execute(settings, "UPDATE impacts SET pedigree = '(2,3,1,2,4)', reference_year = 2024 WHERE per_unit = 3")
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        [row] = make(connection, {"granularity": "month"}, quiet).table.to_pylist()
    assert row["per_kg"] == [
        {"weight_basis": "as_sold", "items": 2, "weight_kg": 30, "footprint": 40, "per_kg": 1.33333333}
    ]
    assert row["per_money"] == [
        {"currency": "HKD", "items": 2, "value": 300, "footprint": 40, "per_money": 0.133333333}
    ]
    names = ("pedigree_share", "reliability", "completeness", "temporal", "geographical", "technology")
    assert [row[name] for name in names] == [0.75, 2, 3, 1, 2, 4]
    assert (row["year_share"], row["year_first"], row["year_last"]) == (0.75, 2024, 2024)
    [assumption] = row["assumptions"]
    assert (assumption["source"], assumption["scope"], assumption["items"]) == ("carbon", "item", 2)
    assert (assumption["share"], assumption["variance_share"]) == (1, 1)


def test_the_order_of_loads_does_not_matter(servers: Servers, tmp_path: Path) -> None:
    months = {"2026-05": {"1": 10, "2": 20}, "2026-06": {"1": 15, "2": 1, "3": 5}, "2026-04": {"3": 7, "1": 1, "2": 2}}
    answers = []
    for order in (list(months), list(reversed(months))):
        with servers.fresh(tmp_path) as settings:
            for month in order:
                planted(settings, tmp_path, {month: months[month]}, name=f"{month}.csv")
            with connect(settings.database_url, application="tests", autocommit=True) as connection:
                parameters = {
                    "from": "2026-04-01",
                    "to": "2026-06-30",
                    "granularity": "month",
                    "group_by": ["category"],
                }
                answers.append(make(connection, parameters, quiet).table.to_pylist())
    assert answers[0] == answers[1]
    assert [row["change"] is None for row in answers[0]] == [True, True, False, False, False, False]
