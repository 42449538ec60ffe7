"""Edges behind nginx that are slow, dead, frozen, full or reloaded."""

import asyncio
import gzip
import os
import re
import shutil
import ssl
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from deploy.local.nginx import render
from deploy.local.paths import PROJECT
from deploy.local.tls import Certificate, values_of
from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import Answer, Front, parsed
from tests.system.nginx.reloads import reload_under_load

# The edge behind the front: slow, dead, cut off, streaming.


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


# An edge that is blocked is left out, and callers beyond what the edges can queue are refused, free ones first.


KEY = "Authorization: ApiKey iixk_live_x"
VALUES = (
    *("RUN_DIR", "LOG_DIR", "STORED_DIR", "LISTEN", "METRICS_LISTEN", "EDGE_A", "EDGE_B"),
    *("PROBLEM_BASE_URL", "ANONYMOUS_TOKEN"),
)

HANGING = "/v1/index/lookup/hang"


async def test_a_frozen_edge_is_left_out_after_its_first_time_out(make_front: MakeFront) -> None:
    front = await make_front(FREE_READ_TIMEOUT="3s")
    front.stub.freeze(front.edges[0])
    first = await asyncio.gather(*(front.ask("/v1/index/lookup/x") for _ in range(16)))
    assert [answer.status for answer in first] == [200] * 16
    async with asyncio.timeout(30):  # nothing waits for the frozen edge again
        later = [await front.ask("/v1/index/lookup/x") for _ in range(100)]
    assert [answer.status for answer in later] == [200] * 100


async def test_requests_go_past_a_frozen_edge_before_any_time_out(make_front: MakeFront) -> None:
    front = await make_front(FREE_READ_TIMEOUT="150s", UPSTREAM_TIMEOUT="150s")
    front.stub.freeze(front.edges[0])
    waiting: list[asyncio.Task[Answer]] = []
    # nginx prefers the edge with fewer open requests: the frozen one gets a further one only while the other has some.
    while front.stub.frozen < 3:
        waiting += [asyncio.ensure_future(front.ask("/v1/x", seconds=150.0)) for _ in range(8)]
        await asyncio.wait(waiting, timeout=0.1)
    for _ in range(200):  # each within its 10 s, and so without a time-out of the frozen edge
        assert (await front.ask("/v1/x")).status == 200
    await front.stop()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_edges_that_are_both_left_out_are_asked_all_the_same(front: Front) -> None:
    for path in front.edges:
        await front.stub.stop(path)
    assert (await front.ask("/v1/x")).status == 502
    for path in front.edges:
        await front.stub.start(path)
    assert [(await front.ask("/v1/x")).status for _ in range(20)] == [200] * 20


async def _fill(front: Front, places: int, *lines: str, target: str = "/v1/hang") -> list[asyncio.Task[Answer]]:
    """Take so many places with requests that hang."""
    begun = len(front.stub.seen)
    waiting = [asyncio.ensure_future(front.ask(target, *lines)) for _ in range(places)]
    async with asyncio.timeout(30):
        while len(front.stub.seen) < begun + places:
            await asyncio.sleep(0.01)
    return waiting


async def test_a_free_caller_without_a_place_is_503_and_a_key_is_served(make_front: MakeFront) -> None:
    front = await make_front(FREE_CONNECTIONS="8", PAID_CONNECTIONS="16", UPSTREAM_TIMEOUT="60s")
    waiting = await _fill(front, 32)
    refused = await front.ask("/v1/x", "X-Service-Public-Token: iixp_anon_x")
    assert (refused.status, refused.json["type"].rsplit("/")[-1]) == (503, "service-unavailable")
    assert (refused.reason, refused.get("Retry-After")) == (refused.json["title"], str(refused.json["retry_after"]))
    for scheme in ("ApiKey", "Bearer"):
        assert (await front.ask("/v1/x", f"Authorization: {scheme} iixk_live_x")).status == 200
    assert (await front.ask("/v1/x", "Authorization: Bearer eyJ")).status == 503
    waiting += await _fill(front, 64, KEY)
    assert (await front.ask("/v1/x", KEY)).status == 503
    assert [line["status"] for line in front.logged()] == [503] * 3
    await front.stop()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_text_of_a_key_takes_no_place_of_keys_where_no_credential_is_read(make_front: MakeFront) -> None:
    front = await make_front(FREE_CONNECTIONS="2", PAID_CONNECTIONS="4", UPSTREAM_TIMEOUT="60s")
    waiting = await _fill(front, 8, KEY, target="/dashboard/hang")
    paths = ("/", "/llms.txt", "/dashboard", "/dashboard/data", "/01/hang", "/static/x", "/v1/ready", "/releases/x")
    for target in (*paths, "/v1/index/datasets/items/releases/1/descriptions/dcat"):
        assert (await front.ask(target, KEY)).status == 503, target
    for target in ("/v1/x", "/v1/index/lookup/x", "/v1/jobs/1", "/mcp", "/v1/index/datasets/items/releases"):
        assert (await front.ask(target, KEY)).status == 200, target
    assert (await front.ask("/releases/x", "Authorization: AWS4-HMAC-SHA256 Credential=x")).status == 200
    await front.stop()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_uploads_that_never_end_take_no_place_of_others(make_front: MakeFront) -> None:
    front = await make_front(UPLOAD_CONNECTIONS="2", FREE_CONNECTIONS="1", PAID_CONNECTIONS="1")
    slow = f"POST /dashboard/data HTTP/1.1\r\nHost: localhost\r\n{KEY}\r\nContent-Length: 1000000\r\n\r\nabc"
    uploads = []
    for number in range(4):
        _, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(slow.encode())
        uploads.append(writer)
        await front.until(lambda number=number: front.stub.connections > number)
    refused = parsed(await front.raw(slow.replace("\r\nHost", "\r\nConnection: close\r\nHost").encode()))
    # Neither 413, though its length is beyond what other calls accept, nor after its body, which never comes.
    assert (refused.status, refused.json["type"].rsplit("/")[-1]) == (503, "service-unavailable")
    assert (refused.get("Retry-After"), refused.reason) == ("2", refused.json["title"])
    shown = await front.ask("/dashboard/data", "Accept: text/html")
    assert [shown.status, (await front.ask("/v1/x")).status, (await front.ask("/v1/x", KEY)).status] == [200] * 3
    assert [line["status"] for line in front.logged()] == [503]
    for writer in uploads:
        writer.close()


async def test_streams_of_events_take_no_place_of_others(make_front: MakeFront) -> None:
    front = await make_front(STREAM_CONNECTIONS="2", FREE_CONNECTIONS="1", PAID_CONNECTIONS="1")
    streams = []
    for lines in ("", f"{KEY}\r\n", "", f"{KEY}\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(f"GET /v1/jobs/1/events HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
        await reader.readuntil(b"data: 0\n\n")
        streams.append(writer)
    for credential in ((), (KEY,)):
        assert (await front.ask("/v1/jobs/1/events", *credential)).status == 503
        assert (await front.ask("/v1/jobs/1", *credential)).status == 200
        assert (await front.ask("/v1/index/lookup/x", *credential)).status == 200
    for writer in streams:
        writer.close()


@pytest.mark.parametrize("gone", [0, 1])
async def test_an_edge_that_is_down_takes_neither_uploads_nor_streams_with_it(front: Front, gone: int) -> None:
    await front.stub.stop(front.edges[gone])
    front.stub.continues.set()
    for _ in range(6):
        assert (await front.ask("/v1/jobs/1/events")).status == 200
        assert (await front.ask("/dashboard/data", method="POST", body=b"abc")).status == 200


def test_the_places_of_all_pools_are_as_many_as_an_edge_queues() -> None:
    places: Counter[str] = Counter()
    text = render({name: name for name in VALUES})
    for socket, most in re.findall(r'server "unix:(\w+)" max_conns=(\d+)', text):
        places[socket] += int(most)
    assert places == {"EDGE_A": 4096, "EDGE_B": 4096}
    assert f"backlog = {places['EDGE_A']}\n" in (PROJECT / "deploy" / "gunicorn.conf.py").read_text()


async def test_two_thousand_new_connections_at_once_are_all_answered(make_front: MakeFront) -> None:
    # Callers and edges share this process: it may take a second until it has sent what it connected for.
    names = ("UPSTREAM_TIMEOUT", "FREE_READ_TIMEOUT", "HEADER_TIMEOUT", "SEND_TIMEOUT")
    front = await make_front(TRUSTED_PROXIES="set_real_ip_from 127.0.0.1;", **dict.fromkeys(names, "60s"))
    asked = [front.ask("/v1/x", f"X-Forwarded-For: 198.51.100.{number % 40}", seconds=60.0) for number in range(2000)]
    statuses = [answer.status for answer in await asyncio.gather(*asked)]
    assert statuses == [200] * 2000


# Callers that are slow, and callers that are many: they are cut off, and others do not notice.


HOST = b"Host: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /v1/x HTTP/1.1\r\nHo",
        b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nabc",
        b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Content-Length: 010\r\n\r\nabcdefgh",
        b"POST /v1/x HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n",
    ],
)
async def test_a_request_that_does_not_end_is_cut_off_and_never_forwarded(hasty_front: Front, sent: bytes) -> None:
    began = time.monotonic()
    assert await hasty_front.raw(sent) == b""
    assert 0.5 < time.monotonic() - began < 8
    assert hasty_front.stub.seen == []


async def test_a_drip_of_header_lines_does_not_extend_the_limit(hasty_front: Front) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", hasty_front.port)
    writer.write(b"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n")
    began, end = time.monotonic(), asyncio.ensure_future(reader.read())
    while not end.done() and time.monotonic() - began < 10:
        writer.write(b"A: b\r\n")
        await asyncio.wait([end], timeout=0.2)
    assert time.monotonic() - began < 8
    assert end.exception() is not None or end.result() == b""
    writer.close()


async def test_hundreds_of_slow_callers_do_not_disturb_others(front: Front) -> None:
    slow = [asyncio.open_connection("127.0.0.1", front.port) for _ in range(500)]
    lines = [writer for _, writer in await asyncio.gather(*slow)]
    for writer in lines:
        writer.write(b"GET /v1/x HTTP/1.1\r\n")
    began = time.monotonic()
    assert (await front.ask("/v1/x")).status == 200
    assert time.monotonic() - began < 5  # none of the others is cut off so soon
    for writer in lines:
        writer.close()


@pytest.mark.parametrize(
    "addresses",
    [[f"2001:db8:0:1:{number % 3:x}::{number:x}" for number in range(60)], ["::ffff:203.0.113.7"] * 60],
    ids=["one /64", "one IPv4 address within IPv6"],
)
async def test_too_many_requests_of_one_network_are_429(make_front: MakeFront, addresses: list[str]) -> None:
    front = await make_front(REQUESTS_PER_SECOND="5", TRUSTED_PROXIES="set_real_ip_from 127.0.0.1;")
    # At once: asked one after the other on a busy machine, they could be few enough for a second each.
    answers = await asyncio.gather(*(front.ask("/v1/x", f"X-Forwarded-For: {address}") for address in addresses))
    served, [refused, *_] = ([one for one in answers if (one.status == 200) == wanted] for wanted in (True, False))
    assert len(served) >= 5
    assert (refused.status, refused.get("Retry-After"), refused.json["type"].rsplit("/")[-1]) == (
        429,
        "1",
        "rate-limited",
    )
    for other in ("2001:db8:0:2::1", "2001:db8::1", "198.51.100.7", "::ffff:203.0.113.8"):
        assert (await front.ask("/v1/x", f"X-Forwarded-For: {other}")).status == 200


async def test_too_many_connections_of_one_address_are_429(make_front: MakeFront) -> None:
    front = await make_front(UPSTREAM_TIMEOUT="60s")
    waiting = [asyncio.ensure_future(front.ask("/v1/hang")) for _ in range(256)]
    async with asyncio.timeout(30):
        while len(front.stub.seen) < 256:
            await asyncio.sleep(0.02)
    refused = await front.ask("/v1/x")
    assert (refused.status, refused.json["type"].rsplit("/")[-1]) == (429, "rate-limited")
    await front.stop()
    await asyncio.gather(*waiting, return_exceptions=True)


@pytest.mark.skipif(not shutil.which("openssl") and "CI" not in os.environ, reason="a certificate is made with openssl")
async def test_tls_is_ready_to_switch_on(make_front: MakeFront, tmp_path: Path) -> None:
    certify(tmp_path)
    front = await make_front(**values_of(Certificate(tmp_path / "fullchain.pem", tmp_path / "key.pem")))
    trust = ssl.create_default_context(cafile=str(tmp_path / "fullchain.pem"))
    trust.set_alpn_protocols(["h2", "http/1.1"])
    _, writer = await asyncio.open_connection("127.0.0.1", front.port, ssl=trust, server_hostname="localhost")
    assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2"
    writer.close()
    trust.set_alpn_protocols(["http/1.1"])
    reader, writer = await asyncio.open_connection("127.0.0.1", front.port, ssl=trust, server_hostname="localhost")
    writer.write(b"GET /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert parsed(await reader.read()).status == 200
    writer.close()
    with pytest.raises(ssl.SSLError):
        await asyncio.open_connection("127.0.0.1", front.port, ssl=trust, server_hostname="evil.example")
    assert (await front.ask("/v1/x")).json["type"].endswith("/invalid-request")


def certify(folder: Path) -> None:
    """Make a certificate of its own for localhost."""
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", "key.pem", "-out", "fullchain.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *files, *subject]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


# A reload of nginx costs no caller a request. The full figure: `python -m tests.perf.reload_bench`.


async def test_reloads_reset_no_request_on_a_kept_connection(make_front: MakeFront) -> None:
    front = await make_front(REQUESTS_PER_SECOND="1000000")
    answered, lost = await reload_under_load(front, reloads=8, requests=4000)
    assert answered >= 4000
    assert lost == []
