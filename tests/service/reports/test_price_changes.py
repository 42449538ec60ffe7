"""Price changes are those that a plain walk through the raw rows finds, and a planted leader is read back."""

from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from edge.analytics.period_words import Periods
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.wording import RowContext
from edge.dashboard.summaries import summary_of
from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.assurance.truth.compare import Question, differences
from tests.assurance.truth.index import Index
from tests.assurance.truth.questions.price_changes import expected, random_question
from tests.assurance.truth.questions.scopes import everything
from tests.service.reports.market import ON_THE_MARKET
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.price_changes import make
from workers.analytics.reports.result import with_partial_periods

pytestmark = ON_THE_MARKET
FIRST = date(2026, 1, 1)
YEAR = {"from": "2026-01-01", "to": "2026-12-31", "granularity": "year"}


def ask(settings: Settings, **parameters: Any) -> list[dict[str, Any]]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        rows: list[dict[str, Any]] = make(connection, {**YEAR, **parameters}, quiet).table.to_pylist()
        return rows


def series(item: int, store: str, prices: dict[int, float | None], days: int) -> str:
    """Write a row a day: `prices` begin on days, None ends the observation of the item."""
    lines, price = [], None
    for n in range(days):
        price = prices.get(n, price)
        if price is not None:
            day = FIRST + timedelta(days=n)
            lines.append(f"{item},Item {item},Vita,Drinks,Tea,1,{day},{store},{price:.2f},\n")
    return "".join(lines)


def led(items: int = 40, lag: int = 3) -> str:
    """Write a market in which NORTH changes each price every 20 days, and SOUTH `lag` days later to the same price.

    EAST changes its prices on days of its own, the other way. A rise of 10 % and a fall to the price before alternate.
    """
    chance, lines = Random(2), []
    for item in range(items):
        low, begins = chance.randint(10, 90), 5 + item % 10
        steps = {n: low * (1.1 if place % 2 else 1) for place, n in enumerate(range(begins, 150, 20))}
        away = {n + 10: 100 - price for n, price in steps.items()}
        for store, prices in (("NORTH", steps), ("SOUTH", {n + lag: p for n, p in steps.items()}), ("EAST", away)):
            lines.append(series(item, store, {0: next(iter(prices.values())), **prices}, 170))
    return "".join(lines)


def test_a_planted_leader_and_the_days_until_it_is_followed_are_read_back(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, led())
    _, north, south = ask(settings)
    for row in (north, south):
        assert row["changes"] == row["matched_changes"] == 40 * 7 - 20 and row["items"] == row["changed_items"] == 40
    assert (north["share_first"], south["share_first"]) == (1.0, 0.0)
    assert (south["following_moves"], south["first_moves"], north["following_moves"]) == (south["changes"], 0, 0)
    [to_east, to_south] = north["followers"]
    assert (to_south["channel"], to_south["share_followed"], to_south["days_median"]) == ("SOUTH", 1.0, 3.0)
    assert (to_east["channel"], to_east["share_followed"], to_east["days_median"]) == ("EAST", 0.0, None)
    assert south["followers"] == []
    assert {row["share_first"] for row in ask(settings, follow_days=2) if row["channel"] != "EAST"} == {1.0}
    assert (north["size_p10"], north["size_p90"]) == (pytest.approx(1 / 11, abs=0.001), pytest.approx(0.1, abs=0.001))
    assert north["increase_median"] == pytest.approx(0.1, abs=0.001)
    assert north["decrease_median"] == pytest.approx(-1 / 11, abs=0.001)


def test_random_changes_are_those_of_a_walk_through_the_raw_rows(connection: Connection, judge: Index) -> None:
    random, filled, moves = Random(31), 0, 0
    for _ in range(100):
        scope, rule = random_question(judge, random)
        asked = {**everything(scope), **rule._asdict(), "from": str(scope.first), "to": str(scope.last)}
        rows = with_partial_periods(make(connection, asked, quiet)).table.to_pylist()
        assert list(differences(Question(str(asked), rows, expected(judge, scope, rule)))) == []
        filled += bool(rows)
        moves += sum(row["first_moves"] for row in rows)
    assert filled > 30
    assert moves > 100


def test_an_offer_is_told_apart_by_the_return_to_the_price_before(settings: Settings, tmp_path: Path) -> None:
    """Each item has a short offer of two steps, a fall that lasts, and a rise to another price than before."""
    steps = {0: 10.0, 20: 8.0, 23: 7.0, 26: 10.0, 60: 9.0, 120: 11.0}
    load_rows(settings, tmp_path, "".join(series(item, "NORTH", {**steps}, 150) for item in range(3)))
    [row] = ask(settings)
    assert (row["changes"], row["increases"], row["decreases"], row["offer_changes"]) == (15, 6, 9, 9)
    [row] = ask(settings, offers="exclude")
    assert (row["changes"], row["increases"], row["decreases"], row["offer_changes"]) == (6, 3, 3, 9)
    assert (row["decrease_median"], row["increase_median"]) == (-0.1, pytest.approx(2 / 9, abs=1e-6))
    [row] = ask(settings, offers="exclude", offer_days=5)
    assert (row["changes"], row["offer_changes"]) == (15, 0)


def test_a_gap_in_the_observation_is_no_change(settings: Settings, tmp_path: Path) -> None:
    """One price is not seen for a month and a half and is another one then; one for three weeks; one is back as it was."""
    cases = ({0: 10.0, 30: None, 80: 12.0}, {0: 10.0, 30: None, 51: 12.0}, {0: 10.0, 30: None, 51: 10.0})
    load_rows(settings, tmp_path, "".join(series(item, "NORTH", {**case}, 100) for item, case in enumerate(cases)))
    [row] = ask(settings)
    assert (row["items"], row["changes"], row["changed_items"]) == (3, 1, 1)
    assert row["comparisons"] == (29 + 19) + 2 * (29 + 49)
    assert row["share_changed"] == round(1 / row["comparisons"], 6)
    assert row["days_between_changes"] == 29 + 19 + 2 * (29 + 22 + 48)
    assert row["increase_median"] is None  # of a single item


def test_frequency_and_days_between_changes_are_those_that_were_planted(settings: Settings, tmp_path: Path) -> None:
    """Each of fifty prices changes on a day with a chance of one in twenty, seen daily or every second day."""
    chance, lines = Random(8), []
    for item in range(50):
        price, steps = 100.0, dict[int, float | None]()
        for day in range(0, 200):
            if chance.random() < 0.05:
                price = round(price * chance.choice((0.9, 1.05, 1.08)), 2)
            steps[day] = price
        lines.append(series(item, "NORTH", steps, 200))
        lines.append(series(item, "SOUTH", {**steps, **dict.fromkeys(range(1, 200, 2))}, 200))
    load_rows(settings, tmp_path, "".join(lines))
    daily, alternate = ask(settings)
    assert daily["share_changed_low"] < 0.05 < daily["share_changed_high"]
    assert daily["days_between_changes"] == pytest.approx(20, rel=0.1)
    # What is seen half as often changes nearly twice as often from one price to the next, and lasts as long.
    assert alternate["share_changed"] == pytest.approx(1 - 0.95**2, rel=0.15)
    assert alternate["days_between_changes"] == pytest.approx(daily["days_between_changes"], rel=0.05)


def test_few_items_say_nothing_of_a_channel(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, led(items=2))
    for row in ask(settings):
        assert row["items"] == 2 and row["changes"] > 0
        unknown = ("share_changed", "share_changed_low", "days_between_changes", "size_p50", "share_first")
        assert {row[name] for name in unknown} == {None}
        assert all(one["share_followed"] is one["days_median"] is None for one in row["followers"])


def test_groups_name_brands_and_categories(settings: Settings, tmp_path: Path) -> None:
    lines = led(12).splitlines(keepends=True)
    load_rows(
        settings, tmp_path, "".join(n.replace("Vita", "Maison") if int(n.partition(",")[0]) > 5 else n for n in lines)
    )
    rows = ask(settings, group_by=["brand", "category"])
    assert {(row["brand"], row["category"]) for row in rows} == {("vita", "drinks.tea"), ("maison", "drinks.tea")}
    assert [row["brand"] for row in rows] == ["maison"] * 3 + ["vita"] * 3
    assert sum(row["changes"] for row in rows) == sum(row["changes"] for row in ask(settings))


def test_a_market_without_prices_has_no_changes(settings: Settings, tmp_path: Path) -> None:
    assert ask(settings) == []
    load_rows(settings, tmp_path, series(1, "NORTH", {0: 10.0}, 1))
    assert ask(settings) == []


def test_the_dashboard_says_who_moves_first(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, led())
    report, reading = REPORTS_BY_KIND["price-changes"], RowContext(Periods("year", date(2026, 1, 1), date(2026, 6, 19)))
    rows = [{**row, "period": str(row["period"])} for row in ask(settings)]
    said = summary_of(report, {}, [row for row in rows if row["channel"] != "EAST"], reading)
    assert f"{said.figure} {said.sentence}".startswith(
        "100.0 % of the 260 changes of NORTH to prices of items that others"
    )
    alone = summary_of(report, {}, [{**row, "share_first": None} for row in rows], reading)
    assert alone.figure.endswith(" changes") and "comparisons of daily prices" in alone.sentence
    assert summary_of(report, {}, [], reading).figure == "0 comparisons"
