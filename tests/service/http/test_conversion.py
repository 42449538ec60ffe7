"""`convert=USD&rates=ecb` on the light reads equals what DuckDB and exact decimals make of the raw rows."""

from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import Edge
from tests.support.engine import single_threaded
from tests.support.rates import HISTORY, load_rates
from tests.support.servers import Contents
from tests.support.shop import load_rows

SOY = mint("shop", "1").iid
DAYS = ("2026-07-01", "2026-07-02", "2026-07-03", "2026-07-05", "2026-07-06")
PRICES = ("10.90", "11.50", "9.99", "8.00", "10.10")
ROWS = "".join(
    f"1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,{day},NORTH,{price},12\n" for day, price in zip(DAYS, PRICES, strict=True)
)
ASKED = "convert=USD&rates=ecb"
EXACT = Context(prec=60)
PER_EURO = {row.split(",")[0]: tuple(map(Decimal, row.split(",")[1:4])) for row in HISTORY.splitlines()[1:]}


def loaded(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, ROWS)
    load_rates(settings, folder)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return loaded


def converted(price: str, rate_day: str) -> Decimal:
    usd, _, hkd = PER_EURO[rate_day]
    exact = EXACT.divide(EXACT.multiply(Decimal(price), usd), hkd)
    return exact.quantize(Decimal("0.000001"), ROUND_HALF_EVEN, EXACT)


async def test_each_day_is_converted_at_the_newest_rates_up_to_it(edge: Edge, key: str) -> None:
    answer = (await edge.get(f"/index/pricing/{SOY}?{ASKED}", key=key)).json
    engine = single_threaded()
    engine.execute("CREATE TABLE rates (day DATE, usd DOUBLE, hkd DOUBLE)")
    engine.executemany(
        "INSERT INTO rates VALUES (?, ?, ?)", [(d, float(u), float(h)) for d, (u, _, h) in PER_EURO.items()]
    )
    engine.execute("CREATE TABLE prices (day DATE, price DOUBLE)")
    engine.executemany("INSERT INTO prices VALUES (?, ?)", list(zip(DAYS, PRICES, strict=True)))
    judged = engine.execute(
        "SELECT p.day, r.day, p.price * r.usd / r.hkd FROM prices p ASOF JOIN rates r ON p.day >= r.day ORDER BY 1"
    ).fetchall()
    assert [row["day"] for row in answer["data"]] == [str(day) for day, _, _ in judged]
    for row, (_, rate_day, price), before in zip(answer["data"], judged, PRICES, strict=True):
        assert (row["currency"], row["original_currency"]) == ("USD", "HKD")
        assert float(row["close"]) == pytest.approx(price, abs=1e-6)
        assert Decimal(row["low"]) == Decimal(row["high"]) == converted(before, str(rate_day))


async def test_the_meta_names_the_table_its_source_and_each_rate_with_its_own_day(
    shared_edge: Edge, shared_key: str
) -> None:
    answer = (await shared_edge.get(f"/index/pricing/{SOY}?{ASKED}", key=shared_key)).json
    meta = answer["meta"]
    stated = meta["conversion"]
    assert (stated["to"], stated["rates"]) == ("USD", "ecb")
    assert "European Central Bank" in stated["source"]
    used = {
        (one["from"], one["day"]): (one["rate_day"], one["from_per_euro"], one["to_per_euro"]) for one in stated["used"]
    }
    assert used["HKD", "2026-07-05"] == ("2026-07-03", "8.9901", "1.1520")
    assert used["HKD", "2026-07-06"] == ("2026-07-06", "9.0410", "1.1533")
    week = next(one for one in meta["statistics"] if one["days"] == 7)
    assert (week["currency"], week["original_currency"]) == ("USD", "HKD")
    assert Decimal(week["median"]) == converted("10.10", "2026-07-06")
    assert meta["rounding"]["low"].startswith("half-even")


async def test_the_currency_of_the_prices_needs_no_rate(shared_edge: Edge, shared_key: str) -> None:
    answer = (await shared_edge.get(f"/index/pricing/{SOY}?convert=HKD&rates=ecb", key=shared_key)).json
    assert [row["low"] for row in answer["data"]] == list(PRICES)


async def test_euros_are_converted_by_one_rate(shared_edge: Edge, shared_key: str) -> None:
    answer = (await shared_edge.get(f"/index/pricing/{SOY}?convert=EUR&rates=ecb&from=2026-07-06", key=shared_key)).json
    exact = EXACT.divide(Decimal("10.10"), Decimal("9.0410")).quantize(Decimal("0.000001"))
    assert [Decimal(row["low"]) for row in answer["data"]] == [exact]


async def test_a_prior_price_is_judged_in_its_own_currency_and_shown_in_another(
    shared_edge: Edge, shared_key: str
) -> None:
    path = f"/index/pricing/{SOY}/reference"
    [own] = (await shared_edge.get(path, key=shared_key)).json["data"]
    answer = (await shared_edge.get(f"{path}?{ASKED}", key=shared_key)).json
    [row] = answer["data"]
    assert (row["applicable"], row["reason"], row["percent"]) == (own["applicable"], own["reason"], own["percent"])
    assert Decimal(row["price"]) == converted(own["price"], "2026-07-06")
    assert [Decimal(one["price"]) for one in row["evidence"]] == [
        converted(one["price"], "2026-07-06") for one in own["evidence"]
    ]
    assert [one["day"] for one in answer["meta"]["conversion"]["used"]] == ["2026-07-06"]


async def test_an_amount_that_cannot_be_converted_is_refused(shared_edge: Edge, shared_key: str) -> None:
    for query, parameter in (
        ("convert=USD", "rates"),
        ("rates=ecb", "convert"),
        ("convert=usd&rates=ecb", "convert"),
        ("convert=USD&rates=nowhere", "rates"),
        ("convert=USD&rates=ECB", "rates"),
        ("convert=CYP&rates=ecb", "convert"),
        ("convert=QQQ&rates=ecb", "convert"),
    ):
        refused = await shared_edge.get(f"/index/pricing/{SOY}?{query}", key=shared_key)
        assert (refused.status, [one["parameter"] for one in refused.json["errors"]]) == (400, [parameter]), query


async def test_a_rate_older_than_seven_days_is_none(edge: Edge, settings: Settings, key: str, tmp_path: Path) -> None:
    later = date(2026, 7, 14)
    load_rows(settings, tmp_path, f"9,Tea,Vita,Drinks,Tea,1.0,{later},NORTH,5,\n", name="later.csv")
    tea = mint("shop", "9").iid
    refused = await edge.get(f"/index/pricing/{tea}?{ASKED}", key=key)
    assert (refused.status, refused.json["errors"][0]["parameter"]) == (400, "convert")
    load_rates(settings, tmp_path, "Date,USD,HKD,\n2026-07-07,1.15,9,\n")
    answer = await edge.get(f"/index/pricing/{tea}?{ASKED}", key=key)
    assert answer.json["meta"]["conversion"]["used"][0]["rate_day"] == "2026-07-07"
