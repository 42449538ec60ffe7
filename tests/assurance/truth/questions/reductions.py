"""Announced reductions: how many began in each period, and what the lowest price of the 30 days before says of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.scopes import everything, random_insight
from tests.assurance.truth.ratios import ratio

# A level is a price that is announced for some days; `earlier` is when the one before a row began.
_ANNOUNCED = """
WITH lowest AS (
    SELECT iid, brand, category, channel, currency, day, price, list_price, coalesce(list_price > price, false) AS announced
    FROM observations WHERE {condition}
    QUALIFY 1 = row_number() OVER (PARTITION BY iid, channel, currency, day ORDER BY price, list_price NULLS LAST)),
compared AS (
    SELECT *, lag(price) OVER series AS price_before,
           coalesce(lag(announced) OVER series AND day - lag(day) OVER series <= 31, false) AS announced_before
    FROM lowest WINDOW series AS (PARTITION BY iid, channel, currency ORDER BY day)),
levels AS (
    SELECT *, max(CASE WHEN announced AND (NOT announced_before OR price <> price_before) THEN day END) OVER (
        PARTITION BY iid, channel, currency ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
    FROM compared),
begun AS (
    SELECT * FROM levels WHERE announced AND (NOT announced_before OR price < price_before) AND day BETWEEN ? AND ?),
judged AS (
    SELECT *, CASE WHEN before.days < 30 OR ({undecided} AND announced_before AND earlier >= day - 30) THEN 'undecided'
                   WHEN price >= before.least THEN 'not_below'
                   WHEN list_price <= before.least THEN 'holding' ELSE 'overstated' END AS verdict
    FROM begun, LATERAL (
        SELECT count(*) AS days, min(l.price) AS least FROM lowest l
        WHERE (l.iid, l.channel, l.currency) = (begun.iid, begun.channel, begun.currency)
          AND l.day BETWEEN begun.day - 30 AND begun.day - 1) AS before)
SELECT {period} AS period, {groups}channel, currency, count(DISTINCT iid) AS items, count(*) AS announced,
       count(*) FILTER (verdict = 'holding') AS holding, count(*) FILTER (verdict = 'overstated') AS overstated,
       count(*) FILTER (verdict = 'not_below') AS not_below, count(*) FILTER (verdict = 'undecided') AS undecided,
       list(iid) FILTER (verdict = 'holding') AS items_holding, list(iid) FILTER (verdict <> 'undecided') AS items_judged
FROM judged GROUP BY ALL ORDER BY ALL NULLS LAST"""


def reductions(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random counts of reductions, around days with some; with outliers, which the files do not name."""
    days = index.column(
        "SELECT DISTINCT day FROM observations WHERE list_price > price AND kind = 'listing' ORDER BY day"
    )
    for _ in range(count):
        categories = random.sample(index.known_categories, random.choice((0, 0, 1, 2)))
        scope = replace(random_insight(index, random, days), categories=sorted(categories), kind="listing")
        if random.random() < 0.3:
            scope = replace(scope, brands=sorted(random.sample(index.known_brands, min(5, len(index.known_brands)))))
        scope = replace(scope, group_by=random.choice(((), (), ("brand",), ("category", "brand"))))
        # Whether steps count as one reduction: not stated, or stated that they do not.
        progressive = random.choice([None, "false"])
        parameters = {**everything(scope), "kind": None, "progressive": progressive}
        if random.random() < 0.2:
            scope = index.default_window(scope)
            parameters |= {"from": None, "to": None}
        found = client.get("/index/insights/reductions", parameters).body
        meta = found.get("meta", {})
        ours = {"data": found.get("data", found), "from": meta.get("from"), "to": meta.get("to")}
        yield Question(
            f"reductions {parameters}",
            ours,
            {"data": expected(index, scope, progressive), "from": scope.first, "to": scope.last},
        )


def expected(index: Index, scope: Scope, progressive: str | None) -> list[dict[str, Any]]:
    """Return the expected rows; the first reductions of a range are judged by the days before it."""
    condition, values = replace(scope, first=scope.first - timedelta(days=31)).condition()
    undecided = "true" if progressive is None else "false"
    groups = "".join(f"{name}, " for name in scope.group_by)
    query = _ANNOUNCED.format(condition=condition, period=scope.period(), groups=groups, undecided=undecided)
    rows = index.rows(query, [*values, scope.first, scope.last])
    for row in rows:
        row["partial_period"] = scope.cuts(row["period"])
        holding, judged = (Counter(row.pop(name) or ()) for name in ("items_holding", "items_judged"))
        bounds = ratio([(holding[iid], n) for iid, n in sorted(judged.items())], at_most_one=True)
        row |= dict(zip(("share_holding", "share_holding_low", "share_holding_high"), bounds, strict=True))
    return rows


ENDPOINTS = {"insights/reductions": reductions}
