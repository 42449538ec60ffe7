"""Outliers are marked inside the load, and what is loaded decides them, not how."""

import random
from pathlib import Path

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.rollups.test_rollups import marks, rebuilt, rollups
from tests.support.servers import Servers
from tests.support.shop import load_rows
from workers.analytics.rollups.codec import unpack
from workers.provenance import reindex
from workers.provenance.undo import undo


def row(number: int, day: int, store: str, price: str, month: int = 7) -> str:
    return f"{number},Item {number},Vita,Drinks,Tea,1,2026-{month:02}-{day:02},{store},{price},\n"


def outliers(settings: Settings) -> list[tuple[object, ...]]:
    return [(one[0], one[1].day, one[2], one[5], one[6]) for one in marks(settings) if one[6] is not None]


STEADY = "".join(row(1, day, "NORTH", "10.00") for day in range(1, 9))


def test_a_load_marks_outliers_of_new_and_of_former_months(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "100.00"))
    assert outliers(settings) == [("Item 1", 9, "NORTH", 10_000, "d")]
    load_rows(settings, tmp_path, row(1, 10, "NORTH", "1.00"), name="b.csv")
    assert [one[1] for one in outliers(settings)] == [9, 10]


def test_outliers_have_rollups_of_their_own(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "100.00"))
    for scope in "bcha":
        found = {one[12]: one for one in rollups(settings) if one[0] == scope}
        assert {kind: one[4] for kind, one in found.items()} == {"l": 8, "L": 1}
    everything = {one[12]: unpack(one[9])[0].tolist() for one in rollups(settings) if one[0] == "a"}
    assert everything == {"l": [1_000], "L": [10_000]}


def test_later_data_takes_a_mark_away(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "30.00"))
    assert [one[1] for one in outliers(settings)] == [9]
    load_rows(settings, tmp_path, "".join(row(1, day, "NORTH", "30.00") for day in range(10, 22)), name="b.csv")
    assert outliers(settings) == []
    assert {one[12] for one in rollups(settings)} == {"l"}


def test_an_undone_load_leaves_no_mark_behind(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY)
    second = load_rows(settings, tmp_path, row(1, 3, "NORTH", "99.99"), name="b.csv")
    assert [one[1] for one in outliers(settings)] == [3]
    with connect(settings.database_url, application="tests") as connection:
        reindex.lock(connection)
        undo(connection, second.load_id, "tests", "a typing error")
    assert outliers(settings) == []
    assert rollups(settings) == rebuilt(settings)


def test_the_same_data_in_any_loads_has_the_same_marks(servers: Servers, tmp_path: Path) -> None:
    chance = random.Random(3)
    lines = [
        row(item, day, store, chance.choice(("10", "10", "10", "10", "11", "100", "1.2", "6")), month)
        for item in range(1, 6)
        for month in (6, 7)
        for day in range(1, 13)
        for store in ("NORTH", "SOUTH")
    ]
    seen = []
    for parts in (1, 3, 7):
        chance.shuffle(lines)
        with servers.fresh(tmp_path) as settings:
            for number in range(parts):
                load_rows(settings, tmp_path, "".join(lines[number::parts]), name=f"{parts}-{number}.csv")
            seen.append(marks(settings))
    assert len({one[6] for one in seen[0]}) > 2
    assert seen[0] == seen[1] == seen[2]


def test_a_month_without_changes_is_not_written(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "100.00"))
    query = "SELECT day, xmin::text FROM observations ORDER BY day"
    with connect(settings.database_url, application="tests") as connection:
        before = connection.execute(query).fetchall()
    assert len(rebuilt(settings)) > 0
    with connect(settings.database_url, application="tests") as connection:
        assert connection.execute(query).fetchall() == before
