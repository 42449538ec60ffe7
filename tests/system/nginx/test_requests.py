"""What nginx forwards, what it refuses by itself, and what it logs."""

import time
import uuid
from uuid import UUID

import pytest

from edge.http.context import instance_of
from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import ANONYMOUS_TOKEN, ERRORS, Answer, Front, parsed

# What reaches the edge: who asked, under which id, and nothing that a caller could forge.


PLAIN = ["Host", "X-Real-IP", "X-Charge-Id", "X-Began"]


def reported(front: Front) -> list[tuple[str, str]]:
    """Return the header lines of the last request at the stub."""
    lines = front.stub.seen[-1].partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


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


@pytest.mark.parametrize("given", ["short", "a" * 65, "with space", "semi;colon", "é" * 8, ""])
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


# What nginx refuses by itself, byte by byte: a problem document, nothing forwarded, the line closed.


HOST = b"Host: localhost\r\nConnection: close\r\n"

CHUNKED = b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


def get(*lines: bytes) -> bytes:
    return b"\r\n".join([b"GET /v1/x HTTP/1.1", b"Host: localhost", b"Connection: close", *lines, b"", b""])


def post(length: bytes, body: bytes = b"abcde", path: bytes = b"/v1/x") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Length:" + length + b"\r\n\r\n" + body


UNREADABLE = {
    "garbage": b"\x16\x03\x01garbage\r\n\r\n",
    "no host": b"GET /v1/x HTTP/1.1\r\n\r\n",
    "empty host": b"GET /v1/x HTTP/1.1\r\nHost: \r\n\r\n",
    "two hosts": get(b"Host: localhost"),
    "odd host": b"GET /v1/x HTTP/1.1\r\nHost: local/host\r\n\r\n",
    "asterisk": b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    "space before colon": get(b"Accept : a"),
    "leading space": b"GET /v1/x HTTP/1.1\r\n Host: localhost\r\n\r\n",
    "folded": get(b"Accept: a", b" b"),
    "bare CR": get(b"Accept: a\rb"),
    "NUL": get(b"Accept: a\0b"),
    "empty name": get(b": a"),
    "percent and no hex": b"GET /v1/%G1 HTTP/1.1\r\n" + HOST + b"\r\n",
    "above the root": b"GET /v1/../../x HTTP/1.1\r\n" + HOST + b"\r\n",
    "length and chunks": CHUNKED.replace(b"Transfer", b"Content-Length: 3\r\nTransfer") + b"0\r\n\r\n",
    "chunks twice": CHUNKED.replace(b"Transfer", b"Transfer-Encoding: chunked\r\nTransfer") + b"0\r\n\r\n",
    "two lengths": post(b" 5\r\nContent-Length: 6"),
    **{f"length {text!r}": post(text) for text in (b" +5", b" -1", b" 0x5", b" 5_0", b"", b" 5 5", "٥".encode())},
    **{
        f"chunk {size!r}": CHUNKED + size + b"\r\nabcde\r\n0\r\n\r\n"
        for size in (b"0x5", b"+5", b"-5", b"5_0", b"", b"f" * 17)
    },
}


@pytest.mark.parametrize("expected", [b"foo", b"100-continue, foo", b"200-ok"])
async def test_an_expectation_that_cannot_be_met_is_417(front: Front, expected: bytes) -> None:
    answer = parsed(await front.raw(get(b"Expect: " + expected)))
    assert (answer.status, answer.json["type"]) == (417, f"{ERRORS}/expectation-failed")
    assert front.stub.seen == []


async def test_a_caller_who_waits_for_leave_to_send_a_body_gets_it(front: Front) -> None:
    answer = await front.raw(post(b" 5").replace(b"Content-Length", b"Expect: 100-Continue\r\nContent-Length"))
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200")
    assert b"Expect" not in front.stub.seen[-1]


@pytest.mark.parametrize("sent", UNREADABLE.values(), ids=UNREADABLE)
async def test_bytes_that_are_not_http_are_refused_and_the_connection_closed(front: Front, sent: bytes) -> None:
    smuggled = b"GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = parsed(await front.raw(sent + smuggled))
    assert (answer.status, answer.json["type"]) == (400, f"{ERRORS}/invalid-request")
    assert answer.raw.count(b"HTTP/1.1 ") == 1
    assert front.stub.seen == []


@pytest.mark.parametrize(
    ("sent", "status", "slug"),
    [
        (b"GET /v1/x HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n", 421, "misdirected-request"),
        (b"GET http://evil/v1/x HTTP/1.1\r\n" + HOST + b"\r\n", 421, "misdirected-request"),
        (b"GET /v1/x HTTP/1.0\r\n\r\n", 421, "misdirected-request"),
        (b"GET /v1/x HTTP/2.0\r\n" + HOST + b"\r\n", 505, "http-version-not-supported"),
        (b"TRACE /v1/x HTTP/1.1\r\n" + HOST + b"\r\n", 405, "method-not-allowed"),
        (b"CONNECT localhost:443 HTTP/1.1\r\n" + HOST + b"\r\n", 405, "method-not-allowed"),
        (b"DELETE /static/style.css HTTP/1.1\r\n" + HOST + b"\r\n", 405, "method-not-allowed"),
        (b"POST /static/style.css HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n\r\n", 405, "method-not-allowed"),
        (b"GET /static/../nginx.conf HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),
        (b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),
        (b"GET /V1/x HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),
        (b"GET /ARFKk4XBo HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),  # shorter than a compressed Digital Link
        (b"GET /ARFKk4XBoA/x HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),
        (b"GET /ARFKk4XBoA.php HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),
        (b"GET /_problem/500 HTTP/1.1\r\n" + HOST + b"\r\n", 404, "not-found"),
        (b"GET /static/style.css HTTP/1.1\r\n" + HOST + b'If-Match: "other"\r\n\r\n', 412, "precondition-failed"),
        (post(b" 65537"), 413, "content-too-large"),
        (post(b" 262145", path=b"/v1/index/lookup"), 413, "content-too-large"),
        (post(b" 262145", path=b"/v1/index/resolve"), 413, "content-too-large"),
        (post(b" 262145", path=b"/v1/index/exports"), 413, "content-too-large"),
        (CHUNKED + b"10001\r\n" + b"a" * 65537 + b"\r\n0\r\n\r\n", 413, "content-too-large"),
        (b"GET /v1/" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "uri-too-long"),
        (get(b"A: " + b"a" * 9000), 431, "headers-too-large"),
        (get(*(b"A%d: b" % number for number in range(3000))), 431, "headers-too-large"),
        (CHUNKED.replace(b"chunked", b"xchunked") + b"0\r\n\r\n", 501, "not-implemented"),
        (CHUNKED.replace(b"chunked", b"chunked, identity") + b"0\r\n\r\n", 501, "not-implemented"),
    ],
)
async def test_each_refusal_is_a_whole_problem_document(front: Front, sent: bytes, status: int, slug: str) -> None:
    answer = parsed(await front.raw(sent))
    problem = answer.json
    assert (answer.status, problem["status"], problem["type"]) == (status, status, f"{ERRORS}/{slug}")
    assert problem["detail"].endswith(".")
    assert answer.reason in (problem["title"], "")  # nginx has no phrase for 431
    assert answer.get("X-Content-Type-Options") == "nosniff"
    assert (answer.get("Content-Type"), answer.get("Cache-Control")) == ("application/problem+json", "no-store")
    assert problem["instance"] == UUID(answer.get("X-Request-Id")).urn
    assert answer.get("Access-Control-Allow-Origin") == "*"
    assert (answer.get("Allow") is not None) == (status == 405)
    assert answer.get("Server") == "nginx"
    assert front.stub.seen == []


SIGNED = b"Authorization: AWS4-HMAC-SHA256 Credential=x\r\n"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET /another HTTP/1.1\r\n" + HOST + SIGNED + b"\r\n", 404, "NoSuchBucket"),
        (b"GET /another-bucket-of-s3 HTTP/1.1\r\n" + HOST + SIGNED + b"\r\n", 404, "NoSuchBucket"),
        (b"GET /another-bucket-of-s3/key?X-Amz-Signature=a HTTP/1.1\r\n" + HOST + b"\r\n", 404, "NoSuchBucket"),
        (b"GET /another?a=b&x-amz-signature=a HTTP/1.1\r\n" + HOST + b"\r\n", 404, "NoSuchBucket"),
        (b"PUT /releases/key HTTP/1.1\r\n" + HOST + b"Content-Length: 65537\r\n\r\n", 405, "MethodNotAllowed"),
        (b"PUT /another/key HTTP/1.1\r\n" + HOST + SIGNED + b"Content-Length: 65537\r\n\r\n", 405, "MethodNotAllowed"),
        (b"GET /releases/x HTTP/1.1\r\nHost: releases.localhost\r\nConnection: close\r\n\r\n", 421, "InvalidRequest"),
        (b"GET /releases/x HTTP/1.1\r\n" + HOST + b"Expect: x\r\n\r\n", 417, "InvalidRequest"),
    ],
)
async def test_a_client_of_s3_is_refused_as_s3_does(front: Front, sent: bytes, status: int, code: str) -> None:
    answer = parsed(await front.raw(sent))
    assert (answer.status, answer.get("Content-Type")) == (status, "application/xml"), answer.body
    assert f"<Code>{code}</Code>".encode() in answer.body
    assert f"<RequestId>{answer.get('X-Request-Id')}</RequestId>".encode() in answer.body
    assert answer.get("x-amz-request-id") == answer.get("X-Request-Id")
    assert front.stub.seen == []


@pytest.mark.parametrize(
    ("path", "field", "arrives"),
    [
        ("/?x-id=ListBuckets", "Authorization: AWS4-HMAC-SHA256 Credential=x", "/_buckets?x-id=ListBuckets"),
        ("/?X-Amz-Signature=a", "A: b", "/_buckets?X-Amz-Signature=a"),
        ("/?a=b", "Authorization: ApiKey iixk_live_x", "/?a=b"),
    ],
)
async def test_the_list_of_buckets_is_told_from_the_page_of_people(
    front: Front, path: str, field: str, arrives: str
) -> None:
    """With the headers that its client has signed."""
    await front.ask(path, field, "x-amz-date: 20261129T120000Z")
    assert front.stub.seen[-1].startswith(f"GET {arrives} HTTP/1.1".encode())
    assert (dict(reported(front)).get("x-amz-date") is not None) == arrives.startswith("/_buckets")


async def test_the_list_of_buckets_has_no_address_of_its_own(front: Front) -> None:
    assert (await front.ask("/_buckets")).status == 404
    assert front.stub.seen == []


@pytest.mark.parametrize("path", ["/mcp", "/llms.txt", "/robots.txt", "/favicon.ico", "/.well-known/security.txt"])
async def test_a_path_with_a_slash_behind_reaches_the_edge_which_redirects_it(front: Front, path: str) -> None:
    assert (await front.ask(f"{path}/")).status == 200
    assert front.stub.seen[-1].startswith(f"GET {path}/ HTTP/1.1".encode())


async def test_a_person_whose_form_is_too_large_gets_a_page(front: Front) -> None:
    head = b"POST /dashboard/watches HTTP/1.1\r\n" + HOST + b"Accept: text/html\r\nContent-Length: 65537\r\n\r\n"
    answer = parsed(await front.raw(head))
    assert (answer.status, answer.get("Content-Type")) == (413, "text/html; charset=utf-8")
    assert b"The body is larger than this call accepts: 64 kB" in answer.body


@pytest.mark.parametrize(
    "given", ["my-own-id_1", "0123456789abcdef0123456789ABCDEF", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"]
)
async def test_the_instance_is_the_one_that_the_edge_would_give(front: Front, given: str) -> None:
    answer = await front.ask("/nowhere", f"X-Request-Id: {given}")
    assert (answer.get("X-Request-Id"), answer.json["instance"]) == (given, instance_of(given))


@pytest.mark.parametrize("sent", [b"GET /v1/x\r\n", b"GET http://localhost/v1/x\r\n"])
async def test_http_0_9_gets_no_bare_body(front: Front, sent: bytes) -> None:
    assert await front.raw(sent) == b""
    assert front.stub.seen == []


async def test_a_head_request_gets_the_head_only(front: Front) -> None:
    answer = await front.ask("/nowhere", method="HEAD")
    assert (answer.status, answer.body) == (404, b"")


async def test_refusals_are_logged_here_and_answers_of_the_edge_are_not(front: Front) -> None:
    await front.ask("/v1/x")
    await front.ask("/v1/problem")
    await front.ask('/nowhere?"\\', "X-Request-Id: my-own-id_1")
    (line,) = front.logged()
    assert (line["status"], line["request_id"], line["network"]) == (404, "my-own-id_1", "127.0.0.1")


# nginx's own log: what concerns the server, never what a caller has sent.


_SECRETS = ("canary", "forged", "\x1b", "GET ", "referrer", "/v1/")


@pytest.mark.parametrize(
    "target", ["/static/%1b%5b31mx%0a2026/11/21%20[alert]%20forged", "/static/" + "a" * 300, "/_problem/canary"]
)
async def test_a_target_is_not_logged(front: Front, target: str) -> None:
    await front.ask(f"{target}?api_key=canary", "Referer: http://canary.example/?code=canary")
    assert not [secret for secret in _SECRETS if secret in front.error_log], front.error_log


@pytest.mark.parametrize("path", ["hang", "die", "cut"])
async def test_a_failing_edge_is_logged_without_the_query_of_the_call(hasty_front: Front, path: str) -> None:
    await hasty_front.ask(f"/v1/{path}?signature=canary", "Referer: http://canary.example/?code=canary")
    assert not [secret for secret in _SECRETS if secret in hasty_front.error_log], hasty_front.error_log


async def test_edges_that_are_down_are_in_the_refused_log_with_their_sockets(front: Front) -> None:
    for socket in front.edges:
        await front.stub.stop(socket)
    await front.ask("/v1/x?signature=canary", 'User-Agent: "forged\\', method="POST", body=b"canary")
    await front.until(lambda: bool(front.logged()))
    (line,) = front.logged()
    assert line["status"] == 502
    assert str(front.edges[0]) in line["upstream"] or str(front.edges[1]) in line["upstream"]
    assert "502" in line["upstream_status"]
    assert "canary" not in str(line)
    assert not [secret for secret in _SECRETS if secret in front.error_log], front.error_log


async def test_messages_of_the_server_itself_are_logged(front: Front) -> None:
    (front.folder / "nginx.conf").write_text("nonsense;")
    front.reload()
    await front.until(lambda: "nonsense" in front.error_log)
    assert (await front.ask("/v1/x")).status == 200


# A refusal that the edge marks is repeated by nginx for the rest of the second, to the same anonymous caller alone.


REFUSED = "/v1/index/lookup/IID-REFUSED-1"

TOKEN = f"X-Service-Public-Token: {ANONYMOUS_TOKEN}"


async def asked_often(front: Front, target: str = REFUSED, *lines: str, **how: str) -> tuple[list[Answer], int]:
    """Ask at least 30 times and four times a second; return the answers, and how many seconds they touched."""
    began, answers = int(time.time()), list[Answer]()
    while len(answers) < 30 or len(answers) < 4 * (int(time.time()) - began + 1):
        answers.append(await front.ask(target, *lines, **how))  # type: ignore[arg-type]
    return answers, int(time.time()) - began + 1


async def test_a_refusal_is_repeated_within_its_second_and_the_edge_is_asked_twice_a_second(front: Front) -> None:
    answers, seconds = await asked_often(front, REFUSED, TOKEN)
    assert {answer.status for answer in answers} == {429}
    assert 1 <= len(front.stub.seen) <= 2 * seconds < len(answers)
    assert {answer.body for answer in answers} == {b'{"status":429}'}
    assert {answer.get("X-Request-Id") for answer in answers} == {"from-the-edge"}
    assert {answer.get("X-Accel-Expires") for answer in answers} == {None}


async def test_a_refusal_of_one_item_is_repeated_for_another_one(front: Front) -> None:
    _, seconds = await asked_often(front, REFUSED, TOKEN)
    _, more = await asked_often(front, "/v1/index/lookup/iid-REFUSED-2", TOKEN)
    assert len(front.stub.seen) <= 2 * (seconds + more)


async def test_each_repeated_refusal_has_its_line_with_the_id_that_the_caller_sees(front: Front) -> None:
    answers, _ = await asked_often(front, REFUSED, TOKEN)
    repeated = len(answers) - len(front.stub.seen)
    await front.until(lambda: len(front.logged()) >= repeated)
    lines = front.logged()
    assert len(lines) == repeated
    assert {(line["status"], line["method"], line["request_id"], line["cache"]) for line in lines} == {
        (429, "GET", "from-the-edge", "HIT")
    }
    assert {line["network"] for line in lines} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("target", "lines"),
    {
        "a key": (REFUSED, [TOKEN, "Authorization: ApiKey iixk_live_x"]),
        "a key alone": (REFUSED, ["Authorization: ApiKey iixk_live_x"]),
        "the token as a key": (REFUSED, [f"Authorization: {ANONYMOUS_TOKEN}"]),
        "a token of one's own": (REFUSED, ["X-Service-Public-Token: iixp_free_x"]),
        "two tokens": (REFUSED, [TOKEN, TOKEN]),
        "no token": (REFUSED, []),
        "an id of one's own": (REFUSED, [TOKEN, "X-Request-Id: chosen-by-me"]),
        "a question": (f"{REFUSED}?x=1", [TOKEN]),
        "another question": ("/v1/index/resolve?gtin=-REFUSED", [TOKEN]),
    }.values(),
)
async def test_nothing_else_is_repeated(front: Front, target: str, lines: list[str]) -> None:
    await asked_often(front, REFUSED, TOKEN)
    front.stub.seen.clear()
    answers, _ = await asked_often(front, target, *lines)
    assert len(front.stub.seen) == len(answers)


async def test_an_answer_that_the_edge_does_not_mark_is_never_kept(front: Front) -> None:
    answers, _ = await asked_often(front, "/v1/index/lookup/IID-KEPT-1", TOKEN)
    assert len(front.stub.seen) == len(answers)


async def test_a_head_is_not_answered_with_the_refusal_of_a_get_nor_a_get_with_that_of_a_head(front: Front) -> None:
    heads, _ = await asked_often(front, REFUSED, TOKEN, method="HEAD")
    assert len(front.stub.seen) == len(heads)
    answers, _ = await asked_often(front, REFUSED, TOKEN)
    assert {answer.body for answer in answers} == {b'{"status":429}'}


@pytest.mark.parametrize(
    ("one", "other"),
    [("203.0.113.7", "203.0.113.8"), ("2001:db8:1::7", "2001:db8:2::7"), ("::ffff:203.0.113.7", "::ffff:203.0.113.8")],
)
async def test_no_caller_gets_the_refusal_of_another_address(make_front: MakeFront, one: str, other: str) -> None:
    front = await make_front(TRUSTED_PROXIES="set_real_ip_from 127.0.0.0/8;")
    both = [f"X-Forwarded-For: {address}" for address in (one, other)]
    answers, seconds = await asked_often(front, REFUSED, TOKEN, both[0])
    assert len(front.stub.seen) <= 2 * seconds < len(answers)
    front.stub.seen.clear()
    await front.ask(REFUSED, TOKEN, both[1])
    assert len(front.stub.seen) == 1


async def test_no_caller_gets_a_refusal_in_another_form_than_asked_for(front: Front) -> None:
    await asked_often(front, REFUSED, TOKEN, "Accept: application/json")
    front.stub.seen.clear()
    await front.ask(REFUSED, TOKEN, "Accept: text/html")
    assert len(front.stub.seen) == 1


async def test_no_secret_reaches_the_files_of_refusals(front: Front) -> None:
    await asked_often(front, REFUSED, "Authorization: ApiKey iixk_live_canary", "X-Service-Public-Token: canary")
    kept = [path.read_bytes() for path in (front.folder / "nginx-refusals").iterdir()]
    await asked_often(front, REFUSED, TOKEN)
    assert kept == []
