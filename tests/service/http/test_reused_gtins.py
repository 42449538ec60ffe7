"""GTINs that a shop gives to another product, or to two at once: by day, and in every state of the index.

The cases are those of public reports: a discounter prints one code on the variants of a product, and gives codes of
seasonal products to others in the next year (openfoodfacts-server issues 6861 and 3655).
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import row, shop
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import undone
from workers.provenance import item_acts, standing

REUSED, SHARED, LEFT, NEW = "4006381333931", "9780201379624", "5901234123457", "0036000291452"
SEASON, NEXT_SEASON = "2023-03-01", "2024-03-01"
STOLLEN, CHERRY, BERRY, TEA, BREAD = (mint("shop_a", str(number)).iid for number in range(1, 6))
YOGURTS = row("2", SHARED, "Cherry yogurt", "{day}") + row("3", SHARED, "Strawberry yogurt", "{day}")
FIRST = row("1", REUSED, "Butter stollen", SEASON) + YOGURTS.format(day=SEASON) + row("4", LEFT, "Black tea", SEASON)
SECOND = (
    row("5", REUSED, "Gingerbread hearts", NEXT_SEASON)
    + YOGURTS.format(day=NEXT_SEASON)
    + row("4", NEW, "Black tea", NEXT_SEASON)
)


def fill(settings: Settings, folder: Path) -> None:
    shop(settings, folder, "shop_a", FIRST)
    shop(settings, folder, "shop_a", SECOND)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return fill


@dataclass
class Resolver:
    """Asks an edge which items a number leads to."""

    edge: Edge

    async def __call__(self, gtin: str, as_of: str = "", more: str = "") -> set[str]:
        await self.edge.resources.version.read()
        day = f"&as_of={as_of}" if as_of else ""
        key = api_key(self.edge.settings)
        answer = await self.edge.get(f"/index/resolve?gtin={gtin}{day}{more}", key=key)
        if answer.status == 300:
            return {candidate["iid"] for candidate in answer.json["candidates"]}
        assert answer.status in (200, 404), answer.body
        return {answer.json["iid"]} if answer.status == 200 else set()


CASES = [
    (REUSED, "", {BREAD}),
    (REUSED, "1900-01-01", set()),
    (REUSED, "2023-02-28", set()),
    (REUSED, SEASON, {STOLLEN}),
    (REUSED, "2024-02-29", {STOLLEN}),
    (REUSED, NEXT_SEASON, {BREAD}),
    (REUSED, "2199-12-31", {BREAD}),
    (SHARED, "", {CHERRY, BERRY}),
    (SHARED, "2023-12-24", {CHERRY, BERRY}),
    (SHARED, "2023-02-28", set()),
    (LEFT, "", set()),
    (LEFT, "2024-02-29", {TEA}),
    (LEFT, NEXT_SEASON, set()),
    (NEW, "", {TEA}),
    (NEW, "2024-02-29", set()),
]


async def test_a_number_leads_to_the_item_that_had_it_on_the_day(shared_edge: Edge) -> None:
    resolve = Resolver(shared_edge)
    for gtin, as_of, iids in CASES:
        assert await resolve(gtin, as_of) == iids, (gtin, as_of)
        assert await resolve(gtin, as_of, "&source=shop_a") == iids, (gtin, as_of)
    assert await resolve(REUSED, SEASON, "&source=shop_b") == set()


async def test_a_digital_link_takes_the_day_and_hands_it_on_to_nobody(shared_edge: Edge) -> None:
    async def follow(query: str) -> tuple[int, str | None]:
        url = f"http://testserver/01/0{REUSED}{query}"
        async with shared_edge.session.get(url, headers={"X-Real-IP": "192.0.2.1"}, allow_redirects=False) as response:
            return response.status, response.headers.get("Location")

    base = f"{shared_edge.settings.base_url}/index/lookup/"
    assert await follow("") == (307, base + BREAD)
    assert await follow(f"?as_of={SEASON}") == (307, base + STOLLEN)
    assert await follow("?as_of=2023-02-28") == (404, None)
    assert await follow("?as_of=yesterday") == (400, None)


async def test_a_batch_says_it_of_each_row(shared_edge: Edge) -> None:
    identifiers = [
        {"gtin": REUSED},
        {"ean": REUSED, "as_of": SEASON},
        {"gtin": SHARED},
        {"gtin": REUSED, "as_of": "2023-02-28"},
        {"mpn": "x-1", "brand": "Vita", "as_of": SEASON},
    ]
    body = msgspec.json.encode({"identifiers": identifiers})
    answer = await shared_edge.ask("POST", "/index/resolve", key=api_key(shared_edge.settings), body=body)
    found = [
        (entry["status"], (entry["record"] or {}).get("iid"), {one["iid"] for one in entry["candidates"]})
        for entry in answer.json["data"]
    ]
    assert found == [
        (200, BREAD, set()),
        (200, STOLLEN, set()),
        (300, None, {CHERRY, BERRY}),
        (404, None, set()),
        (400, None, set()),
    ]


async def test_a_day_that_is_none_or_stands_beside_another_identifier_is_refused(shared_edge: Edge) -> None:
    for query in (f"gtin={REUSED}&as_of=2023-02-30", f"gtin={REUSED}&as_of=20230301", "sku=1&source=shop_a&as_of=2023-03-01",
                  f"iid={TEA}&as_of=2023-03-01", f"gtin={REUSED}&as_of=2200-01-01"):  # fmt: skip
        answer = await shared_edge.get(f"/index/resolve?{query}")
        assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, "as_of"), query


async def test_a_load_that_is_undone_gives_the_number_back(edge: Edge, settings: Settings) -> None:
    resolve = Resolver(edge)
    undone(settings, "2")
    for as_of in ("", NEXT_SEASON, "2199-12-31"):
        assert await resolve(REUSED, as_of) == {STOLLEN}
        assert (await resolve(LEFT, as_of), await resolve(NEW, as_of)) == ({TEA}, set())
    assert execute(settings, "SELECT * FROM former_identifiers") == []


async def test_the_first_load_undone_leaves_the_later_item_alone(edge: Edge, settings: Settings) -> None:
    resolve = Resolver(edge)
    undone(settings, "1")
    assert await resolve(REUSED, SEASON) == set()
    assert await resolve(REUSED, NEXT_SEASON) == await resolve(REUSED) == {BREAD}
    assert execute(settings, "SELECT * FROM former_identifiers") == []


async def test_merged_items_have_the_number_in_the_times_of_both_until_they_are_parted(
    edge: Edge, settings: Settings
) -> None:
    resolve = Resolver(edge)
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.merge(connection, BREAD, STOLLEN, "test", None)
    for as_of in (SEASON, "2024-02-29", NEXT_SEASON, ""):
        assert await resolve(REUSED, as_of) == {STOLLEN}
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.restore(connection, BREAD, "test", None)
    assert (await resolve(REUSED, SEASON), await resolve(REUSED)) == ({STOLLEN}, {BREAD})


async def test_a_withdrawn_item_has_no_number_on_any_day(edge: Edge, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.withdraw(connection, STOLLEN, "test", None)
    assert (await Resolver(edge)(REUSED, SEASON), await Resolver(edge)(REUSED)) == (set(), {BREAD})


async def test_the_same_file_again_changes_nothing_and_a_later_one_makes_it_two_at_once(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    resolve = Resolver(edge)
    shop(settings, tmp_path, "shop_a", FIRST)
    for gtin, as_of, iids in CASES:
        assert await resolve(gtin, as_of) == iids, (gtin, as_of)
    shop(settings, tmp_path, "shop_a", row("1", REUSED, "Butter stollen", "2024-12-01"))
    assert await resolve(REUSED, "2024-02-29") == {STOLLEN}
    assert await resolve(REUSED) == await resolve(REUSED, NEXT_SEASON) == {STOLLEN, BREAD}


async def test_another_source_gives_the_number_to_a_product_of_its_own(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    resolve = Resolver(edge)
    other = row("9", REUSED, "Soap", "2025-01-01").replace("Vita", "Lavanda")
    shop(settings, tmp_path, "shop_b", other)
    soap = mint("shop_b", "9").iid
    assert (await resolve(REUSED, NEXT_SEASON), await resolve(REUSED)) == ({BREAD}, {soap})
    assert await resolve(REUSED, "", "&source=shop_a") == {BREAD}
    shop(settings, tmp_path, "shop_a", row("5", REUSED, "Gingerbread hearts", "2025-01-01"))
    assert await resolve(REUSED) == {BREAD, soap}


async def test_shops_take_no_codes_of_their_own_from_each_other(edge: Edge, settings: Settings, tmp_path: Path) -> None:
    own = "2012345000001"
    shop(settings, tmp_path, "shop_a", row("7", own, "Loose apples", SEASON))
    shop(settings, tmp_path, "shop_b", row("7", own, "Loose pears", NEXT_SEASON))
    apples, pears = mint("shop_a", "7").iid, mint("shop_b", "7").iid
    assert await Resolver(edge)(own) == {apples, pears}
    assert await Resolver(edge)(own, "", "&source=shop_a") == {apples}
    shop(settings, tmp_path, "shop_a", row("8", own, "Loose plums", NEXT_SEASON))
    assert await Resolver(edge)(own) == {pears, mint("shop_a", "8").iid}
