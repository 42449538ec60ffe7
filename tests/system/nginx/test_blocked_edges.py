"""An edge that is blocked is left out, and callers beyond what the edges can queue are refused, free ones first."""

import asyncio
import re
from collections import Counter

import pytest

from deploy.local.nginx import render
from deploy.local.paths import PROJECT
from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import Answer, Front, parsed

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
    assert (await front.ask("/v1/reconcile/x")).status == 503
    assert (await front.ask("/v1/reconcile/iixr_path_x")).status == 200
    waiting += await _fill(front, 64, KEY)
    assert (await front.ask("/v1/x", KEY)).status == 503
    assert [line["status"] for line in front.logged()] == [503] * 4
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
