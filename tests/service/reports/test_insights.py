"""Insights and rollups equal what plain SQL says of the raw rows."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.errors import BrandNotFound, CategoryNotFound, InvalidParameter
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET
from tests.support.reports import quiet
from tests.support.servers import begins_with
from tests.support.shop import load_rows
from workers.analytics.reports import brand_insights, category_insights, cohorts
from workers.analytics.reports.publish import COMPUTATIONS

pytestmark = ON_THE_MARKET
RAW = """
SELECT o.day, o.item_id, o.price_minor, o.currency, o.units, h.code AS channel, b.slug AS brand, c.code AS category,
       (c.path)[1] AS top, i.product_type, o.kind, o.list_minor, (i.attributes ->> 'weight_kg')::float8 AS weight, o.outlier
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id"""
MONTHS = {"from": "2026-04-01", "to": "2026-06-30", "granularity": "month", "currency": "USD", "kind": "both"}
MEDIAN = "(percentile_cont(0.5) WITHIN GROUP (ORDER BY price_minor) / 100)::numeric"


@pytest.fixture(scope="module")
def connection(market: Settings) -> Iterator[Connection]:
    with connect(market.worker_database_url, application="tests", autocommit=True) as opened_connection:
        opened_connection.execute(f"CREATE TEMP TABLE everything AS {RAW}")
        opened_connection.execute("CREATE TEMP TABLE raw AS SELECT * FROM everything WHERE outlier IS NULL")
        yield opened_connection


GRANULARITIES, KINDS = ("month", "week", "day", None), (None, "listing", "sale", "both")
# Each granularity with each kind, and each of both with outliers and without.
ASKED = [
    (granularity, kind, "include" if (number + other) % 2 else "exclude")
    for number, granularity in enumerate(GRANULARITIES)
    for other, kind in enumerate(KINDS)
]


@pytest.mark.parametrize(("granularity", "kind", "outliers"), ASKED)
def test_a_categorys_figures_shares_and_ranks(
    connection: Connection, granularity: str | None, kind: str | None, outliers: str
) -> None:
    asked = {**MONTHS, "granularity": granularity, "kind": kind, "outliers": outliers}
    answer = category_insights.make(connection, asked, quiet)
    table = "everything" if outliers == "include" else "raw"
    assert answer.kind == (kind or "listing")
    kinds = {"sale": "s", "both": "sl"}.get(kind or "listing", "l")
    cut = "CASE WHEN price_minor < list_minor THEN 1 - price_minor::float8 / list_minor END"
    period = f"date_trunc('{granularity}', day)::date" if granularity else "DATE '2026-04-01'"
    rows = connection.execute(
        f"""
        SELECT {period}, lower(top), count(DISTINCT item_id), count(*), {MEDIAN},
               rank() OVER (PARTITION BY {period} ORDER BY count(DISTINCT item_id) DESC), count(list_minor),
               round((count({cut})::numeric / nullif(count(list_minor), 0)), 6)::float8, avg({cut}),
               percentile_cont(0.5) WITHIN GROUP (ORDER BY {cut})
        FROM {table} WHERE day BETWEEN '2026-04-01' AND '2026-06-30' AND currency = 'USD' AND top IS NOT NULL
        AND strpos('{kinds}', kind::text) > 0
        GROUP BY {period}, lower(top) ORDER BY 1, 2""".encode()
    ).fetchall()
    ours = [
        (
            r["period"],
            r["category"],
            r["items"],
            r["observations"],
            r["median"],
            r["rank"],
            r["list_price_n"],
            r["promotion_share"],
            r["discount_mean"],
            r["discount_median"],
        )
        for r in answer.table.to_pylist()
    ]
    assert [row[:4] + row[5:7] for row in ours] == [row[:4] + row[5:7] for row in rows]
    for mine, theirs in zip(ours, rows, strict=True):
        assert float(mine[4]) == pytest.approx(float(theirs[4]), rel=1e-9)
        assert mine[7:] == (pytest.approx(theirs[7:], abs=1e-6) if theirs[7] else theirs[7:])
    for row in answer.table.to_pylist():
        assert sum(part["observations"] for part in row["channels"]) == row["observations"]
        for part in row["channels"]:  # an item is in several channels, so the shares add up to more than 1
            assert part["share"] == pytest.approx(part["items"] / row["items"], abs=1e-6)


@pytest.mark.parametrize("outliers", ["exclude", "include"])
def test_insights_count_the_outliers_of_each_row(connection: Connection, outliers: str) -> None:
    by_category, by_brand = (
        connection.execute(
            f"""SELECT date_trunc('month', day)::date, {group}, count(*) FROM everything
            WHERE day BETWEEN '2026-04-01' AND '2026-06-30' AND currency = 'USD' AND outlier IS NOT NULL
            GROUP BY 1, 2""".encode()
        ).fetchall()
        for group in ("lower(top)", "brand")
    )
    for make, name, rows in (
        (category_insights.make, "category", by_category),
        (brand_insights.make, "brand", by_brand),
    ):
        answer = make(connection, {**MONTHS, "limit": 500, "outliers": outliers}, quiet)
        expected = {(period, group): n for period, group, n in rows if group is not None}
        shown = {(row["period"], row[name]): row["set_aside"] for row in answer.table.to_pylist()}
        assert {key: n for key, n in shown.items() if n} == expected
        assert answer.outliers is not None
        assert (answer.outliers.mode, answer.outliers.set_aside) == (outliers, sum(expected.values()))
        assert sum(expected.values()) > 2


def test_a_categorys_change_is_against_the_period_before(connection: Connection) -> None:
    answer = category_insights.make(connection, {**MONTHS, "code": "food"}, quiet)
    medians = dict(
        connection.execute(
            f"""
        SELECT date_trunc('month', day)::date, {MEDIAN} FROM raw WHERE (category = 'food' OR category LIKE 'food.%%')
        AND currency = 'USD' GROUP BY 1""".replace("%%", "%").encode()
        ).fetchall()
    )
    months = sorted(medians)
    rows = answer.table.to_pylist()
    assert len(rows) == 3
    for row in rows:
        before = medians[months[months.index(row["period"]) - 1]]
        assert row["median_change"] == pytest.approx(float(row["median"]) / float(before) - 1, abs=1e-5)
        assert float(row["median_before"]) == pytest.approx(float(before))


def test_the_top_brands_of_a_category(connection: Connection) -> None:
    answer = category_insights.make(connection, {**MONTHS, "code": "food", "granularity": None}, quiet)
    rows = connection.execute("""
        SELECT brand, count(DISTINCT item_id), count(*) FROM raw
        WHERE (category = 'food' OR category LIKE 'food.%') AND currency = 'USD'
        AND day BETWEEN '2026-04-01' AND '2026-06-30' AND brand IS NOT NULL GROUP BY 1""").fetchall()
    [row] = answer.table.to_pylist()
    counts = {brand: (items, n) for brand, items, n in rows}
    listed = row["top_brands"]
    assert [one["items"] for one in listed] == sorted((items for items, _ in counts.values()), reverse=True)[:5]
    for one in listed:
        assert (one["items"], one["observations"]) == counts[one["brand"]]
        assert one["share"] == pytest.approx(one["items"] / row["items"], abs=1e-6)


def test_a_brands_standing_shares_and_prices_against_its_categories(connection: Connection) -> None:
    answer = brand_insights.make(connection, {**MONTHS, "slug": "alco"}, quiet)
    ranks = connection.execute("""
        SELECT * FROM (SELECT date_trunc('month', day)::date AS period, brand, count(*) AS n, count(DISTINCT item_id) AS items,
            rank() OVER (PARTITION BY date_trunc('month', day) ORDER BY count(DISTINCT item_id) DESC) AS rank, count(*) OVER (PARTITION BY date_trunc('month', day)) AS of
            FROM raw WHERE currency = 'USD' AND brand IS NOT NULL GROUP BY date_trunc('month', day), brand) r
        WHERE brand = 'alco' ORDER BY period""").fetchall()
    rows = answer.table.to_pylist()
    known = {row[0]: row for row in ranks}
    assert len(rows) == 3
    for row in rows:
        _, _, n, items, rank, of = known[row["period"]]
        assert (row["observations"], row["items"], row["rank"], row["ranked"]) == (n, items, rank, of)
        assert sum(part["share"] for part in row["categories"]) == pytest.approx(1, abs=1e-4)
        assert 0 <= row["percentile"] <= 100 and row["rank_before"] is not None
        part = next(one for one in row["categories"] if one["category"])
        peers = connection.execute(
            """SELECT count(DISTINCT item_id) FROM raw WHERE category = $1 AND date_trunc('month', day) = $2
            AND currency = 'USD' AND brand <> 'alco' GROUP BY brand ORDER BY 1 DESC LIMIT 5""",
            (part["category"], row["period"]),
        ).fetchall()
        assert [(peer["items"],) for peer in row["peers"]] == peers != []
        assert all(peer["brand"] != "alco" for peer in row["peers"])
        [(whole,)] = connection.execute(
            f"SELECT {MEDIAN} FROM raw WHERE category = $1 AND date_trunc('month', day) = $2 AND currency = 'USD'".encode(),
            (part["category"], row["period"]),
        ).fetchall()
        assert float(part["category_median"]) == pytest.approx(float(whole))
        assert part["against_category"] == pytest.approx(float(part["median"] / part["category_median"]), abs=1e-5)


@pytest.mark.parametrize("kind", [None, "listing", "sale", "both"])
def test_a_brands_prices_and_discounts_are_those_of_its_cohort(connection: Connection, kind: str | None) -> None:
    asked = {**MONTHS, "currency": "HKD", "kind": kind}
    cohort = cohorts.make(connection, {**asked, "brand": ["alco"]}, quiet)
    of_brand = brand_insights.make(connection, {**asked, "slug": "alco"}, quiet)
    names = (
        "period",
        "kind",
        "items",
        "observations",
        "list_price_n",
        "promotion_share",
        "discount_mean",
        "discount_median",
    )
    ours = [[row[name] for name in names] + [row["median"]] for row in of_brand.table.to_pylist()]
    assert ours == [[row[name] for name in names] + [row["p50"]] for row in cohort.table.to_pylist()]
    assert any(row[5] for row in ours)


def test_without_a_brand_the_largest_are_listed_in_their_order(connection: Connection) -> None:
    rows = brand_insights.make(connection, {"currency": "USD", "kind": "sale"}, quiet).table.to_pylist()
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert len(rows) >= 5 and len({row["brand"] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("make", "named"), [(category_insights.make, {"code": "food"}), (brand_insights.make, {"slug": "alco"})]
)
def test_grouped_by_channel_each_has_the_rows_that_it_has_alone(
    connection: Connection, make: Any, named: dict[str, str]
) -> None:
    asked = {**MONTHS, **named, "currency": "HKD", "kind": "listing"}
    grouped = make(connection, {**asked, "group_by": ["channel"]}, quiet)
    rows = grouped.table.to_pylist()
    assert {row["channel"] for row in rows} == {"KIOSK", "NORTH", "ONLINE"}
    for code in ("KIOSK", "NORTH", "ONLINE"):
        alone = make(connection, {**asked, "channel": [code]}, quiet)
        # Intervals are of samples that each question draws anew.
        drawn = {"channel", "index_change_low", "index_change_high"}
        ours = [{name: row[name] for name in row.keys() - drawn} for row in rows if row["channel"] == code]
        assert ours == [{name: row[name] for name in row.keys() - drawn} for row in alone.table.to_pylist()]
    together = make(connection, asked, quiet)
    assert sum(row["observations"] for row in rows) == sum(row["observations"] for row in together.table.to_pylist())
    assert (grouped.coverage, grouped.outliers) == (together.coverage, together.outliers)


@pytest.mark.parametrize(
    ("kind", "parameters", "error"),
    [
        ("category-insights", {"code": "no.where"}, CategoryNotFound),
        ("brand-insights", {"slug": "unknown"}, BrandNotFound),
        ("sustainability-rollup", {"brand": ["unknown"]}, BrandNotFound),
        ("category-insights", {"channel": ["MOON"]}, InvalidParameter),
    ],
)
def test_a_question_that_cannot_be_answered_is_named(
    connection: Connection, kind: str, parameters: Any, error: Any
) -> None:
    with pytest.raises(error):
        COMPUTATIONS[kind](connection, parameters, quiet)


@pytest.mark.parametrize("kind", ["category-insights", "brand-insights", "sustainability-rollup"])
def test_an_empty_index_gives_an_empty_answer(settings: Settings, kind: str) -> None:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        answer = COMPUTATIONS[kind](connection, {}, quiet)
    assert (answer.table.num_rows, answer.coverage["observed_days"]) == (0, 0)


@begins_with(load_rows)
def test_a_brand_and_a_category_that_share_nothing_give_no_rows(settings: Settings) -> None:
    asked = {"brand": ["maison"], "category": ["drinks"], "from": "2026-07-01", "to": "2026-07-02"}
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        for kind in ("cohorts", "sustainability-rollup"):
            assert COMPUTATIONS[kind](connection, asked, quiet).table.num_rows == 0


def test_one_observation_is_answered_too(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        [brand] = brand_insights.make(connection, {"slug": "vita"}, quiet).table.to_pylist()
        [category] = category_insights.make(connection, {"code": "drinks"}, quiet).table.to_pylist()
        [cohort] = COMPUTATIONS["cohorts"](connection, {"brand": ["vita"]}, quiet).table.to_pylist()
    assert (brand["rank"], brand["percentile"], brand["rank_before"], brand["peers"]) == (1, 100.0, None, [])
    assert (category["median"], category["median_change"]) == (Decimal("10.90"), None)
    assert (cohort["p10"], cohort["p90"], cohort["stddev"]) == (Decimal("10.90"), Decimal("10.90"), None)
