"""Reports as tasks and as jobs: what a client gets that follows tasks, and one that does not."""

import asyncio

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.mcp import Mcp, said
from tests.support.reports import work
from tests.support.servers import Contents
from tests.support.shop import open_shop

COHORT = {"report": "cohorts", "brand": ["vita"]}


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


@pytest.fixture
def client(edge: Edge, settings: Settings) -> Mcp:
    return Mcp(edge, {"Authorization": f"ApiKey {api_key(settings)}"}, tasks=True)


async def test_a_report_is_a_task_that_completes_with_its_rows(client: Mcp, settings: Settings) -> None:
    created = await client.call("market_report", COHORT)
    assert (created["resultType"], created["status"]) == ("task", "working")
    assert "result" not in created and created["ttlMs"] is None
    id = {"taskId": created["taskId"]}
    assert (await client.ask("tasks/get", id)).json["result"]["status"] == "working"
    assert await work(settings) == ["succeeded"]
    answer = await client.ask("tasks/get", id)
    task = answer.json["result"]
    assert (task["resultType"], task["status"]) == ("complete", "completed")
    assert [row["items"] for row in said(task["result"])["rows"]] == [0, 1, 2]
    assert len(answer.body) <= 4096


async def test_tasks_need_the_clients_capability(client: Mcp, edge: Edge) -> None:
    answer = await Mcp(edge, client.head).ask("tasks/get", {"taskId": "x"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32021)
    assert answer.json["error"]["data"]["requiredCapabilities"] == {"extensions": {"io.modelcontextprotocol/tasks": {}}}


async def test_a_cancelled_task_is_given_back_and_stays_cancelled(client: Mcp) -> None:
    created = await client.call("market_report", COHORT)
    id = {"taskId": created["taskId"]}
    for _ in range(2):
        assert (await client.ask("tasks/cancel", id)).json["result"]["resultType"] == "complete"
    assert (await client.ask("tasks/get", id)).json["result"]["status"] == "cancelled"
    assert (await client.ask("tasks/update", {**id, "inputResponses": {}})).json["result"]["resultType"] == "complete"


async def test_another_organizations_task_does_not_exist(edge: Edge, client: Mcp, settings: Settings) -> None:
    created = await client.call("market_report", COHORT)
    outsider = Mcp(edge, {"Authorization": f"ApiKey {api_key(settings)}"}, tasks=True)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        for id in (created["taskId"], "no-uuid"):
            answer = await outsider.ask(method, {"taskId": id})
            assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


async def test_without_tasks_a_call_waits_for_its_report(edge: Edge, client: Mcp, settings: Settings) -> None:
    waiting = asyncio.create_task(Mcp(edge, client.head).call("market_report", COHORT))
    assert await work(settings) == ["succeeded"]
    result = await waiting
    assert [row["items"] for row in said(result)["rows"]] == [0, 1, 2]


async def test_a_job_is_read_by_its_id_and_one_that_runs_says_when(edge: Edge, client: Mcp, settings: Settings) -> None:
    created = await client.call("market_report", COHORT)
    plain = Mcp(edge, client.head)
    waiting = await plain.call("market_report", {"job": created["taskId"]})
    assert waiting["isError"] and said(waiting)["retry_after"] > 0
    assert await work(settings) == ["succeeded"]
    assert said(await plain.call("market_report", {"job": created["taskId"]}))["rows"]
    both = await plain.call("market_report", {"job": created["taskId"], "brand": ["vita"]})
    assert both["isError"] and said(both)["errors"][0]["parameter"] == "brand"
