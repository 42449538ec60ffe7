"""Callers that are slow, and callers that are many: they are cut off, and others do not notice."""

import asyncio
import os
import shutil
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from deploy.local.tls import Certificate, values_of
from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import Front, parsed

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
