"""Laws of filters and periods: a filter answers as if nothing else were loaded, and a period as if nothing were cut."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET
from tests.support.reports import quiet
from tests.support.servers import Servers
from tests.support.shop import load_rows
from workers.analytics.reports.publish import COMPUTATIONS
from workers.analytics.reports.result import Answer, with_partial_periods

pytestmark = ON_THE_MARKET

# Intervals are of samples that each question draws anew.
DRAWN = {"index_change_low", "index_change_high", "median_disagrees", "low", "high"}
LISTS = ("brand-insights", "category-insights")
SHOPS = ("NORTH", "SOUTH", "EAST")
SPRING = {"from": "2026-02-10", "to": "2026-05-20", "outliers": "include"}


def rows_of(answer: Answer) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name not in DRAWN}
        for row in with_partial_periods(answer).table.to_pylist()
    ]


def simulated(seed: int) -> list[tuple[str, str]]:
    """Return lines of a file, each with its shop: each shop carries some of the items, and looks at them as it likes."""
    chance, lines = Random(seed), []
    for item in range(40):
        brand, kind = f"Brand {chance.randrange(6)}", chance.choice(("Tea", "Rice", "Cola"))
        for shop in SHOPS:
            if chance.random() < 0.4:
                continue
            for _ in range(chance.choice((1, 4, 30))):
                day = date(2026, 1, 1) + timedelta(days=chance.randrange(150))
                price, listed = chance.randint(20, 40), chance.choice(("", "45"))
                lines.append((shop, f"{item},Item {item},{brand},Food,{kind},1,{day},{shop},{price},{listed}\n"))
    return lines


@pytest.fixture(scope="module", params=[1, 3])
def worlds(request: Any, servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """Connections to a market of three shops, and to that of one of them alone."""
    lines, folder = simulated(request.param), tmp_path_factory.mktemp("worlds")
    with servers.fresh(folder) as together, servers.fresh(folder) as alone:
        load_rows(together, folder, "".join(line for _, line in lines), name="together.csv")
        load_rows(alone, folder, "".join(line for shop, line in lines if shop == "SOUTH"), name="alone.csv")
        with opened(together) as of_three, opened(alone) as of_one:
            yield of_three, of_one


def opened(settings: Settings) -> Connection:
    return connect(settings.worker_database_url, application="tests", autocommit=True)


@pytest.mark.parametrize("granularity", ["week", "month", None])
@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("cohorts", {"category": ["food"], "group_by": ["brand"]}),
        ("brand-insights", {"limit": 500}),
        ("brand-insights", {"slug": "brand-2"}),
        ("category-insights", {"limit": 500, "parent": "food"}),
        ("category-insights", {"code": "food.tea"}),
        ("price-index", {"category": ["food"]}),
        ("price-position", {"group_by": ["brand"]}),
        ("price-changes", {"group_by": ["category"]}),
        ("reductions", {}),
        ("availability", {"group_by": ["brand"]}),
        ("promotions", {"rule": "return"}),
        ("seasons", {"category": ["food"]}),
    ],
)
def test_a_filter_by_channel_answers_as_that_channel_loaded_alone(
    worlds: tuple[Connection, Connection], kind: str, asked: dict[str, Any], granularity: str | None
) -> None:
    asked = {**SPRING, **asked, "granularity": granularity}
    of_three, of_one = worlds
    filtered = COMPUTATIONS[kind](of_three, {**asked, "channel": ["SOUTH"]}, quiet)
    alone = COMPUTATIONS[kind](of_one, asked, quiet)
    assert rows_of(filtered) == rows_of(alone) != []
    assert (filtered.days, filtered.coverage, filtered.kind) == (alone.days, alone.coverage, alone.kind)


@pytest.mark.parametrize("sort", ["items", "-items", "observations", "-observations", "name", "-name"])
@pytest.mark.parametrize("kind", LISTS)
def test_pages_of_a_filtered_list_are_those_of_the_channel_alone(
    worlds: tuple[Connection, Connection], kind: str, sort: str
) -> None:
    name = kind.partition("-")[0]
    asked = {
        **SPRING,
        "sort": sort.replace("name", name),
        "limit": 2,
        **({"parent": "food"} if name == "category" else {}),
    }
    of_three, of_one = worlds
    seen: list[str] = []
    after: Any = None
    while after is not None or not seen:
        filtered = COMPUTATIONS[kind](of_three, {**asked, "channel": ["SOUTH"], "after": after}, quiet)
        alone = COMPUTATIONS[kind](of_one, {**asked, "after": after}, quiet)
        assert filtered.page is not None and alone.page is not None
        assert filtered.page[1:] == alone.page[1:]
        assert [row[name] for row in rows_of(filtered)] == [row[name] for row in rows_of(alone)]
        seen += [row[name] for row in rows_of(filtered)]
        after = filtered.page.after
    assert len(seen) == len(set(seen)) == filtered.page.total
    if sort.removeprefix("-") in ("items", "observations"):
        whole = COMPUTATIONS[kind](of_three, {**asked, "channel": ["SOUTH"], "limit": 500}, quiet)
        counts = [row[sort.removeprefix("-")] for row in rows_of(whole)]
        assert counts == sorted(counts, reverse=sort.startswith("-"))


@pytest.mark.parametrize("granularity", ["week", "month"])
@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("cohorts", {"category": ["food"]}),
        ("brand-insights", {"slug": "alco"}),
        ("category-insights", {"code": "food"}),
        ("category-insights", {"code": "food", "group_by": ["channel"]}),
        ("price-index", {"category": ["food"], "method": "jevons"}),
        ("price-position", {"base_channel": "NORTH"}),
        ("price-changes", {"offers": "exclude"}),
        ("reductions", {}),
        ("availability", {"category": ["food"]}),
        ("promotions", {"category": ["food"]}),
        ("sustainability-rollup", {}),
        ("footprint-comparison", {}),
    ],
)
def test_moving_the_first_day_changes_only_its_own_period(
    connection: Connection, kind: str, asked: dict[str, Any], granularity: str
) -> None:
    """The first day is that of a period in the first answer, and inside it in the others."""
    asked = {**asked, "to": "2026-06-17", "granularity": granularity}
    # An index is 100 in its first period, whatever that is.
    relative = {
        "index",
        "median_index",
        "compared_with",
        "matched_items",
        "matched_prices",
        "share_matched",
        "new_items",
        "vanished_items",
    }
    starts = {"month": ("2026-04-01", "2026-04-02", "2026-04-20"), "week": ("2026-04-06", "2026-04-07", "2026-04-12")}
    later: list[list[dict[str, Any]]] = []
    for first in starts[granularity]:
        rows = rows_of(COMPUTATIONS[kind](connection, {**asked, "from": first}, quiet))
        first_period = date.fromisoformat(starts[granularity][0])
        last_period = max(row["period"] for row in rows)
        assert {row["period"] for row in rows if row["partial_period"]} == (
            {last_period} if first == starts[granularity][0] else {first_period, last_period}
        )
        ignored = relative if kind == "price-index" else set()
        later.append(
            [
                {name: value for name, value in row.items() if name not in ignored}
                for row in rows
                if row["period"] != first_period
            ]
        )
    assert later[0] == later[1] == later[2] != []


def test_a_period_is_compared_with_the_whole_one_before_it(settings: Settings, tmp_path: Path) -> None:
    """Tea costs 10 on the first three days of each week and 20 on the others: weeks are alike, and parts are not."""
    first = date(2026, 3, 2)
    days = [first + timedelta(days=n) for n in range(28)]
    lines = [f"1,Tea,Leaf,Drinks,Tea,1,{day},NORTH,{10 if day.weekday() < 3 else 20},\n" for day in days]
    load_rows(settings, tmp_path, "".join(lines))
    asked: dict[str, Any] = {"code": "drinks.tea", "from": "2026-03-14", "to": "2026-03-24", "granularity": "week"}
    with opened(settings) as connection:
        saturday, whole, tuesday = rows_of(COMPUTATIONS["category-insights"](connection, asked, quiet))
    names = (
        "period",
        "partial_period",
        "median",
        "median_before",
        "observations",
        "observations_before",
        "median_change",
    )
    assert [[str(row[name]) for name in names] for row in (saturday, whole, tuesday)] == [
        ["2026-03-09", "True", "20.000000", "20.000000", "2", "7", "0.0"],
        ["2026-03-16", "False", "20.000000", "20.000000", "7", "7", "0.0"],
        ["2026-03-23", "True", "10.000000", "20.000000", "2", "7", "-0.5"],
    ]
    assert whole["index_change"] == 0.0
    assert saturday["index_change"] == pytest.approx(20 / (10**3 * 20**4) ** (1 / 7) - 1, abs=1e-6)


@pytest.mark.parametrize("granularity", ["week", "month"])
@pytest.mark.parametrize("kind", ["listing", "both"])
def test_a_total_is_the_sum_of_its_parts(connection: Connection, kind: str, granularity: str) -> None:
    """An item has one brand and one category: the items of these add up, those of channels do not."""
    asked: dict[str, Any] = {"from": "2026-03-10", "to": "2026-06-17", "granularity": granularity, "kind": kind}

    def counted(report: str, **more: Any) -> Counter[tuple[date, str, str]]:
        counts: Counter[tuple[date, str, str]] = Counter()
        for row in rows_of(COMPUTATIONS[report](connection, {**asked, **more}, quiet)):
            for name in ("items", "observations"):
                counts[row["period"], row["currency"], name] += row[name]
        return counts

    whole = counted("cohorts", category=["food"])
    assert whole == counted("category-insights", code="food")
    assert whole == counted("cohorts", category=["food"], group_by=["brand"])
    assert whole == counted("cohorts", category=["food"], group_by=["category"])
    by_channel = counted("cohorts", category=["food"], group_by=["channel"])
    observed = {key: n for key, n in whole.items() if key[2] == "observations"}
    assert observed == {key: n for key, n in by_channel.items() if key[2] == "observations"}
    for row in rows_of(COMPUTATIONS["brand-insights"](connection, {**asked, "slug": "alco"}, quiet)):
        for name in ("items", "observations"):
            assert sum(part[name] for part in row["categories"]) == row[name]
        assert sum(part["share"] for part in row["categories"]) == pytest.approx(1, abs=1e-5)
