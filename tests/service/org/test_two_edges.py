"""Two edges ask PostgreSQL about a key once, and take note of its end, also where the notice is lost."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shared.db.connect import connect
from shared.organizations import credentials
from shared.settings.settings import Settings
from tests.assurance.drills import fault_proxy
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.database import execute


@dataclass
class TwoEdges:
    """Two edges whose notices come by `notices`; `call` gives the statuses of a key's call to each."""

    settings: Settings
    notices: fault_proxy.Link
    edges: list[Edge]

    async def call(self, key: str) -> list[int]:
        """Call both with a key."""
        return [(await edge.get("/quota", key=key)).status for edge in self.edges]

    async def until(self, statuses: list[int], key: str) -> None:
        """Call until the statuses are these: for more than the second of the contract, on a machine full of tests."""
        async with asyncio.timeout(10):
            while await self.call(key) != statuses:
                await asyncio.sleep(0.05)

    def questions(self) -> int:
        """Return how many statements about credentials PostgreSQL has run."""
        return int(_value(self.settings, "SELECT last_value FROM asked"))


def _value(settings: Settings, query: str) -> str:
    [(value,)] = execute(settings, query)
    return str(value)


@pytest.fixture
async def two_edges(settings: Settings, tmp_path: Path) -> AsyncIterator[TwoEdges]:
    body = _value(settings, "SELECT prosrc FROM pg_proc WHERE proname = 'find_credentials'")
    definition = _value(settings, "SELECT pg_get_functiondef('find_credentials'::regproc)")
    execute(settings, "CREATE SEQUENCE asked")
    execute(settings, definition.replace(" STABLE", "").replace(body, f"SELECT nextval('asked'); {body}"))
    folder = re.search("host=([^&]+)", urlsplit(settings.edge_database_url).query)
    assert folder is not None
    notices = fault_proxy.Link(str(tmp_path / ".s.PGSQL.5432"), f"{folder[1]}/.s.PGSQL.5432")
    server = await notices.open()
    changed = replace(
        settings,
        edge_pooler_url=settings.edge_database_url,
        edge_database_url=settings.edge_database_url.replace(folder[1], str(tmp_path)),
    )
    async with AsyncExitStack() as stack:
        edges = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            edges.append(await stack.enter_async_context(running_edge(changed, tmp_path / name)))
        yield TwoEdges(settings, notices, edges)
    notices.turn("cut")
    server.close()


async def test_two_edges_ask_about_no_key_that_they_know_and_take_note_of_each_that_ends(two_edges: TwoEdges) -> None:
    keys = [api_key(two_edges.settings) for _ in range(6)]
    asked = -1
    while two_edges.questions() != asked:  # an edge that got no time for a second asks again
        asked = two_edges.questions()
        ends = asyncio.get_running_loop().time() + 6  # longer than an outage lets it rely on what it knows
        while asyncio.get_running_loop().time() < ends:
            for key in keys:
                assert await two_edges.call(key) == [200, 200]
            await asyncio.sleep(0.4)  # often enough that neither edge forgets a key
    for state in ("pass", "cut", "stall"):  # of the way that notices take
        two_edges.notices.turn(state)
        revoked, suspended = keys.pop(), keys.pop()
        assert await two_edges.call(revoked) == await two_edges.call(suspended) == [200, 200]
        execute(two_edges.settings, "UPDATE api_keys SET revoked_at = now() WHERE key_id = $1", revoked[credentials.ID])
        of = "(SELECT organization_id FROM api_keys WHERE key_id = $1)"
        execute(
            two_edges.settings,
            f"UPDATE organizations SET state = 'suspended' WHERE id = {of}",
            suspended[credentials.ID],
        )
        await two_edges.until([401, 401], revoked)
        await two_edges.until([401, 401], suspended)
        two_edges.notices.turn("pass")


def test_edges_forget_whom_they_know_only_when_a_person_changes(settings: Settings) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("LISTEN accounts")
        heard = []
        for name in ("Ada", "Ada", "Ada L."):
            connection.execute("SELECT FROM join_person('i', 'ada', NULL, $1, false)", (name,))
            heard.append([notice.payload for notice in connection.notifies(timeout=0.2)])
    assert heard == [[], [], ["people"]]
