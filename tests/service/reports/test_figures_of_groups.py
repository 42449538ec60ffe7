"""Answers by finished figures of groups are those by single observations."""

import random
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.errors import BrandNotFound, CategoryNotFound
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET, known, market
from tests.support.reports import quiet
from tests.support.servers import Servers
from workers.analytics.reports.cohorts import make
from workers.analytics.reports.result import Answer
from workers.analytics.rollups import group_figures
from workers.analytics.rollups.refresh import rebuild

pytestmark = ON_THE_MARKET


_GROUPS = (["channel"], ["category"], ["brand", "channel"], ["channel", "brand"], ["category", "brand"])


@pytest.fixture
def own_market(servers: Servers) -> Iterator[Settings]:
    """The market, in a database that the test may change."""
    with servers.fresh(contents=market) as settings:
        yield settings


def _questions(brands: list[str], categories: list[str]) -> list[dict[str, Any]]:
    chance = random.Random(2)
    questions = []
    for _ in range(40):
        name, names = chance.choice((("brand", brands), ("category", categories)))
        questions.append(
            {
                name: chance.sample(names, chance.randint(1, 2)),
                "from": chance.choice(("2025-07-01", "2026-03-01", "2026-03-11")),
                "to": chance.choice(("2026-04-17", "2026-06-30")),
                "currency": chance.choice((None, "USD", "HKD")),
                "kind": chance.choice((None, "listing", "sale")),
                "group_by": chance.choice(_GROUPS),
                "granularity": chance.choice((None, "month", "month", "week")),
            }
        )
    return questions


def _answers(connection: Connection) -> list[Answer]:
    return [make(connection, question, quiet) for question in _questions(*known(connection))]


def _rebuilt(settings: Settings, monkeypatch: pytest.MonkeyPatch, entries_min: int) -> None:
    monkeypatch.setattr(group_figures, "ENTRIES_MIN", entries_min)
    monkeypatch.setattr(group_figures, "ENTRIES_A_GROUP_MIN", 1)
    with connect(settings.database_url, application="tests") as connection:
        rebuild(connection)


def test_answers_are_the_same_with_and_without_them(own_market: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(own_market.worker_database_url, application="tests", autocommit=True) as connection:
        _rebuilt(own_market, monkeypatch, 1 << 40)
        expected = _answers(connection)
        _rebuilt(own_market, monkeypatch, 1)
        assert _answers(connection) == expected
        with connect(own_market.database_url, application="tests") as owner:  # as a load by former code leaves a month
            owner.execute(
                "UPDATE month_cells SET by_channel = NULL, by_category = NULL WHERE month = $1", (date(2026, 5, 1),)
            )
            owner.commit()
        assert _answers(connection) == expected
        # What has finished figures needs no entries.
        with connect(own_market.database_url, application="tests") as owner:
            owner.execute("UPDATE month_cells SET entries = '' WHERE by_channel IS NOT NULL AND scope = 'b'")
            owner.commit()
        question = {"brand": known(connection)[0][:1], "from": "2025-07-01", "to": "2026-04-30", "kind": "sale"}
        for group in ("channel", "category"):
            assert make(connection, {**question, "group_by": [group]}, quiet).table.num_rows


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ({"brand": ["vita", "unknown"]}, BrandNotFound),
        ({"category": ["food", "food.unknown"]}, CategoryNotFound),
        *(
            ({"brand": [name]}, BrandNotFound)
            for name in ("vita,vita", 'vita","vita', "{vita}", '\\"vita', "vita\\", "")
        ),
    ],
)
def test_an_unknown_name_is_refused(connection: Connection, names: Any, error: Any) -> None:
    with pytest.raises(error):
        make(connection, {**names, "from": "2025-07-01", "to": "2026-06-30"}, quiet)
