"""nginx before an edge: who holds connections as long as they like takes no place of free or of paid calls."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_hostile_uploads import BOUNDARY, form, signed_in
from tests.support.accounts import api_key, free_token
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.system.nginx.front import Front

SOY = f"/v1/index/lookup/{mint('shop', '1').iid}"
COHORT = "/v1/index/cohorts?brand=vita"
# Each pool has twice as many at each edge, and the two edges of this front are one.
FREE, PAID, UPLOADS, STREAMS = 4, 4, 4, 6


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The only operator is Ada."""
    return replace(settings, staff="ada@example.org")


@pytest.fixture
async def front(browser: Browser, tmp_path: Path) -> AsyncIterator[Front]:
    """nginx with few places in each pool."""
    values = {
        "FREE_CONNECTIONS": f"{FREE}",
        "PAID_CONNECTIONS": f"{PAID}",
        "UPLOAD_CONNECTIONS": f"{UPLOADS}",
        "STREAM_CONNECTIONS": f"{STREAMS}",
    }
    (tmp_path / "front").mkdir()
    with tempfile.TemporaryDirectory(prefix="front-") as sockets:
        front = Front(tmp_path / "front", Path(sockets), Path(browser.edge.path), **values)
        try:
            await front.start()
            yield front
        finally:
            await front.stop()


class Connection:
    """A connection to nginx that sends a request and keeps it open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, front: Front, source: str, sent: bytes) -> "Connection":
        reader, writer = await asyncio.open_connection("127.0.0.1", front.port, local_addr=(source, 0))
        writer.write(sent)
        return cls(reader, writer)

    async def status(self) -> int:
        async with asyncio.timeout(30):
            return int((await self._reader.readuntil(b"\r\n")).split()[1])


def slow_upload(browser: Browser, *lines: str, sent: bytes = b"abc") -> bytes:
    """Return an upload that promises 1 GB and sends little of it."""
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    head = ["POST /dashboard/data HTTP/1.1", "Host: localhost", f"Cookie: {cookie}", "Content-Length: 1000000000"]
    return (
        "\r\n".join([*head, f"Content-Type: multipart/form-data; boundary={BOUNDARY}", *lines, "", ""]).encode() + sent
    )


async def served(front: Front, browser: Browser) -> list[int]:
    """Return the statuses of a free look-up and of calls with a key."""
    settings = browser.edge.settings
    free, key = f"X-Service-Public-Token: {free_token(settings)}", f"Authorization: ApiKey {api_key(settings)}"
    asked = [(SOY, free), (SOY, key), (f"/v1/index/pricing/{mint('shop', '1').iid}", key), ("/v1/quota", key)]
    return [(await front.ask(target, line)).status for target, line in asked]


async def test_slow_uploads_of_anybody_leave_free_and_paid_calls_their_places(browser: Browser, front: Front) -> None:
    stranger = Browser(browser.edge, browser.issuer)
    await signed_in(stranger, "hedy")
    csrf = await signed_in(browser)
    key_like = "Authorization: ApiKey iixk_x"
    sent = [slow_upload(stranger), slow_upload(stranger, key_like), slow_upload(Browser(browser.edge, browser.issuer))]
    strangers = [await Connection.open(front, f"127.0.0.{2 + number % 13}", sent[number % 3]) for number in range(150)]
    operators = slow_upload(browser, key_like, sent=form(csrf)[:250])
    held = [await Connection.open(front, "127.0.0.1", operators) for _ in range(3)]
    assert await served(front, browser) == [200] * 4
    answers = Counter(await asyncio.gather(*(connection.status() for connection in strangers)))
    assert set(answers) <= {403, 503} and answers[403] > 0
    assert await served(front, browser) == [200] * 4
    for connection in (*strangers, *held):
        connection.writer.close()


async def test_streams_of_events_leave_free_and_paid_calls_their_places(browser: Browser, front: Front) -> None:
    key = api_key(browser.edge.settings)
    ordered = await front.ask(COHORT, f"Authorization: ApiKey {key}", "Prefer: respond-async")
    following = (
        f"GET /v1/jobs/{ordered.json['id']}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ApiKey {key}\r\n\r\n"
    )
    streams = [await Connection.open(front, f"127.0.0.{2 + number % 13}", following.encode()) for number in range(60)]
    answers = Counter(await asyncio.gather(*(connection.status() for connection in streams)))
    assert answers[200] == 2 * STREAMS and answers[200] + answers[503] == 60
    assert await served(front, browser) == [200] * 4
    for connection in streams:
        connection.writer.close()
