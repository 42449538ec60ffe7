"""A search asks PostgreSQL only for identifiers that an item may have, and for all of them while the index is behind."""

from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import HEADER, load_rows, open_shop

ROWS = "AB-1234,Tea,Vita,Drinks,Tea,,2026-07-01,NORTH,8.5,\n"


@pytest.fixture
def contents() -> Contents:
    return open_shop


class Reads:
    """Counts how often the edge asks PostgreSQL for rows; the questions are answered."""

    def __init__(self, edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        fetch = edge.resources.database.fetch

        async def counted(query: str, *arguments: Any, **named: Any) -> Any:
            self.count += "item_identifiers" in query
            return await fetch(query, *arguments, **named)

        monkeypatch.setattr(edge.resources.database, "fetch", counted)


async def names(edge: Edge, q: str, key: str) -> list[str]:
    return [hit["name"] for hit in (await edge.get(f"/index/search?q={q}", key=key)).json["data"]]


async def test_an_identifier_that_no_item_has_costs_postgresql_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        reads = Reads(edge, monkeypatch)
        assert await names(edge, "soy+milk1l", key) == ["Soy milk 1L", "豆奶 Soy drink"]
        assert await names(edge, "4006381333931", key) == []
        assert reads.count == 0


async def test_until_the_index_follows_a_load_its_identifiers_are_found_in_postgresql(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE data_versions SET committed_at = committed_at - interval '1 day'")
    async with running_edge(settings, tmp_path) as edge:
        reads = Reads(edge, monkeypatch)
        await names(edge, "ab-1234", key)  # of the same number, but another moment: a database that was restored
        assert reads.count == 1
        load_rows(settings, tmp_path, ROWS, header=HEADER, name="more.csv")
        assert await edge.resources.version.read()
        await names(edge, "ab-1234", key)
        assert reads.count == 2
