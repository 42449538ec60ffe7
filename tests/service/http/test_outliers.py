"""`outliers=exclude|include`: what the light reads count, and that they say how much they set aside."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows

SOY = mint("shop", "1").iid
PRICES = ("10.00", "10.20", "9.90", "100.00", "10.00", "10.10", "10.00", "1.00")
ROWS = "".join(
    f"1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,{date(2026, 7, 1) + timedelta(days=n)},NORTH,{price},\n"
    for n, price in enumerate(PRICES)
)


def loaded(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, ROWS)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return loaded


async def test_a_history_leaves_outliers_out_and_says_how_many(shared_edge: Edge, shared_key: str) -> None:
    answer = (await shared_edge.get(f"/index/pricing/{SOY}", key=shared_key)).json
    assert [row["low"] for row in answer["data"]] == ["10.00", "10.20", "9.90", "10.00", "10.10", "10.00"]
    assert answer["meta"]["outliers"] == {"mode": "exclude", "set_aside": 2}
    month = next(one for one in answer["meta"]["statistics"] if one["days"] == 30)
    assert (month["low"], month["high"], month["n"], month["set_aside"]) == ("9.90", "10.20", 6, 2)


async def test_a_history_with_outliers_has_every_observation(shared_edge: Edge, shared_key: str) -> None:
    answer = (await shared_edge.get(f"/index/pricing/{SOY}?outliers=include", key=shared_key)).json
    assert [row["low"] for row in answer["data"]] == list(PRICES)
    assert answer["meta"]["outliers"] == {"mode": "include", "set_aside": 2}
    month = next(one for one in answer["meta"]["statistics"] if one["days"] == 30)
    assert (month["low"], month["high"], month["n"], month["set_aside"]) == ("1.00", "100.00", 8, 2)


async def test_the_price_band_of_a_record_is_without_outliers_and_says_how_many(
    shared_edge: Edge, shared_key: str
) -> None:
    band = (await shared_edge.get(f"/index/lookup/{SOY}", key=shared_key)).json["price_band"]
    assert (band["low"], band["median"], band["high"]) == ("9.90", "10.00", "10.20")
    assert (band["observations"], band["set_aside"]) == (6, 2)
    assert (band["from"], band["to"]) == ("2026-06-09", "2026-07-08")


async def test_the_prior_price_is_of_every_observed_price_unless_outliers_are_left_out(
    shared_edge: Edge, shared_key: str
) -> None:
    path = f"/index/pricing/{SOY}/reference?channel=NORTH"
    [included] = (await shared_edge.get(path, key=shared_key)).json["data"]
    assert (included["as_of"], included["price"]) == ("2026-07-08", "1.00")
    [excluded] = (await shared_edge.get(f"{path}&outliers=exclude", key=shared_key)).json["data"]
    assert (excluded["as_of"], excluded["price"]) == ("2026-07-07", "10.00")
    [running] = (await shared_edge.get(f"/index/pricing/{SOY}", key=shared_key)).json["meta"]["reductions"]
    assert (running["as_of"], running["price"]) == ("2026-07-08", "1.00"), "also beside a history without them"
