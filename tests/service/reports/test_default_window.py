"""The default window: one rule for the index, for a filter and for an item, and what an empty answer says of it."""

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.service.reports.market import COLUMNS, ON_THE_MARKET, SALES
from tests.support.reports import quiet
from tests.support.servers import Servers
from tests.support.shop import load_rows
from workers.analytics.reports.publish import COMPUTATIONS
from workers.analytics.reports.window import last_day_with_enough

pytestmark = ON_THE_MARKET
FIRST = date(2026, 1, 1)


def drawn(chance: Random) -> list[date]:
    """Draw days: runs of neighbours and breaks between them."""
    days, day = [], FIRST
    for _ in range(chance.randint(1, 8)):
        for _ in range(chance.choice((1, 1, 2, 10))):
            day += timedelta(days=chance.choice((1, 7, 30)))
            days.append(day)
        day += timedelta(days=chance.choice((5, 29, 30, 31, 90)))
    return days


def test_an_items_days_end_where_a_filters_days_of_equal_size_do(connection: Connection) -> None:
    chance = Random(2)
    for _ in range(500):
        days = drawn(chance)
        [(ends,)] = connection.execute("SELECT window_end($1::date[])", (chance.sample(days, len(days)),)).fetchall()
        assert ends == last_day_with_enough(dict.fromkeys(days, 1)), days


@pytest.fixture(scope="module")
def shop(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Tea is sold and offered until April, rice offered until March; one row of each is dated in October.

    Kelp is sold alone.
    """
    folder = tmp_path_factory.mktemp("window")
    tea = [(1, "Leaf", "Tea", FIRST + timedelta(days=n)) for n in range(120)]
    rice = [(2, "Grain", "Rice", FIRST + timedelta(days=n)) for n in range(80)]
    stray = [(1, "Leaf", "Tea", date(2026, 10, 3)), (2, "Grain", "Rice", date(2026, 10, 3))]
    rows = [f"{n},{kind},{brand},Food,{kind},1,{day},NORTH,10," for n, brand, kind, day in [*tea, *rice, *stray]]
    sold = [f"{n},{kind},{brand},Food,{kind},1,{day},NORTH,9,,HKD,1\n" for n, brand, kind, day in tea]
    sold.append(f"3,Kelp,Weed,Food,Kelp,1,{FIRST},NORTH,9,,HKD,1\n")
    with servers.fresh(folder) as settings:
        load_rows(settings, folder, "".join(f"{row}\n" for row in rows))
        load_rows(settings, folder, "".join(sold), text=SALES, name="sales.csv", header=COLUMNS)
        yield settings


@pytest.mark.parametrize(
    ("asked", "ended_by", "to", "kind"),
    [
        ({"brand": ["leaf"]}, "data", "2026-04-30", "listing"),
        ({"brand": ["grain"]}, "data", "2026-03-21", "listing"),
        ({"brand": ["leaf"], "kind": "sale"}, "data", "2026-04-30", "sale"),
        ({"brand": ["grain"], "kind": "sale"}, "index", "2026-04-30", "sale"),
        ({"brand": ["grain"], "category": ["food.tea"]}, "index", "2026-04-30", "listing"),
        ({"brand": ["weed"], "to": "2026-02-01"}, "request", "2026-02-01", "sale"),
        ({"brand": ["weed"], "category": ["food.tea"], "to": "2026-02-01"}, "request", "2026-02-01", "listing"),
        ({"brand": ["leaf"], "currency": "ISK"}, "index", "2026-04-30", "listing"),
        ({"brand": ["leaf"], "currency": "ISK", "kind": "sale"}, "index", "2026-04-30", "sale"),
        ({"brand": ["leaf"], "to": "2026-02-01"}, "request", "2026-02-01", "listing"),
    ],
)
def test_an_answer_says_what_ended_its_window_and_of_which_kind_it_is(
    shop: Settings, asked: dict[str, Any], ended_by: str, to: str, kind: str
) -> None:
    with connect(shop.worker_database_url, application="tests", autocommit=True) as connection:
        answer = COMPUTATIONS["cohorts"](connection, asked, quiet)
    assert (answer.days.ended_by, answer.days.last.isoformat(), answer.kind) == (ended_by, to, kind)


def test_an_index_without_observations_ends_today(settings: Settings) -> None:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        answer = COMPUTATIONS["category-insights"](connection, {"currency": "ISK"}, quiet)
    assert (answer.days.ended_by, answer.kind) == ("today", "listing")
