"""What the service says about itself: pages for people, documents for programs."""

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from edge.app import describe
from edge.docs.document import EXAMPLES, OpenApiDocument
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.shop import load_rows


async def test_ready_reports_each_part_and_an_empty_index_is_degraded(shared_edge: Edge) -> None:
    answer = await shared_edge.get("/ready", anonymous=False)
    assert {part["name"]: part["state"] for part in answer.json["parts"]} == {
        "database": "ok",
        "clock": "ok",
        "jobs": "ok",
        "state": "ok",
        "cache": "ok",
        "search": "empty",
    }
    assert (answer.status, answer.json["status"]) == (200, "degraded")


async def test_ready_reports_that_no_worker_takes_the_waiting_jobs(edge: Edge) -> None:
    execute(
        edge.settings,
        "INSERT INTO jobs (kind, queue, fingerprint, not_before) "
        "VALUES ('cohorts', 'reports', '1', now() - interval '50 seconds'), ('export', 'exports', '2', now())",
    )
    state, detail = await ready_part(edge, "jobs")
    assert state == "late"
    assert "reports for 5" in detail and "exports" not in detail
    running = "INSERT INTO jobs (kind, queue, fingerprint, state) VALUES ('cohorts', 'reports', '3', 'running')"
    execute(edge.settings, running)
    assert (await ready_part(edge, "jobs"))[0] == "ok"  # a worker is running: jobs that wait, wait for their turn


async def test_ready_reports_that_the_clock_is_off(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    for ahead, reported in ((-3_600, "3600 s behind PostgreSQL's"), (3_600, "3600 s ahead of PostgreSQL's")):
        monkeypatch.setattr(time, "time", lambda ahead=ahead: real() + ahead)
        state, detail = await ready_part(edge, "clock")
        assert state == "off" and reported in detail


async def test_health_touches_nothing_and_names_its_revision(edge: Edge) -> None:
    await edge.resources.database.close()
    answer = await edge.get("/health", anonymous=False)
    assert (answer.status, answer.json["status"], answer.json["revision"]) == (200, "ok", "api-dev")


async def test_ready_is_503_without_the_database(edge: Edge) -> None:
    await edge.resources.database.close()
    answer = await edge.ask("GET", "/ready", check=False)
    assert (answer.status, answer.json["status"]) == (503, "not-ready")


async def ready_part(edge: Edge, name: str) -> tuple[str, str]:
    answer = await edge.get("/ready", anonymous=False)
    assert (answer.status, answer.json["status"]) == (200, "degraded")
    return next((part["state"], part["detail"]) for part in answer.json["parts"] if part["name"] == name)


async def test_the_first_caller_of_the_document_keeps_no_other_waiting(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go, made = threading.Event(), []
    make = OpenApiDocument._make

    def slow(document: OpenApiDocument, *given: Any) -> dict[str, Any]:
        made.append(document)
        assert let_go.wait(20)
        return make(document, *given)

    monkeypatch.setattr(OpenApiDocument, "_make", slow)
    paths = ("/openapi.yaml", "/openapi.json", "/docs") * 3
    asked = [asyncio.create_task(edge.get(path, anonymous=False, check=False)) for path in paths]
    while not made:
        await asyncio.sleep(0.01)
    assert (await edge.get("/health", anonymous=False)).status == 200
    assert not any(task.done() for task in asked)
    let_go.set()
    answers = await asyncio.gather(*asked)
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 3
    assert len(made) == 1


async def test_the_document_is_what_the_code_describes_and_is_cached(shared_edge: Edge) -> None:
    answer = await shared_edge.get("/openapi.json", anonymous=False)
    assert answer.json == json.loads(json.dumps(describe(shared_edge.runner.app)))
    assert answer.json["openapi"] == "3.1.0"
    again = await shared_edge.get("/openapi.json", anonymous=False, head={"If-None-Match": answer.head["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert b"openapi: 3.1.0" in (await shared_edge.get("/openapi.yaml", anonymous=False)).body


async def test_an_example_is_valid_and_says_something(shared_edge: Edge) -> None:
    for operation in EXAMPLES:
        [reported] = [
            method["responses"]["200"]["content"]["application/json"]
            for path in shared_edge.document["paths"].values()
            for method in path.values()
            if method["operationId"] == operation
        ]
        assert reported["example"] == EXAMPLES[operation], operation
        assert reported["example"]["data"], "an example without rows shows nothing"
        Draft202012Validator({**reported["schema"], "components": shared_edge.document["components"]}).validate(
            reported["example"]
        )


async def test_root_takes_no_public_token_and_no_stranger(shared_edge: Edge) -> None:
    assert (await shared_edge.get("/")).json["accepted"] == ["api-key", "bearer"]
    missing = await shared_edge.get("/", anonymous=False)
    assert missing.status == 401
    assert "ApiKey" in missing.head["WWW-Authenticate"]


async def test_without_a_credential_the_anonymous_token_is_named(shared_edge: Edge) -> None:
    answer = await shared_edge.get("/index/brands", anonymous=False)
    assert answer.json["type"].endswith("/missing-credentials")
    assert shared_edge.settings.anonymous_token in answer.json["detail"]


async def test_a_bearer_token_is_refused_until_an_issuer_is_configured(shared_edge: Edge) -> None:
    answer = await shared_edge.get("/index/brands", anonymous=False, head={"Authorization": "Bearer abc.def.ghi"})
    assert answer.status == 401
    assert answer.json["type"].endswith("/invalid-credentials")


async def test_brands_come_in_pages_that_never_overlap(edge: Edge, tmp_path: object) -> None:
    rows = "".join(f"{n},Item {n},Marke {n % 7},G,K,,2026-07-01,N,1,\n" for n in range(21))
    load_rows(edge.settings, Path(str(tmp_path)), rows)
    await edge.resources.version.read()
    key = api_key(edge.settings)
    seen, cursor = [], ""
    for _ in range(4):
        page = (await edge.get(f"/index/brands?q=MARKE&limit=3{cursor}", key=key)).json
        seen += [entry["slug"] for entry in page["data"]]
        assert page["total"] == {"value": 7, "relation": "eq"}
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [f"marke-{n}" for n in range(7)]
    stolen = await edge.get(f"/index/brands?q=OTHER&limit=3{cursor}", key=key)
    assert stolen.json["type"].endswith("/invalid-cursor")


async def test_the_brands_with_the_most_items_come_first_where_asked(edge: Edge, tmp_path: object) -> None:
    rows = "".join(f"{n},Item {n},Marke {min(n % 11, 6)},G,K,,2026-07-01,N,1,\n" for n in range(40))
    load_rows(edge.settings, Path(str(tmp_path)), rows)
    await edge.resources.version.read()
    key = api_key(edge.settings)
    seen, cursor = [], ""
    while True:
        page = (await edge.get(f"/index/brands?sort=items&limit=2{cursor}", key=key)).json
        seen += [(-entry["item_count"], entry["name"].casefold()) for entry in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert len(seen) == page["total"]["value"] > 4
    assert seen == sorted(seen)
    by_name = (await edge.get(f"/index/brands?limit=2{cursor}", key=key)).json
    assert by_name["type"].endswith("/invalid-cursor"), "a cursor belongs to its order"
    assert (await edge.get("/index/brands?sort=size", key=key)).status == 400
