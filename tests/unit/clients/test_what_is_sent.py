"""What the Python client sends beside the call: what httpx adds to every request, and the name of the client."""

import asyncio
import gc
import hashlib
import json
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from itemindex_client import AsyncClient, Client
from itemindex_client.settings import VERSION

from tests.unit.clients.answering import URL

PYPROJECT = Path(__file__).parents[3] / "clients/python/pyproject.toml"


class Recorder:
    """Answers every request with an empty list, and keeps the requests."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(200, json={"data": [], "iid": "x", "meta": {}})


def test_every_call_names_the_client_and_takes_compressed_answers() -> None:
    recorder = Recorder()
    caller = Client(URL, key="k", http=httpx.Client(transport=httpx.MockTransport(recorder)))
    caller.lookup("x")
    caller.lookup_many(["x"])
    caller.report.cohorts(brand="b").wait()
    assert [one.headers["User-Agent"] for one in recorder.sent] == [f"itemindex-client/{VERSION}"] * 3
    assert all("gzip" in one.headers["Accept-Encoding"] for one in recorder.sent)
    assert all(one.headers["Accept"] == "application/json" for one in recorder.sent)
    assert tomllib.loads(PYPROJECT.read_text())["project"]["version"] == VERSION


async def test_headers_and_cookies_of_the_callers_own_client_are_sent() -> None:
    own: dict[str, Any] = {"headers": {"User-Agent": "shop/2", "X-Tenant": "t"}, "cookies": {"proxy": "c"}}
    recorder = Recorder()
    transport = httpx.MockTransport(recorder)
    Client(URL, key="k", http=httpx.Client(transport=transport, **own)).lookup("x")
    async with httpx.AsyncClient(transport=transport, **own) as http:
        await AsyncClient(URL, key="k", http=http).lookup("x")
    for sent in recorder.sent:
        assert (sent.headers["User-Agent"], sent.headers["X-Tenant"]) == ("shop/2", "t")
        assert sent.headers["Cookie"] == "proxy=c" and sent.headers["Authorization"] == "ApiKey k"
    assert len(recorder.sent) == 2


async def test_downloads_of_the_asynchronous_client_have_its_headers_too(tmp_path: Path) -> None:
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": 0, "sha256": EMPTY_SHA256}
        if request.url.path.endswith("/latest"):
            return httpx.Response(200, json={"dataset": "items", "data_version": 3, "files": [{**file, "bytes": 1}]})
        return httpx.Response(404, json={"detail": "d"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(handler), headers={"X-Tenant": "t"}) as http:
        release = await AsyncClient(URL, key="k", http=http).release("items")
        with pytest.raises(Exception, match="404"):
            await release.download(tmp_path)
    assert [one.headers["X-Tenant"] for one in sent] == ["t", "t"]
    assert [one.headers["User-Agent"] for one in sent] == [f"itemindex-client/{VERSION}"] * 2


EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


class _Listening(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = json.dumps({"iid": "x"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def listening() -> Iterator[str]:
    """Return the address of a server that keeps connections open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Listening)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # a connection that its event loop left open
def test_a_client_serves_one_event_loop_after_another(listening: str) -> None:
    caller = AsyncClient(listening)

    async def look_up() -> str:
        return (await caller.lookup("x"))["iid"]

    assert [asyncio.run(look_up()), asyncio.run(look_up())] == ["x", "x"]
    asyncio.run(caller.close())
    gc.collect()
