"""GET /index/categories: the tree, its counts, its pages; what it costs."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


async def tree(edge: Edge, key: str, query: str = "") -> list[dict[str, Any]]:
    """Return all entries that a query lists, page after page, three at a time."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = (await edge.get(f"/index/categories?limit=3{query}{cursor}", key=key)).json
        assert page["count"] == len(page["data"]) <= 3
        found += page["data"]
        if page["next_cursor"] is None:
            assert page["total"] == {"value": len(found), "relation": "eq"}
            return found
        cursor = f"&cursor={page['next_cursor']}"


def expected(items: dict[int, str]) -> dict[str, tuple[int, int, int]]:
    """Count from the items' codes: own, with all below, children."""
    own, total = Counter(items.values()), Counter[str]()
    for code in items.values():
        levels = code.split(".")
        total.update(".".join(levels[:n]) for n in range(1, len(levels) + 1))
    children = Counter(code.rpartition(".")[0] for code in total if "." in code)
    return {code: (own[code], total[code], children[code]) for code in total}


async def counts(edge: Edge, key: str) -> dict[str, tuple[int, int, int]]:
    found = await tree(edge, key)
    assert [entry["code"] for entry in found] == sorted(entry["code"] for entry in found)
    return {entry["code"]: (entry["item_count"], entry["item_count_total"], entry["children"]) for entry in found}


async def test_counts_are_those_of_the_active_items_after_any_change(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    dice = random.Random(8)
    items = {1: "drinks.soy-milk", 2: "desserts.custard", 3: "drinks.soy-milk"}
    for step in range(4):
        rows = []
        for number in dice.sample(range(1, 30), 12):
            group, kind = dice.choice("ABC"), dice.choice("xyz")
            items[number] = f"{group.lower()}.{kind}"
            rows.append(f"{number},Item {number} {step},Vita,{group},{kind},1,2026-07-0{step + 3},NORTH,5,\n")
        load_rows(settings, tmp_path, "".join(rows), name=f"{step}.csv")
        assert await counts(edge, key) == expected(items)
    gone = dice.sample(sorted(items), 6)
    with connect(settings.database_url, application="tests") as connection:
        for number in gone:
            statement = "UPDATE items SET status = 'withdrawn' WHERE iid = $1"
            connection.execute(statement, (mint("shop", str(number)).iid,))
        connection.execute("INSERT INTO data_versions (version) SELECT max(version) + 1 FROM data_versions")
    for number in gone:
        del items[number]
    assert await counts(edge, key) == expected(items)


async def test_filters_narrow_by_parent_level_and_name(shared_edge: Edge, shared_key: str) -> None:
    async def codes(query: str) -> list[str]:
        return [entry["code"] for entry in await tree(shared_edge, shared_key, query)]

    assert await codes("&level=1") == ["desserts", "drinks"]
    assert await codes("&parent=drinks") == ["drinks.soy-milk"]
    assert await codes("&parent=drinks.soy-milk") == []
    assert await codes("&q=SOY%20m") == ["drinks.soy-milk"]
    assert await codes("&q=d&level=1") == ["desserts", "drinks"]
    assert await codes("&q=milk") == []


async def test_an_unknown_category_is_refused_and_costs_nothing(shared_edge: Edge) -> None:
    for query, parameter in (
        ("parent=nothing", "parent"),
        ("level=0", "level"),
        ("level=9", "level"),
        ("limit=501", "limit"),
        ("q=%25", "q"),
    ):
        answer = await shared_edge.get(f"/index/categories?{query}")
        assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, parameter), query
        assert (await shared_edge.get("/quota")).json["limits"][0]["used"] == 0, query


async def test_a_beginning_of_which_nothing_is_compared_does_not_list_every_brand(shared_edge: Edge) -> None:
    answer = await shared_edge.get("/index/brands?q=%27")
    assert (answer.status, answer.json["errors"][0]["detail"]) == (400, "must have a letter or a digit")


async def test_a_cursor_belongs_to_its_query(shared_edge: Edge) -> None:
    page = (await shared_edge.get("/index/categories?limit=1")).json
    other = await shared_edge.get(f"/index/categories?limit=1&level=2&cursor={page['next_cursor']}")
    assert other.json["type"].endswith("/invalid-cursor")


async def test_a_cursor_belongs_to_its_list_and_is_whole(shared_edge: Edge, shared_key: str) -> None:
    page = (await shared_edge.get("/index/categories?limit=1", key=shared_key)).json
    cursor = page["next_cursor"]
    changed = [cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), cursor[1:], cursor + "AAAA", cursor.swapcase()]
    for path in (f"/index/brands?limit=1&cursor={cursor}", *(f"/index/categories?limit=1&cursor={c}" for c in changed)):
        refused = await shared_edge.get(path, key=shared_key)
        assert (refused.status, refused.json["type"].rpartition("/")[2]) == (400, "invalid-cursor"), path


async def test_the_next_page_begins_behind_an_entry_that_is_gone(edge: Edge, settings: Settings, key: str) -> None:
    first = (await edge.get("/index/categories?limit=1", key=key)).json
    [ended] = [entry["code"] for entry in first["data"]]
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "UPDATE items SET status = 'withdrawn' FROM categories c WHERE c.id = category_id AND starts_with(c.code, $1)",
            (ended,),
        )
        connection.execute("INSERT INTO data_versions (version) SELECT max(version) + 1 FROM data_versions")
    left = [entry["code"] for entry in await tree(edge, key)]
    assert left and ended not in left
    following = (await edge.get(f"/index/categories?limit=1&cursor={first['next_cursor']}", key=key)).json
    assert [entry["code"] for entry in following["data"]] == left[:1]
