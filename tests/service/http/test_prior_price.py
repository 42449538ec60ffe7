"""GET /index/pricing/{iid}/reference: each channel's running reduction, by the observations loaded."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows

SOY, CUSTARD, KETTLE = (mint("shop", number).iid for number in "123")
FIRST = date(2026, 1, 1)
PATH = f"/index/pricing/{SOY}/reference"


def days(store: str, start: int, count: int, price: str, listed: str = "") -> str:
    """Write a row a day of the item."""
    each = (FIRST + timedelta(days=start + n) for n in range(count))
    return "".join(f"1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,{day},{store},{price},{listed}\n" for day in each)


ROWS = (
    days("NORTH", 0, 45, "10.00")
    + days("NORTH", 45, 5, "8.00")
    + days("SOUTH", 0, 20, "9.00")
    + days("SOUTH", 21, 24, "9.00")
    + days("SOUTH", 45, 5, "7.00")
    + days("EAST", 0, 45, "8.00", "8.00")
    + days("EAST", 45, 5, "8.00", "10.00")
    + days("WEST", 0, 40, "20.00")
    + days("WEST", 40, 5, "16.00")
    + days("WEST", 45, 5, "12.00")
    + "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-01,NORTH,25,\n"
    # A reduction that began more than a year before its last observation.
    + "".join(
        f"3,Kettle,Vita,Home,Kettle,1.0,{FIRST + timedelta(days=n)},NORTH,{10 if n < -160 else 8},\n"
        for n in range(-200, 220)
    )
)


def with_reductions(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, ROWS)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return with_reductions


async def rows(edge: Edge, key: str, query: str = "") -> dict[str, dict[str, object]]:
    answer = await edge.get(f"{PATH}{query}", key=key)
    assert answer.status == 200, answer.body
    return {row["channel"]: row for row in answer.json["data"]}


async def test_each_channel_has_its_own_reduction(shared_edge: Edge, shared_key: str) -> None:
    found = await rows(shared_edge, shared_key)
    north = found["NORTH"]
    assert (north["prior_price"], north["percent"], north["applicable"], north["reason"]) == (
        "10.00",
        "20.00",
        True,
        None,
    )
    assert (north["as_of"], north["price"], north["reduction_began_on"]) == ("2026-02-19", "8.00", "2026-02-15")
    evidence = [{"day": str(FIRST + timedelta(days=n)), "price": "10.00"} for n in range(15, 45)]
    assert north["evidence"] == evidence
    assert north["lowest_on"] == [one["day"] for one in evidence]


async def test_a_missing_day_leaves_the_prior_price_unknown(shared_edge: Edge, shared_key: str) -> None:
    south = (await rows(shared_edge, shared_key))["SOUTH"]
    assert (south["prior_price"], south["applicable"], south["known"]) == (None, False, False)
    assert (south["reason"], south["at_most"]) == ("missing_days", "9.00")


async def test_a_list_price_beside_an_unchanged_price_is_no_reduction_that_holds(
    shared_edge: Edge, shared_key: str
) -> None:
    east = (await rows(shared_edge, shared_key))["EAST"]
    assert (east["reduction_began_on"], east["prior_price"], east["percent"]) == ("2026-02-15", "8.00", None)
    assert (east["applicable"], east["known"], east["reason"]) == (False, True, "not_below_prior_price")


async def test_steps_are_judged_by_the_option_of_the_market(shared_edge: Edge, shared_key: str) -> None:
    unstated, yes, no = [
        (await rows(shared_edge, shared_key, f"?channel=WEST{query}"))["WEST"]
        for query in ("", "&progressive=true", "&progressive=false")
    ]
    assert (unstated["applicable"], unstated["reason"]) == (False, "progressive_reduction")
    assert (yes["prior_price"], yes["percent"], yes["applicable"]) == ("20.00", "40.00", True)
    assert (no["prior_price"], no["percent"], no["applicable"]) == ("16.00", "25.00", True)


async def test_the_day_asked_about_decides(shared_edge: Edge, shared_key: str) -> None:
    before = (await rows(shared_edge, shared_key, "?asked_on=2026-02-14&channel=NORTH"))["NORTH"]
    assert (before["reason"], before["price"]) == ("no_reduction", "10.00")
    after = (await rows(shared_edge, shared_key, "?asked_on=2026-03-14&channel=NORTH"))["NORTH"]
    assert (after["reason"], after["known"], after["as_of"]) == ("missing_days", False, "2026-03-14")
    assert after["price"] is None  # the price of the last observed day is not that of this one


async def test_the_meta_of_a_pricing_history_names_each_reduction(shared_edge: Edge, shared_key: str) -> None:
    meta = (await shared_edge.get(f"/index/pricing/{SOY}?from=2026-02-18&to=2026-02-19", key=shared_key)).json["meta"]
    reported = {one["channel"]: (one["prior_price"], one["reason"]) for one in meta["reductions"]}
    assert reported == {
        "EAST": ("8.00", "not_below_prior_price"),
        "NORTH": ("10.00", None),
        "SOUTH": (None, "missing_days"),
        "WEST": ("16.00", "progressive_reduction"),
    }
    assert "evidence" not in meta["reductions"][0]
    sales = (await shared_edge.get(f"/index/pricing/{SOY}?kind=sale", key=shared_key)).json["meta"]
    assert sales["reductions"] == []


async def test_a_reduction_of_more_than_a_year_is_the_same_in_both_answers(shared_edge: Edge, shared_key: str) -> None:
    [reported] = (await shared_edge.get(f"/index/pricing/{KETTLE}", key=shared_key)).json["meta"]["reductions"]
    [judged] = (await shared_edge.get(f"/index/pricing/{KETTLE}/reference", key=shared_key)).json["data"]
    assert (reported["reduction_began_on"], reported["prior_price"]) == ("2025-07-25", "10.00")
    assert reported == {name: judged[name] for name in reported}


async def test_its_cost_is_that_of_a_light_read_and_other_formats_say_the_same(
    shared_edge: Edge, shared_key: str
) -> None:
    priced = await shared_edge.get(f"{PATH}?dry_run=true", key=shared_key)
    assert (priced.json["kind"], priced.json["cost_units"]) == ("prior-price", 2)
    text = await shared_edge.get(f"{PATH}?format=csv&channel=NORTH", key=shared_key)
    assert b"NORTH,HKD,2026-02-19,8.00,2026-02-15,10.00,20.00,true" in text.body


async def test_no_key_no_item_and_no_reduction(shared_edge: Edge, shared_key: str) -> None:
    assert (await shared_edge.get(PATH)).status == 403  # the anonymous token
    assert (await shared_edge.get(f"/index/pricing/{mint('shop', 'none').iid}/reference", key=shared_key)).status == 404
    single = await shared_edge.get(f"/index/pricing/{CUSTARD}/reference", key=shared_key)
    # One observation does not show that the price did not fall.
    assert [(row["channel"], row["reason"], row["known"]) for row in single.json["data"]] == [
        ("NORTH", "fewer_than_30_days", False)
    ]


async def test_days_of_a_progressive_rule_are_refused_without_it(shared_edge: Edge, shared_key: str) -> None:
    for path in (PATH, "/index/insights/reductions"):
        for query in ("progressive_days=14", "progressive_days=14&progressive=false"):
            refused = await shared_edge.get(f"{path}?{query}", key=shared_key)
            assert refused.status == 400, path
            [error] = refused.json["errors"]
            assert (error["parameter"], "progressive=true" in error["detail"]) == ("progressive_days", True), error
