"""Which pairs a person is asked about: those that are the best of one of their records."""

from pathlib import Path

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.articles.support import ask, row, shop
from tests.service.articles.test_decisions import printed, run

NAMES = {"1": "Soy milk 1L", "2": "Oat biscuits", "x": "Green tea", "y": "Olive oil"}


def _pairs(settings: Settings, *arguments: str) -> set[frozenset[str]]:
    found = printed(settings, "list", *arguments)
    return {frozenset((str(one["left_name"]), str(one["right_name"]))) for one in found}


def _pair(one: str, other: str) -> frozenset[str]:
    return frozenset((NAMES[one], NAMES[other]))


def test_a_pair_waits_unseen_while_both_of_its_records_have_a_better_one(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", "", NAMES["1"]) + row("2", "", NAMES["2"]))
    shop(settings, tmp_path, "shop_b", row("x", "", NAMES["x"]) + row("y", "", NAMES["y"]))
    items = {name: (number, iid) for name, number, iid in ask(settings, "SELECT name, id, iid FROM items")}
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("DELETE FROM links")  # what the loads found
        for one, other, score in (("1", "x", 0.9), ("2", "y", 0.8), ("1", "y", 0.5), ("2", "x", 0.85)):
            ids = sorted((items[NAMES[one]][0], items[NAMES[other]][0]))
            connection.execute("INSERT INTO links VALUES ($1, $2, 'likeness', $3, 'review', '[]')", (*ids, score))
    everything = {_pair(one, other) for one in "12" for other in "xy"}
    assert _pairs(settings) == everything - {_pair("1", "y")}
    assert _pairs(settings, "--iid", items[NAMES["1"]][1]) == {_pair("1", "x"), _pair("1", "y")}
    run(settings, "decide", items[NAMES["2"]][1], items[NAMES["y"]][1], "different")
    assert _pairs(settings) == {_pair("1", "x"), _pair("2", "x"), _pair("1", "y")}
