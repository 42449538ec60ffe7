"""Pages of a search through the edge: of one state of the data, or a refusal that says to search again."""

from pathlib import Path

import pytest

from edge.http.cursors import CursorSigner
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from workers.search.job import make_index

MILKS = "".join(f"milk-{n:03},Soy milk {n},Vita,Drinks,Milk,1,2026-08-01,NORTH,1,\n" for n in range(60))


def fill(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    load_rows(settings, folder, MILKS, name="milks.csv")
    make_index(settings.worker_database_url, settings.search_dir)


@pytest.fixture
def contents() -> Contents:
    return fill


async def test_a_load_between_two_pages_changes_no_page(edge: Edge, settings: Settings, tmp_path: Path) -> None:
    key = api_key(settings)
    whole = (await edge.get("/index/search?q=milk&limit=50", key=key)).json
    rest = await edge.get(f"/index/search?q=milk&limit=50&cursor={whole['next_cursor']}", key=key)
    first = (await edge.get("/index/search?q=milk&limit=25", key=key)).json
    load_rows(settings, tmp_path, MILKS.replace("milk-", "more-").replace("Soy milk", "Milk"), name="more.csv")
    make_index(settings.worker_database_url, settings.search_dir)
    edge.resources.search._swap()
    assert edge.resources.search.data_version > first["data_version"]
    found, page = [hit["iid"] for hit in first["data"]], first
    while page["next_cursor"]:
        page = (await edge.get(f"/index/search?q=milk&limit=25&cursor={page['next_cursor']}", key=key)).json
        assert page["data_version"] == first["data_version"]
        found += [hit["iid"] for hit in page["data"]]
    assert found == [hit["iid"] for hit in whole["data"] + rest.json["data"]]
    assert len(set(found)) == len(found) >= 60


async def test_a_cursor_of_a_state_that_is_gone_is_refused_and_not_charged(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    query = {"q": "milk", "limit": 20, "brand": None, "category": None, "product_type": None}
    cursor = CursorSigner(*settings.signing_secrets).seal("search", query, [0.5, "IID-A", 20, 0, 0])
    answer = await edge.get(f"/index/search?q=milk&cursor={cursor}", key=key)
    assert (answer.status, answer.json["type"].rpartition("/")[2]) == (410, "cursor-expired")
    assert "without `cursor`" in answer.json["detail"]
    assert await edge.used(key) == 0
