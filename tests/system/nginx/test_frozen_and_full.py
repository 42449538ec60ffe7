"""An edge that is blocked is left out, and callers beyond what the edges can queue are refused, free ones first."""

import asyncio

from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import Answer, Front

KEY = "Authorization: ApiKey iixk_live_x"
HANGING = "/v1/index/lookup/hang"


async def test_a_frozen_edge_is_left_out_after_its_first_time_out(front: Front) -> None:
    front.stub.freeze(front.edges[0])
    first = await asyncio.gather(*(front.ask("/v1/index/lookup/x") for _ in range(16)))
    assert [answer.status for answer in first] == [200] * 16
    async with asyncio.timeout(10):  # nothing waits for the frozen edge again
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


async def _fill(front: Front, places: int, *lines: str) -> list[asyncio.Task[Answer]]:
    """Take so many places with requests that hang."""
    begun = len(front.stub.seen)
    waiting = [asyncio.ensure_future(front.ask("/v1/hang", *lines)) for _ in range(places)]
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


async def test_two_thousand_new_connections_at_once_are_all_answered(make_front: MakeFront) -> None:
    # Callers and edges share this process: it may take a second until it has sent what it connected for.
    names = ("UPSTREAM_TIMEOUT", "FREE_READ_TIMEOUT", "HEADER_TIMEOUT", "SEND_TIMEOUT")
    front = await make_front(TRUSTED_PROXIES="set_real_ip_from 127.0.0.1;", **dict.fromkeys(names, "60s"))
    asked = [front.ask("/v1/x", f"X-Forwarded-For: 198.51.100.{number % 40}", seconds=60.0) for number in range(2000)]
    statuses = [answer.status for answer in await asyncio.gather(*asked)]
    assert statuses == [200] * 2000
