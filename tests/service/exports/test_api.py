"""Exports from their order to their files, as an organization meets them."""

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.service.exports.orders import done, order, work
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.workers import delete_old, settle_refunds


def shop(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    execute(settings, "UPDATE plans SET burst_units = 10000")  # two exports a second are not what is tested here


@pytest.fixture(scope="module")
def contents() -> Contents:
    return shop


def path_of(url: str) -> str:
    return url.removeprefix("http://testserver/v1")


def slug(answer: Answer) -> str:
    return str(answer.json["type"].rsplit("/", 1)[1])


def faults(answer: Answer) -> dict[str, str]:
    assert (answer.status, slug(answer)) == (400, "invalid-parameter"), answer
    return {fault["parameter"]: fault["detail"] for fault in answer.json["errors"]}


async def test_an_export_is_a_job_then_a_manifest_then_files(edge: Edge, settings: Settings, key: str) -> None:
    ordered = await order(edge, key)
    assert (ordered.status, ordered.json["state"], ordered.json["manifest"]) == (202, "queued", None)
    assert path_of(ordered.head["Location"]) == f"/index/exports/{ordered.json['id']}"
    assert ordered.json["request"]["columns"][:2] == ["iid", "day"]
    await asyncio.to_thread(work, settings)
    export = (await edge.get(path_of(ordered.head["Location"]), key=key)).json
    assert (export["state"], export["cost_units"], export["progress"]["fraction"]) == ("succeeded", 100, 1)
    manifest = export["manifest"]
    assert (manifest["dataset"], manifest["rows"], manifest["data_version"], manifest["since"]) == (
        "observations",
        5,
        1,
        None,
    )
    [file] = manifest["files"]
    assert (file["name"], file["min_key"], file["max_key"]) == ("observations-00001.csv", "2026-07-01", "2026-07-02")
    answer = await edge.get(path_of(file["url"]), key=key)
    assert (answer.status, answer.head["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert answer.head["ETag"] == f'"sha256-{file["sha256"]}"'
    assert (len(answer.body), hashlib.sha256(answer.body).hexdigest()) == (file["bytes"], file["sha256"])
    assert b",NORTH,listing,shop,HKD,10.90,1090,12.00,1200,1,,10.900000,l\r\n" in answer.body
    part = await edge.get(path_of(file["url"]), key=key, head={"Range": "bytes=10-"})
    assert (part.status, part.body) == (206, answer.body[10:])
    assert await edge.used(key) == 100
    redirect = await edge.get(f"/jobs/{export['id']}/result", key=key)
    assert (redirect.status, redirect.head["Location"]) == (303, ordered.head["Location"])
    assert (await edge.get(f"/jobs/{export['id']}", key=key)).json["result"]["rows"] == 5


async def test_parts_of_a_file_are_what_their_range_says(edge: Edge, settings: Settings, key: str) -> None:
    ordered = await order(edge, key)
    await asyncio.to_thread(work, settings)
    [file] = (await edge.get(path_of(ordered.head["Location"]), key=key)).json["manifest"]["files"]
    for address, by in ((path_of(file["url"]), key), (path_of(file["signed_url"]), None)):

        async def ask(by: str | None = by, address: str = address, method: str = "GET", **fields: str) -> Answer:
            head = {name.replace("_", "-"): value for name, value in fields.items()}
            return await edge.ask(method, address, key=by, head=head, anonymous=False)

        whole, etag = (await ask()).body, (await ask()).head["ETag"]
        length = len(whole)
        for field, content in (
            ("bytes=0-0", whole[:1]),
            ("bytes=7-", whole[7:]),
            ("bytes=-7", whole[-7:]),
            (f"bytes=3-{length * 9}", whole[3:]),
        ):
            part = await ask(Range=field, If_Range=etag)
            assert (part.status, part.body) == (206, content), field
            assert part.head["Content-Range"].endswith(f"/{length}")
            assert (await ask(Range=field, If_Range='"another"')).body == whole, "another file's part is no part"
        for field in ("bytes=0-1,3-4", "bytes=9-2", "items=0-1", "bytes=a-b"):
            assert ((await ask(Range=field)).status, (await ask(Range=field)).body) == (200, whole), field
        for field in (f"bytes={length}-", "bytes=-0"):
            outside = await ask(Range=field)
            assert (outside.status, outside.head["Content-Range"]) == (416, f"bytes */{length}"), field
        head = await ask(method="HEAD", Range="bytes=0-0")
        assert (head.status, int(head.head["Content-Length"])) == (200, length)


async def test_the_same_key_and_body_are_one_export_paid_once(shared_edge: Edge, shared_key: str) -> None:
    first = await order(shared_edge, shared_key, Idempotency_Key="k-1")
    again = await order(
        shared_edge, shared_key, {"format": "csv", "dataset": "observations", "filter": {}}, Idempotency_Key="k-1"
    )
    assert (again.status, again.json["id"], again.head["Location"]) == (202, first.json["id"], first.head["Location"])
    other = await order(shared_edge, shared_key, {"dataset": "items"}, Idempotency_Key="k-1")
    assert (other.status, slug(other)) == (422, "idempotency-key-reused")
    assert await shared_edge.used(shared_key) == 100
    theirs = await order(
        shared_edge, api_key(shared_edge.settings, "institutional"), {"dataset": "items"}, Idempotency_Key="k-1"
    )
    assert theirs.status == 202
    assert "Idempotency-Key" in faults(await order(shared_edge, shared_key, Idempotency_Key="a b"))
    none = [await order(shared_edge, shared_key, Idempotency_Key="") for _ in range(2)]
    assert len({answer.json["id"] for answer in none}) == 2


async def test_two_requests_with_one_key_at_once_are_one_export(shared_edge: Edge, shared_key: str) -> None:
    answers = await asyncio.gather(*(order(shared_edge, shared_key, Idempotency_Key="race") for _ in range(8)))
    assert {answer.status for answer in answers} <= {202, 409}
    assert len({answer.json["id"] for answer in answers if answer.status == 202}) == 1
    assert await shared_edge.used(shared_key) == 100


async def test_a_key_that_is_in_use_at_this_moment_is_refused_as_such(edge: Edge, settings: Settings, key: str) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(organization_id || ' export busy', 7166005)) FROM api_keys"
        )
        answer = await order(edge, key, Idempotency_Key="busy")
    assert (answer.status, slug(answer)) == (409, "idempotency-in-progress")
    assert await edge.used(key) == 0


async def test_dry_run_and_preview_say_what_it_would_be_and_cost_nothing(shared_edge: Edge, shared_key: str) -> None:
    reported = (await order(shared_edge, shared_key, {"dataset": "items"}, "?dry_run=true")).json
    assert (reported["cost_units"], reported["rows"], reported["rows_relation"], reported["preview"]) == (
        100,
        3,
        "eq",
        None,
    )
    body = {"dataset": "observations", "columns": ["iid", "price", "day"], "filter": {"channel": "SOUTH"}}
    reported = (await order(shared_edge, shared_key, body, "?preview=true")).json
    assert reported["rows"] == 2
    assert sorted(row["price"] for row in reported["preview"]) == ["8.50", "9.00"]
    for name in ("items", "impacts", "brands", "categories"):
        reported = (await order(shared_edge, shared_key, {"dataset": name}, "?preview=true")).json
        assert reported["rows"] == len(reported["preview"])
    assert (
        await shared_edge.used(shared_key),
        (await shared_edge.get("/index/exports", key=shared_key)).json["data"],
    ) == (0, [])


async def test_an_impossible_value_is_refused_with_the_allowed_ones(shared_edge: Edge, shared_key: str) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"dataset": "prices"}, "dataset", "observations"),
        ({"columns": ["iid", "colour"]}, "columns", "list_minor"),
        ({"columns": ["iid", "iid"]}, "columns", "twice"),
        ({"columns": []}, "columns", ""),
        ({"columns": "iid"}, "columns", ""),
        ({"filter": {"brand": "unknown"}}, "filter.brand", "/v1/index/brands"),
        ({"filter": {"category": ["no.such"]}}, "filter.category", "not a known category"),
        ({"filter": {"channel": "EAST"}}, "filter.channel", "not a known channel"),
        ({"filter": {"from": "2026-07-02", "to": "2026-07-01"}}, "filter.to", "before"),
        ({"filter": {"from": "yesterday"}}, "filter.from", "YYYY-MM-DD"),
        ({"filter": {"shop": "NORTH"}}, "filter.shop", "channel"),
        ({"dataset": "items", "filter": {"from": "2026-07-01"}}, "filter.from", "brand, category"),
        ({"dataset": "brands", "since": 1}, "since", "items"),
        ({"since": 99}, "since", "1 at most"),
        ({"since": True}, "since", "whole number"),
        ({"since": "1"}, "since", "whole number"),
        ({"format": "xlsx"}, "format", "parquet"),
        ({"format": "arrow", "compression": "gzip"}, "compression", "zstd"),
        ({"sort": "iid"}, "sort", "columns"),
    ]
    for body, parameter, reported in cases:
        answer = await order(shared_edge, shared_key, {"dataset": "observations", **body})
        assert reported in faults(answer)[parameter], (body, answer)
    assert slug(await order(shared_edge, shared_key, {})) == "missing-parameter"
    assert slug(await order(shared_edge, shared_key, [1])) == "invalid-parameter"
    assert await shared_edge.used(shared_key) == 0


async def test_only_institutional_plans_and_keys(shared_edge: Edge) -> None:
    brand = api_key(shared_edge.settings)
    refused = await order(shared_edge, brand)
    assert (refused.status, slug(refused), refused.json["required_plan"]) == (403, "insufficient-plan", "institutional")
    assert (await shared_edge.get("/index/exports")).status == 403


async def test_another_organizations_export_is_not_there(
    edge: Edge, settings: Settings, key: str, published_export: Any
) -> None:
    other = api_key(settings, "institutional")
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/files/observations-00001.csv")):
        answer = await edge.ask(method, f"/index/exports/{published_export['id']}{path}", key=other)
        assert (answer.status, slug(answer)) == (404, "export-not-found")
    assert slug(await edge.get("/index/exports/nonsense", key=key)) == "export-not-found"
    files = f"/index/exports/{published_export['id']}/files"
    for name in ("observations-00002.csv", "observations-00001.csv%00"):
        assert slug(await edge.get(f"{files}/{name}", key=key)) == "export-not-found"
    for name in ("..%2f..%2fsecrets.json", "%2e%2e"):
        assert slug(await edge.get(f"{files}/{name}", key=key)) == "not-found"
    assert (await edge.get(f"/index/exports/{published_export['id']}", key=key)).status == 200


async def test_too_many_are_429_and_cost_nothing(edge: Edge, settings: Settings, key: str) -> None:
    execute(settings, "UPDATE plans SET jobs_queued = 1 WHERE name = 'institutional'")
    answers = [await order(edge, key), await order(edge, key)]
    while answers[1].status == 202:  # until the edge has heard of the plan
        answers.append(await order(edge, key))
        answers.pop(1)
    assert (answers[1].status, slug(answers[1]), answers[1].json["limit"]) == (429, "rate-limited", 1)


NOTHING = {"dataset": "observations", "filter": {"from": "2020-01-01", "to": "2020-01-02"}, "format": "csv"}


async def test_an_export_without_rows_is_refunded_and_one_of_what_is_gone_is_not(
    edge: Edge, settings: Settings, key: str
) -> None:
    empty = await order(edge, key, NOTHING)
    assert (empty.status, empty.json["cost_units"]) == (202, 100)
    assert work(settings) == ["succeeded"]
    shown = (await edge.get(f"/index/exports/{empty.json['id']}", key=key)).json
    assert (shown["manifest"]["rows"], shown["cost_units"]) == (0, 0)
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 0
    execute(settings, "INSERT INTO data_versions (version) VALUES (2)")
    execute(settings, "UPDATE items SET status = 'withdrawn', data_version = 2 WHERE name LIKE 'Cr%'")
    since = {"dataset": "observations", "since": 1, "format": "csv", "filter": NOTHING["filter"]}
    gone = await order(edge, key, since)
    assert work(settings) == ["succeeded"]
    shown = (await edge.get(f"/index/exports/{gone.json['id']}", key=key)).json
    files = [(file["name"], file["rows"]) for file in shown["manifest"]["files"]]
    assert (shown["manifest"]["rows"], files) == (0, [("observations-gone-00002.csv", 1)])
    assert (shown["cost_units"], settle_refunds(settings)) == (100, 0), "what is gone is an answer"


def stored_bytes(settings: Settings) -> int:
    """Add up the files themselves, which no row names."""
    return sum(path.stat().st_size for path in settings.results_dir.glob("*/*/*.csv"))


async def test_an_organization_stores_as_many_bytes_as_its_plan_allows_however_many_are_ordered_at_once(
    edge: Edge, settings: Settings, key: str
) -> None:
    ordered = [(await order(edge, key)).json["id"] for _ in range(5)]
    assert work(settings) == ["succeeded"] * 5
    size = stored_bytes(settings) // 5
    assert size > 0
    quota = (await edge.get("/quota", key=key)).json["exports"]
    assert quota == {"stored_bytes": {"limit": 1_000_000_000_000, "used": 5 * size}}
    limit = 7 * size + size // 2
    execute(settings, "UPDATE plans SET stored_export_bytes_max = $1 WHERE name = 'institutional'", limit)
    more = [(await order(edge, key)).json["id"] for _ in range(4)]  # all are ordered before one is written
    with ThreadPoolExecutor(4) as pool:
        states = list(pool.map(lambda _: work(settings), range(4)))
    assert sorted(state for made in states for state in made if state) == ["failed"] * 2 + ["succeeded"] * 2
    assert stored_of(settings) == 7 * size <= limit
    failed = [
        one for one in [(await edge.get(f"/jobs/{job}", key=key)).json for job in more] if one["state"] == "failed"
    ]
    for one in failed:
        assert f"your organization has {7 * size:,} of at most {limit:,} stored" in one["error"]["detail"]
    assert settle_refunds(settings) == 2
    execute(settings, "UPDATE plans SET stored_export_bytes_max = $1 WHERE name = 'institutional'", 7 * size)
    answer = await order(edge, key)
    while answer.status == 202:  # until the edge has heard of the plan
        answer = await order(edge, key)
    assert (answer.status, slug(answer), answer.json["policy"]) == (
        429,
        "rate-limited",
        "institutional-stored-export-bytes",
    )
    assert "DELETE /v1/index/exports/ID" in answer.json["detail"] and int(answer.head["Retry-After"]) > 600_000
    execute(settings, "DELETE FROM jobs WHERE state = 'queued'")
    assert (await edge.ask("DELETE", f"/index/exports/{ordered[0]}", key=key)).status == 204
    assert (await edge.get("/quota", key=key)).json["exports"]["stored_bytes"] == {"limit": 7 * size, "used": 6 * size}
    assert (await order(edge, key)).status == 202


def stored_of(settings: Settings) -> int:
    """Return the bytes of the exports that are listed as stored, as their manifests say."""
    manifests = "SELECT coalesce(sum((result->>'bytes')::bigint), 0)::bigint FROM jobs WHERE kind = 'export' AND state = 'succeeded'"
    [(stored,)] = execute(settings, manifests)
    return int(stored)


async def test_a_row_whose_manifest_cannot_be_read_is_counted_as_nothing_and_keeps_no_one_from_ordering(
    edge: Edge, settings: Settings, key: str, published_export: Any
) -> None:
    execute(settings, "UPDATE jobs SET stored_bytes = NULL WHERE kind = 'export'")  # of the release before
    size = published_export["result"]["bytes"]
    assert (await edge.get("/quota", key=key)).json["exports"]["stored_bytes"]["used"] == size
    for unreadable in ('{"bytes": "many"}', '{"bytes": 1e4000}', '{"bytes": 1e300}', '{"bytes": 0.5}', "[]", "7"):
        execute(settings, f"UPDATE jobs SET result = '{unreadable}' WHERE kind = 'export'")
        quota = await edge.get("/quota", key=key)
        assert (quota.status, quota.json["exports"]["stored_bytes"]["used"]) == (200, 0), unreadable
    assert (await order(edge, key)).status == 202
    assert work(settings) == ["succeeded"], "nor from having it written"


async def test_one_result_that_cannot_be_read_keeps_no_list_from_being_shown(
    edge: Edge, settings: Settings, key: str, published_export: Any
) -> None:
    await done(edge, settings, key)
    execute(
        settings,
        "UPDATE jobs SET result = '{}' WHERE id = (SELECT job_id FROM job_orders WHERE id = $1)",
        published_export["id"],
    )
    for path in ("/index/exports", "/jobs"):
        listed = await edge.get(path, key=key)
        assert listed.status == 200, path
        results = {row["id"]: row["result"] for row in listed.json["data"]}
        assert results.pop(published_export["id"]) is None
        assert [result["rows"] for result in results.values()] == [5]


async def test_ending_one_that_waits_cancels_it_and_refunds_it(edge: Edge, settings: Settings, key: str) -> None:
    export = (await order(edge, key)).json
    for _ in range(2):
        assert (await edge.ask("DELETE", f"/index/exports/{export['id']}", key=key)).status == 204
    shown = (await edge.get(f"/index/exports/{export['id']}", key=key)).json
    assert (shown["state"], shown["cost_units"], shown["manifest"]) == ("cancelled", 0, None)
    assert work(settings) == []
    assert settle_refunds(settings) == 1
    assert await edge.used(key) == 0


async def test_ending_one_that_is_done_deletes_its_files(
    edge: Edge, settings: Settings, key: str, published_export: Any
) -> None:
    store = DirectoryStore(settings.results_dir)
    [file] = published_export["manifest"]["files"]
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert delete_old(connection, settings, store) == 0
        assert (await edge.ask("DELETE", f"/index/exports/{published_export['id']}", key=key)).status == 204
        assert slug(await edge.get(path_of(file["url"]), key=key)) == "result-expired"
        assert delete_old(connection, settings, store) == 1
    assert list(store.attempts()) == []
    assert await edge.used(key) == 100


async def test_an_expired_entry_is_gone(edge: Edge, settings: Settings, key: str, published_export: Any) -> None:
    [file] = published_export["manifest"]["files"]
    execute(settings, "UPDATE jobs SET expires_at = now() WHERE kind = 'export'")
    for path in (f"/index/exports/{published_export['id']}", path_of(file["url"])):
        answer = await edge.get(path, key=key)
        assert (answer.status, slug(answer)) == (410, "result-expired")
    assert (await edge.get("/index/exports", key=key)).json["data"][0]["state"] == "expired"
    assert (await edge.get(f"/jobs/{published_export['id']}", key=key)).json["state"] == "expired"
