"""POST /mcp speaks both revisions, and refuses what breaks them in the protocol's own form."""

from typing import Any

import msgspec
import pytest

from shared.index.iid import mint
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.mcp import HANDSHAKE, Mcp, said
from tests.support.servers import Contents
from tests.support.shop import open_shop

SOY = mint("shop", "1").iid
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


@pytest.fixture
def edge(shared_edge: Edge) -> Edge:
    """One edge for all tests: they change no data."""
    return shared_edge


@pytest.fixture
def anonymous(edge: Edge) -> Mcp:
    return Mcp(edge, {"X-Service-Public-Token": edge.settings.anonymous_token})


@pytest.fixture
def nameless(edge: Edge) -> Mcp:
    return Mcp(edge, {})


def code(answer: Answer) -> int:
    return int(answer.json["error"]["code"])


async def test_both_revisions_list_the_same_tools_without_a_credential(edge: Edge, nameless: Mcp) -> None:
    stateless = (await nameless.ask("tools/list")).json["result"]
    with_handshake = (await Mcp(edge, {}, HANDSHAKE).ask("tools/list")).json["result"]
    assert stateless["tools"] == with_handshake["tools"]
    assert stateless["ttlMs"] > 0 and stateless["cacheScope"] == "public"
    assert len(stateless["tools"]) == 8


async def test_the_handshake_offers_its_revision_whatever_is_asked(edge: Edge) -> None:
    answer = await Mcp(edge, {}, HANDSHAKE).ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
    assert answer.json["result"]["protocolVersion"] == HANDSHAKE
    assert (await Mcp(edge, {}, HANDSHAKE).ask("ping")).json["result"] == {}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
        (b"[" * 40 + b"]" * 40, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
        (b'{"jsonrpc":"2.0","id":"' + b"x" * 200 + b'","method":"ping"}', -32600),
    ],
)
async def test_a_malformed_message_is_refused(nameless: Mcp, body: bytes, expected: int) -> None:
    answer = await nameless.post(body)
    assert (answer.status, code(answer)) == (400, expected)


async def test_a_notification_gets_no_answer(nameless: Mcp) -> None:
    answer = await nameless.post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize(
    "head",
    [
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": None},
        {"Mcp-Name": "find_items"},
        {"Mcp-Name": None},
        {"Mcp-Name": "=?base64?!!!?="},
        {"MCP-Protocol-Version": None},
        {"MCP-Protocol-Version": "2025-11-25"},
    ],
)
async def test_headers_that_disagree_with_the_message_are_refused_before_any_charge(
    anonymous: Mcp, head: dict[str, str | None]
) -> None:
    answer = await anonymous.ask("tools/call", {"name": "get_item", "arguments": {"iid": SOY}}, **head)
    assert (answer.status, code(answer)) == (400, -32020)
    assert (said(await anonymous.call("how_am_i_counted")))["limits"][0]["used"] == 0


async def test_an_encoded_name_is_the_name(anonymous: Mcp) -> None:
    answer = await anonymous.ask(
        "tools/call",
        {"name": "how_am_i_counted", "arguments": {}},
        **{"Mcp-Name": "=?base64?aG93X2FtX2lfY291bnRlZA==?="},
    )
    assert answer.status == 200


async def test_another_revision_is_refused_with_those_that_are_spoken(nameless: Mcp) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    answer = await nameless.ask("tools/list", {"_meta": meta}, **{"MCP-Protocol-Version": "2031-01-01"})
    assert (answer.status, code(answer)) == (400, -32022)
    assert answer.json["error"]["data"] == {"supported": ["2026-07-28", "2025-11-25"], "requested": "2031-01-01"}
    discovered = (await nameless.ask("server/discover")).json["result"]
    assert discovered["supportedVersions"] == ["2026-07-28", "2025-11-25"]


async def test_the_revision_with_a_handshake_is_refused_where_there_was_none(nameless: Mcp) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    answer = await nameless.ask("tools/list", {"_meta": meta}, **{"MCP-Protocol-Version": "2025-11-25"})
    assert answer.json["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


async def test_an_address_with_a_slash_behind_leads_to_the_endpoint(edge: Edge) -> None:
    for method in ("POST", "GET", "DELETE"):
        async with edge.session.request(
            method, "http://testserver/mcp/", headers={"X-Real-IP": "192.0.2.1"}, allow_redirects=False
        ) as answer:
            assert (answer.status, answer.headers["Location"]) == (308, "/mcp"), method


async def test_an_unknown_method_is_404_without_a_session_and_an_answer_with_a_handshake(edge: Edge) -> None:
    stateless, answered = await Mcp(edge, {}).ask("prompts/list"), await Mcp(edge, {}, HANDSHAKE).ask("prompts/list")
    assert (stateless.status, code(stateless)) == (404, -32601)
    assert (answered.status, code(answered)) == (200, -32601)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"query": "soy", "colour": "red"}, "colour"),
        ({"query": " "}, "query"),
        ({"query": 7}, "query"),
        ({"query": "soy", "limit": "5"}, "limit"),
        ({"query": "soy", "limit": 51}, "limit"),
        ({"query": "soy", "limit": True}, "limit"),
        ({"query": "soy", "brand": None}, "brand"),
        ({"query": "soy", "brand": "unheard"}, "brand"),
        ({}, "query"),
        ([], "arguments"),
    ],
)
async def test_wrong_arguments_are_named_in_the_tools_result_and_cost_nothing(
    anonymous: Mcp, arguments: Any, parameter: str
) -> None:
    answer = await anonymous.ask("tools/call", {"name": "find_items", "arguments": arguments})
    result = answer.json["result"]
    assert result["isError"]
    assert [fault["parameter"] for fault in said(result)["errors"]] == [parameter]
    assert f"`{parameter}`" in said(result)["detail"]
    assert said(await anonymous.call("how_am_i_counted"))["limits"][0]["used"] == 0


async def test_a_key_may_come_as_a_bearer_token(edge: Edge) -> None:
    client = Mcp(edge, {"Authorization": f"Bearer {api_key(edge.settings)}"})
    assert said(await client.call("price_history", {"iid": SOY}))["cost_units"] == 2


async def test_a_plan_that_is_too_small_is_named(anonymous: Mcp) -> None:
    result = await anonymous.call("price_history", {"iid": SOY})
    assert result["isError"] and said(result)["type"].endswith("/credential-not-accepted")


async def test_a_refused_call_says_when_to_come_again(edge: Edge) -> None:
    caller = Mcp(edge, {"X-Service-Public-Token": edge.settings.anonymous_token, "X-Real-IP": "192.0.2.9"})
    for _ in range(3):
        assert not (await caller.call("get_item", {"iid": SOY}))["isError"]
    answer = await caller.ask("tools/call", {"name": "get_item", "arguments": {"iid": SOY}})
    problem = said(answer.json["result"])
    assert answer.json["result"]["isError"]
    assert problem["status"] == 429 and problem["retry_after"] > 0 and problem["resets_at"] in problem["detail"]
    assert "r=0" in answer.head["RateLimit"]


async def test_a_page_of_another_origin_is_refused_and_the_services_own_is_not(nameless: Mcp) -> None:
    foreign = await nameless.ask("tools/list", Origin="http://evil.example")
    assert foreign.status == 403 and "Access-Control-Allow-Origin" not in foreign.head
    own = await nameless.ask("tools/list", Origin="http://testserver")
    assert own.status == 200 and own.head["Access-Control-Allow-Origin"] == "http://testserver"
    call = {"name": "get_item", "arguments": {"iid": SOY}}
    refused = await nameless.ask("tools/call", call, Origin="http://testserver")
    assert refused.status == 401 and refused.head["Access-Control-Allow-Origin"] == "http://testserver"
    large = await nameless.post(b"x" * 1_000_000, Origin="http://testserver")
    assert large.status == 413 and large.head["Access-Control-Allow-Origin"] == "http://testserver"


async def test_a_preflight_allows_the_protocols_headers_to_accepted_origins_only(edge: Edge) -> None:
    asked = {"X-Real-IP": "192.0.2.1", "Access-Control-Request-Method": "POST"}
    for origin, allowed in (("http://testserver", True), ("http://evil.example", False)):
        async with edge.session.options("http://testserver/mcp", headers={**asked, "Origin": origin}) as response:
            assert response.status == 204
            assert ("Access-Control-Allow-Origin" in response.headers) is allowed
            if allowed:
                assert "Mcp-Method" in response.headers["Access-Control-Allow-Headers"]


async def test_only_post_carries_messages(edge: Edge) -> None:
    async with edge.session.get("http://testserver/mcp", headers={"X-Real-IP": "192.0.2.1"}) as response:
        assert response.status == 405
        assert "POST" in response.headers["Allow"]


async def test_another_media_type_and_an_oversized_body_are_refused(nameless: Mcp) -> None:
    message = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert (await nameless.post(message, **{"Content-Type": "text/plain"})).status == 415
    assert (await nameless.post(b" " * 70_000 + message)).status == 413
