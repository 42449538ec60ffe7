"""A record's channels count listings and sales apart, and its band names the thirty days that it covers."""

from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.reports.market import COLUMNS, OFFERS, SALES
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows

SOY = mint("shop", "1").iid


def rows(*observed: tuple[str, str, str]) -> str:
    return "".join(f"1,Soy,Vita,Drinks,Soy,1,{day},{store},{price},,HKD,2\n" for day, store, price in observed)


def loaded(settings: Settings, folder: Path) -> None:
    offered = rows(("2026-06-01", "NORTH", "10"), ("2026-06-30", "NORTH", "12"), ("2026-07-01", "SOUTH", "11"))
    sold = rows(("2026-06-30", "NORTH", "9"), ("2026-07-02", "EAST", "8"), ("2026-07-02", "EAST", "8.5"))
    load_rows(settings, folder, offered, text=OFFERS, name="offers.csv", header=COLUMNS)
    load_rows(settings, folder, sold, text=SALES, name="sales.csv", header=COLUMNS)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return loaded


async def test_channels_count_listings_and_sales_apart(shared_edge: Edge, shared_key: str) -> None:
    record = (await shared_edge.get(f"/index/lookup/{SOY}", key=shared_key)).json
    assert record["channels"] == [
        {"channel": "EAST", "listings": 0, "sales": 2, "last_seen_on": "2026-07-02"},
        {"channel": "NORTH", "listings": 2, "sales": 1, "last_seen_on": "2026-06-30"},
        {"channel": "SOUTH", "listings": 1, "sales": 0, "last_seen_on": "2026-07-01"},
    ]


async def test_the_band_covers_the_thirty_days_up_to_the_last_one_with_data(shared_edge: Edge, shared_key: str) -> None:
    """The first listing is one day too old for the thirty days that end with the last sale."""
    band = (await shared_edge.get(f"/index/lookup/{SOY}", key=shared_key)).json["price_band"]
    assert (band["kind"], band["low"], band["high"], band["observations"]) == ("listing", "11.00", "12.00", 2)
    assert (band["from"], band["to"]) == ("2026-06-03", "2026-07-02")
