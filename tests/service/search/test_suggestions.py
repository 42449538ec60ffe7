"""Suggestions while a person types: what comes first, what tells entries apart, and what they cost whom."""

from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from workers.search.job import make_index

# The drink is observed in two shops on three days, the yoghurt once; `Milka` has more items than the category `Milk`.
ROWS = (
    "s-1,Soy drink vanilla,Vitasoy,Drinks,Plant drinks,1,2026-08-01,NORTH,9,\n"
    "s-2,Vitasoy banana flavoured milk drink,Vitasoy,Drinks,Milk,1,2026-08-01,NORTH,12,\n"
    "s-2,Vitasoy banana flavoured milk drink,Vitasoy,Drinks,Milk,1,2026-08-02,NORTH,12,\n"
    "s-2,Vitasoy banana flavoured milk drink,Vitasoy,Drinks,Milk,1,2026-08-03,SOUTH,12,\n"
    "s-3,Whole milk 1 l,Meadow,Drinks,Milk,1,2026-08-01,NORTH,20,\n"
    "s-4,Milk yoghurt,Meadow,Dairy,Yoghurt,1,2026-08-01,NORTH,8,\n"
    + "".join(f"c-{n},Alpine chocolate {n},Milka,Sweets,Chocolate,1,2026-08-01,NORTH,9,\n" for n in range(3))
)


def fill(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    load_rows(settings, folder, ROWS, name="drinks.csv")
    make_index(settings.worker_database_url, settings.search_dir)


@pytest.fixture
def contents() -> Contents:
    return fill


async def suggested(edge: Edge, settings: Settings, q: str, limit: int = 8) -> list[dict[str, object]]:
    answer = await edge.get(f"/index/suggest?q={q}&limit={limit}", key=api_key(settings))
    assert answer.status == 200
    assert (answer.json["count"], answer.json["query"]) == (
        len(answer.json["data"]),
        {"q": unquote_plus(q), "limit": limit},
    )
    entries: list[dict[str, object]] = answer.json["data"]
    return entries


async def test_the_beginning_of_a_brand_gives_the_brand_with_its_count_first(edge: Edge, settings: Settings) -> None:
    first, *others = await suggested(edge, settings, "vitas")
    assert first == {"kind": "brand", "value": "vitasoy", "name": "Vitasoy", "context": None, "items": 2}
    assert {one["kind"] for one in others} == {"item"}
    assert {"Vitasoy"} <= {one["context"] for one in others}


async def test_a_category_comes_before_items_and_an_equal_name_before_a_longer_one(
    edge: Edge, settings: Settings
) -> None:
    entries = await suggested(edge, settings, "milk", limit=20)
    assert [(one["kind"], one["name"]) for one in entries[:2]] == [("category", "Milk"), ("brand", "Milka")]
    assert (entries[0]["value"], entries[0]["context"], entries[0]["items"]) == ("drinks.milk", "Drinks", 2)
    names = [one["name"] for one in entries if one["kind"] == "item"]
    assert names.index("Vitasoy banana flavoured milk drink") < names.index("Whole milk 1 l")  # seen more often
    assert names.index("Milk yoghurt") < min(names.index(name) for name in names if "Alpine" in str(name))


async def test_what_was_typed_in_part_finds_items_by_all_of_its_words(edge: Edge, settings: Settings) -> None:
    assert [one["name"] for one in await suggested(edge, settings, "banana+mi")] == [
        "Vitasoy banana flavoured milk drink"
    ]
    for nothing in ("qxzjvk", "%22%22", "AND+OR", "%5B.*%5D"):
        assert await suggested(edge, settings, nothing) == []


async def test_a_limit_bounds_the_list(edge: Edge, settings: Settings) -> None:
    assert len(await suggested(edge, settings, "m", limit=2)) == 2
    for wrong in ("?q=m&limit=21", "?q=m&limit=0", "?q=", ""):
        assert (await edge.get(f"/index/suggest{wrong}", key=api_key(settings))).status == 400


async def test_the_anonymous_token_and_no_credential_get_no_suggestions(edge: Edge) -> None:
    refused = await edge.get("/index/suggest?q=milk")
    assert (refused.status, refused.json["type"].rpartition("/")[2]) == (403, "insufficient-plan")
    assert (await edge.get("/index/suggest?q=milk", anonymous=False)).status == 401


async def test_a_key_pays_nothing_within_its_burst_limit(edge: Edge, settings: Settings) -> None:
    execute(settings, "UPDATE plans SET burst_units = 4 WHERE name = 'brand'")
    edge.forget_accounts()
    key = api_key(settings)
    answers = [(await edge.get("/index/suggest?q=milk", key=key)).status for _ in range(12)]
    assert 429 in answers and answers[:4] == [200] * 4
    assert await edge.used(key) == 0


async def test_ten_suggestions_of_an_address_cost_a_unit_and_end_with_its_units(edge: Edge, settings: Settings) -> None:
    execute(settings, "UPDATE plans SET daily_units = 2 WHERE name = 'free'")
    edge.forget_accounts()
    tokens = [free_token(settings) for _ in range(3)]  # however many sign up

    async def ask(number: int) -> int:
        return (await edge.get("/index/suggest?q=milk", token=tokens[number % 3], address="198.51.100.7")).status

    assert [await ask(number) for number in range(10)] == [200] * 10
    quota = await edge.get("/quota", token=tokens[0], address="198.51.100.7")
    assert quota.json["limits"][0]["used"] == 1
    assert [await ask(number) for number in range(10)] == [200] * 10
    assert [await ask(number) for number in range(12)] == [429] * 12
    search = await edge.get("/index/search?q=milk", token=tokens[1], address="198.51.100.7")
    assert search.status == 429  # the units of the day are the same
