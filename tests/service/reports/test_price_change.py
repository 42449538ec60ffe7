"""Insights show the change of prices of the same items beside that of the median."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET
from tests.service.reports.test_price_index import step
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports import brand_insights, category_insights

pytestmark = ON_THE_MARKET

QUESTION = {"from": "2026-04-01", "to": "2026-06-30", "granularity": "month", "currency": "HKD"}

# One price an item and period, each period against the one right before it.
CHANGES = """
WITH cells AS (
    SELECT {group} AS place, CASE WHEN day >= '2026-04-01' THEN {period} ELSE {earlier} END AS period, o.item_id, o.channel_id,
           CASE '{kind}' WHEN 's' THEN sum(price_minor * units)::float8 / sum(units) ELSE exp(avg(ln(price_minor))) END AS price
    FROM observations o JOIN items i ON i.id = o.item_id LEFT JOIN brands b ON b.id = i.brand_id
    LEFT JOIN categories c ON c.id = i.category_id
    WHERE day BETWEEN '{first}' AND '2026-06-30' AND currency = 'HKD' AND o.kind::text = '{kind}' AND price_minor > 0 AND o.outlier IS NULL
    GROUP BY 1, 2, 3, 4, o.kind)
SELECT place, b.period, round((exp(avg(ln(b.price) - ln(a.price))) - 1)::numeric, 6)::float8, count(*)
FROM cells a JOIN cells b USING (place, item_id, channel_id) WHERE {follows} GROUP BY 1, 2"""


@pytest.mark.parametrize(
    ("granularity", "kind", "subject"),
    [
        ("month", "listing", "brand"),
        ("month", "sale", "category"),
        ("week", "listing", "category"),
        ("week", "sale", "brand"),
        (None, "listing", "brand"),
        (None, "sale", "category"),
    ],
)
def test_change_of_matched_items_equals_plain_sql(
    connection: Connection, granularity: str | None, kind: str, subject: str
) -> None:
    make, group = {
        "brand": (brand_insights.make, "b.slug"),
        "category": (category_insights.make, "lower(c.path[1])"),
    }[subject]
    rows = make(connection, {**QUESTION, "granularity": granularity, "kind": kind}, quiet).table.to_pylist()
    period = f"date_trunc('{granularity}', day)::date" if granularity else "DATE '2026-04-01'"
    earlier = period if granularity else "DATE '2025-12-31'"
    first = {"month": "2026-03-01", "week": "2026-03-23", None: "2025-12-31"}[granularity]
    follows = f"b.period = (a.period + INTERVAL '1 {granularity}')::date" if granularity else "b.period > a.period"
    query = CHANGES.format(
        group=group, period=period, earlier=earlier, first=first, kind=kind[0], follows=follows
    )  # fmt: skip
    expected = {(place, when): change for place, when, change, _ in connection.execute(query.encode()).fetchall()}
    ours = {(row[subject], row["period"]): row for row in rows}
    known = {key: row["index_change"] for key, row in ours.items() if row["index_change"] is not None}
    wanted = {key: change for key, change in expected.items() if key in ours and key[1] >= date(2026, 3, 30)}
    assert known.keys() == wanted.keys()
    for key, change in wanted.items():
        low, high = ours[key]["index_change_low"], ours[key]["index_change_high"]
        assert known[key] == pytest.approx(change, abs=2e-6 + 0.51 * step(low, high))
        assert low is None or low < high


def test_no_change_is_known_of_listings_and_sales_together(connection: Connection) -> None:
    rows = brand_insights.make(connection, {**QUESTION, "kind": "both"}, quiet).table.to_pylist()
    assert rows
    assert {row["index_change"] for row in rows} == {None}


def test_change_of_the_assortment_moves_the_median_and_not_the_index(settings: Settings, tmp_path: Path) -> None:
    """In June cheap teas go and dear ones come; those that stay keep their price but one."""

    def row(number: int, day: str, price: str) -> str:
        return f"{number},Tea {number},Leaf,Drinks,Tea,1,{day},NORTH,{price},\n"

    stay = [row(n, day, "10") for n in range(1, 31) for day in ("2026-05-04", "2026-06-04")]
    gone = [row(n, "2026-05-04", "1") for n in range(31, 71)]
    come = [row(n, "2026-06-04", "90") for n in range(71, 111)]
    load_rows(settings, tmp_path, "".join([*stay, *gone, *come]))
    asked: dict[str, Any] = {"code": "drinks.tea", "from": "2026-05-01", "to": "2026-06-30", "granularity": "month"}
    with connect(settings.worker_database_url, application="tests") as connection:
        may, june = category_insights.make(connection, asked, quiet).table.to_pylist()
    assert may["index_change"] is None
    assert (june["median_change"], june["index_change"]) == (89.0, 0.0)
    assert (june["index_change_low"], june["index_change_high"]) == (None, None), (
        "no price changed: nothing to estimate"
    )
    assert june["share_matched"] == pytest.approx(30 / 70, abs=1e-6)
