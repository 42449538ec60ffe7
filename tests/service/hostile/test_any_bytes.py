"""Bytes that are no UTF-8, at every route and in every place: never a fault of ours."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from edge.app import SERVICES
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.support.accounts import api_key

_PARAMETER = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_SEGMENTS = ("%FF", "%ED%A0%80", "a%C0%80b", "%00", "%F0%9F%98", "\udcff")
_BYTES = b"\xff\xfe\xed\xa0\x80"
_QUERIES = (
    b"?q=%FF",
    b"?%FE=%FF&%FE=1",
    b"?iid=%ED%A0%80&gtin=%FF&brand=%FF&after=%FF&next=%FF&skip=%FF&id=%FF",
    b"?q=" + _BYTES,
)
# Each of these may end a request before its handler reads the others.
_DECISIVE = (
    *("Accept", "Authorization", "Content-Encoding", "Content-Type", "Cookie", "Expect", "Host", "Origin"),
    *("MCP-Protocol-Version", "X-Chunked-Length", "X-Service-Public-Token", "X-Amz-Date"),
)
_OTHERS = (
    *("Accept-Encoding", "HX-Request", "Idempotency-Key", "If-Match", "If-None-Match", "If-Range", "Referer"),
    *("If-Unmodified-Since", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Range", "traceparent", "User-Agent"),
    *("X-Amz-Content-Sha256", "X-Charge-Id", "X-Request-Id", "Access-Control-Request-Method"),
    *("Access-Control-Request-Headers", "X-Unknown"),
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, staff="ada@example.org")


class Line:
    """A connection to the edge on which one request follows another, each answered."""

    def __init__(self, path: str, common: list[bytes]) -> None:
        self._path = path
        self._common = common
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def status(self, method: str, target: bytes, *lines: bytes, body: bytes = b"") -> int:
        """Send a request and return the status of its answer, on a new connection where the edge closed the last."""
        reused = self._streams is not None
        try:
            return await self._status(method, target, *lines, body=body)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if not reused:
                raise
            return await self._status(method, target, *lines, body=body)

    async def _status(self, method: str, target: bytes, *lines: bytes, body: bytes = b"") -> int:
        if self._streams is None:
            self._streams = await asyncio.open_unix_connection(self._path)
        reader, writer = self._streams
        names = {line.partition(b":")[0].lower() for line in lines}
        own = [b"Host: testserver", b"X-Real-IP: 192.0.2.1", b"Prefer: respond-async", *self._common]
        kept = [line for line in own if line.partition(b":")[0].lower() not in names]
        length = b"Content-Length: %d" % len(body)
        writer.write(b"\r\n".join([method.encode() + b" " + target + b" HTTP/1.1", *kept, *lines, length, b"", body]))
        async with asyncio.timeout(30):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            status = int(head.split()[1])
            found = re.search(rb"content-length: (\d+)", head)
            if b"connection: close" in head or (found is None and status not in (204, 304)):
                self.close()
            elif found is not None and method != "HEAD":
                await reader.readexactly(int(found[1]))
        return status

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def targets(browser: Browser) -> list[tuple[str, str]]:
    """Return the method and the path of each route of the edge, with the names of its parameters."""
    found = set()
    for route in browser.edge.runner.app.router.routes():
        resource = route.resource
        assert resource is not None
        described = resource.get_info()
        if route.method != "HEAD":  # it has the handler of GET
            found.add((route.method, str(described.get("path") or described.get("formatter"))))
    assert len(found) > 120 and SERVICES in browser.edge.runner.app
    return sorted(found)


def requests(method: str, path: str) -> Iterator[tuple[str, bytes, tuple[bytes, ...], bytes]]:
    """Return requests of one route: odd parameters, queries and headers, and a body of odd bytes."""
    plain = _PARAMETER.sub("x", path).encode()
    if "{" in path:
        for segment in _SEGMENTS:
            yield (
                method,
                _PARAMETER.sub(lambda _, segment=segment: segment, path).encode(errors="surrogateescape"),
                (),
                b"",
            )
    for query in _QUERIES:
        yield method, plain + query, (), b""
    yield method, plain, tuple(f"{name}: x".encode() + _BYTES for name in _OTHERS), b""
    for name in _DECISIVE:
        yield method, plain, (f"{name}: x".encode() + _BYTES,), b""
    if method in ("POST", "PATCH", "PUT", "DELETE"):
        numbers = b'{"limit": 1e9999999999999999999, "iids": [1e9999999999999999999], "name": -1e9999999999999999999}'
        rpc = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
        for kind in (b"application/json", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x"):
            for body in (_BYTES, b'{"name": "' + _BYTES + b'"}', b"csrf=%FF&" + _BYTES + b"=%ED%A0%80", numbers, rpc):
                yield method, plain, (b"Content-Type: " + kind,), body
        for name in ("MCP-Protocol-Version", "Mcp-Method", "Origin"):
            yield method, plain, (b"Content-Type: application/json", f"{name}: ".encode() + _BYTES), rpc


@pytest.mark.parametrize("caller", ["nobody", "key", "person"])
async def test_no_bytes_at_any_route_are_a_fault_of_ours(settings: Settings, tmp_path: Path, caller: str) -> None:
    async with running_browser(settings, tmp_path) as browser:
        common = []
        if caller == "key":
            common = [f"Authorization: ApiKey {api_key(settings, 'institutional')}".encode()]
        elif caller == "person":
            await browser.sign_in()
            await browser.create_organization()
            cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            common = [f"Cookie: {cookie}".encode(), f"Authorization: Bearer {browser.issuer.token('ada')}".encode()]
        line, faults, asked = Line(browser.edge.path, common), [], 0
        for method, path in targets(browser):
            # Signing out would end what this test is about.
            if caller == "person" and path.endswith(("/sign-out", "/sessions/end")):
                continue
            for sent in requests(method, path):
                status, asked = await line.status(sent[0], sent[1], *sent[2], body=sent[3]), asked + 1
                if status >= 500:
                    faults.append((status, *sent))
        line.close()
    assert faults[:20] == []
    assert asked > 2_000


async def test_a_browser_whose_name_is_no_utf_8_signs_in_and_is_listed(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path) as browser:
        asked = await browser.begin()
        query = f"state={asked['state']}&code={browser.issuer.code('ada', nonce=asked['nonce'])}"
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        line = Line(browser.edge.path, [f"Cookie: {cookie}".encode()])
        target = f"/dashboard/sign-in/callback?{query}".encode()
        assert await line.status("GET", target, b"User-Agent: Browser \xff\xfe") == 303
        line.close()
        await browser.sign_in()
        await browser.ask("GET", "/dashboard/sessions")
        assert "Browser \ufffd\ufffd" in browser.text
