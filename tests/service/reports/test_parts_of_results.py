"""A result in parts: what Range, If-Range and the conditions promise, byte for byte."""

import asyncio

import aiohttp
import pytest

from edge.http.result_body import ResultBody
from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.service.reports.test_answer import COHORT
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.reports import work
from tests.support.servers import Contents
from tests.support.shop import open_shop


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
async def reported(edge: Edge, settings: Settings) -> tuple[str, str, Answer]:
    """A job that is done: its result's path, the key, and the whole result."""
    key = api_key(settings)
    asking = asyncio.create_task(edge.get(COHORT, key=key))
    await work(settings)
    await asking
    [job] = (await edge.get("/jobs", key=key)).json["data"]
    path = f"/jobs/{job['id']}/result"
    return path, key, await edge.get(path, key=key)


RANGES = [
    ("bytes=0-9", 0, 10),
    ("bytes=5-", 5, None),
    ("bytes=-7", -7, None),
    ("bytes=0-999999", 0, None),
    ("bytes=-999999", 0, None),
    ("BYTES=1-1", 1, 2),
]


NO_SINGLE_RANGES = ["items=0-5", "bytes=0-1,3-4", "bytes=5-2", "bytes=-", "bytes=a-b", "bytes"]


async def test_ranges_conditions_and_head(edge: Edge, reported: tuple[str, str, Answer]) -> None:
    path, key, whole = reported
    etag = whole.head["ETag"]
    for field, start, stop in RANGES:
        part = await edge.get(path, key=key, head={"Range": field})
        assert (part.status, part.body) == (206, whole.body[start:stop]), field
        first = whole.body.index(part.body)
        assert part.head["Content-Range"] == f"bytes {first}-{first + len(part.body) - 1}/{len(whole.body)}"
        assert part.head["ETag"] == etag
    for field in NO_SINGLE_RANGES:
        answer = await edge.get(path, key=key, head={"Range": field})
        assert (answer.status, answer.body) == (200, whole.body), field
    for field in (f"bytes={len(whole.body)}-", "bytes=-0"):
        answer = await edge.get(path, key=key, head={"Range": field})
        assert (answer.status, answer.head["Content-Range"]) == (416, f"bytes */{len(whole.body)}"), field
    assert (await edge.get(path, key=key, head={"If-None-Match": etag})).status == 304
    assert (await edge.get(path, key=key, head={"If-Match": '"x"'})).status == 412
    assert (await edge.get(path, key=key, head={"If-Match": etag})).status == 200
    head = await edge.ask("HEAD", path, key=key)
    assert (head.status, head.body, int(head.head["Content-Length"])) == (200, b"", len(whole.body))
    assert whole.head["Repr-Digest"].startswith("sha-256=:")


async def test_if_range_continues_only_with_the_very_same_result(edge: Edge, reported: tuple[str, str, Answer]) -> None:
    path, key, whole = reported
    etag = whole.head["ETag"]
    same = await edge.get(path, key=key, head={"Range": "bytes=0-9", "If-Range": etag})
    assert same.status == 206
    for other in ('"x"', f"W/{etag}", "Sat, 21 Nov 2026 00:00:00 GMT"):
        answer = await edge.get(path, key=key, head={"Range": "bytes=0-9", "If-Range": other})
        assert (answer.status, answer.body) == (200, whole.body)


async def test_an_answer_of_the_callers_own_can_be_had_in_parts_too(
    edge: Edge, reported: tuple[str, str, Answer]
) -> None:
    key = reported[1]
    whole = await edge.get(COHORT, key=key)
    assert whole.json["meta"]["cached"] is True
    middle = whole.body.index(b'"meta"')
    parts = [
        await edge.get(COHORT, key=key, head={"Range": f"bytes={a}-{b}", "If-Range": whole.head["ETag"]})
        for a, b in ((0, middle - 5), (middle - 4, middle + 4), (middle + 5, len(whole.body)))
    ]
    assert [part.status for part in parts] == [206] * 3
    assert b"".join(part.body for part in parts) == whole.body


async def test_a_store_that_falls_silent_breaks_the_answer_off(
    edge: Edge, reported: tuple[str, str, Answer], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path, key, _ = reported

    async def silent(*arguments: int) -> bytes:
        raise StoreUnavailable("results")

    monkeypatch.setattr(ResultBody, "read", silent)
    with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)):
        await edge.get(path, key=key)
    assert "Traceback" not in capfd.readouterr().err


async def test_a_result_that_is_cut_off_is_not_taken_for_whole(
    edge: Edge, settings: Settings, reported: tuple[str, str, Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, key, whole = reported
    [(job, attempt)] = DirectoryStore(settings.results_dir).attempts()
    file = settings.results_dir / job / str(attempt) / "cohorts.json"
    original = ResultBody.read

    async def cut_off(self: ResultBody, offset: int, length: int) -> bytes:
        file.write_bytes(whole.body[:-10])
        return await original(self, offset, length)

    with monkeypatch.context() as patch:  # while it is read
        patch.setattr(ResultBody, "read", cut_off)
        with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)):
            await edge.get(path, key=key)
    answer = await edge.get(path, key=key)  # before it is read
    assert (answer.status, answer.head["Retry-After"]) == (503, "30")
