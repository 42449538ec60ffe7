"""Uploads whose senders are slow, many, strangers or malformed, and uploads that find the store full."""

import asyncio
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from shared.errors import StoreUnavailable
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.service.dashboard.test_uploads import FILE, PAGE, objects, upload
from tests.support.database import execute
from tests.support.s3 import BUCKET, client, in_bucket

BOUNDARY = "----boundary"
FORM = f"multipart/form-data; boundary={BOUNDARY}"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The only operator is Ada."""
    return replace(settings, staff="ada@example.org", upload_bytes_max=1 << 30)


def form(csrf: str, content: bytes = FILE) -> bytes:
    """Return the body of the page's form."""
    field, file = 'form-data; name="csrf"', 'form-data; name="file"; filename="a.csv"'
    parts = f"--{BOUNDARY}\r\nContent-Disposition: {field}\r\n\r\n{csrf}\r\n--{BOUNDARY}\r\nContent-Disposition: {file}"
    return f"{parts}\r\n\r\n".encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


class SlowSender:
    """A connection to the edge that promises a large body and sends only some of it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, browser: Browser, sent: bytes = b"", promised: int = 10**9) -> "SlowSender":
        reader, writer = await asyncio.open_unix_connection(browser.edge.path)
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        head = (
            f"POST {PAGE} HTTP/1.1\r\nHost: testserver\r\nX-Real-IP: {browser.address}\r\nCookie: {cookie}\r\n"
            f"Content-Type: {FORM}\r\nContent-Length: {promised}\r\n\r\n"
        )
        writer.write(head.encode() + sent)
        await writer.drain()
        return cls(reader, writer)

    async def status(self) -> int:
        """Wait for the answer, whose status this is."""
        async with asyncio.timeout(20):
            return int((await self._reader.readuntil(b"\r\n")).split()[1])

    def is_waited_for(self) -> bool:
        """Whether no answer has come yet."""
        return not self._reader._buffer and not self._reader.at_eof()  # type: ignore[attr-defined]

    def close(self) -> None:
        self._writer.close()


async def signed_in(browser: Browser, who: str = "ada") -> str:
    """Sign in; return the token of the person's forms."""
    await browser.sign_in(who)
    await browser.ask("GET", "/dashboard")
    return browser.csrf()


async def test_who_may_not_upload_is_refused_before_anything_of_the_body_has_come(browser: Browser) -> None:
    stranger = Browser(browser.edge, browser.issuer)
    csrf = await signed_in(stranger, "hedy")
    for sent in (b"", form(csrf)[:40]):
        slow = await SlowSender.open(stranger, sent)
        assert await slow.status() == 403
        slow.close()
    unknown = await SlowSender.open(Browser(browser.edge, browser.issuer))
    assert await unknown.status() == 403
    unknown.close()
    await signed_in(browser)
    too_large = await SlowSender.open(browser, promised=1 << 31)
    assert await too_large.status() == 413
    too_large.close()


async def test_a_person_has_a_few_uploads_under_way_and_another_one_once_one_has_ended(browser: Browser) -> None:
    csrf = await signed_in(browser)
    slow = [await SlowSender.open(browser, form(csrf)[:200]) for _ in range(5)]
    statuses = [asyncio.ensure_future(sender.status()) for sender in slow]
    refused, waiting = await asyncio.wait(statuses, return_when=asyncio.FIRST_COMPLETED)
    while len(refused) < 2:
        more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        refused |= more
    assert [task.result() for task in refused] == [429, 429] and len(waiting) == 3
    assert await upload(browser, csrf=csrf) == 429
    assert "3 of your uploads are under way" in browser.text
    for sender in slow:
        sender.close()
    await asyncio.gather(*statuses, return_exceptions=True)
    async with asyncio.timeout(20):
        while (status := await upload(browser, csrf=csrf)) == 429:
            await asyncio.sleep(0.02)  # the edge has not noticed yet that they are gone
    assert status == 303


async def test_an_upload_slower_than_the_least_rate_ends(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    csrf = await signed_in(browser)
    monkeypatch.setattr("edge.dashboard.file_form.GRACE_SECONDS", 0.3)
    for sent in (b"", form(csrf)[:60], form(csrf)[:200]):
        slow = await SlowSender.open(browser, sent)
        assert await slow.status() == 408, sent
        slow.close()
    assert objects(browser) == [] and execute(browser.edge.settings, "SELECT count(*) FROM uploads") == [(0,)]


@pytest.mark.parametrize(
    "head",
    [
        b"no colon",
        b"Content-Disposition",
        b": empty",
        b"Content-Disposition: form-data; name=csrf\r\n" * 300,
        b"Content-Disposition: form-data; name=" + b"x" * 70_000,
        b"Content-Disposition: form-data; name*=unknown'en'%ff",
        b"Content-Disposition: form-data; name=csrf\r\nContent-Transfer-Encoding: none",
        b"Content-Disposition: form-data; name=csrf\r\nContent-Encoding: br",
        b"Content-Disposition: form-data; name=csrf\r\nContent-Length: -1",
        b"Content-Disposition: form-data; name=csrf\r\nContent-Length: 99999",
        b"Content-Disposition: form-data; name=csrf\r\nContent-Type: multipart/mixed",
        b"Content-Disposition: form-data; name=csrf\r\nContent-Type: multipart/mixed; boundary=" + b"y" * 80,
        b"\x00\xff\xfe",
    ],
)
async def test_a_malformed_form_is_refused_and_is_no_fault_of_ours(visitor: Browser, head: bytes) -> None:
    await signed_in(visitor)
    for before in (b"", form("x", b"")[:-20] + b"\r\n"):
        body = before + f"--{BOUNDARY}\r\n".encode() + head + b"\r\n\r\nx\r\n"
        sender = await SlowSender.open(visitor, body, promised=len(body))
        assert await sender.status() in (400, 403)
        sender.close()


async def test_forms_of_random_bytes_are_refused_and_are_no_fault_of_ours(visitor: Browser) -> None:
    csrf, dice = await signed_in(visitor), random.Random(20261129)
    for _ in range(60):
        body = bytearray(form(csrf))
        for _ in range(dice.randint(1, 12)):
            body[dice.randrange(len(body))] = dice.randrange(256)
        cut = bytes(body[: dice.randint(1, len(body))])
        sender = await SlowSender.open(visitor, cut, promised=len(cut))
        assert await sender.status() in (303, 400, 403), cut
        sender.close()


@contextmanager
def full_disk(bytes_max: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_an_upload_to_a_full_store_is_a_page_that_says_so(browser: Browser) -> None:
    csrf = await signed_in(browser)
    with full_disk(200_000):
        assert await upload(browser, b"x" * 900_000, csrf=csrf) == 503
    assert browser.last.content_type == "text/html" and "store of uploaded files is full" in browser.text
    assert objects(browser) == [] and execute(browser.edge.settings, "SELECT count(*) FROM uploads") == [(0,)]
    assert await upload(browser, csrf=csrf) == 303


async def test_an_upload_waits_for_its_bucket_longer_than_a_download_does(
    settings: Settings, tmp_path: Path, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge.composition._RESULTS_SECONDS", 0.0)  # no bucket answers in no time
    async with running_browser(in_bucket(settings, s3), tmp_path) as browser:
        csrf = await signed_in(browser)
        with pytest.raises(StoreUnavailable):
            await asyncio.to_thread(browser.edge.resources.results.size, "uploads/none")
        assert await upload(browser, csrf=csrf) == 303
    [stored] = client(s3).list_objects_v2(Bucket=BUCKET)["Contents"]
    assert (stored["Key"].partition("/")[0], stored["Size"]) == ("uploads", len(FILE))
