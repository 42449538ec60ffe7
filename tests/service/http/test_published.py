"""What is published about prices, limits and links is what is charged, allowed and answered."""

import json
from pathlib import Path

import pytest

from edge.analytics.reports.declared import REPORTS
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import open_shop

SOY = mint("shop", "1").iid
HTML = {"Accept": "text/html"}
# The calls that cannot be asked by their path in the document alone.
CALLS = {
    "/index/lookup/{iid}": f"/index/lookup/{SOY}",
    "/index/search": "/index/search?q=soy",
    "/index/resolve": "/index/resolve?sku=1&source=shop",
    "/index/pricing/{iid}": f"/index/pricing/{SOY}",
    "/index/pricing/{iid}/reference": f"/index/pricing/{SOY}/reference",
    "/index/sustainability/{iid}": f"/index/sustainability/{SOY}",
    **{
        f"/index{endpoint.path}": f"/index{(endpoint.example or endpoint.path).format(brand='vita', category='drinks')}"
        for report in REPORTS
        for endpoint in report.endpoints
    },
}
# Calls whose price is by their number of items, and orders: tried one by one below, in test_resolve.py, in
# tests/service/search/test_suggestions.py and in tests/service/reconcile.
COUNTED = {
    ("get", "/index/lookup"),
    ("post", "/index/lookup"),
    ("post", "/index/resolve"),
    ("post", "/reconcile"),
    ("post", "/index/exports"),
    ("get", "/index/suggest"),
}
NOW = {"Prefer": "wait=0"}
WEIGHTED, WEIGHTS = "price_reference=2026-07-01", b'{"rows": [{"code": "drinks", "weight": "1"}]}'


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


async def test_each_call_is_charged_what_the_document_says(shared_edge: Edge) -> None:
    priced = {
        (method, path.removeprefix("/v1")): operation["x-units"]["units"]
        for path, operations in shared_edge.document["paths"].items()
        for method, operation in operations.items()
        if operation["x-units"]["units"]
    }
    assert priced.keys() > COUNTED
    for (method, path), units in priced.items():
        if (method, path) not in COUNTED:
            key = api_key(shared_edge.settings, "institutional")
            if "weights=" in CALLS.get(path, path):
                await shared_edge.ask("PUT", f"/weights/example?{WEIGHTED}", key=key, body=WEIGHTS)
            answer = await shared_edge.ask(method.upper(), CALLS.get(path, path), key=key, head=NOW, check=False)
            assert answer.status in (200, 202), f"{path}: name a call of it in CALLS, or that it is COUNTED"
            assert await shared_edge.used(key) == units, path


async def test_every_operation_names_its_price_in_a_sentence_too(shared_edge: Edge) -> None:
    for path, operations in shared_edge.document["paths"].items():
        for operation in operations.values():
            price = operation["x-units"]
            if operation["security"]:
                said = f"Costs {price['units']} unit" if price["units"] else "Costs nothing."
                assert said in operation["description"], path


async def test_root_links_the_paid_paths_and_each_link_is_a_path_of_the_document(shared_edge: Edge) -> None:
    root = (await shared_edge.get("/", key=api_key(shared_edge.settings))).json
    paths = [path.partition("{")[0].rstrip("/") for path in shared_edge.document["paths"]]
    for link in root["links"].values():
        assert link.removeprefix("http://testserver").rstrip("/") in paths, link
    assert {"pricing", "sustainability", "cohorts", "datasets", "exports", "jobs"} <= root["links"].keys()


async def test_entitlements_are_what_the_rules_let_in(shared_edge: Edge) -> None:
    for plan in ("brand", "institutional"):
        key = api_key(shared_edge.settings, plan)
        entitled = (await shared_edge.get("/", key=key)).json["entitlements"]
        paid = {
            "sustainability-rollup": "/index/rollups/sustainability",
            "enterprise-data-access": "/index/datasets",
            "cohort-intelligence": "/index/cohorts?brand=vita",
            "batch-lookup": f"/index/lookup?iid={SOY}",
        }
        for capability, path in paid.items():
            allowed = (await shared_edge.get(path, key=key, head=NOW)).status != 403
            assert allowed == (capability in entitled), capability


async def test_a_batch_and_an_export_are_charged_what_the_document_says(shared_edge: Edge) -> None:
    key = api_key(shared_edge.settings, "institutional")
    price = shared_edge.document["paths"]["/v1/index/lookup"]["post"]["x-units"]
    assert price == shared_edge.document["paths"]["/v1/index/lookup"]["get"]["x-units"]
    for count in (1, price["per"], price["per"] + 1):
        before = await shared_edge.used(key)
        await shared_edge.ask("POST", "/index/lookup", key=key, body=json.dumps({"iids": [SOY] * count}).encode())
        assert await shared_edge.used(key) - before == -(-count // price["per"]) * price["units"]
    before, body = await shared_edge.used(key), b'{"dataset": "brands"}'
    ordered = await shared_edge.ask("POST", "/index/exports", key=key, body=body, head={"Idempotency-Key": "published"})
    assert ordered.status == 202
    price = shared_edge.document["paths"]["/v1/index/exports"]["post"]["x-units"]
    assert await shared_edge.used(key) - before == price["units"] == 100


async def test_the_pages_limits_are_the_plans_as_they_are_now(settings: Settings, tmp_path: Path) -> None:
    async with running_edge(settings, tmp_path) as edge:
        assert b"61,234" not in (await edge.get("/docs", anonymous=False)).body
        execute(settings, "UPDATE plans SET daily_units = 61234 WHERE name = 'brand'")
        for head in (HTML, {"Accept": "text/markdown"}):
            while b"61,234" not in (await edge.get("/docs", anonymous=False, head=head)).body:
                pass  # until the edge has heard of the change
        edge.forget_accounts()
        await edge.resources.database.close()
        page = (await edge.get("/docs", anonymous=False)).body.decode()
        assert "The plans are temporarily unavailable" in page


async def test_quota_counts_the_organizations_jobs(edge: Edge, settings: Settings) -> None:
    key, other = api_key(settings), api_key(settings, "institutional")
    assert (await edge.get("/quota", key=key)).json["jobs"] == {
        "running": {"limit": 4, "used": 0},
        "queued": {"limit": 20, "used": 0},
    }
    for brand in ("vita", "maison"):
        assert (await edge.get(f"/index/cohorts?brand={brand}", key=key, head=NOW)).status == 202
    execute(settings, "UPDATE jobs SET state = 'running' WHERE parameters::text LIKE '%maison%'")
    assert (await edge.get("/quota", key=key)).json["jobs"] == {
        "running": {"limit": 4, "used": 1},
        "queued": {"limit": 20, "used": 1},
    }
    assert (await edge.get("/quota", key=other)).json["jobs"]["queued"] == {"limit": 100, "used": 0}
    assert (await edge.get("/quota")).json["jobs"] is None
    assert (await edge.get("/quota", token=free_token(settings))).json["jobs"] is None
