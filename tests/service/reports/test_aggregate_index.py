"""The aggregate index reads a planted world back, by its own weights, and never mixes their versions."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from edge.analytics.findings import signed_percent
from edge.analytics.period_words import Periods
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.wording import RowContext
from edge.dashboard.summaries import summary_of
from shared.db.connect import Connection, connect
from shared.errors import InvalidParameter, WeightsNotFound
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.assurance.truth.compare import Question, differences
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.aggregate_index import expected_rows, random_tree, written
from tests.service.reports.test_weights import put
from tests.service.reports.test_whole_way import work
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.reports import quiet
from tests.support.servers import Contents, Servers
from tests.support.shop import load_rows
from tests.support.weights import store_weights
from workers.analytics.reports.aggregate_index import make
from workers.analytics.reports.result import with_partial_periods

MONTHS = [date(2025 + n // 12, n % 12 + 1, 1) for n in range(14)]
# The change of all prices of a category in a month, and the months in which it has none.
TEA, RICE, COLA = "food.tea", "food.rice", "drinks.cola"
MONTHLY = {TEA: 1.02, RICE: 1.01, COLA: 0.99}
GAPS: dict[str, tuple[int, ...]] = {TEA: (), RICE: (5, 6), COLA: (0, 1)}
WEIGHTS = {TEA: ("CP01", 200), RICE: ("CP01", 300), COLA: ("CP02", 500)}
TREE = [("CP00", "", ""), ("CP01", "CP00", "600"), ("CP02", "CP00", "500")] + [
    (code, parent, str(weight)) for code, (parent, weight) in WEIGHTS.items()
]


def world(settings: Settings, folder: Path) -> None:
    """Load three items of each category, whose prices of a month are those of January 2025 times a power."""
    rows = []
    for category, step in MONTHLY.items():
        group, kind = (word.title() for word in category.split("."))
        for item, n in product(range(3), range(len(MONTHS))):
            if n in GAPS[category]:
                continue
            price = 100_000 * (item + 1) * step**n
            for day in (MONTHS[n].replace(day=10), MONTHS[n].replace(day=20)):
                rows.append(f"{kind}{item},{kind} {item},Vita,{group},{kind},1,{day},NORTH,{price:.2f},\n")
    load_rows(settings, folder, "".join(rows), name="world.csv")


@pytest.fixture(scope="module")
def planted(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with servers.fresh(tmp_path_factory.mktemp("planted"), world) as settings:
        yield settings


@pytest.fixture
def connection(planted: Settings) -> Iterator[Connection]:
    with connect(planted.worker_database_url, application="tests", autocommit=True) as opened:
        yield opened


def store(settings: Settings, rows: list[tuple[str, str, str]], reference: date = MONTHS[0]) -> str:
    """Store a table of weights; return its id."""
    return store_weights(settings, rows, reference)["weights_id"]


def ask(connection: Connection, weights: str, **parameters: Any) -> dict[tuple[date, str], dict[str, Any]]:
    answer = make(connection, {"weights": "cpi@1", "weights_id": weights, **parameters}, quiet)
    return {(row["period"], row["category"]): row for row in answer.table.to_pylist()}


def truth() -> list[dict[str, float]]:
    """Return the index of every code in each month, worked out by hand: by the two rules of imputation."""
    levels = [dict.fromkeys((*MONTHLY, "CP00", "CP01", "CP02"), 1.0)]
    for n in range(1, len(MONTHS)):
        before, now = levels[-1], {}
        for code, step in MONTHLY.items():
            if code == COLA and n <= 2:  # no price before March: its first one is compared with nothing
                continue
            if n in GAPS[code]:
                continue
            since = max(m for m in range(n) if m not in GAPS[code])
            now[code] = levels[since][code] * step ** (n - since)
        steps = {}
        for parent in ("CP01", "CP02"):
            known = [code for code in now if WEIGHTS[code][0] == parent]
            if known:
                cost = [sum(WEIGHTS[code][1] * level[code] for code in known) for level in (before, now)]
                steps[parent] = cost[1] / cost[0]
        known_weight = {"CP01": 600, "CP02": 500}
        cost = [
            sum(known_weight[parent] * before[parent] * factor for parent, factor in one.items())
            for one in (dict.fromkeys(steps, 1.0), steps)
        ]
        top = cost[1] / cost[0]
        now["CP00"] = before["CP00"] * top
        for parent in ("CP01", "CP02"):
            now[parent] = before[parent] * steps.get(parent, top)
        for code in MONTHLY:
            now.setdefault(code, before[code] * steps.get(WEIGHTS[code][0], top))
        levels.append(now)
    return levels


def test_a_planted_world_is_read_back(planted: Settings, connection: Connection) -> None:
    rows, levels = ask(connection, store(planted, TREE)), truth()
    assert len(rows) == len(MONTHS) * 6
    for n, month in enumerate(MONTHS):
        for code, level in levels[n].items():
            row = rows[month, code]
            assert row["index"] == pytest.approx(100 * level, rel=1e-5), (month, code)
            change = 100 * (level / levels[n - 1][code] - 1) if n else None
            assert row["change"] == (None if change is None else pytest.approx(change, abs=1e-3)), (month, code)
            on_year = 100 * (level / levels[n - 12][code] - 1) if n >= 12 else None
            assert row["change_year"] == (None if on_year is None else pytest.approx(on_year, abs=1e-3))
    known = {code: [n for n in range(len(MONTHS)) if rows[MONTHS[n], code]["imputed"]] for code in levels[0]}
    assert known == {TEA: [], RICE: [5, 6], COLA: [1, 2], "CP01": [], "CP02": [1, 2], "CP00": []}
    assert rows[MONTHS[5], "CP00"]["share_imputed"] == pytest.approx(600 / 1100 * 300 / 500, abs=1e-6)
    assert rows[MONTHS[0], TEA]["weight"] == 0.4
    assert rows[MONTHS[0], "CP01"]["weight"] == pytest.approx(600 / 1100, abs=1e-6), "its own weight counts above it"
    assert [rows[MONTHS[n], "CP00"]["items"] for n in (0, 2, 5)] == [6, 9, 6]


def test_the_sentence_names_the_change_and_what_contributed_most(planted: Settings, connection: Connection) -> None:
    rows = [row | {"period": str(row["period"])} for row in ask(connection, store(planted, TREE)).values()]
    reading = RowContext(Periods.of({"granularity": "month"}, {"from": "2025-01-01", "to": "2026-02-20"}))
    summary = summary_of(REPORTS_BY_KIND["aggregate-index"], {}, rows, reading)
    top = rows[-6]
    assert summary.figure == signed_percent(top["change_year"])
    points = f"{max(rows[-5:-3], key=lambda row: abs(row['contribution_year']))['contribution_year']:+.2f}"
    beside = "on the same period of the year before, in 2026-02"
    assert f"{beside}, {points} percentage points of it from CP01." in summary.sentence
    first = summary_of(REPORTS_BY_KIND["aggregate-index"], {}, rows[:6], reading)
    assert first.figure == "1 period" and "the index of 2025-01 is 100.0" in first.sentence


def test_contributions_add_up_to_the_last_digit(planted: Settings, connection: Connection) -> None:
    rows = ask(connection, store(planted, TREE))
    for since in ("", "_year"):
        sums: dict[tuple[date, str], Decimal] = defaultdict(Decimal)
        for (period, _), row in rows.items():
            if row["parent"] is not None and row[f"change{since}"] is not None:
                sums[period, row["parent"]] += Decimal(str(row[f"contribution{since}"]))
        assert len(sums) == 3 * (13 if not since else 2)
        for (period, parent), total in sums.items():
            assert total == Decimal(str(rows[period, parent][f"change{since}"])), (period, parent)


def test_the_range_says_what_is_shown_and_not_what_the_index_is(planted: Settings, connection: Connection) -> None:
    weights = store(planted, TREE)
    whole = ask(connection, weights)
    late = ask(connection, weights, **{"from": "2025-06-15", "to": "2026-01-31"})
    assert late == {key: row for key, row in whole.items() if date(2025, 6, 1) <= key[0] <= date(2026, 1, 1)}
    quarters = ask(connection, weights, granularity="quarter")
    assert {period for period, _ in quarters} == {date(2025, n, 1) for n in (1, 4, 7, 10)} | {date(2026, 1, 1)}
    assert quarters[date(2026, 1, 1), "CP00"]["change_year"] is not None
    with pytest.raises(InvalidParameter, match="to: must not be before the weights' price reference period"):
        ask(connection, weights, to="2024-12-31")


def test_other_methods_agree_where_all_prices_of_a_category_move_alike(
    planted: Settings, connection: Connection
) -> None:
    weights = store(planted, TREE)
    jevons = ask(connection, weights)
    for method in ("dutot", "carli", "geks-jevons", "tpd"):
        for key, row in ask(connection, weights, method=method).items():
            # Over a window, the first price of cola in a window is compared with later ones only, as it is in a chain.
            assert row["index"] == pytest.approx(jevons[key]["index"], rel=1e-5), (method, key)


def test_weights_in_prices_of_a_period_without_any_are_refused(planted: Settings, connection: Connection) -> None:
    weights = store(planted, TREE, date(2024, 12, 1))
    with pytest.raises(InvalidParameter, match="have no price in HKD in their price reference period, 2024-12-01"):
        ask(connection, weights)


def test_one_row_is_its_own_index(planted: Settings, connection: Connection) -> None:
    rows = ask(connection, store(planted, [(TEA, "", "1")]))
    for n, month in enumerate(MONTHS):
        assert rows[month, TEA]["index"] == pytest.approx(100 * 1.02**n, rel=1e-5)
        assert rows[month, TEA]["contribution"] == rows[month, TEA]["change"]


def test_a_category_that_later_loads_took_away_is_imputed(planted: Settings, connection: Connection) -> None:
    rows = ask(connection, store(planted, [(TEA, "", "1"), ("food.gone", "", "1")]))
    assert rows[MONTHS[3], "food.gone"]["index"] == pytest.approx(100 * 1.02**3, rel=1e-5)
    assert rows[MONTHS[3], "food.gone"]["imputed"] and rows[MONTHS[3], "total"]["share_imputed"] == 0.5


def test_an_item_has_a_row_of_its_own_and_is_not_in_that_of_its_category(
    planted: Settings, connection: Connection
) -> None:
    item = mint("shop", "Tea0").iid
    rows = ask(connection, store(planted, [(TEA, "", "2"), (item, "", "1"), (RICE, "", "1")]))
    assert [rows[MONTHS[0], code]["items"] for code in (TEA, item, RICE, "total")] == [2, 1, 3, 6]
    for n, month in enumerate(MONTHS):
        assert rows[month, item]["index"] == pytest.approx(100 * 1.02**n, rel=1e-5)
        assert rows[month, item]["index"] == pytest.approx(rows[month, TEA]["index"], rel=1e-5)


def test_an_item_without_its_category_brings_none_of_the_others(planted: Settings, connection: Connection) -> None:
    item = mint("shop", "Cola1").iid
    weights = store_weights(planted, [(item, "", "1")], MONTHS[2])
    answer = make(connection, {**weights, "from": "2025-03-01"}, quiet)
    rows = answer.table.to_pylist()
    assert [row["category"] for row in rows] == [item] * 12 and {row["items"] for row in rows} == {1}
    assert rows[3]["index"] == pytest.approx(100 * 0.99**3, rel=1e-5)


def test_an_item_that_later_loads_took_away_is_imputed(planted: Settings, connection: Connection) -> None:
    rows = ask(connection, store(planted, [(TEA, "", "1"), (mint("shop", "Gone").iid, "", "1")]))
    assert {row["imputed"] for (month, code), row in rows.items() if code.startswith("IID") and month > MONTHS[0]} == {
        True
    }


def test_deleted_weights_end_the_job(planted: Settings, connection: Connection) -> None:
    weights = store(planted, TREE)
    execute(planted, "UPDATE weight_tables SET deleted_at = now(), table_rows = NULL WHERE id = $1", weights)
    with pytest.raises(WeightsNotFound):
        ask(connection, weights)


@pytest.mark.xdist_group("market")
def test_random_trees_over_a_market_equal_the_judge(market: Settings, judge: Index) -> None:
    chance, compared, imputed = Random(11), 0, 0
    with connect(market.worker_database_url, application="tests", autocommit=True) as opened:
        for _ in range(40):
            tree = random_tree(judge, chance)
            rows = [(code, parent or "", weight) for code, (parent, weight) in written(tree)]
            currency, base = chance.choice(judge.known_currencies), date(2026, chance.randint(3, 5), 1)
            asked = {
                **{"currency": currency, "kind": chance.choice(("listing", "sale")), "outliers": "include"},
                **{"method": chance.choice(("jevons", "dutot", "carli")), "to": "2026-06-30"},
                "channel": chance.choice(([], [], ["NORTH"])),
            }
            scope = Scope(base, date(2026, 6, 30), granularity="month", currency=currency, kind=asked["kind"])
            scope = replace(scope, channels=asked["channel"])
            expected = expected_rows(judge, scope, tree, asked["method"])
            parameters = {"weights": "cpi@1", "weights_id": store(market, rows, base), **asked}
            if expected is None:
                with pytest.raises(InvalidParameter, match="have no price"):
                    make(opened, parameters, quiet)
                continue
            ours = with_partial_periods(make(opened, parameters, quiet)).table.to_pylist()
            assert [*differences(Question(str(asked), ours, expected))] == []
            compared, imputed = compared + len(ours), imputed + sum(row["imputed"] for row in ours)
    assert compared > 200 and imputed > 10


class TestAnswers:
    """Through the real path, from upload to result."""

    @pytest.fixture
    def contents(self) -> Contents:
        return world

    async def ask(self, edge: Edge, settings: Settings, key: str, weights: str = "cpi") -> Answer:
        path = f"/index/prices/aggregate-index?weights={weights}&from=2026-01-01&to=2026-01-31"
        estimate = (await edge.get(f"{path}&dry_run=true", key=key)).json
        if estimate["cached"]:
            return await edge.get(path, key=key)
        answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
        return answer

    async def test_an_answer_is_of_the_newest_version_and_of_no_other(
        self, edge: Edge, settings: Settings, key: str
    ) -> None:
        small, large = "code,weight\nfood.tea,1\ndrinks.cola,1\n", "code,weight\nfood.tea,9\ndrinks.cola,1\n"
        uploaded = (await put(edge, key, small, query="price_reference=2025-03-01")).json
        first = await self.ask(edge, settings, key)
        assert first.status == 200, first
        vintage = {name: uploaded[name] for name in ("name", "version", "sha256", "price_reference")}
        assert first.json["meta"]["weights"] == vintage
        assert (await self.ask(edge, settings, key)).json["meta"]["cached"]
        await put(edge, key, large, query="price_reference=2025-03-01")
        second = await self.ask(edge, settings, key)
        assert (second.json["meta"]["weights"]["version"], second.json["meta"]["cached"]) == (2, False)
        tops = [answer.json["data"][0]["index"] for answer in (first, second)]
        expected = [100 * (share * 1.02**10 + (1 - share) * 0.99**10) for share in (0.5, 0.9)]
        assert tops == pytest.approx(expected, rel=1e-5) and not math.isclose(*tops)
        again = await self.ask(edge, settings, key, "cpi@1")
        assert (again.json["data"], again.json["meta"]["cached"]) == (first.json["data"], True)

    async def test_equal_names_of_two_organizations_are_two_tables(
        self, edge: Edge, settings: Settings, key: str
    ) -> None:
        other, query = api_key(settings), "price_reference=2025-03-01"
        await put(edge, key, "code,weight\nfood.tea,1\n", query=query)
        await put(edge, other, "code,weight\ndrinks.cola,1\n", query=query)
        for owner, category in ((key, "food.tea"), (other, "drinks.cola")):
            for _ in range(2):
                answer = await self.ask(edge, settings, owner)
                assert [row["category"] for row in answer.json["data"]] == [category]
        missing = await edge.get("/index/prices/aggregate-index?weights=other", key=key)
        assert (missing.status, missing.json["type"].rpartition("/")[2]) == (404, "weights-not-found")
        assert (await edge.get("/index/prices/aggregate-index", key=key)).status == 400
