"""Promotions equal what another engine says of the raw rows, and a planted calendar of offers is read back."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.errors import CategoryNotFound
from shared.settings.settings import Settings
from tests.assurance.truth.compare import Question, differences
from tests.assurance.truth.index import Index
from tests.assurance.truth.questions.promotions import RULES, expected
from tests.assurance.truth.questions.scopes import everything, random_scope
from tests.service.reports.market import ON_THE_MARKET, index_of
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.promotions import make
from workers.analytics.reports.result import with_partial_periods

pytestmark = ON_THE_MARKET

FIRST = date(2026, 1, 5)
"""A Monday."""
DAYS = 180
WHOLE = {"from": "2026-01-05", "to": "2026-07-03"}


def ask(connection: Connection, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    spelled = {name: value.isoformat() if isinstance(value, date) else value for name, value in parameters.items()}
    return with_partial_periods(make(connection, spelled, quiet)).table.to_pylist()


def ask_planted(settings: Settings, **parameters: Any) -> list[dict[str, Any]]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        return ask(connection, {**WHOLE, **parameters})


def planted(calendar: dict[int, list[tuple[int, int, int]]], *, listed: bool, brand: str = "Vita") -> str:
    """Write daily prices of 1000 with offers: by item the first day, the length and the percentage of each."""
    rows = []
    for item, offers in calendar.items():
        for day in range(DAYS):
            cut = next((percent for first, length, percent in offers if first <= day < first + length), 0)
            list_price = "1000" if cut and listed else ""
            rows.append(
                f"{item},Item {item},{brand},Drinks,Tea,1,{FIRST + timedelta(days=day)},NORTH,{1000 - 10 * cut},{list_price}\n"
            )
    return "".join(rows)


CALENDAR = {
    1: [(37, 7, 20), (79, 7, 20)],  # Wednesdays
    2: [(38, 14, 30), (87, 14, 30)],  # Thursdays
    3: [(42, 7, 10)],
    4: [],
}


@pytest.mark.parametrize(
    ("listed", "rule"), [(True, "list_price"), (True, "prior_price"), (True, "return"), (False, "return")]
)
def test_a_planted_calendar_is_read_back(settings: Settings, tmp_path: Path, listed: bool, rule: str) -> None:
    load_rows(settings, tmp_path, planted(CALENDAR, listed=listed))
    [row] = ask_planted(settings, rule=rule)
    assert (row["rule"], row["items"], row["item_days"], row["items_on_offer"]) == (rule, 4, 4 * DAYS, 3)
    assert (row["item_days_on_offer"], row["share_on_offer"]) == (49, round(49 / 720, 6))
    assert row["share_on_offer_low"] < row["share_on_offer"] < row["share_on_offer_high"]
    assert (row["offers"], row["offers_ended"], row["offers_per_item"]) == (5, 5, 1.25)
    assert (row["depth_mean"], row["depth_median"], row["duration_median"]) == (0.22, 0.2, 7.0)
    assert row["depth_mean_low"] < 0.22 < row["depth_mean_high"]
    assert row["starts"] == [
        {"weekday": "Monday", "offers": 1, "share": 0.2},
        {"weekday": "Wednesday", "offers": 2, "share": 0.4},
        {"weekday": "Thursday", "offers": 2, "share": 0.4},
    ]


def test_the_calendar_by_day_names_the_days_on_which_offers_began(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted(CALENDAR, listed=True))
    began = {row["period"]: row["offers"] for row in ask_planted(settings, granularity="day") if row["offers"]}
    assert began == Counter(FIRST + timedelta(days=first) for offers in CALENDAR.values() for first, _, _ in offers)


def test_brands_are_told_apart(settings: Settings, tmp_path: Path) -> None:
    other = planted({7: [(40, 7, 50)]}, listed=True, brand="Maison")
    load_rows(settings, tmp_path, planted(CALENDAR, listed=True) + other)
    maison, vita = ask_planted(settings, group_by=["brand"])
    assert (maison["brand"], maison["offers"], maison["depth_mean"], maison["share_on_offer"]) == (
        "maison",
        1,
        None,
        None,
    )
    assert (vita["brand"], vita["offers"], vita["depth_mean"]) == ("vita", 5, 0.22)


def test_what_each_rule_takes_for_an_offer(settings: Settings, tmp_path: Path) -> None:
    """A reduction that stays, one from an inflated list price, and one that the first day of observation shows."""
    stays = {1: [(60, 120, 20)], 2: [(60, 120, 20)], 3: [(60, 120, 20)]}
    load_rows(settings, tmp_path, planted(stays, listed=True))
    found = {rule: ask_planted(settings, rule=rule)[0] for rule in RULES}
    assert {rule: row["offers"] for rule, row in found.items()} == {"list_price": 3, "return": 0, "prior_price": 3}
    assert found["list_price"]["offers_ended"] == 0 and found["list_price"]["duration_median"] is None
    [longer] = ask_planted(settings, rule="return", offer_days=120)
    assert longer["offers"] == 0  # the price had not returned when observation ended

    inflated = planted({4: [(0, DAYS, 20)]}, listed=True)  # it never cost what was crossed out
    load_rows(settings, tmp_path, inflated, name="inflated.csv")
    found = {rule: ask_planted(settings, rule=rule)[0] for rule in RULES}
    assert found["list_price"]["item_days_on_offer"] == 3 * 120 + DAYS
    assert found["prior_price"]["item_days_on_offer"] == 3 * 120
    assert found["list_price"]["offers"] == 3  # of the fourth nobody knows when it began


def test_a_price_must_return_in_time(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted({item: [(60, 40, 20), (120, 10, 10)] for item in (1, 2, 3)}, listed=False))
    [row] = ask_planted(settings, rule="return")
    assert (row["offers"], row["depth_mean"]) == (3, 0.1)
    [row] = ask_planted(settings, rule="return", offer_days=40)
    assert (row["offers"], row["depth_mean"]) == (6, 0.15)


def test_an_offer_across_the_first_day_is_known_wherever_the_range_begins(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted(CALENDAR, listed=True))
    for rule in RULES:
        whole = {row["period"]: row for row in ask_planted(settings, rule=rule, granularity="day")}
        for first in ("2026-02-12", "2026-02-24", "2026-04-01"):
            later = ask_planted(settings, rule=rule, granularity="day", **{"from": first})
            assert later == [row for day, row in whole.items() if day.isoformat() >= first]


def test_an_unknown_category_is_refused(connection: Connection) -> None:
    with pytest.raises(CategoryNotFound):
        make(connection, {"category": ["no.where"]}, quiet)


def compare(connection: Connection, index: Index, random: Random, questions: int) -> int:
    """Compare random questions of each rule with the judge; return how many offers there were."""
    offers = 0
    for _ in range(questions):
        scope = replace(random_scope(index, random, named=False), kind="listing")
        scope = replace(scope, group_by=[name for name in scope.group_by if name != "channel"])
        if random.random() < 0.5:
            scope = replace(scope, first=min(scope.first, date(2026, 3, 1)), last=date(2026, 7, 1), brands=())
        for rule in RULES:
            days = random.choice((5, 30, 90))
            asked = {**everything(scope), "rule": rule, "offer_days": days if rule == "return" else None}
            found = ask(connection, asked)
            assert list(differences(Question(f"{rule} {scope}", found, expected(index, scope, rule, days)))) == []
            offers += sum(row["offers"] for row in found)
    return offers


def test_random_questions_equal_another_engine(connection: Connection, judge: Index) -> None:
    assert compare(connection, judge, Random(5), 12) > 100


def test_drawn_prices_of_each_day_equal_another_engine(settings: Settings, tmp_path: Path) -> None:
    """Prices that change on some days, with gaps of days and of months, and list prices now and then."""
    random, rows = Random(7), []
    for item in range(12):
        price, day = random.randint(50, 90), FIRST
        while day < FIRST + timedelta(days=DAYS):
            if random.random() < 0.15:
                price = random.randint(50, 90)
            listed = random.choice(("90", "80", "")) if random.random() < 0.6 else ""
            rows.append(f"{item},Item {item},Brand {item % 3},Food,Tea,1,{day},SOUTH,{price},{listed}\n")
            day += timedelta(days=random.choices((1, 2, 35), (0.95, 0.04, 0.01))[0])
    load_rows(settings, tmp_path, "".join(rows))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert compare(connection, index_of(connection), random, 15) > 300
