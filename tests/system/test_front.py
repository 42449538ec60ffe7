"""A stack behind its front: odd requests, and MCP through it. What nginx refuses by itself: tests/system/nginx."""

import asyncio
import http.client
import json
import socket
from typing import Any

import pytest

from edge.mcp.tools import TOOLS_BY_NAME
from tests.support.mcp import sdk_client
from tests.system.conftest import Running

pytestmark = pytest.mark.xdist_group("stack")


# Odd requests are refused as they should be, by nginx or by the edge, and never answered with another's answer.


HOST = b"Host: 127.0.0.1\r\nConnection: close\r\n"


def send(stack: Running, raw: bytes, *, seconds: float = 15.0) -> bytes:
    with socket.create_connection(("127.0.0.1", stack.port), timeout=seconds) as line:
        line.sendall(raw)
        answer = b""
        try:
            while chunk := line.recv(65536):
                answer += chunk
        except ConnectionResetError:
            return answer
    return answer


CHUNKED = b" /v1/health HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(("size", "method"), [(10_000, b"GET"), (10_000_000, b"POST")])
def test_a_large_chunk_extension_is_refused(stack: Running, size: int, method: bytes) -> None:
    extended = b"5;" + b"a" * size + b"\r\nabcde\r\n0\r\n\r\n"
    head, _, body = send(stack, method + CHUNKED + extended).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 "), head
    assert json.loads(body)["type"].endswith("/content-too-large")


def test_a_strangers_file_is_refused_before_it_is_sent(stack: Running) -> None:
    begun = b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nnone\r\n--x\r\n'
    fields = b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000000\r\n\r\n"
    answer = send(stack, b"POST /dashboard/data HTTP/1.1\r\n" + HOST + fields + begun)
    assert answer.startswith(b"HTTP/1.1 403 "), answer[:200]


@pytest.mark.parametrize("size", [1, 16, 4096])
def test_a_body_in_chunks_of_any_size_is_not_refused_for_its_framing(stack: Running, size: int) -> None:
    content = b'{"iids":[' + b" " * 60_000 + b'"x"]}'
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    head = CHUNKED.replace(b"/v1/health", b"/v1/index/lookup").replace(
        HOST, HOST + b"Content-Type: application/json\r\n"
    )
    token = b"X-Service-Public-Token: iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK\r\n"
    answer = send(stack, b"POST" + head.replace(HOST, HOST + token) + chunks + b"0\r\n\r\n")
    assert answer.split()[1] in (b"401", b"403"), answer  # what is wrong is that a batch needs a key


@pytest.mark.parametrize(
    "target",
    [
        b"/v1/index/lookup/IID-A%2FB",
        b"/v1/index/lookup/%2e%2e/health",
        b"/v1/index/lookup/IID-A%0A",
        b"/v1//health",
        b"/v1/index/lookup/%c0%af",
        b"/v1/index/search?q=%00a",
    ],
)
def test_odd_targets_are_refused_and_never_500(stack: Running, target: bytes) -> None:
    token = b"X-Service-Public-Token: iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK\r\n"
    answer = send(stack, b"GET " + target + b" HTTP/1.1\r\n" + HOST + token + b"\r\n")
    status = int(answer.split()[1])
    assert 400 <= status < 500, answer
    assert b"application/problem+json" in answer


def test_pipelined_requests_are_answered_in_order(stack: Running) -> None:
    one = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    two = b"GET /v1/errors/not-found HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    answer = send(stack, one + two)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.index(b'"status":"ok"') < answer.index(b'"slug":"not-found"')


# POST /mcp through the front: the protocol's own client reaches the tools, and what is no message is refused.


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
