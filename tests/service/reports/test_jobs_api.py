"""/jobs: listed, shown, cancelled, shared between organizations, kept, forgotten; and nothing is paid for nothing."""

import asyncio
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from edge.analytics.report_service import ReportService
from edge.jobs.orders import JobOrders
from shared.db.connect import connect
from shared.errors import JobRefused, StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.reports import answer, queued, quick, work
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.workers import RecordedMessages, delete_old, services_of, settle_refunds
from workers.dispatcher.dispatch import Dispatcher
from workers.jobs.leases import claim

COHORT = "/index/cohorts?brand=vita"
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def order(edge: Edge, key: str, path: str = COHORT) -> Any:
    answer = await edge.get(path, key=key, head=ASYNC)
    assert answer.status == 202, answer
    return answer.json


def slug(answer: Answer) -> str:
    return str(answer.json["type"].rsplit("/", 1)[1])


async def test_the_list_pages_through_all_jobs_newest_first(edge: Edge, settings: Settings) -> None:
    key = api_key(settings, "institutional")
    made = [(await order(edge, key, f"{COHORT}&from=2026-06-0{n}"))["id"] for n in range(1, 6)]
    seen, cursor = [], ""
    while True:
        page = (await edge.get(f"/jobs?limit=2{cursor}", key=key)).json
        seen += [job["id"] for job in page["data"]]
        assert page["total"] == {"value": 5, "relation": "eq"}
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == made[::-1]
    assert (await edge.get("/jobs?state=failed", key=key)).json["data"] == []
    assert slug(await edge.get("/jobs?state=nonsense", key=key)) == "invalid-parameter"


async def test_another_organizations_job_is_not_there(edge: Edge, settings: Settings, key: str) -> None:
    job, other = await order(edge, key), api_key(settings)
    for method, path in (("GET", ""), ("GET", "/result"), ("GET", "/events"), ("DELETE", "")):
        answer = await edge.ask(method, f"/jobs/{job['id']}{path}", key=other)
        assert (answer.status, slug(answer)) == (404, "job-not-found")
    assert (await edge.get("/jobs", key=other)).json["data"] == []
    assert slug(await edge.get("/jobs/nonsense", key=key)) == "job-not-found"


async def test_two_organizations_share_the_work_and_nothing_else(edge: Edge, settings: Settings, key: str) -> None:
    other = api_key(settings)
    mine, theirs = await order(edge, key), await order(edge, other)
    assert mine["id"] != theirs["id"]
    assert len(queued(settings)) == 1
    cancelled = await edge.ask("DELETE", f"/jobs/{mine['id']}", key=key)
    assert (cancelled.json["state"], cancelled.json["error"]["status"], cancelled.json["cost_units"]) == (
        "cancelled",
        409,
        0,
    )
    assert await work(settings) == ["succeeded"]
    assert (await edge.get(f"/jobs/{theirs['id']}", key=other)).json["state"] == "succeeded"
    assert (await edge.get(f"/jobs/{mine['id']}", key=key)).json["state"] == "cancelled"
    assert slug(await edge.get(f"/jobs/{mine['id']}/result", key=key)) == "state-conflict"
    assert settle_refunds(settings) == 1
    assert (await edge.used(key), await edge.used(other)) == (0, 10)


async def test_the_last_to_cancel_ends_the_work_and_an_ended_job_cannot_be_cancelled(
    edge: Edge, settings: Settings, key: str
) -> None:
    job = await order(edge, key)
    assert (await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)).status == 200
    assert (await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)).json["state"] == "cancelled"
    assert queued(settings) == []
    job = await order(edge, key)
    await work(settings)
    refused = await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)
    assert (refused.status, slug(refused)) == (409, "state-conflict")


async def test_cancelling_stops_the_statement_that_runs(edge: Edge, settings: Settings, key: str) -> None:
    job, began, ended = await order(edge, key), threading.Event(), threading.Event()

    def endless(connection: Any, parameters: Any, reported: Any) -> Any:
        began.set()
        try:
            connection.execute("SELECT pg_sleep(120)")
        finally:
            ended.set()
        raise AssertionError("the statement was not stopped")

    working = asyncio.create_task(work(settings, endless))
    await asyncio.to_thread(began.wait, 10)
    await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)
    assert await asyncio.to_thread(ended.wait, 20)
    assert await working == [None]


async def test_a_failed_job_says_why_and_costs_nothing_however_often_it_is_settled(
    edge: Edge, settings: Settings, key: str
) -> None:
    def refuse(connection: Any, parameters: Any, reported: Any) -> Any:
        raise JobRefused("query-too-large", "There are too many groups.")

    asking = asyncio.create_task(edge.get(COHORT, key=key))
    assert await work(settings, refuse) == ["failed"]
    failed = await asking
    assert (failed.status, slug(failed), failed.json["detail"]) == (
        422,
        "query-too-large",
        "There are too many groups.",
    )
    job = (await edge.get("/jobs", key=key)).json["data"][0]
    assert (job["state"], job["cost_units"], job["error"]["status"], job["attempt"]) == ("failed", 0, 422, 1)
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 0
    await order(edge, key)
    execute(
        settings, "UPDATE job_orders SET refund_due = true WHERE refunded_at IS NOT NULL"
    )  # died before it wrote it down
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 10


NOTHING = f"{COHORT}&from=2030-01-01"


def empty(connection: Any, parameters: Any, reported: Any) -> Any:
    return answer(0)


async def test_a_report_without_rows_costs_nothing_whoever_waits_for_it_and_however_it_is_read_again(
    edge: Edge, settings: Settings, key: str
) -> None:
    other = api_key(settings)
    assert (await edge.get(f"{NOTHING}&dry_run=true", key=key)).json["cost_units"] == 10
    theirs = await order(edge, other, NOTHING)
    asking = asyncio.create_task(edge.get(NOTHING, key=key))
    while len((await edge.get("/jobs", key=key)).json["data"]) == 0:
        await asyncio.sleep(0.01)
    assert await work(settings, empty) == ["succeeded"]
    meta = (await asking).json["meta"]
    assert (meta["rows"], meta["cost_units"], meta["cached"]) == (0, 0, False)
    for found in (f"/jobs/{theirs['id']}", "/jobs"):
        shown = (await edge.get(found, key=other)).json
        assert shown.get("data", [shown])[0]["cost_units"] == 0
    assert (await edge.get(f"/jobs/{theirs['id']}/result", key=other)).json["meta"]["cost_units"] == 0
    assert (settle_refunds(settings), settle_refunds(settings)) == (2, 0)
    again = (await edge.get(NOTHING, key=key)).json["meta"]
    assert (again["cached"], again["cost_units"]) == (True, 0)
    third = api_key(settings)
    asking = asyncio.create_task(edge.get(f"{NOTHING}&format=csv", key=third))
    assert await work(settings, empty) == ["succeeded"]
    assert (await asking).status == 200
    assert settle_refunds(settings) == 0
    assert [await edge.used(one) for one in (key, other, third)] == [0, 0, 0]
    await edge.resources.usage.flush()
    totals = execute(settings, "SELECT sum(units)::int FROM usage GROUP BY account")
    assert totals and {total for (total,) in totals} == {0}


async def test_a_report_that_has_come_without_rows_since_it_was_priced_is_refunded(
    edge: Edge, settings: Settings, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, quote = api_key(settings), ReportService.quote
    await order(edge, other, NOTHING)

    async def priced_too_early(self: Any, *question: Any) -> Any:
        priced = await quote(self, *question)
        await work(settings, empty)
        return priced

    monkeypatch.setattr(ReportService, "quote", priced_too_early)
    found = await edge.get(NOTHING, key=key)
    assert (found.status, found.json["meta"]["cost_units"]) == (200, 0)
    assert settle_refunds(settings) == 2
    assert (await edge.used(key), await edge.used(other)) == (0, 0)


async def test_a_refund_stays_due_while_the_state_store_is_unavailable(
    edge: Edge, settings: Settings, key: str
) -> None:
    job = await order(edge, key)
    await edge.ask("DELETE", f"/jobs/{job['id']}", key=key)
    assert settle_refunds(replace(settings, state_url="unix:///nowhere.sock")) == 0
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 0


async def test_an_order_whose_caller_got_no_answer_is_refunded_once(
    edge: Edge, settings: Settings, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = edge.resources.database
    whole = type(database).transaction

    def lost(self: Any, *scope: Any) -> Any:
        @asynccontextmanager
        async def committed_but_unheard() -> Any:
            async with whole(self, *scope) as fetch:
                yield fetch
            raise StoreUnavailable("database")

        return committed_but_unheard()

    monkeypatch.setattr(type(database), "transaction", lost)
    assert (await edge.get(COHORT, key=key, head=ASYNC)).status == 503
    monkeypatch.setattr(type(database), "transaction", whole)
    assert await edge.used(key) == 0
    [listed] = (await edge.get("/jobs", key=key)).json["data"]
    await edge.ask("DELETE", f"/jobs/{listed['id']}", key=key)
    await order(edge, key, "/index/cohorts?brand=maison")
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 10


async def test_an_order_that_is_committed_is_202_even_if_the_database_fails_right_after(
    edge: Edge, settings: Settings, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(self: Any, organization: Any, order: str) -> Any:
        raise StoreUnavailable("database")

    with monkeypatch.context() as away:
        away.setattr(JobOrders, "find", gone)
        job = await order(edge, key)
    assert job["state"] == "queued"
    assert (await edge.get(f"/jobs/{job['id']}", key=key)).json["cost_units"] == 10


async def test_a_full_queue_is_429_and_says_which_limit(edge: Edge, settings: Settings, key: str) -> None:
    execute(settings, "UPDATE plans SET jobs_queued = 2, burst_units = 1000 WHERE name = 'brand'")
    while (await edge.get("/", key=key)).json["quota"][1]["limit"] != 1000:
        await asyncio.sleep(0.01)
    paths = [f"{COHORT}&from=2026-06-0{n}" for n in range(1, 5)]
    answers = await asyncio.gather(*(edge.get(path, key=key, head=ASYNC) for path in paths))
    assert sorted(answer.status for answer in answers) == [202, 202, 429, 429]
    refused = next(answer for answer in answers if answer.status == 429)
    assert (slug(refused), refused.json["policy"], refused.json["limit"]) == ("rate-limited", "brand-jobs-queued", 2)
    assert int(refused.head["Retry-After"]) == refused.json["retry_after"]
    assert await edge.used(key) == 20


async def test_a_hundred_jobs_of_one_never_stand_before_the_first_of_another(
    edge: Edge, settings: Settings, key: str
) -> None:
    execute(settings, "UPDATE plans SET jobs_queued = 1000, burst_units = 100000 WHERE name = 'brand'")
    while (await edge.get("/", key=key)).json["quota"][1]["limit"] != 100_000:
        await asyncio.sleep(0.01)
    messages = RecordedMessages()
    for n in range(30):
        await order(edge, key, f"{COHORT}&from=2025-01-{n + 1:02}")
    crowd = set(queued(settings))
    other = api_key(settings)
    for n in range(2):
        await order(edge, other, f"/index/cohorts?brand=maison&from=2025-01-0{n + 1}")
    dispatcher = Dispatcher(services_of(settings, messages=messages))
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        dispatcher.sweep(connection)
        rung = [job for _, job, queue in messages.sent if queue == "reports"]
        assert [job in crowd for job in rung].count(True) == 4  # as many as the plan lets run
        assert [job in crowd for job in rung[:4]] == [True, False, True, False]
        assert len(rung) == 6
        sent = len(messages.sent)
        assert claim(connection, next(job for job in rung if job in crowd), 30) is not None
        dispatcher.sweep(connection)
        assert len(messages.sent) == sent  # the one that runs still counts
        dispatcher.measure(connection)


async def test_results_expire_and_objects_without_a_row_are_deleted(edge: Edge, settings: Settings, key: str) -> None:
    job = await order(edge, key)
    await work(settings)
    store = DirectoryStore(settings.results_dir)
    with store.create("019aa2b4-5c10-7f7e-8a55-0a5f3b1c9d21/1/cohorts.json") as file:
        file.write(b"half of it")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert delete_old(connection, settings, store) == 1
        assert (await edge.get(f"/jobs/{job['id']}/result", key=key)).status == 200
        execute(settings, "UPDATE jobs SET expires_at = now() WHERE state = 'succeeded'")
        assert (await edge.get(f"/jobs/{job['id']}", key=key)).json["state"] == "expired"
        assert slug(await edge.get(f"/jobs/{job['id']}/result", key=key)) == "result-expired"
        assert delete_old(connection, settings, store) == 1
        assert list(store.attempts()) == []
        execute(settings, "UPDATE jobs SET finished_at = now() - interval '31 days'")
        delete_old(connection, settings, store)
    assert slug(await edge.get(f"/jobs/{job['id']}", key=key)) == "job-not-found"
    assert (await edge.get(COHORT, key=key, head=ASYNC)).status == 202


async def test_bytes_that_were_lost_are_made_again(edge: Edge, settings: Settings, key: str) -> None:
    job = await order(edge, key)
    await work(settings)
    for name, attempt in list(DirectoryStore(settings.results_dir).attempts()):
        DirectoryStore(settings.results_dir).delete(name, attempt)
    for path in (COHORT, f"/jobs/{job['id']}/result"):
        answer = await edge.get(path, key=key)
        assert (answer.status, slug(answer)) == (503, "service-unavailable")
    assert await edge.used(key) == 10
    assert (await edge.get(f"/jobs/{job['id']}", key=key)).json["state"] == "succeeded"
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    await work(settings)
    assert (await asking).status == 200


async def test_a_stale_attempt_publishes_nothing(edge: Edge, settings: Settings, key: str) -> None:
    job = await order(edge, key)

    def overtaken(connection: Any, parameters: Any, reported: Any) -> Any:
        execute(settings, "UPDATE jobs SET attempt = attempt + 1 WHERE state = 'running' AND queue = 'reports'")
        return quick(connection, parameters, reported)

    assert await work(settings, overtaken) == [None]
    assert (await edge.get(f"/jobs/{job['id']}", key=key)).json["result"] is None
