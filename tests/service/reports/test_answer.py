"""A heavy GET, from its question to its streamed answer."""

import asyncio
import hashlib
import threading
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.http.stream import ResultBody
from edge.jobs.handlers import EventStream
from edge.jobs.service import JobOrders, JobSerializer, JobWaiters
from shared.db.connect import connect
from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.reports import answer, queued, quick, work
from tests.support.servers import Contents
from tests.support.shop import open_shop

# A heavy GET from its question to its streamed answer.


COHORT = "/index/cohorts?brand=vita"

ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def test_the_call_waits_for_its_answer_and_the_next_one_finds_it(
    edge: Edge, settings: Settings, key: str
) -> None:
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    assert await work(settings) == ["succeeded"]
    first = await asking
    assert first.status == 200
    assert [row["items"] for row in first.json["data"]] == [0, 1, 2]
    meta = first.json["meta"]
    assert (meta["cached"], meta["cost_units"], meta["rows"], meta["data_version"]) == (False, 10, 3, 1)
    assert meta["coverage"] == {
        "days": 2,
        "observed_days": 2,
        "missing_days": 0,
        "first": "2026-07-01",
        "last": "2026-07-02",
    }
    again = await edge.get(COHORT, key=key)
    assert (again.json["meta"]["cached"], again.json["meta"]["cost_units"]) == (True, 1)
    assert again.json["data"] == first.json["data"]
    assert again.body.partition(b'"meta"')[0] == first.body.partition(b'"meta"')[0]
    assert {**again.json["meta"], "cached": False, "cost_units": 10} == meta
    assert list(again.json["meta"]) == list(meta)
    assert again.body.replace(b'"cached":true,"cost_units":1,', b'"cached":false,"cost_units":10,') == first.body
    assert again.head["ETag"] != first.head["ETag"]
    assert await edge.used(key) == 11


async def test_a_caller_that_does_not_wait_gets_the_job_and_fetches_its_result_for_nothing(
    edge: Edge, settings: Settings, key: str
) -> None:
    accepted = await edge.get(COHORT, key=key, head=ASYNC)
    assert accepted.status == 202
    job = accepted.json
    assert (job["state"], job["kind"], job["cost_units"], job["result"]) == ("queued", "cohorts", 10, None)
    assert accepted.head["Location"] == job["links"]["self"] == f"http://testserver/v1/jobs/{job['id']}"
    assert int(accepted.head["Retry-After"]) > 0
    early = await edge.get(f"/jobs/{job['id']}/result", key=key)
    assert (early.status, early.json["type"].rsplit("/", 1)[1]) == (409, "job-not-ready")
    assert f" /v1/jobs/{job['id']}/events " in early.json["detail"]
    await work(settings)
    done = (await edge.get(f"/jobs/{job['id']}", key=key)).json
    assert (done["state"], done["progress"]["fraction"], done["attempt"]) == ("succeeded", 1, 1)
    result = await edge.get(f"/jobs/{job['id']}/result", key=key)
    assert hashlib.sha256(result.body).hexdigest() == done["result"]["sha256"]
    assert (len(result.body), result.head["ETag"]) == (done["result"]["bytes"], f'"sha256-{done["result"]["sha256"]}"')
    assert await edge.used(key) == 10


async def test_asking_again_while_it_runs_joins_and_costs_nothing_more(
    edge: Edge, settings: Settings, key: str
) -> None:
    jobs = {(await edge.get(COHORT, key=key, head=ASYNC)).json["id"] for _ in range(5)}
    assert len(jobs) == len(queued(settings)) == 1
    assert await edge.used(key) == 10


async def test_a_job_that_is_cancelled_while_another_call_joins_it_is_paid_when_it_is_ordered_anew(
    edge: Edge, settings: Settings, key: str
) -> None:
    first = (await edge.get(COHORT, key=key, head=ASYNC)).json
    with connect(settings.database_url, application="orders") as holder:
        # The lock of `submit` (orders.sql): the call has its quote, and has not ordered yet.
        holder.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(organization_id::text, 7166002)) FROM job_orders WHERE id = $1",
            (first["id"],),
        )
        joining = asyncio.create_task(edge.get(COHORT, key=key, head=ASYNC))
        blocked = "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()"
        while not holder.execute(blocked).fetchall():
            await asyncio.sleep(0.01)
        assert (await edge.ask("DELETE", f"/jobs/{first['id']}", key=key)).json["state"] == "cancelled"
    second = (await joining).json
    assert (second["state"], second["cost_units"]) == ("queued", 10)
    assert second["id"] != first["id"]
    assert await edge.used(key) == 20  # until the dispatcher refunds the first


async def test_many_at_once_are_one_job_and_one_price(edge: Edge, settings: Settings, key: str) -> None:
    answers = await asyncio.gather(*(edge.get(COHORT, key=key, head=ASYNC) for _ in range(4)))
    assert {answer.status for answer in answers} <= {202, 429}  # a second's units may be used up; the day's are exact
    assert len({answer.json["id"] for answer in answers if answer.status == 202}) == len(queued(settings)) == 1
    assert await edge.used(key) == 10


async def test_two_spellings_of_a_question_are_one_question(edge: Edge, settings: Settings, key: str) -> None:
    await edge.get("/index/cohorts?brand=vita&brand=maison", key=key, head=ASYNC)
    await edge.get("/index/cohorts?brand=maison&brand=vita&brand=vita&granularity=month", key=key, head=ASYNC)
    assert len(queued(settings)) == 1


async def test_the_other_formats_are_files_that_are_the_same_every_time(
    edge: Edge, settings: Settings, key: str
) -> None:
    for format in ("csv", "ndjson", "parquet"):
        asking = asyncio.create_task(edge.get(f"{COHORT}&format={format}", key=key))
        await work(settings)
        first, again = await asking, await edge.get(f"{COHORT}&format={format}", key=key)
        assert first.status == again.status == 200, format
        assert first.body == again.body, format
        assert first.head["ETag"] == again.head["ETag"], format
        assert first.head["Content-Disposition"] == f'attachment; filename="cohorts.{format}"'


async def test_the_same_report_in_another_format_costs_the_stored_price(
    edge: Edge, settings: Settings, key: str
) -> None:
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    await work(settings)
    await asking
    reported = (await edge.get(f"{COHORT}&format=csv&dry_run=true", key=key)).json
    assert (reported["cost_units"], reported["cached"]) == (1, False)
    asking = asyncio.create_task(edge.get(f"{COHORT}&format=csv", key=key))
    await work(settings)
    assert (await asking).status == 200
    assert await edge.used(key) == 11
    outsider = api_key(settings)
    assert (await edge.get(f"{COHORT}&format=parquet&dry_run=true", key=outsider)).json["cost_units"] == 1
    assert (await edge.get(f"{COHORT}&granularity=day&dry_run=true", key=key)).json["cost_units"] == 10


async def test_a_format_that_was_cancelled_makes_no_other_one_cheaper(edge: Edge, settings: Settings, key: str) -> None:
    job = (await edge.get(COHORT, key=key, head=ASYNC)).json["id"]
    assert (await edge.get(f"{COHORT}&format=csv&dry_run=true", key=key)).json["cost_units"] == 10
    await edge.ask("DELETE", f"/jobs/{job}", key=key)
    assert (await edge.get(f"{COHORT}&format=csv&dry_run=true", key=key)).json["cost_units"] == 10


async def test_a_dry_run_states_the_price_and_charges_nothing(edge: Edge, settings: Settings, key: str) -> None:
    reported = (await edge.get(f"{COHORT}&dry_run=true", key=key)).json
    assert (reported["cost_units"], reported["cached"], reported["parameters"]["brand"]) == (10, False, ["vita"])
    assert queued(settings) == []
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    await work(settings)
    await asking
    assert (await edge.get(f"{COHORT}&dry_run=true", key=key)).json["cost_units"] == 1
    assert await edge.used(key) == 10


BAD_PARAMETERS = [
    ("", "brand"),
    ("?brand=vita&brands=x", "brands"),
    ("?brand=vita&from=2026-7-1", "from"),
    ("?brand=vita&from=20260701", "from"),
    ("?brand=vita&from=2026-07-02&to=2026-07-01", "to"),
    ("?brand=vita&granularity=year", "granularity"),
    ("?brand=vita&format=xml", "format"),
    ("?brand=vita&group_by=price", "group_by"),
    ("?brand=unknown", "brand"),
    ("?brand=vita&group_by=brand&group_by=channel&group_by=category", "group_by"),
    ("?category=nothing", "category"),
    ("?brand=vita&channel=EAST", "channel"),
    ("?brand=vita&currency=hkd", "currency"),
    ("?brand=vita&currency=XXX", "currency"),
    ("?brand=vita&convert=HKG&rates=ecb", "convert"),
    ("?brand=vita&dry_run=1", "dry_run"),
    ("?brand=vita&to=2026-07-01&to=2026-07-02", "to"),
]


async def test_a_bad_parameter_is_named_and_costs_nothing(edge: Edge, settings: Settings, key: str) -> None:
    for query, parameter in BAD_PARAMETERS:
        refused = await edge.get(f"/index/cohorts{query}", key=key)
        assert refused.status == 400
        assert [error["parameter"] for error in refused.json["errors"]] == [parameter]
        assert queued(settings) == []
        assert await edge.used(key) == 0


CANONICAL = [
    ("/index/insights/categories", "category-insights", {"code": None}),
    ("/index/insights/categories/drinks", "category-insights", {"code": "drinks"}),
    ("/index/insights/brands", "brand-insights", {"slug": None}),
    ("/index/insights/brands/vita", "brand-insights", {"slug": "vita"}),
    ("/index/rollups/sustainability?group_by=brand", "sustainability-rollup", {"group_by": ["brand"]}),
    (
        "/index/cohorts?category=drinks&from=2026-07-01",
        "cohorts",
        {"category": ["drinks"], "from": "2026-07-01", "to": None},
    ),
]


async def test_each_report_asks_its_maker_the_canonical_question(edge: Edge, settings: Settings) -> None:
    seen: dict[str, Any] = {}

    def make(connection: Any, asked: dict[str, Any], reported: Any) -> Any:
        seen.clear()
        seen.update(asked)
        return quick(connection, asked, reported)

    key = api_key(settings, "institutional")
    for path, kind, parameters in CANONICAL:
        asking = asyncio.create_task(edge.get(path, key=key))
        await work(settings, make)
        assert (await asking).status == 200, path
        assert {name: seen[name] for name in parameters} == parameters, path
        assert {"from", "to", "granularity", "channel", "currency"} <= set(seen), path
        assert ("group_by" in seen) == (path not in ("/index/insights/categories", "/index/insights/brands")), path
        with connect(settings.database_url, application="tests") as connection:
            newest = "SELECT kind FROM jobs WHERE queue = 'reports' ORDER BY id DESC LIMIT 1"
            assert connection.execute(newest).fetchone() == (kind,), path


async def test_a_plan_that_does_not_reach_is_403_before_anything_is_queued(
    edge: Edge, settings: Settings, key: str
) -> None:
    refused = await edge.get("/index/rollups/sustainability", key=key)
    assert (refused.status, refused.json["required_plan"], refused.json["current_plan"]) == (
        403,
        "institutional",
        "brand",
    )
    anonymous = await edge.get(COHORT)
    assert (anonymous.status, anonymous.json["accepted"]) == (403, ["api-key"])
    assert queued(settings) == []
    assert await edge.used(key) == 0


async def test_a_rollup_costs_twenty_and_each_buyer_one_afterwards(edge: Edge, settings: Settings) -> None:
    buyer, other = api_key(settings, "institutional"), api_key(settings, "institutional")
    asking = asyncio.create_task(edge.get("/index/rollups/sustainability", key=buyer))
    await work(settings)
    await asking
    assert (await edge.get("/index/rollups/sustainability", key=buyer)).json["meta"]["cost_units"] == 1
    unchanged = await edge.get("/index/rollups/sustainability", key=other, head={"If-None-Match": "*"})
    assert (unchanged.status, await edge.used(other)) == (304, 0)
    asked = [(await edge.get("/index/rollups/sustainability", key=other)).json["meta"] for _ in range(2)]
    assert [(meta["cached"], meta["cost_units"]) for meta in asked] == [(True, 20), (True, 1)]
    assert (await edge.used(buyer), await edge.used(other)) == (21, 21)


async def test_a_new_snapshot_is_a_new_question(edge: Edge, settings: Settings, key: str) -> None:
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    await work(settings)
    await asking
    execute(settings, "INSERT INTO data_versions (version) VALUES (2)")
    await edge.resources.version.read()
    assert (await edge.get(COHORT, key=key, head=ASYNC)).status == 202


async def test_an_answer_names_the_snapshot_that_was_read_not_the_one_that_was_asked(
    edge: Edge, settings: Settings, key: str
) -> None:
    job = (await edge.get(COHORT, key=key, head=ASYNC)).json
    execute(settings, "INSERT INTO data_versions (version) VALUES (2)")
    await work(settings)
    await edge.resources.version.read()
    found = await edge.get(COHORT, key=key)
    assert (found.json["meta"]["data_version"], found.json["meta"]["cached"]) == (2, True)
    assert (await edge.get(f"/jobs/{job['id']}", key=key)).json["data_version"] == 2


# A result in parts: what Range, If-Range and the conditions promise, byte for byte.


@pytest.fixture
async def reported(edge: Edge, settings: Settings) -> tuple[str, str, Answer]:
    """A job that is done: its result's path, the key, and the whole result."""
    key = api_key(settings)
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    await work(settings)
    await asking
    [job] = (await edge.get("/jobs", key=key)).json["data"]
    path = f"/jobs/{job['id']}/result"
    return path, key, await edge.get(path, key=key)


RANGES = [
    ("bytes=0-9", 0, 10),
    ("bytes=5-", 5, None),
    ("bytes=-7", -7, None),
    ("bytes=0-999999", 0, None),
    ("bytes=-999999", 0, None),
    ("BYTES=1-1", 1, 2),
]


NO_SINGLE_RANGES = ["items=0-5", "bytes=0-1,3-4", "bytes=5-2", "bytes=-", "bytes=a-b", "bytes"]


async def test_ranges_conditions_and_head(edge: Edge, reported: tuple[str, str, Answer]) -> None:
    path, key, whole = reported
    etag = whole.head["ETag"]
    for field, start, stop in RANGES:
        part = await edge.get(path, key=key, head={"Range": field})
        assert (part.status, part.body) == (206, whole.body[start:stop]), field
        first = whole.body.index(part.body)
        assert part.head["Content-Range"] == f"bytes {first}-{first + len(part.body) - 1}/{len(whole.body)}"
        assert part.head["ETag"] == etag
    for field in NO_SINGLE_RANGES:
        answer = await edge.get(path, key=key, head={"Range": field})
        assert (answer.status, answer.body) == (200, whole.body), field
    for field in (f"bytes={len(whole.body)}-", "bytes=-0"):
        answer = await edge.get(path, key=key, head={"Range": field})
        assert (answer.status, answer.head["Content-Range"]) == (416, f"bytes */{len(whole.body)}"), field
    assert (await edge.get(path, key=key, head={"If-None-Match": etag})).status == 304
    assert (await edge.get(path, key=key, head={"If-Match": '"x"'})).status == 412
    assert (await edge.get(path, key=key, head={"If-Match": etag})).status == 200
    head = await edge.ask("HEAD", path, key=key)
    assert (head.status, head.body, int(head.head["Content-Length"])) == (200, b"", len(whole.body))
    assert whole.head["Repr-Digest"].startswith("sha-256=:")


async def test_if_range_continues_only_with_the_very_same_result(edge: Edge, reported: tuple[str, str, Answer]) -> None:
    path, key, whole = reported
    etag = whole.head["ETag"]
    same = await edge.get(path, key=key, head={"Range": "bytes=0-9", "If-Range": etag})
    assert same.status == 206
    for other in ('"x"', f"W/{etag}", "Sat, 21 Nov 2026 00:00:00 GMT"):
        answer = await edge.get(path, key=key, head={"Range": "bytes=0-9", "If-Range": other})
        assert (answer.status, answer.body) == (200, whole.body)


async def test_an_answer_of_the_callers_own_can_be_had_in_parts_too(
    edge: Edge, reported: tuple[str, str, Answer]
) -> None:
    key = reported[1]
    whole = await edge.get(COHORT, key=key)
    assert whole.json["meta"]["cached"] is True
    middle = whole.body.index(b'"meta"')
    parts = [
        await edge.get(COHORT, key=key, head={"Range": f"bytes={a}-{b}", "If-Range": whole.head["ETag"]})
        for a, b in ((0, middle - 5), (middle - 4, middle + 4), (middle + 5, len(whole.body)))
    ]
    assert [part.status for part in parts] == [206] * 3
    assert b"".join(part.body for part in parts) == whole.body


async def test_a_store_that_falls_silent_breaks_the_answer_off(
    edge: Edge, reported: tuple[str, str, Answer], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path, key, _ = reported

    async def silent(*arguments: int) -> bytes:
        raise StoreUnavailable("results")

    monkeypatch.setattr(ResultBody, "read", silent)
    with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)):
        await edge.get(path, key=key)
    assert "Traceback" not in capfd.readouterr().err


async def test_a_result_that_is_cut_off_is_not_taken_for_whole(
    edge: Edge, settings: Settings, reported: tuple[str, str, Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, key, whole = reported
    [(job, attempt)] = DirectoryStore(settings.results_dir).attempts()
    file = settings.results_dir / job / str(attempt) / "cohorts.json"
    original = ResultBody.read

    async def cut_off(self: ResultBody, offset: int, length: int) -> bytes:
        file.write_bytes(whole.body[:-10])
        return await original(self, offset, length)

    with monkeypatch.context() as patch:  # while it is read
        patch.setattr(ResultBody, "read", cut_off)
        with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)):
            await edge.get(path, key=key)
    answer = await edge.get(path, key=key)  # before it is read
    assert (answer.status, answer.head["Retry-After"]) == (503, "30")


# GET /jobs/{id}/events: what a follower sees, and that it can go on where it broke off.


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
