"""What reaches the edge: who asked, under which id, and nothing that a caller could forge."""

import time
import uuid

import pytest

from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import Front, parsed, post, reported

PLAIN = ["Host", "X-Real-IP", "X-Charge-Id", "X-Began"]


async def test_a_plain_lookup_arrives_in_the_form_that_the_fast_lane_knows(front: Front) -> None:
    await front.ask("/v1/x", "Accept: */*", "User-Agent: any", "X-Service-Public-Token: t")
    assert [name for name, _ in reported(front)] == [*PLAIN, "X-Service-Public-Token", "Accept"]
    assert dict(reported(front))["X-Real-IP"] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/v1", "/v1/", "/v1/jobs", "/v1/index/exports", "/v1/index/datasets", "/v1/delta-sharing", "/dashboard"),
        "/mcp",
        *("/v1/index/resolve", "/01", "/01/09506000134352/10/A%2FB?17=261231", "/.well-known/gs1resolver"),
        *("/ARFKk4XBoA", "/ARFKk4XBoA/?17=261231", "/v1ARFKk4XBoA", "/01ARFKk4XBoA"),
    ],
)
async def test_a_path_without_a_slash_is_forwarded_and_not_redirected(front: Front, path: str) -> None:
    """The edge redirects the other way: a caller would go round in circles."""
    assert (await front.ask(path)).status == 200
    assert front.stub.seen[-1].startswith(f"GET {path} HTTP/1.1".encode())


@pytest.mark.parametrize("path", [b"/v1/index/lookup", b"/v1/index/resolve", b"/v1/index/exports"])
async def test_a_long_list_is_forwarded_whole(front: Front, path: bytes) -> None:
    body = b"x" * 262_144
    assert parsed(await front.raw(post(b" 262144", body, path))).status == 200
    assert front.stub.seen[-1].endswith(body)


async def test_headers_about_the_caller_cannot_be_forged(front: Front) -> None:
    forged = (
        "X-Real-IP",
        "X-Forwarded-For",
        "True-Client-IP",
        "Forwarded",
        "X_Real_IP",
        "X-Charge-Id",
        "X-Began",
        "Cookie",
        "X-HTTP-Method-Override",
    )
    await front.ask("/v1/x", *(f"{name}: 203.0.113.9" for name in forged))
    assert [name for name, _ in reported(front)] == PLAIN
    assert b"203.0.113.9" not in front.stub.seen[-1]


@pytest.mark.parametrize(("path", "reach"), [("/dashboard", True), ("/dashboard/key", True), ("/v1/x", False)])
async def test_headers_that_dashboard_pages_need_reach_them_and_no_other_path(
    front: Front, path: str, reach: bool
) -> None:
    needed = {"Cookie": "a=b", "HX-Request": "true", "User-Agent": "any"}
    await front.ask(path, *(f"{name}: {value}" for name, value in needed.items()), "HX-Current-URL: http://h/x?q=1")
    arrived = dict(reported(front))
    assert {name: arrived.get(name) for name in needed} == (needed if reach else dict.fromkeys(needed))
    assert "HX-Current-URL" not in arrived


async def test_a_message_of_mcp_keeps_its_headers_and_no_other_path_has_them(front: Front) -> None:
    given = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?eA==?="}
    lines = [f"{name}: {value}" for name, value in given.items()]
    await front.ask("/mcp", *lines)
    assert given.items() <= dict(reported(front)).items()
    await front.ask("/mcp", *lines, "Mcp-Method: other")
    assert dict(reported(front))["Mcp-Method"] == "tools/call, other", "the edge refuses what comes twice"
    await front.ask("/v1/x", *lines)
    assert [name for name, _ in reported(front)] == PLAIN


async def test_a_name_with_underscores_is_not_the_name_with_hyphens(front: Front) -> None:
    await front.ask("/v1/x", "X_Service_Public_Token: t", "X_Request_Id: chosen-by-me")
    assert [name for name, _ in reported(front)] == PLAIN
    assert b"chosen-by-me" not in front.stub.seen[-1]


async def test_connection_cannot_strip_what_nginx_sets(front: Front) -> None:
    await front.raw(
        b"GET /v1/x HTTP/1.1\r\nHost: localhost\r\nAuthorization: ApiKey k\r\nConnection: close, X-Real-IP, Authorization\r\n\r\n"
    )
    assert {"X-Real-IP", "Authorization"} <= dict(reported(front)).keys()


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, 127.0.0.1", "198.51.100.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("127.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ("", "127.0.0.1"),
    ],
)
async def test_behind_a_trusted_proxy_the_rightmost_untrusted_hop_counts(
    make_front: MakeFront, chain: str, expected: str
) -> None:
    front = await make_front(TRUSTED_PROXIES="set_real_ip_from 127.0.0.0/8;")
    await front.ask("/v1/x", f"X-Forwarded-For: {chain}")
    assert dict(reported(front))["X-Real-IP"] == expected


@pytest.mark.parametrize("given", ["a" * 8, "A_b-9" * 12])
async def test_a_wellformed_request_id_is_taken_over(front: Front, given: str) -> None:
    await front.ask("/v1/x", f"X-Request-Id: {given}")
    sent = dict(reported(front))
    assert sent["X-Request-Id"] == given
    assert len(sent["X-Charge-Id"]) == 32
    assert (await front.ask("/nowhere", f"X-Request-Id: {given}")).get("X-Request-Id") == given


@pytest.mark.parametrize(
    "given", ["short", "a" * 65, "with space", "semi;colon", "é" * 8, "", f"iixk_live_{'a' * 48}", "my-IIXP_free_1"]
)
async def test_any_other_request_id_is_left_to_the_edge_to_make(front: Front, given: str) -> None:
    await front.ask("/v1/x", f"X-Request-Id: {given}")
    assert [name for name, _ in reported(front)] == PLAIN


async def test_two_request_ids_are_none(front: Front) -> None:
    await front.ask("/v1/x", "X-Request-Id: first-one", "X-Request-Id: second-one")
    assert [name for name, _ in reported(front)] == PLAIN


async def test_a_request_id_made_by_nginx_is_a_uuid_of_version_7_and_of_this_moment(front: Front) -> None:
    before = time.time_ns() // 1_000_000
    made = [uuid.UUID((await front.ask("/nowhere")).get("X-Request-Id")) for _ in range(20)]
    after = time.time_ns() // 1_000_000
    assert {(one.version, one.variant) for one in made} == {(7, uuid.RFC_4122)}
    assert all(before <= one.int >> 80 <= after for one in made)
    assert len(set(made)) == 20
    assert front.logged()[-1]["request_id"] == made[-1].hex


async def test_an_authorization_that_comes_twice_is_refused(front: Front) -> None:
    answer = await front.ask("/v1/x", "Authorization: one", "Authorization: two")
    assert (answer.status, front.stub.seen) == (400, [])
    assert answer.get("Content-Type") == "application/problem+json"


async def test_a_token_that_comes_twice_reaches_the_edge_as_both_which_refuses_it(front: Front) -> None:
    answer = await front.ask("/v1/x", "X-Service-Public-Token: one", "X-Service-Public-Token: two")
    assert ["X-Service-Public-Token", "one, two"] in answer.json["fields"]


async def test_a_body_arrives_whole_and_counted(front: Front) -> None:
    chunked = b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailers = b"5\r\nabcde\r\n0\r\nHost: evil\r\nAuthorization: evil\r\nContent-Length: 99\r\n\r\n"
    answer = parsed(await front.raw(chunked + trailers))
    assert answer.json["body"] == "abcde"
    assert ["Content-Length", "5"] in answer.json["fields"]
    assert b"evil" not in front.stub.seen[-1]


@pytest.mark.parametrize("extension", [0, 10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("padding", [0, 5000])
async def test_the_edge_learns_how_many_bytes_a_chunked_body_took(front: Front, extension: int, padding: int) -> None:
    body = b"5;" + b"a" * extension + b"\r\nabcde\r\n0\r\n\r\n"
    head = b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nA: " + b"a" * padding
    await front.raw(head + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    whole, _, of_head = dict(reported(front))["X-Chunked-Length"].partition("-")
    assert int(whole) - int(of_head) == len(body)


async def test_a_second_request_of_a_connection_has_lengths_of_its_own(front: Front) -> None:
    head = b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    first = b"5;" + b"a" * 100_000 + b"\r\nabcde\r\n0\r\n\r\n"
    second = b"5\r\nabcde\r\n0\r\n\r\n"
    await front.raw(head + b"\r\n" + first + head + b"Connection: close\r\n\r\n" + second)
    whole, _, of_head = dict(reported(front))["X-Chunked-Length"].partition("-")
    assert int(whole) - int(of_head) == len(second)


async def test_the_length_of_a_chunked_body_cannot_be_forged(front: Front) -> None:
    await front.ask("/v1/x", "X-Chunked-Length: 1-1")
    assert [name for name, _ in reported(front)] == PLAIN


async def test_pipelined_requests_stay_apart_and_in_order(front: Front) -> None:
    one = b"POST /v1/%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
    last = b"GET /v1/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    await front.raw(b"".join(one % number for number in range(50)) + last)
    assert [seen.split()[1] for seen in front.stub.seen] == [b"/v1/%d" % number for number in range(50)] + [b"/v1/last"]
    assert all(seen.endswith(b"\r\n\r\nabc") for seen in front.stub.seen[:-1])


async def test_connections_to_the_edge_are_kept(front: Front) -> None:
    for _ in range(10):
        await front.ask("/v1/x")
    assert front.stub.connections <= 2
