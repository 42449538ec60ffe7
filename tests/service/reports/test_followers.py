"""GET /jobs/{id}/events: what a follower sees, and that it can go on where it broke off."""

import asyncio
import threading
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.jobs.event_stream import EventStream
from edge.jobs.orders import JobOrders
from edge.jobs.serializer import JobSerializer
from edge.jobs.waiters import JobWaiters
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.reports.test_answer import ASYNC
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.reports import answer, work
from tests.support.servers import Contents
from tests.support.shop import open_shop


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
async def placed(edge: Edge, settings: Settings) -> tuple[str, str]:
    """A job that waits: its id and the key."""
    key = api_key(settings)
    return (await edge.get("/index/cohorts?brand=vita", key=key, head=ASYNC)).json["id"], key


class Follower:
    """Reads a stream of events, one after the other."""

    def __init__(self, edge: Edge, job: str, key: str, last: str = "") -> None:
        self._url = f"http://testserver/v1/jobs/{job}/events"
        self._session = edge.session
        self._fields = {"X-Real-IP": "192.0.2.1", "Authorization": f"ApiKey {key}", "Last-Event-ID": last}

    async def __aiter__(self) -> Any:
        async with self._session.get(self._url, headers=self._fields) as response:
            assert (response.status, response.headers["Content-Type"]) == (200, "text/event-stream")
            assert response.headers["X-Request-Id"]
            block: dict[str, str] = {}
            async for line in response.content:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    block[name] = value
                elif "event" in block:
                    yield block["event"], block.get("id"), msgspec.json.decode(block["data"])
                    block = {}


async def test_progress_moves_and_ends_at_exactly_one(edge: Edge, settings: Settings, placed: tuple[str, str]) -> None:
    job, key = placed
    shown = threading.Semaphore(0)

    def slow(connection: Any, parameters: Any, tell: Any) -> Any:
        for done in range(1, 5):
            tell("counting", done, 5)
            shown.acquire(timeout=10)
        return answer()

    following = aiter(Follower(edge, job, key))
    name, _, document = await anext(following)
    # Only now: a follower that comes later does not see the former states.
    working = asyncio.create_task(work(settings, slow))
    seen, counted = [(name, document)], set[float]()
    async for name, _, document in following:
        seen.append((name, document))
        if name == "progress" and document["progress"]["stage"] == "counting":
            # One fraction may come twice, and must not let the worker pass two.
            if document["progress"]["fraction"] not in counted:
                shown.release()
            counted.add(document["progress"]["fraction"])
    assert await working == ["succeeded"]
    fractions = [document["progress"]["fraction"] for name, document in seen if name == "progress"]
    assert fractions == sorted(fractions)
    assert len(set(fractions)) >= 4
    assert fractions[-1] == 1
    assert [document["state"] for name, document in seen if name == "state"] == ["queued", "running", "succeeded"]
    assert seen[-1][0] == "done"
    assert seen[-1][1]["result"]["rows"] == 3


async def test_a_follower_continues_where_it_disconnected_and_stops_at_the_end(
    edge: Edge, settings: Settings, placed: tuple[str, str]
) -> None:
    job, key = placed
    following = aiter(Follower(edge, job, key))
    assert (await anext(following))[0] == "state"
    _, last, _ = await anext(following)
    await following.aclose()
    assert last is not None
    await work(settings)
    again = [(name, number) async for name, number, _ in Follower(edge, job, key, last)]
    assert [name for name, _ in again] == ["state", "progress", "done"]
    end = again[-1][1]
    assert end is not None and int(end) > int(last)
    assert (await edge.get(f"/jobs/{job}/events", key=key, head={"Last-Event-ID": end})).status == 204


async def test_a_cancelled_job_ends_its_streams(edge: Edge, settings: Settings, placed: tuple[str, str]) -> None:
    job, key = placed
    seen = []
    async for name, _, document in Follower(edge, job, key):
        if not seen:
            await edge.ask("DELETE", f"/jobs/{job}", key=key)
        seen.append((name, document["state"]))
    assert seen[-1] == ("done", "cancelled")


async def test_a_process_that_stops_lets_its_followers_go(edge: Edge, placed: tuple[str, str]) -> None:
    job, key = placed
    seen = []
    async for name, _, _ in Follower(edge, job, key):
        seen.append(name)
        edge.resources.job_waiters.close()
    assert seen[0] == "state"
    assert "done" not in seen


async def test_a_lost_connection_is_no_problem(edge: Edge, placed: tuple[str, str]) -> None:
    job, key = placed
    following = aiter(Follower(edge, job, key))
    await anext(following)
    await following.aclose()
    assert (await edge.get(f"/jobs/{job}", key=key)).status == 200


async def test_a_follower_whose_notifications_are_all_lost_still_sees_every_change(
    edge: Edge, settings: Settings, placed: tuple[str, str]
) -> None:
    job, key = placed
    [row] = execute(settings, "SELECT organization_id::text FROM job_orders WHERE id = $1", job)
    orders = JobOrders(edge.resources.database, JobWaiters(), 10, Log("tests"))  # nothing wakes these waiters
    order, serializer = await orders.find(row[0], job), JobSerializer(settings.base_url, settings.problem_base_url)

    async def follow(request: web.Request) -> web.StreamResponse:
        return EventStream(orders, serializer, row[0], order, -1, poll_seconds=0.05)

    app = web.Application()
    app.router.add_get("/", follow)
    async with TestServer(app) as server, TestClient(server) as client, client.get("/") as response:
        lines = []
        async for line in response.content:
            lines.append(line)
            if lines.count(b": still here\n") == 2:
                await edge.ask("DELETE", f"/jobs/{job}", key=key)
    assert lines.count(b"event: done\n") == 1
    assert lines.count(b"event: state\n") == 2
