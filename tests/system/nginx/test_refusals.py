"""What nginx refuses by itself, byte by byte: a problem document, nothing forwarded, the line closed."""

from uuid import UUID

import pytest

from edge.http.context import instance_of
from tests.system.nginx.front import ERRORS, HOST, Front, get, parsed, post, reported

CHUNKED = b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


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
        (post(b" 262145", path=b"/v1/reconcile"), 413, "content-too-large"),
        (post(b" 262145", path=b"/v1/reconcile/iixr_path_x"), 413, "content-too-large"),
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
