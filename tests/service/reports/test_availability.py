"""Availability equals what another engine says of the raw rows, and a planted absence is read back."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.errors import BrandNotFound
from shared.settings.settings import Settings
from tests.assurance.truth.compare import Question, differences
from tests.assurance.truth.index import Index
from tests.assurance.truth.questions.availability import expected
from tests.assurance.truth.questions.scopes import parameters_of, random_kind, random_scope
from tests.service.reports.market import ON_THE_MARKET
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.availability import make
from workers.analytics.reports.result import with_partial_periods

pytestmark = ON_THE_MARKET

FIRST = date(2026, 2, 1)


def ask(connection: Connection, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    spelled = {name: value.isoformat() if isinstance(value, date) else value for name, value in parameters.items()}
    return with_partial_periods(make(connection, spelled, quiet)).table.to_pylist()


def offered(item: int, store: str, days: set[int]) -> str:
    """Write a row for each of some days, counted from FIRST."""
    return "".join(
        f"{item},Item {item},Vita,Drinks,Tea,1,{FIRST + timedelta(days=day)},{store},10,\n" for day in sorted(days)
    )


def ask_planted(settings: Settings, **parameters: Any) -> list[dict[str, Any]]:
    asked = {"from": "2026-03-01", "to": "2026-03-31", **parameters}
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        return ask(connection, asked)


def planted(settings: Settings, folder: Path) -> None:
    """NORTH was observed on each day of February and March but 10 March; SOUTH has items 1 to 3 and one of its own.

    Of NORTH: 1 is always there, 2 is absent for six days and one that was not observed, 3 is new on 15 March, 4 is gone
    after February, 5 is of another brand.
    """
    march = set(range(28, 59)) - {37}
    every = set(range(28)) | march
    north = [every, every - set(range(33, 40)), march - set(range(28, 42)), set(range(20))]
    rows = "".join(offered(item, "NORTH", days) for item, days in enumerate(north, 1))
    rows += "".join(offered(item, "SOUTH", {40, 45}) for item in (1, 2, 3, 9))
    load_rows(settings, folder, rows + offered(5, "NORTH", every).replace("Vita", "Maison"))


def test_a_planted_absence_is_read_back(settings: Settings, tmp_path: Path) -> None:
    planted(settings, tmp_path)
    north, south = ask_planted(settings, brand=["vita"])
    assert (north["channel"], north["items"], north["observed_days"]) == ("NORTH", 3, 30)
    assert (north["item_days"], north["missing_days"]) == (30 + 24 + 17, 6)
    assert north["share_seen"] == round(71 / 77, 6)
    assert north["share_seen_low"] < north["share_seen"] < north["share_seen_high"]
    assert (north["first_day"], north["last_day"]) == (date(2026, 3, 1), date(2026, 3, 31))
    assert (north["new_items"], north["gone_items"]) == (1, 1)
    assert north["overlaps"] == [
        {"channel": "SOUTH", "items": 3, "jaccard": 0.75, "share": 1.0, "share_of_other": 0.75}
    ]
    assert (south["observed_days"], south["missing_days"], south["new_items"], south["gone_items"]) == (
        2,
        0,
        None,
        None,
    )
    assert (south["share_seen"], south["share_seen_low"]) == (1.0, None)  # all agree


def test_a_channel_that_lost_all_items_has_a_row(settings: Settings, tmp_path: Path) -> None:
    rows = offered(4, "NORTH", {3, 4}) + offered(5, "NORTH", {30}).replace("Vita", "Maison")
    load_rows(settings, tmp_path, rows)
    [row] = ask_planted(settings, brand=["vita"])
    assert (row["items"], row["item_days"], row["gone_items"], row["first_day"]) == (0, 0, 1, None)
    assert row["overlaps"] == []


def test_the_previous_period_is_the_whole_one_where_the_range_cuts_it(settings: Settings, tmp_path: Path) -> None:
    february, march = {0, 1}, {28, 29}
    load_rows(settings, tmp_path, offered(1, "NORTH", february) + offered(2, "NORTH", february | march))
    asked = {"from": "2026-02-10", "to": "2026-03-31", "granularity": "month"}
    [row] = ask_planted(settings, **asked)
    assert (row["period"], row["items"], row["new_items"], row["gone_items"]) == (date(2026, 3, 1), 1, 0, 1)


def test_fewer_than_three_items_have_no_share(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(offered(item, store, {30, 32}) for item in (1, 2) for store in ("NORTH", "SOUTH"))
    load_rows(settings, tmp_path, rows)
    for row in ask_planted(settings):
        assert (row["items"], row["share_seen"], row["share_seen_low"]) == (2, None, None)
        [overlap] = row["overlaps"]
        assert (overlap["items"], overlap["jaccard"], overlap["share"]) == (2, None, None)


def test_unknown_brands_are_refused(connection: Connection) -> None:
    with pytest.raises(BrandNotFound):
        make(connection, {"brand": ["unknown"]}, quiet)


def test_random_questions_equal_another_engine(connection: Connection, judge: Index) -> None:
    random, rows = Random(11), 0
    for _ in range(40):
        scope = random_scope(judge, random, named=False)
        groups = [name for name in scope.group_by if name != "channel"]
        scope = judge.settled(replace(scope, kind=random_kind(random), group_by=groups))
        found = ask(connection, parameters_of(scope))
        assert list(differences(Question(str(scope), found, expected(judge, scope)))) == []
        rows += len(found)
    assert rows > 500
