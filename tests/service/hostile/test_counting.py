"""Section G of the catalogue: what is counted, as whom, and what happens when counting is made hard."""

import asyncio
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from shared.index.iid import mint as mint_iid
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge

SOY = f"/index/lookup/{mint_iid('shop', '1').iid}"


async def used(edge: Edge, address: str) -> int:
    """Return what an anonymous caller has used today."""
    return int((await edge.get("/quota", address=address)).json["limits"][0]["used"])


async def test_calls_are_counted_as_the_contract_says(shared_edge: Edge) -> None:
    etag = (await shared_edge.get(SOY, address="203.0.113.99")).head["ETag"]
    rows = [
        ("GET", SOY, {}, 200, 1),
        ("HEAD", SOY, {}, 200, 1),
        ("GET", "/index/lookup/IID-A", {}, 404, 1),
        ("HEAD", "/index/lookup/IID-A", {}, 404, 1),
        ("GET", SOY, {"If-None-Match": etag}, 304, 0),
        ("OPTIONS", SOY, {}, 204, 0),
        ("GET", "/health", {}, 200, 0),
        ("GET", f"{SOY}/", {}, 308, 0),
        ("GET", "/index/search?q=", {}, 400, 0),
        ("DELETE", SOY, {}, 405, 0),
        ("GET", SOY, {"Accept": "image/png"}, 406, 0),
    ]
    for number, (method, path, head, status, units) in enumerate(rows):
        address = f"203.0.113.{number}"
        answer = await shared_edge.ask(method, path, address=address, head=head)
        assert (answer.status, await used(shared_edge, address)) == (status, units), (method, path)


async def test_a_caller_that_disconnects_has_paid(shared_edge: Edge) -> None:
    # G7: else hanging up before the answer would be a way to ask for nothing.
    token = shared_edge.settings.anonymous_token
    _, writer = await asyncio.open_unix_connection(shared_edge.path)
    writer.write(
        f"GET /v1/index/brands HTTP/1.1\r\nHost: testserver\r\nX-Real-IP: 203.0.113.200\r\n"
        f"X-Charge-Id: {'7' * 32}\r\nX-Service-Public-Token: {token}\r\n\r\n".encode()
    )
    await writer.drain()
    writer.transport.abort()
    for _ in range(500):
        if await used(shared_edge, "203.0.113.200"):
            break
    assert await used(shared_edge, "203.0.113.200") == 1


async def test_odd_networks_have_one_allowance_each(shared_edge: Edge) -> None:
    # G12: an IPv4 address inside IPv6 is that address; every other /64 is one caller.
    groups = [
        ("198.51.100.1", "::ffff:198.51.100.1", "64:ff9b::198.51.100.1"),
        ("2002:c633:6401::1", "2002:c633:6401::2"),
        ("fe80::1", "fe80::1%eth0"),
        ("fd00::1", "fd00::ffff"),
        ("2001:0:53aa:64c::1", "2001:0:53aa:64c::2"),
    ]
    for group in groups:
        counted = {(await shared_edge.get("/quota", address=address)).json["counted_as"] for address in group}
        assert len(counted) == 1, group


async def test_without_an_address_no_caller_is_served(shared_edge: Edge) -> None:
    # G15: all callers as one, or none: the fault is in nginx's configuration, and it shows at once.
    for address in ("", "unknown", "010.0.0.1", "1.2.3.4:80"):
        answer = await shared_edge.ask("GET", SOY, address=address)
        assert answer.status == 500
        assert answer.json["type"].endswith("/internal-error")


async def test_a_refusal_says_what_lifts_it(shared_edge: Edge) -> None:
    # G16: a thousand people behind one address learn how to get an allowance of their own.
    for _ in range(3):
        await shared_edge.get("/index/brands")
    refused = (await shared_edge.get("/index/brands")).json
    assert refused["counted_as"] == shared_edge.address
    assert "sign-up" in refused["lifted_by"]


async def test_a_full_store_is_an_outage_and_no_free_day(edge: Edge) -> None:
    """G21: without room for counters the little local allowance decides; nothing breaks, no number is stated."""
    state = edge.resources.state
    before = (await state.command("CONFIG", "GET", "maxmemory"))[1]
    await state.command("CONFIG", "SET", "maxmemory", "1")
    try:
        answers = [await edge.get("/index/brands", address="203.0.113.5") for _ in range(4)]
        ready = (await edge.get("/ready")).json
    finally:
        await state.command("CONFIG", "SET", "maxmemory", before)
    statuses = [answer.status for answer in answers]
    assert statuses.count(200) <= 3
    assert set(statuses) <= {200, 429, 503}
    assert all("RateLimit" not in answer.head for answer in answers if answer.status == 200)
    [full] = [part for part in ready["parts"] if part["name"] == "state"]
    assert (ready["status"], full["state"]) == ("degraded", "read-only") and "calls cannot be counted" in full["detail"]
    assert {part["name"]: part["state"] for part in (await edge.get("/ready")).json["parts"]}["state"] == "ok"


async def test_a_burst_above_the_plan_is_refused_and_not_charged(shared_edge: Edge) -> None:
    key = api_key(shared_edge.settings)
    await shared_edge.get(SOY)  # into memory: PostgreSQL under a burst has limits of its own
    answers = await asyncio.gather(*(shared_edge.get(SOY, key=key) for _ in range(200)))
    served = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 429]
    assert len(served) + len(refused) == 200
    for answer in refused:
        assert (answer.json["policy"], answer.head["Retry-After"]) == ("brand-burst", "1")
    assert (await shared_edge.get("/quota", key=key)).json["limits"][0]["used"] == len(served)


@pytest.mark.parametrize(("trusted", "units"), [("", 3), ("127.0.0.0/8", 1)])
async def test_a_charge_id_is_believed_only_from_nginx(
    settings: Settings, tmp_path: Path, trusted: str, units: int
) -> None:
    """A caller who reaches the edge over TCP and repeats one id would else be charged once for any number of calls."""
    async with running_edge(replace(settings, trusted_proxies=trusted), tmp_path) as edge:
        site = web.TCPSite(edge.runner, "127.0.0.1", 0)
        await site.start()
        address = edge.runner.addresses[-1]
        head = {"X-Service-Public-Token": settings.anonymous_token, "X-Charge-Id": "7" * 32, "X-Real-IP": "127.0.0.1"}
        async with aiohttp.ClientSession(f"http://{address[0]}:{address[1]}") as session:
            for _ in range(3):
                async with session.get("/v1/index/brands", headers=head) as answer:
                    assert answer.status == 200
        assert await used(edge, "127.0.0.1") == units
