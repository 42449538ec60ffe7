"""One misdated row changes no default answer about its item: prices, statistics, prior prices, band, footprint."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows

TRUE, MISDATED, RARE, RETURNED = (mint("shop", number).iid for number in ("1", "2", "3", "4"))
FIRST = date(2026, 1, 1)
STRAY = "2026-10-15"


def row(number: int, day: date | str, price: object, store: str = "NORTH") -> str:
    return f"{number},Soy milk 1L,Vita,Drinks,Soy milk,1.0,{day},{store},{price},\n"


def daily(number: int) -> Iterator[str]:
    """Write three shops' prices of 90 days; the last five are reduced."""
    for store in ("NORTH", "SOUTH", "EAST"):
        for n in range(90):
            yield row(number, FIRST + timedelta(days=n), 8 if n >= 85 else 10, store)


def loaded(settings: Settings, folder: Path) -> None:
    monthly = [row(3, date(2026, month, 1), month) for month in range(1, 11)]
    returned = [*daily(4), row(4, STRAY, 12), row(4, "2026-10-16", 12)]
    load_rows(settings, folder, "".join([*daily(1), *daily(2), row(2, STRAY, 99), *monthly, *returned]))


@pytest.fixture(scope="module")
def contents() -> Contents:
    return loaded


async def answers(edge: Edge, key: str, iid: str) -> dict[str, Any]:
    """Return the default answers about an item, without what names it."""
    reads = {}
    for name in ("pricing", "reference", "sustainability"):
        path = f"/index/pricing/{iid}/reference" if name == "reference" else f"/index/{name}/{iid}"
        answer = await edge.get(path, key=key)
        assert answer.status == 200, answer.body
        reads[name] = answer.json
    record = (await edge.get(f"/index/lookup/{iid}", key=key)).json
    return {**reads, "price_band": record["price_band"]}


async def test_an_item_with_one_misdated_row_answers_as_without_it(shared_edge: Edge, shared_key: str) -> None:
    true, misdated = [await answers(shared_edge, shared_key, iid) for iid in (TRUE, MISDATED)]
    assert misdated == true
    month = next(one for one in misdated["pricing"]["meta"]["statistics"] if one["days"] == 30)
    assert (month["n"], month["to"]) == (90, "2026-03-31")
    assert {one["prior_price"] for one in misdated["pricing"]["meta"]["reductions"]} == {"10.00"}
    band = misdated["price_band"]
    assert (band["observations"], band["from"], band["to"]) == (90, "2026-03-02", "2026-03-31")


async def test_the_row_is_there_for_all_who_ask_for_its_days(shared_edge: Edge, shared_key: str) -> None:
    for query in ("from=2026-04-01", f"to={STRAY}", f"from={STRAY}&to={STRAY}"):
        found = (await shared_edge.get(f"/index/pricing/{MISDATED}?{query}&outliers=include", key=shared_key)).json
        assert (found["data"][-1]["day"], found["meta"]["to"]) == (STRAY, STRAY), query


@pytest.mark.parametrize(("iid", "to"), [(RARE, "2026-10-01"), (RETURNED, "2026-10-16")])
async def test_days_far_apart_end_the_window_where_they_are_usual_or_several(
    shared_edge: Edge, shared_key: str, iid: str, to: str
) -> None:
    assert (await shared_edge.get(f"/index/pricing/{iid}", key=shared_key)).json["meta"]["to"] == to


async def test_a_price_band_covers_thirty_days_whichever_were_observed(shared_edge: Edge, shared_key: str) -> None:
    band = (await shared_edge.get(f"/index/lookup/{RARE}", key=shared_key)).json["price_band"]
    assert (band["from"], band["to"], band["observations"]) == ("2026-09-02", "2026-10-01", 1)
