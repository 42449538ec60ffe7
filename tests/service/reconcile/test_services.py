"""The manifest of reconciliation, its suggestions, its data extension and its preview, as the specification has them."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from jsonschema_rs import Draft202012Validator

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import SOY, A, B
from tests.service.reconcile import specification
from tests.service.reconcile.conftest import FORM, form, reconcile
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute

MANIFEST_OF_OTHERS = "/reconcile?callback=&_=1"


def conforms(document: Any, schema: dict[str, Any]) -> Any:
    Draft202012Validator(schema).validate(document)
    return document


def read_log(settings: Settings) -> str:
    return Path(settings.access_log).read_text(encoding="utf-8")


async def address_of(edge: Edge, key: str) -> str:
    """Return the path of the service with its credential, below /v1."""
    url = (await edge.get("/reconcile/address", key=key)).json["url"]
    assert url.startswith("http://testserver/v1/reconcile/iixr_path_")
    return urlsplit(url).path.removeprefix("/v1")


async def test_the_manifest_is_open_to_every_origin_and_names_what_there_is(shared_edge: Edge) -> None:
    for path in ("/reconcile", MANIFEST_OF_OTHERS):
        answer = await shared_edge.get(path, anonymous=False)
        assert (answer.status, answer.head["Access-Control-Allow-Origin"]) == (200, "*")
        manifest = conforms(answer.json, specification.MANIFEST)
        assert [one["id"] for one in manifest["defaultTypes"]] == ["item", "brand", "category"]
        assert manifest["authentication"]["name"] == "Authorization"
        assert "preview" not in manifest, "a frame sends no header"
        for name in ("entity", "property", "type"):
            place = manifest["suggest"][name]
            assert place["service_url"] + place["service_path"] == f"http://testserver/v1/reconcile/suggest/{name}"


async def test_a_preflight_of_any_origin_is_allowed_to_send_a_key(shared_edge: Edge) -> None:
    for path in ("/reconcile", "/reconcile/suggest/entity", "/reconcile/properties"):
        answer = await shared_edge.ask("OPTIONS", path, head={"Origin": "https://tool.example"}, anonymous=False)
        assert (answer.status, answer.head["Access-Control-Allow-Origin"]) == (204, "*")
        assert "Authorization" in answer.head["Access-Control-Allow-Headers"]


async def test_the_address_with_a_credential_opens_the_same_service_and_nothing_else(
    edge: Edge, settings: Settings, key: str, working: list[str]
) -> None:
    path = await address_of(edge, key)
    manifest = conforms((await edge.get(path, anonymous=False)).json, specification.MANIFEST)
    assert (manifest["batchSize"], "authentication" in manifest) == (100, False)
    assert manifest["preview"]["url"] == f"http://testserver/v1{path}/preview/{{{{id}}}}"
    body = form(queries={"q0": {"query": "Soy milk", "properties": [{"pid": "gtin", "v": SOY}]}})
    answer = await edge.ask("POST", path, head=FORM, body=body, anonymous=False)
    assert conforms(answer.json, specification.RESULTS)["q0"]["result"][0]["id"] == A
    assert await edge.used(key) == 1
    suggested = await edge.get(f"{path}/suggest/entity?prefix=vita", anonymous=False)
    assert conforms(suggested.json, specification.ENTITIES)["result"]
    credential = path.rpartition("/")[2]
    assert (await edge.get("/quota", key=credential, anonymous=False)).status == 401
    assert (await edge.get("/quota", token=credential, anonymous=False)).status == 401


async def test_a_changed_address_or_one_of_an_ended_key_is_refused(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    path = await address_of(edge, key)
    for wrong in (path[:-1] + ("0" if path[-1] != "0" else "1"), "/reconcile/nonsense", f"/reconcile/{key}"):
        for rest in ("", "/suggest/type", f"/preview/{A}"):
            assert (await edge.get(f"{wrong}{rest}", anonymous=False)).status == 401
    execute(settings, "UPDATE api_keys SET revoked_at = now(), expires_at = now() WHERE key_id = $1", key[10:20])
    edge.forget_accounts()
    assert (await edge.get(path, anonymous=False)).status == 401


async def test_no_log_has_the_credential_of_an_address(
    edge: Edge, settings: Settings, key: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = await address_of(edge, key)
    credential = path.rpartition("/")[2]
    for asked in (path, f"{path}/preview/{A}", f"{path}/nothing", f"{path}?queries=x", f"{path[:-1]}x", f"{path}%2F"):
        await edge.get(asked, anonymous=False, head={"X-Request-Id": credential})
    edge.resources.access_log.flush()
    written = read_log(settings) + capfd.readouterr().err
    assert "/v1/reconcile/iixr_path_…" in written
    assert credential[10:40] not in written
    assert credential[-30:] not in written


async def test_suggestions_are_of_the_right_kind_and_an_iid_suggests_its_item(
    shared_edge: Edge, shared_key: str
) -> None:
    async def suggested(name: str, query: str) -> list[str]:
        answer = await shared_edge.get(f"/reconcile/suggest/{name}?{query}", key=shared_key)
        schema = specification.ENTITIES if name == "entity" else specification.REFERENCES
        return [one["id"] for one in conforms(answer.json, schema)["result"]]

    assert (await suggested("entity", "prefix=vit&type=item&lang=en"))[0] == "brand:vita"
    assert "category:drinks" in await suggested("entity", "prefix=drin")
    assert await suggested("entity", f"prefix={B.lower()}") == [A]
    assert await suggested("entity", "prefix=") == []
    whole = await suggested("entity", "prefix=vit")
    assert await suggested("entity", "prefix=vit&cursor=1") == whole[1:]
    assert await suggested("property", "prefix=g") == ["gtin"]
    assert await suggested("property", "prefix=") == ["gtin", "mpn", "brand", "size"]
    assert await suggested("type", "prefix=BRA") == ["brand"]
    assert await shared_edge.used(shared_key) == 0


async def test_columns_extend_items_and_what_is_none_has_no_values(edge: Edge, key: str) -> None:
    proposed = (await edge.get("/reconcile/properties?type=item", key=key)).json
    ids = [one["id"] for one in conforms(proposed, specification.PROPOSAL)["properties"]]
    assert ids[:6] == ["name", "brand", "category", "gtin", "price", "currency"]
    assert "co2e_kg" in ids
    assert (await edge.get("/reconcile/properties?type=brand&limit=3", key=key)).json["properties"] == []
    unknown = mint("shop_z", "9").iid
    asked = {"ids": [A, B, unknown, "brand:vita", "nonsense"], "properties": [{"id": one} for one in ids]}
    answer = await edge.ask("POST", "/reconcile", key=key, head=FORM, body=form(extend=asked))
    rows = conforms(answer.json, specification.EXTENSION)["rows"]
    assert list(rows) == asked["ids"]
    assert rows[A] == rows[B], "a merged item is its survivor"
    assert rows[A]["brand"] == [{"id": "brand:vita", "name": "Vita"}]
    assert {"str": SOY} in rows[A]["gtin"]
    assert (rows[A]["price"], rows[A]["currency"]) == ([{"float": 10.0}], [{"str": "HKD"}])
    assert all(not any(rows[id].values()) for id in (unknown, "brand:vita", "nonsense"))
    assert await edge.used(key) == 1


async def test_an_extension_that_is_wrong_is_named(shared_edge: Edge, shared_key: str) -> None:
    async def refused(**values: Any) -> str:
        answer: Answer = await shared_edge.ask("POST", "/reconcile", key=shared_key, head=FORM, body=form(**values))
        assert answer.status == 400
        return str(answer.json["detail"])

    asked = {"ids": [A], "properties": [{"id": "colour"}]}
    assert "`extend.properties`: `colour` is not valid; must be among name, brand" in await refused(extend=asked)
    assert "`extend` is not as the specification has it" in await refused(extend={"ids": A, "properties": []})
    assert "cannot be combined with `queries`" in await refused(extend=asked, queries={})
    too_many = {"ids": [f"{A}{number}" for number in range(101)], "properties": []}
    assert "must have at most 100 entries" in await refused(extend=too_many)


async def test_a_preview_escapes_names_runs_nothing_and_costs_a_look_up(
    edge: Edge, settings: Settings, key: str
) -> None:
    execute(settings, "UPDATE items SET name = '<script>alert(1)</script> & milk', version = 9 WHERE iid = $1", A)
    path = await address_of(edge, key)
    answer = await edge.get(f"{path}/preview/{A}", anonymous=False)
    text = answer.body.decode()
    assert answer.status == 200
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; milk" in text
    assert "<script" not in text
    policy = answer.head["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors *" in policy
    assert "unsafe" not in policy
    assert await edge.used(key) == 1
    assert (await edge.get(f"{path}/preview/{mint('shop_z', '9').iid}", anonymous=False)).status == 404
    assert (await edge.get(f"{path}/preview/{quote('brand:vita')}", anonymous=False)).status == 200
    assert (await edge.get(f"/reconcile/preview/{A}", key=key)).status == 404


async def test_an_entity_leads_to_its_page(shared_edge: Edge) -> None:
    pages = {A: f"items/{A}", "brand:vita": "brands/vita", "category:drinks": "categories/drinks"}
    for id, page in pages.items():
        answer = await shared_edge.get(f"/reconcile/entities/{quote(id, safe='')}", anonymous=False)
        assert (answer.status, answer.head["Location"]) == (302, f"http://testserver/{page}")
    assert (await shared_edge.get("/reconcile/entities/nonsense", anonymous=False)).status == 404


async def test_results_are_as_the_specification_has_them(edge: Edge, key: str, working: list[str]) -> None:
    queries = {"q0": {"query": "Vitasoy", "type": ["item", "brand"], "limit": 3, "type_strict": "should"}}
    conforms((await reconcile(edge, key, queries)).json, specification.RESULTS)
