"""What hits say and how they are narrowed, counted and sorted, against the records of the same items."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows, open_shop
from workers.search.job import make_index

# sku, name, brand, group, kind, weight, day, store, price, list
HKD = "".join(
    f"t-{n:02},Green tea {n} {(n % 4 + 1) * 100} g,{'Leaf' if n % 3 else 'Bush'},Drinks,{'Tea' if n % 2 else 'Herbs'},1,"
    f"2026-0{1 + n % 7}-03,{('NORTH', 'SOUTH', 'EAST')[n % 3]},{10 + (n * 7) % 30},\n"
    for n in range(60)
)
# Prices that are written with two decimals, and one that floats do not hold exactly.
EXACT = "x-1,Oolong tea,Leaf,Drinks,Tea,1,2026-08-01,NORTH,19.99,\nx-2,Oolong tea large,Leaf,Drinks,Tea,1,2026-08-01,NORTH,20,\n"
UNPRICED = "u-1,Green tea unpriced,Leaf,Drinks,Tea,1,,,,\n"
EUR = "e-1,Green tea of Europe,Leaf,Drinks,Tea,1,2026-08-01,WEST,3,\n"


def fill(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    load_rows(settings, folder, HKD + EXACT + UNPRICED, name="teas.csv", text=MAPPING.replace('"shop"', '"teas"'))
    euros = MAPPING.replace('"shop"', '"euros"').replace('"HKD"', '"EUR"')
    load_rows(settings, folder, EUR, name="euros.csv", text=euros)
    make_index(settings.worker_database_url, settings.search_dir)


@pytest.fixture
def contents() -> Contents:
    return fill


async def search(edge: Edge, settings: Settings, query: str) -> dict[str, Any]:
    answer = await edge.get(f"/index/search?{query}", key=api_key(settings))
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


async def all_hits(edge: Edge, settings: Settings, query: str) -> list[dict[str, Any]]:
    page = await search(edge, settings, f"{query}&limit=7")
    hits, version = page["data"], page["data_version"]
    while page["next_cursor"]:
        page = await search(edge, settings, f"{query}&limit=7&cursor={page['next_cursor']}")
        assert page["data_version"] == version
        hits += page["data"]
    iids = [hit["iid"] for hit in hits]
    assert len(set(iids)) == len(iids)
    return list(hits)


async def records(edge: Edge, settings: Settings, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the record of each hit, of one batch: single lookups would reach the burst limit of a plan."""
    query = "&".join(f"iid={hit['iid']}" for hit in hits)
    answer = await edge.get(f"/index/lookup?{query}", key=api_key(settings))
    return [entry["record"] for entry in answer.json["data"]]


def median(record: dict[str, Any]) -> Decimal:
    return Decimal(record["price_band"]["median"])


async def test_hits_have_members_of_the_record_on_demand_and_are_as_before_without(
    edge: Edge, settings: Settings
) -> None:
    plain = await search(edge, settings, "q=green+tea&limit=5")
    assert not {"facets", "meta"} & plain.keys()
    asked = await search(
        edge, settings, "q=green+tea&limit=5&fields=price_band,unit_price,identifiers,attributes,channels"
    )
    members = {"price_band", "unit_price", "identifiers", "attributes", "channels"}
    assert [{name: hit[name] for name in hit if name not in members} for hit in asked["data"]] == plain["data"]
    for hit, record in zip(asked["data"], await records(edge, settings, plain["data"]), strict=True):
        assert {name: hit[name] for name in members - {"unit_price"}} == {
            name: record[name] for name in members - {"unit_price"}
        }
        history = (await edge.get(f"/index/pricing/{hit['iid']}", key=api_key(settings))).json
        amounts = [row["median"] for row in history["meta"]["unit_prices"] if row["days"] == 30]
        assert amounts == ([hit["unit_price"]["amount"]] if hit["unit_price"] else [])


@pytest.mark.parametrize("bounds", ["price_min=15&price_max=25", "price_max=19.99", "price_min=19.99", "price_min=50"])
async def test_bounds_of_prices_keep_the_items_whose_record_says_so(
    edge: Edge, settings: Settings, bounds: str
) -> None:
    limits = dict(part.split("=") for part in bounds.split("&"))
    every = await all_hits(edge, settings, "q=tea&currency=HKD&sort=-seen")
    expected = {
        hit["iid"]
        for hit, record in zip(every, await records(edge, settings, every), strict=True)
        if Decimal(limits.get("price_min", 0)) <= median(record) <= Decimal(limits.get("price_max", 1000))
    }
    found = await all_hits(edge, settings, f"q=tea&currency=HKD&{bounds}")
    assert {hit["iid"] for hit in found if hit["all_words"]} == expected
    assert bool(expected) == (bounds != "price_min=50")


async def test_what_has_no_price_in_the_currency_is_counted_in_meta(edge: Edge, settings: Settings) -> None:
    everything = (await search(edge, settings, "q=green+tea"))["total"]["all_words"]
    hkd = await search(edge, settings, "q=green+tea&currency=HKD&price_max=20")
    assert hkd["meta"] == {"unpriced": 2} and hkd["query"]["price_max"] == 20
    eur = await search(edge, settings, "q=green+tea&currency=EUR")
    assert eur["meta"] == {"unpriced": everything - 1} and eur["total"]["all_words"] == 1


@pytest.mark.parametrize("order", ["price", "unit_price", "-seen"])
async def test_orders_by_a_figure_are_those_of_the_records_then_of_iids(
    edge: Edge, settings: Settings, order: str
) -> None:
    currency = "" if order == "-seen" else "&currency=HKD"
    hits = await all_hits(edge, settings, f"q=green+tea&sort={order}{currency}&fields=price_band,unit_price,channels")

    def figure(hit: dict[str, Any]) -> tuple[Any, ...]:
        if order == "-seen":
            days = [channel["last_seen_on"] for channel in hit["channels"]]
            return (tuple(-int(part) for part in max(days, default="0-0-0").split("-")), hit["iid"])
        if order == "price":
            return (Decimal(hit["price_band"]["median"]), hit["iid"])
        unit = hit["unit_price"]
        return (unit is None, Decimal(unit["amount"]) if unit else 0, hit["iid"])

    assert hits == sorted(hits, key=figure) and len(hits) >= 60
    assert all(hit["all_words"] and 1 / 3 < hit["score"] < 1 for hit in hits)


async def test_facets_count_all_hits_and_each_count_is_that_of_the_filter(edge: Edge, settings: Settings) -> None:
    page = await search(edge, settings, "q=green+tea&limit=1&facets=brand,category&facets=channel")
    assert set(page["facets"]) == {"brand", "category", "channel"}
    for name, values in page["facets"].items():
        assert values == sorted(values, key=lambda value: (-value["count"], value["value"]))
        for value in values:
            narrowed = await search(edge, settings, f"q=green+tea&limit=1&{name}={value['value']}")
            assert narrowed["total"]["all_words"] == value["count"] > 0
    assert sum(value["count"] for value in page["facets"]["brand"]) == page["total"]["all_words"]
    assert {"value": "drinks.tea", "name": "Drinks > Tea"}.items() <= page["facets"]["category"][1].items()
    narrowed = await search(edge, settings, "q=green+tea&facets=channel&channel=NORTH")
    assert [value["value"] for value in narrowed["facets"]["channel"]] == ["NORTH"]


async def test_seen_since_keeps_what_was_observed_on_the_day_or_later(edge: Edge, settings: Settings) -> None:
    hits = await all_hits(edge, settings, "q=green+tea&seen_since=2026-05-03&fields=channels&sort=-seen")
    days = [max(channel["last_seen_on"] for channel in hit["channels"]) for hit in hits]
    assert min(days) == "2026-05-03"
    page = await search(edge, settings, "q=green+tea&seen_since=2026-05-04&sort=-seen&limit=50")
    assert page["total"]["value"] == sum(day > "2026-05-03" for day in days)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("q=tea&price_max=20", "currency"),
        ("q=tea&sort=price", "currency"),
        ("q=tea&currency=HKD&price_min=3&price_max=2", "price_min"),
        ("q=tea&currency=hkd", "currency"),
        ("q=tea&channel=NOWHERE", "channel"),
        ("q=tea&facets=colour", "facets"),
        ("q=tea&fields=name", "fields"),
        ("q=tea&sort=name", "sort"),
        ("q=IID-A&facets=brand", "facets"),
        ("q=IID-A&sort=-seen", "sort"),
        ("q=tea&seen_since=2026-13-01", "seen_since"),
    ],
)
async def test_what_has_no_meaning_is_refused(edge: Edge, settings: Settings, query: str, parameter: str) -> None:
    answer = await edge.get(f"/index/search?{query}", key=api_key(settings))
    assert answer.status == 400
    assert [error["parameter"] for error in answer.json["errors"]] == [parameter]


async def test_a_bound_of_the_price_in_the_question_is_understood_and_can_be_refused(
    edge: Edge, settings: Settings
) -> None:
    asked = await search(edge, settings, "q=green+tea+under+20+hkd&limit=50")
    assert asked["meta"]["understood"] == {"q": "green tea", "currency": "HKD", "price_max": "20"}
    plain = await search(edge, settings, "q=green+tea&currency=HKD&price_max=20&limit=50")
    assert [hit["iid"] for hit in asked["data"]] == [hit["iid"] for hit in plain["data"]]
    assert asked["query"]["q"] == "green tea under 20 hkd" and "currency" not in asked["query"]
    refused = await search(edge, settings, "q=green+tea+under+20+hkd&verbatim=true")
    assert "meta" not in refused and refused["query"]["verbatim"] is True


async def test_quantities_are_understood_in_every_spelling(edge: Edge, settings: Settings) -> None:
    for q in ("green+tea+0.2kg", "200+g+green+tea"):
        page = await search(edge, settings, f"q={q}")
        assert page["meta"]["understood"]["quantities"] == ["200 g"]
        assert "200 g" in page["data"][0]["name"]
    assert "meta" not in await search(edge, settings, "q=green+tea+0.2kg&verbatim=true")


async def test_entries_of_a_batch_have_the_price_of_a_unit_on_demand(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    page = await search(edge, settings, "q=green+tea&fields=unit_price&limit=50")
    iids = "&".join(f"iid={hit['iid']}" for hit in page["data"])
    plain = (await edge.get(f"/index/lookup?{iids}", key=key)).json["data"]
    asked = (await edge.get(f"/index/lookup?{iids}&iid=IID-0&fields=unit_price", key=key)).json["data"]
    assert [entry.pop("unit_price") for entry in asked[:-1]] == [hit["unit_price"] for hit in page["data"]]
    assert asked[:-1] == plain and "unit_price" not in asked[-1]
