"""The bytes that an organization may download in a day: counted by what each answer sends, and no byte more."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore, ObjectReader
from shared.settings.settings import Settings
from tests.service.releases.test_downloads import manifest, path_of
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.releases import released_shop
from tests.support.servers import Contents


@pytest.fixture
def contents() -> Contents:
    return released_shop


async def test_whole_files_ranges_and_signed_addresses_are_counted_to_the_byte(
    settings: Settings, tmp_path: Path
) -> None:
    key, other = api_key(settings, "institutional"), api_key(settings, "institutional")
    async with running_edge(settings, tmp_path) as edge:
        (file,) = (await manifest(edge, key))["files"]
    size, url = file["bytes"], path_of(file["url"])
    async with running_edge(replace(settings, download_bytes_per_day=2 * size + 10), tmp_path) as edge:

        async def get(by: str, **head: str) -> Any:
            return await edge.get(url, key=by, head=head)

        assert len((await get(key)).body) == size
        etag = (await get(key, Range="bytes=0-9")).head["ETag"]  # ten bytes
        unchanged = await get(key, **{"If-None-Match": etag})
        outside = await get(key, Range=f"bytes={size}-")
        assert (unchanged.status, outside.status) == (304, 416)
        assert (await edge.ask("HEAD", url, key=key)).head["Content-Length"] == str(size)
        signed = await edge.get(path_of((await manifest(edge, key))["files"][0]["signed_url"]))
        assert len(signed.body) == size
        refused = await get(key, Range="bytes=0-0")
        assert (refused.status, refused.json["policy"], refused.json["limit"]) == (
            429,
            "downloads-daily",
            2 * size + 10,
        )
        assert "0 are left, and this answer has 1" in refused.json["detail"]
        assert refused.head["Retry-After"] == str(refused.json["retry_after"])
        assert (await get(other)).status == 200


async def test_downloads_at_once_never_exceed_the_allowance(settings: Settings, tmp_path: Path) -> None:
    key = api_key(settings, "institutional")
    async with running_edge(replace(settings, download_bytes_per_day=35), tmp_path) as edge:
        url = path_of((await manifest(edge, key))["files"][0]["url"])
        answers = await asyncio.gather(*(edge.get(url, key=key, head={"Range": "bytes=0-9"}) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [206] * 3 + [429] * 17


async def test_a_file_that_cannot_be_opened_takes_nothing_of_the_allowance(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings, "institutional")
    async with running_edge(replace(settings, download_bytes_per_day=10), tmp_path) as edge:
        url = path_of((await manifest(edge, key))["files"][0]["url"])

        def fails(store: DirectoryStore, name: str) -> ObjectReader:
            raise StoreUnavailable("results")

        with monkeypatch.context() as during:
            during.setattr(DirectoryStore, "open", fails)
            assert (await edge.get(url, key=key, head={"Range": "bytes=0-9"})).status == 503
        assert (await edge.get(url, key=key, head={"Range": "bytes=0-9"})).status == 206
