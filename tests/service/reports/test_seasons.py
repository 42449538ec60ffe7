"""Seasons equal what another engine says of the raw rows, and a planted season is read back, within its interval."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.assurance.truth.compare import Question, differences
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.scopes import everything, random_scope
from tests.assurance.truth.questions.seasons import expected
from tests.service.reports.market import ON_THE_MARKET, index_of
from tests.support.reports import quiet
from tests.support.shop import load_rows
from workers.analytics.reports.result import with_partial_periods
from workers.analytics.reports.seasons import make, seasonal_pattern

pytestmark = ON_THE_MARKET

SEASON = [0.10, 0.08, 0.02, 0.0, -0.04, -0.08, -0.10, -0.06, -0.02, 0.0, 0.04, 0.06]
"""Planted: the logarithm of each month's factor, January first; they add up to 0."""
WHOLE = {"from": "2018-01-01", "to": "2023-12-31", "category": ["drinks"]}


def ask(connection: Connection, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    spelled = {name: value.isoformat() if isinstance(value, date) else value for name, value in parameters.items()}
    return with_partial_periods(make(connection, spelled, quiet)).table.to_pylist()


def ask_planted(settings: Settings, **parameters: Any) -> list[dict[str, Any]]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        return ask(connection, {**WHOLE, **parameters})


def planted(logarithm: Callable[[int, Random], float], *, items: int = 5, months: int = 72, seed: int = 1) -> str:
    """Write a price a month for each item; `logarithm` is that of the month's common price, beside a little noise."""
    random, rows = Random(seed), []
    common = [logarithm(month, random) for month in range(months)]
    for item in range(items):
        for month, level in enumerate(common):
            price = 1000 * (item + 1) * math.exp(level + random.gauss(0, 0.01))
            day = date(2018 + month // 12, 1 + month % 12, 5)
            rows.append(f"{item},Item {item},Vita,Drinks,Tea,1,{day},NORTH,{price:.2f},\n")
    return "".join(rows)


def test_a_planted_season_is_read_back(settings: Settings, tmp_path: Path) -> None:
    """Prices rise by 0.2 % a month and have a season."""
    load_rows(settings, tmp_path, planted(lambda month, random: 0.002 * month + SEASON[month % 12]))
    rows = ask_planted(settings)
    assert len(rows) == 72
    assert all(row["seasonal"] and row["p_value"] < 1e-6 and row["months"] == 71 for row in rows)
    assert math.fsum(math.log(row["factor"]) for row in rows[:12]) == pytest.approx(0, abs=1e-5)
    for row in rows[1:]:
        truth = math.exp(SEASON[row["period"].month - 1])
        assert row["factor"] == pytest.approx(truth, abs=0.01)
        assert row["factor_low"] <= row["factor"] <= row["factor_high"]
        assert row["adjusted_change"] == pytest.approx(math.exp(0.002) - 1, abs=0.02)
        assert row["adjusted_index"] == pytest.approx(row["index"] / row["factor"], abs=1e-3)
    covered = sum(row["factor_low"] <= math.exp(SEASON[n]) <= row["factor_high"] for n, row in enumerate(rows[:12]))
    assert covered >= 10


def test_changes_without_a_season_are_not_adjusted(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted(lambda month, random: 0.002 * month))
    for row in ask_planted(settings):
        assert (row["seasonal"], row["factor"], row["adjusted_index"], row["adjusted_change"]) == (
            False,
            None,
            None,
            None,
        )
        assert 0.001 <= row["p_value"] <= 1


def test_fewer_than_two_whole_years_show_no_pattern(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted(lambda month, random: SEASON[month % 12]))
    for last, months, is_known in (("2019-12-31", 23, True), ("2019-11-30", 22, False)):
        rows = ask_planted(settings, to=last)
        assert {row["months"] for row in rows} == {months}
        assert all((row["seasonal"] is not None) is is_known for row in rows)
        assert all((row["factor"] is not None) is is_known for row in rows)
        assert rows[-1]["change"] is not None


def test_two_items_have_no_change(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted(lambda month, random: SEASON[month % 12], items=2))
    for row in ask_planted(settings)[1:]:
        assert (row["items"], row["matched_items"], row["change"], row["index"], row["seasonal"]) == (
            2,
            2,
            None,
            None,
            None,
        )


def test_without_a_first_day_ten_years_are_read(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, planted(lambda month, random: SEASON[month % 12]))
    assert len(ask_planted(settings, **{"from": None, "to": None})) == 72


def test_moving_the_first_day_changes_only_the_changes_from_its_month(settings: Settings, tmp_path: Path) -> None:
    """Periods are months, whatever is asked for; the pattern and the index are of the whole range."""
    load_rows(settings, tmp_path, planted(lambda month, random: SEASON[month % 12]))
    whole, later = ask_planted(settings), ask_planted(settings, **{"from": "2019-03-04"}, granularity="week")
    assert [row["period"] for row in later] == [row["period"] for row in whole[14:]]
    assert [row["partial_period"] for row in later] == [True] + [False] * (len(later) - 1)
    for name in ("change", "items", "matched_items"):
        assert [row[name] for row in later[1:]] == [row[name] for row in whole[15:]]


def test_the_test_of_seasons_errs_as_seldom_as_it_says() -> None:
    """Series of twelve years without a season, of lasting steps or of noise about a level, seldom seem to have one."""
    random = np.random.default_rng(4)
    month = np.arange(1, 144) % 12
    for level in (lambda steps: np.cumsum(steps), lambda steps: steps):
        found = [seasonal_pattern(month, np.diff(level(random.normal(size=144)))) for _ in range(2_000)]
        assert sum(one is not None and one.is_significant for one in found) / len(found) < 0.01


def test_random_questions_equal_another_engine(connection: Connection, judge: Index) -> None:
    random, rows = Random(3), 0
    for _ in range(15):
        scope = replace(random_scope(judge, random, named=True), granularity="month", group_by=(), kind="listing")
        scope = replace(scope, kind=random.choice(("listing", "sale")), first=date(2025, 6, 1), last=date(2026, 6, 20))
        found = ask(connection, everything(scope))
        assert list(differences(Question(str(scope), found, expected(judge, scope)))) == []
        rows += len(found)
    assert rows > 100


def test_drawn_years_equal_another_engine(settings: Settings, tmp_path: Path) -> None:
    """Random steps with a weak season and months without prices."""
    text = planted(lambda month, random: 0.3 * SEASON[month % 12] + random.gauss(0, 0.02), items=8)
    random = Random(2)
    lines = [line for line in text.splitlines(keepends=True) if "2020-05" not in line and random.random() > 0.2]
    load_rows(settings, tmp_path, "".join(lines))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        index, seasonal = index_of(connection), set()
        for first in range(2018, 2023):
            scope = Scope(date(first, 1, 1), date(2023, 12, 31), "month", categories=["drinks"], kind="listing")
            found = ask(connection, everything(scope))
            assert list(differences(Question(str(scope), found, expected(index, scope)))) == []
            seasonal |= {row["seasonal"] for row in found}
    assert seasonal == {None, False, True}
