"""Announced reductions equal what SQL says of the 30 days before each, and each verdict has a case of its own."""

from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.errors import BrandNotFound, CategoryNotFound
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.reductions import make

pytestmark = ON_THE_MARKET


FIRST = date(2026, 1, 1)

# Every first announced day of a level, its 30 days, and whether an announced step is in them. Rows of one day: the lowest.
# What was observed more than 31 days earlier says nothing.
JUDGED = """
WITH lowest AS (
    SELECT DISTINCT ON (o.item_id, o.channel_id, o.currency, o.day) o.item_id, h.code AS channel, o.channel_id, o.currency, o.day,
           o.price_minor AS price, coalesce(o.list_minor, 0) AS listed
    FROM observations o JOIN channels h ON h.id = o.channel_id WHERE o.kind = 'l'
    ORDER BY o.item_id, o.channel_id, o.currency, o.day, o.price_minor, o.list_minor NULLS LAST),
begins AS (
    SELECT * FROM (SELECT *, lag(price) OVER w AS before, lag(listed > price) OVER w AS announced, day - lag(day) OVER w AS gap FROM lowest
                   WINDOW w AS (PARTITION BY item_id, channel_id, currency ORDER BY day)) r
    WHERE listed > price AND (announced IS NOT TRUE OR price < before OR gap > 31))
SELECT b.channel, b.currency, count(*), count(*) FILTER (WHERE n.days < 30),
       count(*) FILTER (WHERE n.days = 30 AND b.price >= n.least)
FROM begins b, LATERAL (SELECT count(*) AS days, min(l.price) AS least FROM lowest l
    WHERE l.item_id = b.item_id AND l.channel_id = b.channel_id AND l.currency = b.currency
      AND l.day BETWEEN b.day - 30 AND b.day - 1) n
WHERE b.day BETWEEN '2026-03-01' AND '2026-06-30' GROUP BY 1, 2 ORDER BY 1, 2"""


def days(item: int, store: str, *runs: tuple[int, str, str]) -> str:
    """Write a row a day: runs of (days, price, list price); without a price the day has no row."""
    rows, day = [], FIRST
    for count, price, listed in runs:
        for _ in range(count):
            if price:
                rows.append(f"{item},Item {item},Vita,Drinks,Tea,1,{day},{store},{price},{listed}\n")
            day += timedelta(days=1)
    return "".join(rows)


CASES = {
    "holding": ((40, "10", ""), (5, "8", "10")),
    "overstated": ((40, "10", ""), (5, "8", "12")),
    "not_below": ((40, "8", ""), (5, "8", "10")),
    "undecided": ((20, "10", ""), (1, "", ""), (19, "10", ""), (5, "8", "10")),
}


def ask(settings: Settings, **parameters: Any) -> list[dict[str, Any]]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        asked = {"from": "2026-02-01", "to": "2026-03-31", **parameters}
        rows: list[dict[str, Any]] = make(connection, asked, quiet).table.to_pylist()
        return rows


def test_each_verdict_has_its_reductions(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "".join(days(n, "NORTH", *runs) for n, runs in enumerate(CASES.values())))
    [row] = ask(settings)
    assert (row["channel"], row["currency"], row["items"], row["announced"]) == ("NORTH", "HKD", 4, 4)
    assert {name: row[name] for name in CASES} == dict.fromkeys(CASES, 1)
    assert row["share_holding"] == 0.333333
    assert (row["share_holding_low"], row["share_holding_high"]) == (0.0, 1.0), "three items say little of others"


def test_a_share_has_the_interval_of_its_items_and_none_is_stated_of_two(settings: Settings, tmp_path: Path) -> None:
    kinds = ["holding"] * 12 + ["overstated"] * 4
    load_rows(settings, tmp_path, "".join(days(n, "NORTH", *CASES[kind]) for n, kind in enumerate(kinds)))
    load_rows(settings, tmp_path, "".join(days(n, "SOUTH", *CASES["holding"]) for n in range(2)), name="south.csv")
    north, south = ask(settings)
    error = (0.75 * 0.25 / 15) ** 0.5  # of a mean of sixteen items, each with one reduction
    bounds = [round(0.75 + sign * 2.13145 * error, 2) for sign in (-1, 1)]  # Student, 15 degrees of freedom
    assert [north["share_holding"], north["share_holding_low"], north["share_holding_high"]] == [0.75, *bounds]
    assert (south["announced"], south["holding"], south["share_holding"], south["share_holding_low"]) == (
        2,
        2,
        None,
        None,
    )


def test_a_further_step_is_a_reduction_of_its_own_and_needs_the_rule_of_the_market(
    settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, days(1, "NORTH", (40, "10", ""), (5, "8", "10"), (5, "7", "10")))
    [row] = ask(settings)
    assert (row["items"], row["announced"], row["holding"], row["undecided"]) == (1, 2, 1, 1)


def test_the_rule_of_the_market_decides_a_further_step(settings: Settings, tmp_path: Path) -> None:
    """The price falls from 10 to 8 and to 7; the second step is compared with the price before the first, or with it."""
    load_rows(settings, tmp_path, days(1, "NORTH", (40, "10", ""), (5, "8", "10"), (5, "7", "10")))
    names = ("announced", "holding", "overstated", "undecided")
    for rule, expected in (
        ({}, [2, 1, 0, 1]),
        ({"progressive": True}, [2, 2, 0, 0]),
        ({"progressive": True, "progressive_days": 4}, [2, 1, 1, 0]),
        ({"progressive": False}, [2, 1, 1, 0]),
    ):
        [row] = ask(settings, **rule)
        assert [row[name] for name in names] == expected, rule


def test_brands_narrow_it_as_they_do_everywhere(settings: Settings, tmp_path: Path) -> None:
    rows = days(1, "NORTH", *CASES["holding"])
    load_rows(settings, tmp_path, rows + rows.replace("1,Item 1,Vita", "2,Item 2,Maison"))
    [both], [one] = ask(settings), ask(settings, brand=["maison"])
    assert (both["announced"], one["announced"], one["holding"]) == (2, 1, 1)
    with pytest.raises(BrandNotFound):
        ask(settings, brand=["unknown"])


def test_reductions_are_told_apart_by_brand(settings: Settings, tmp_path: Path) -> None:
    rows = days(1, "NORTH", *CASES["holding"]) + days(3, "NORTH", *CASES["overstated"])
    load_rows(settings, tmp_path, rows.replace("3,Item 3,Vita", "3,Item 3,Maison"))
    maison, vita = ask(settings, group_by=["brand"])
    assert (maison["brand"], maison["overstated"], maison["holding"]) == ("maison", 1, 0)
    assert (vita["brand"], vita["overstated"], vita["holding"]) == ("vita", 0, 1)
    [row] = ask(settings, group_by=["category", "brand"], brand=["vita"])
    assert (row["category"], row["brand"], row["announced"]) == ("drinks.tea", "vita", 1)


def test_an_announcement_after_a_month_without_observation_counts_wherever_the_range_begins(
    settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, days(1, "NORTH", (5, "8", "10"), (40, "", ""), (5, "8", "10")))
    for first in ("2026-01-02", "2026-01-20", "2026-02-15"):
        [row] = ask(settings, **{"from": first})
        assert (row["announced"], row["undecided"]) == (1, 1), first


def test_channels_categories_and_days_narrow_it(settings: Settings, tmp_path: Path) -> None:
    runs = CASES["holding"]
    load_rows(settings, tmp_path, days(1, "NORTH", *runs) + days(1, "SOUTH", *runs))
    assert [row["channel"] for row in ask(settings)] == ["NORTH", "SOUTH"]
    assert [row["channel"] for row in ask(settings, channel=["SOUTH"])] == ["SOUTH"]
    assert len(ask(settings, category=["drinks"])) == 2
    assert ask(settings, **{"from": "2026-02-11"}) == []  # they began the day before
    with pytest.raises(CategoryNotFound):
        ask(settings, category=["no.where"])


def test_a_market_is_counted_as_sql_counts_it(connection: Connection) -> None:
    answer = make(connection, {"from": "2026-03-01", "to": "2026-06-30"}, quiet)
    rows = answer.table.to_pylist()
    expected = connection.execute(JUDGED).fetchall()
    assert [(row["channel"], row["currency"], row["announced"]) for row in rows] == [row[:3] for row in expected]
    for row, (_, _, announced, fewer, not_below) in zip(rows, expected, strict=True):
        assert sum(Counter({name: row[name] for name in CASES}).values()) == announced
        assert row["undecided"] >= fewer
        assert row["not_below"] <= not_below
    assert sum(row["announced"] for row in rows) > 100
