"""Outliers are marked inside the load, and what is loaded decides them, not how."""

import random
from pathlib import Path
from typing import Any

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.test_rollups import marks, rebuilt, rollups
from tests.support.database import execute
from tests.support.servers import Servers
from tests.support.shop import load_rows
from workers.analytics.rollups.codec import unpack
from workers.provenance import standing
from workers.provenance.undo import undo


def row(number: int, day: int, store: str, price: str, month: int = 7) -> str:
    return f"{number},Item {number},Vita,Drinks,Tea,1,2026-{month:02}-{day:02},{store},{price},\n"


def outliers(settings: Settings) -> list[tuple[object, ...]]:
    return [(one[0], one[1].day, one[2], one[5], one[6]) for one in marks(settings) if one[6] is not None]


STEADY = "".join(row(1, day, "NORTH", "10.00") for day in range(1, 9))


def test_outliers_of_new_and_of_former_months_are_marked_and_have_rollups_of_their_own(
    settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "100.00"))
    assert outliers(settings) == [("Item 1", 9, "NORTH", 10_000, "d")]
    for scope in "bcha":
        found = {one[12]: one for one in rollups(settings) if one[0] == scope}
        assert {kind: one[4] for kind, one in found.items()} == {"l": 8, "L": 1}
    everything = {one[12]: unpack(one[9])[0].tolist() for one in rollups(settings) if one[0] == "a"}
    assert everything == {"l": [1_000], "L": [10_000]}
    written = "SELECT day, xmin::text FROM observations ORDER BY day"
    before = execute(settings, written)
    assert len(rebuilt(settings)) > 0
    assert execute(settings, written) == before, "a month without changes is written"
    load_rows(settings, tmp_path, row(1, 10, "NORTH", "1.00"), name="b.csv")
    assert [one[1] for one in outliers(settings)] == [9, 10]


def test_later_data_takes_a_mark_away(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "90.00"))
    assert [one[1] for one in outliers(settings)] == [9]
    assert changes(settings) == []
    load_rows(settings, tmp_path, "".join(row(1, day, "NORTH", "90.00") for day in range(10, 22)), name="b.csv")
    assert outliers(settings) == []
    assert {one[12] for one in rollups(settings)} == {"l"}
    [event] = changes(settings)
    assert (event["month"], event["observations"]) == ("2026-07", 1)
    [change] = event["changes"]
    assert (change["day"], change["channel"], change["price_minor"]) == ("2026-07-09", "NORTH", 9_000)
    assert (change["before"], change["after"]) == ("one_off", None)


def changes(settings: Settings) -> list[dict[str, Any]]:
    """Return the logged changes of marks, the oldest first."""
    return [
        one[0] for one in execute(settings, "SELECT data FROM event_log WHERE type = 'outliers.changed' ORDER BY id")
    ]


def test_days_after_a_price_decide_on_it_and_both_marks_are_logged(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY + row(1, 9, "NORTH", "25.00"))
    assert outliers(settings) == [], "an offer may end so"
    load_rows(settings, tmp_path, row(1, 10, "NORTH", "10.00"), name="b.csv")
    assert [one[1] for one in outliers(settings)] == [9]
    [event] = changes(settings)
    assert [(change["before"], change["after"]) for change in event["changes"]] == [(None, "one_off")]


def test_an_offer_that_later_days_surround_stays(servers: Servers, tmp_path: Path) -> None:
    """Half price for a week with a list price, and a day at a fifth without one; more rows follow later."""
    offer = [row(1, day, "NORTH", "10.00") for day in (1, 2, 3)]
    offer += [row(1, day, "NORTH", "5.00").replace(",5.00,", ",5.00,10.00") for day in range(4, 11)]
    offer += [row(1, day, "NORTH", "2.00" if day == 12 else "10.00") for day in (11, 12, 13, 14)]
    later = [row(1, day, "NORTH", "10.00") for day in range(15, 32)]
    seen = []
    for parts in (["".join(offer + later)], ["".join(offer), "".join(later)], offer + later):
        with servers.fresh(tmp_path) as settings:
            for number, rows in enumerate(parts):
                load_rows(settings, tmp_path, rows, name=f"{len(parts)}-{number}.csv")
            seen.append(marks(settings))
            assert outliers(settings) == []
    assert seen[0] == seen[1] == seen[2]


def test_an_undone_load_leaves_no_mark_behind(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, STEADY)
    second = load_rows(settings, tmp_path, row(1, 3, "NORTH", "99.99"), name="b.csv")
    assert [one[1] for one in outliers(settings)] == [3]
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
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
    for parts in (1, 5):
        chance.shuffle(lines)
        with servers.fresh(tmp_path) as settings:
            for number in range(parts):
                load_rows(settings, tmp_path, "".join(lines[number::parts]), name=f"{parts}-{number}.csv")
            seen.append(marks(settings))
    assert len({one[6] for one in seen[0]}) > 2
    assert seen[0] == seen[1]
