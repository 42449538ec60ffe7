"""A heavy GET from its question to its streamed answer."""

import asyncio
import hashlib
from typing import Any

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.reports import queued, quick, work
from tests.support.servers import Contents
from tests.support.shop import open_shop

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
