"""The edge behind the front: slow, dead, cut off, streaming."""

import asyncio
import gzip
import re
import time

import pytest

from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import Front, parsed
from tests.system.nginx.reloads import reload_under_load


async def test_a_problem_of_the_edge_passes_untouched(front: Front) -> None:
    answer = await front.ask("/v1/problem")
    assert (answer.status, answer.get("X-Request-Id")) == (418, "from-the-edge")
    assert answer.json["line"] == "GET /v1/problem HTTP/1.1"


async def test_an_edge_that_dies_is_asked_again_under_the_same_charge(front: Front) -> None:
    answer = await front.ask("/v1/die-once")
    first, second = (re.search(rb"X-Charge-Id: .+\r\nX-Began: .+\r\n", seen) for seen in front.stub.seen)
    assert first is not None
    assert second is not None
    assert (answer.status, first[0]) == (200, second[0])


async def test_a_post_is_never_asked_again(front: Front) -> None:
    answer = await front.ask("/v1/die", method="POST", body=b"abc")
    assert (answer.status, len(front.stub.seen)) == (502, 1)
    assert answer.json["type"].endswith("/upstream-error")
    assert answer.get("Retry-After") == str(answer.json["retry_after"])


async def test_one_of_two_edges_down_is_not_seen(front: Front) -> None:
    await front.stub.stop(front.edges[0])
    assert [(await front.ask("/v1/x")).status for _ in range(20)] == [200] * 20


async def test_both_edges_down_is_502_and_over_at_once(front: Front) -> None:
    for path in front.edges:
        await front.stub.stop(path)
    answer = await front.ask("/v1/x")
    assert (answer.status, answer.json["title"], answer.reason) == (502, "Bad Gateway", "Bad Gateway")
    await front.stub.start(front.edges[1])
    assert (await front.ask("/v1/x")).status == 200


async def test_an_edge_that_hangs_is_504_within_the_limit(hasty_front: Front) -> None:
    began = time.monotonic()
    answer = await hasty_front.ask("/v1/hang")
    assert (answer.status, answer.json["type"].rsplit("/")[-1]) == (504, "upstream-timeout")
    assert answer.get("Retry-After") == "5"
    assert answer.json["title"] == answer.reason
    assert time.monotonic() - began < 8


async def test_an_answer_that_is_cut_off_is_seen_to_be(front: Front) -> None:
    answer = await front.ask("/v1/cut")
    assert int(answer.get("Content-Length") or 0) == 5000 > len(answer.body)


async def test_a_stream_comes_as_it_is_written(front: Front) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
    writer.write(b"GET /v1/jobs/1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    await reader.readuntil(b"data: 0\n\n")
    front.stub.continues.set()  # the second event is written only when the first has arrived
    await reader.readuntil(b"data: 1\n\n")
    writer.close()


async def test_large_json_is_compressed_and_small_is_not(front: Front) -> None:
    large = await front.ask("/v1/large", "Accept-Encoding: gzip")
    body = large.body
    assert (large.get("Content-Encoding"), large.get("Vary"), large.get("ETag")) == ("gzip", "Accept-Encoding", 'W/"1"')
    assert gzip.decompress(dechunked(body)).startswith(b'{"line"')
    small = await front.ask("/v1/x", "Accept-Encoding: gzip")
    assert small.get("Content-Encoding") is None


@pytest.mark.parametrize(
    ("accepted", "forwarded"),
    [
        ("gzip", "gzip"),
        ("gzip, deflate, br", "gzip"),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip"),
        ("deflate,gzip;q=0.001", "gzip"),
        ("gzip;q=0", None),
        ("br, gzip; q=0.000, deflate", None),
        ("identity", None),
        ("bgzip", None),
        ("", None),
    ],
)
async def test_the_edge_hears_of_gzip_where_it_compresses_and_of_no_other_coding(
    front: Front, accepted: str, forwarded: str | None
) -> None:
    for path, edge_compresses in (
        ("/v1/index/brands", True),
        ("/v1/docs", True),
        ("/static/docs.css", True),
        ("/v1/jobs", False),
    ):
        answer = await front.ask(path, f"Accept-Encoding: {accepted}")
        assert dict(answer.json["fields"]).get("Accept-Encoding") == (forwarded if edge_compresses else None)


async def test_what_its_own_pages_are_made_of_is_sent_while_no_edge_answers(front: Front) -> None:
    for socket in front.edges:
        await front.stub.stop(socket)
    assert (await front.ask("/static/docs.css")).status == 502
    answer = await front.ask("/static/style.css", "Range: bytes=0-1")
    assert (answer.status, answer.body, answer.get("Content-Type")) == (200, b"a {}", "text/css")
    assert answer.get("Cache-Control") == "max-age=300"
    assert answer.get("X-Request-Id") and answer.get("X-Content-Type-Options") == "nosniff"
    again = await front.ask("/static/style.css", f"If-None-Match: {answer.get('ETag')}")
    assert again.status == 304


async def test_the_root_and_the_base_address_are_the_edges_to_answer(front: Front) -> None:
    for target in ("/", "/v1"):
        answer = await front.ask(target)
        assert (answer.status, answer.json["line"]) == (200, f"GET {target} HTTP/1.1")


async def test_metrics_are_on_their_own_listener(front: Front) -> None:
    answer = parsed(
        await front.raw(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port=front.metrics_port)
    )
    assert (answer.status, answer.json["line"]) == (200, "GET /metrics HTTP/1.1")


def dechunked(body: bytes) -> bytes:
    """Join the chunks of a body."""
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        whole += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return whole


async def test_reloads_reset_no_request_on_a_kept_connection(make_front: MakeFront) -> None:
    front = await make_front(REQUESTS_PER_SECOND="1000000")
    answered, lost = await reload_under_load(front, reloads=8, requests=4000)
    assert answered >= 4000
    assert lost == []
