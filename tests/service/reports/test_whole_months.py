"""Whole months read in one statement are those that the ordinary way reads in several."""

import random
from typing import Any

import numpy as np
import pytest

from shared.db.connect import Connection
from shared.errors import BrandNotFound, CategoryNotFound
from tests.service.reports.market import ON_THE_MARKET
from tests.service.reports.test_cohorts import known
from tests.support.reports import quiet
from workers.analytics.reports.aggregator import GroupedSeries
from workers.analytics.reports.cohorts import make, read_whole_months
from workers.analytics.reports.filters import Tree, filter_of, whole_months
from workers.analytics.reports.query import gather, settled
from workers.analytics.reports.set_aside import SetAside

pytestmark = ON_THE_MARKET
YEAR = {"from": "2025-07-01", "to": "2026-06-30"}


def _questions(brands: list[str], categories: list[str]) -> list[dict[str, Any]]:
    chance = random.Random(1)
    questions = []
    for _ in range(60):
        name, names = chance.choice((("brand", brands), ("category", categories)))
        questions.append(
            {
                name: chance.sample(names, chance.randint(1, 3)),
                "from": chance.choice(("2025-07-01", "2026-03-01", "2020-01-01")),
                "to": chance.choice(("2026-03-31", "2026-06-30")),
                "currency": chance.choice((None, "USD", "HKD")),
                "kind": chance.choice((None, "listing", "sale")),
                "group_by": chance.choice(([], ["brand"])) if name == "brand" else [],
            }
        )
    return questions


def test_both_ways_read_the_same(connection: Connection) -> None:
    kinds, outliers = set(), 0
    tree = Tree.read(connection)
    for question in _questions(*known(connection)):
        days = whole_months(question)
        assert days is not None
        cohort = read_whole_months(connection, question, days, quiet)
        assert cohort is not None
        chosen = settled(connection, tree, filter_of(connection, tree, question), days)
        series = gather(connection, tree, chosen, days, quiet)
        for name in GroupedSeries._fields:
            np.testing.assert_equal(getattr(cohort.series, name), getattr(series, name), err_msg=f"{question} {name}")
        aside = SetAside(connection, tree, chosen, days)
        assert (cohort.kind, cohort.set_aside) == (chosen.kind, aside.of(chosen, quiet))
        assert cohort.outliers == aside.summary()
        if series.keys:
            kinds.add((question["kind"], cohort.kind))
            outliers += cohort.outliers.set_aside
    assert {(None, "listing"), (None, "sale"), ("listing", "listing"), ("sale", "sale")} <= kinds
    assert outliers


@pytest.mark.parametrize(
    "other",
    [
        {"channel": ["NORTH"]},
        {"category": ["food"]},
        {"kind": "both"},
        {"outliers": "include"},
        {"group_by": ["channel"]},
    ],
    ids=lambda one: next(iter(one)),
)
def test_what_needs_single_observations_is_left_to_the_ordinary_way(connection: Connection, other: Any) -> None:
    question = {"brand": ["vita"], **YEAR}
    days = whole_months(question)
    assert days is not None
    assert read_whole_months(connection, question, days, quiet) is not None
    assert read_whole_months(connection, {**question, **other}, days, quiet) is None


@pytest.mark.parametrize(
    "other",
    [{"from": "2025-07-02"}, {"to": "2026-06-29"}, {"from": "2026-07-01"}, {"to": None}, {"granularity": "week"}],
    ids=["from the second", "to the last but one", "from after to", "without an end", "weeks"],
)
def test_other_days_are_no_whole_months(other: Any) -> None:
    assert whole_months({**YEAR, **other}) is None


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
        make(connection, {**names, **YEAR}, quiet)
