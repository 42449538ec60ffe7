"""`convert=USD&rates=ecb` on reports: each row at its period's last day, recomputed with DuckDB and exact decimals."""

import asyncio
from collections.abc import Iterator
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.settings.settings import Settings
from tests.service.reports.market import ON_THE_MARKET, opened
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.engine import single_threaded
from tests.support.rates import HISTORY, load_rates
from tests.support.reports import quiet, work
from tests.support.servers import Contents, Servers
from tests.support.shop import open_shop
from workers.analytics.reports import brand_insights, category_insights, cohorts, price_index
from workers.analytics.reports.conversion import convert
from workers.analytics.reports.publish import Make

pytestmark = ON_THE_MARKET
EXACT = Context(prec=60)
ASKED = {"convert": "USD", "rates": "ecb"}
RANGE = {"from": "2026-03-01", "to": "2026-06-30", "granularity": "month"}


@pytest.fixture(scope="module")
def market(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder = tmp_path_factory.mktemp("market")
    with opened(servers, folder) as settings:
        load_rates(settings, folder)
        yield settings


@pytest.fixture
def rates() -> duckdb.DuckDBPyConnection:
    engine = single_threaded()
    engine.execute("CREATE TABLE rates (day DATE, currency TEXT, per_euro TEXT)")
    header, *lines = [line.split(",") for line in HISTORY.splitlines()]
    listed = [(line[0], code, text) for line in lines for code, text in zip(header[1:5], line[1:5], strict=True)]
    engine.executemany("INSERT INTO rates VALUES (?, ?, ?)", [row for row in listed if row[2] != "N/A"])
    return engine


def both(connection: Connection, make: Make, parameters: dict[str, Any]) -> tuple[list[Any], list[Any], Any]:
    plain = make(connection, parameters, quiet)
    asked = {**parameters, **ASKED}
    changed = convert(connection, make(connection, asked, quiet), asked)
    return plain.table.to_pylist(), changed.table.to_pylist(), changed


def rate_on(rates: duckdb.DuckDBPyConnection, currency: str, period: date) -> tuple[Decimal, Decimal]:
    """Return what DuckDB finds for the last day of a period: the newest day that has both currencies."""
    row = rates.execute(
        "SELECT a.per_euro, b.per_euro FROM rates a JOIN rates b USING (day) "
        "WHERE a.currency = ? AND b.currency = 'USD' AND day <= last_day(CAST(? AS DATE)) ORDER BY day DESC LIMIT 1",
        [currency, period],
    ).fetchone()
    assert row is not None
    return Decimal(row[0]), Decimal(row[1])


def judged(value: Any, before: Decimal, after: Decimal) -> Any:
    if isinstance(value, Decimal):
        exact = EXACT.divide(EXACT.multiply(value, after), before)
        return exact.quantize(Decimal("0.000001"), ROUND_HALF_EVEN, EXACT)
    if isinstance(value, list):
        return [judged(one, before, after) for one in value]
    return {name: judged(one, before, after) for name, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (cohorts.make, {"brand": ["vita"], "category": [], "group_by": ["channel"]}),
        (category_insights.make, {"code": "food"}),
        (brand_insights.make, {"slug": "vita"}),
        (price_index.make, {"category": ["food"], "brand": []}),
    ],
)
def test_amounts_are_those_without_conversion_times_the_rate_and_nothing_else_changes(
    connection: Connection, rates: duckdb.DuckDBPyConnection, make: Make, parameters: dict[str, Any]
) -> None:
    plain, changed, answer = both(connection, make, {**parameters, **RANGE, "kind": "listing"})
    assert {row["currency"] for row in plain} == {"HKD", "JPY", "USD"}
    expected = [
        {
            **judged(row, *rate_on(rates, row["currency"], row["period"])),
            "currency": "USD",
            "original_currency": row["currency"],
        }
        for row in plain
    ]
    assert changed == expected
    assert answer.conversion["rates"] == "ecb"
    assert {(one["from"], one["day"]) for one in answer.conversion["used"]} >= {("HKD", "2026-06-30")}


def test_a_period_without_a_recent_rate_is_refused(connection: Connection) -> None:
    asked = {"brand": ["vita"], **RANGE, "to": "2026-06-20", "kind": "listing", "group_by": []}
    with pytest.raises(InvalidParameter, match="2026-06-20"):
        both(connection, cohorts.make, asked)


def shop_with_rates(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    load_rates(settings, folder)


class TestOverHttp:
    @pytest.fixture
    def contents(self) -> Contents:
        return shop_with_rates

    async def test_a_report_in_another_currency_is_a_question_of_its_own(self, edge: Edge, settings: Settings) -> None:
        key = api_key(settings)
        path = "/index/cohorts?brand=vita&granularity=day&to=2026-07-02"
        asking = asyncio.create_task(edge.get(f"{path}&convert=USD&rates=ecb", key=key))
        assert await work(settings, cohorts.make) == ["succeeded"]
        answer = (await asking).json
        assert {row["original_currency"] for row in answer["data"]} == {"HKD"}
        assert answer["meta"]["conversion"]["used"][0]["rate_day"] == "2026-06-30"
        plain = await edge.get(f"{path}&dry_run=true", key=key)
        assert plain.json["cached"] is False

    async def test_an_unknown_table_is_refused_before_anything_is_paid(self, edge: Edge, settings: Settings) -> None:
        key = api_key(settings)
        refused = await edge.get("/index/cohorts?brand=vita&convert=USD&rates=nowhere", key=key)
        assert (refused.status, refused.json["errors"][0]["parameter"]) == (400, "rates")
        assert (await edge.get("/quota", key=key)).json["limits"][0]["used"] == 0
