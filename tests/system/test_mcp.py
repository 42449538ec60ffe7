"""POST /mcp through the front: the protocol's own client reaches the tools, and what is no message is refused."""

import asyncio
import http.client
import json
from typing import Any

import pytest

from edge.mcp.tools import TOOLS_BY_NAME
from tests.support.mcp import sdk_client
from tests.system.conftest import Running

pytestmark = pytest.mark.xdist_group("stack")


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def post(stack: Running, body: bytes, **head: str) -> tuple[int, str, Any]:
    """Return the status, the content type and the JSON of an answer."""
    line = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
    try:
        line.request("POST", "/mcp", body, {"Content-Type": "application/json", **head})
        response = line.getresponse()
        return response.status, response.headers.get_content_type(), json.loads(response.read())
    finally:
        line.close()


async def said(client: Any, tool: str, **arguments: Any) -> Any:
    """Return the JSON of a tool's text."""
    return json.loads((await client.call_tool(tool, arguments)).content[0].text)


def test_the_protocols_client_reaches_the_tools_through_nginx(stack: Running) -> None:
    token = {"X-Service-Public-Token": stack.ctl("tokens", "issue").strip()}

    async def talk() -> None:
        async with sdk_client(f"127.0.0.1:{stack.port}", token, "auto") as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS_BY_NAME)
            before = await said(client, "how_am_i_counted")
            assert (await said(client, "find_items", query="soy milk"))["items"]
            after = await said(client, "how_am_i_counted")
            assert after["limits"][0]["used"] == before["limits"][0]["used"] + 1

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (json.dumps([PING, PING]).encode(), 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"", 400, -32700),
        (json.dumps({**PING, "method": "nonsense"}).encode(), 200, -32601),
    ],
)
def test_a_malformed_message_is_an_error_of_the_protocol(stack: Running, body: bytes, status: int, code: int) -> None:
    answered, type, document = post(stack, body)
    assert (answered, type, document["error"]["code"]) == (status, "application/json", code)


def test_a_message_that_is_too_large_is_a_problem_whether_nginx_or_the_edge_refuses_it(stack: Running) -> None:
    for size in (70_000, 2_000_000):
        status, type, problem = post(stack, json.dumps({**PING, "params": {"x": "x" * size}}).encode())
        assert (status, type, problem["status"]) == (413, "application/problem+json", 413)
