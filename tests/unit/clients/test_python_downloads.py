"""The Python client without a service: releases onto the disk, and the asynchronous client beside the other."""

import hashlib
import inspect
from pathlib import Path
from typing import Any

import httpx
import pytest
from itemindex_client import (
    AsyncClient,
    Client,
    DownloadFailed,
    KeyNeeded,
)
from itemindex_client.aio import AsyncRelease
from itemindex_client.client import Release
from itemindex_client.orders import AsyncReportCall, ReportCall

from tests.unit.clients.answering import URL, answers, client, manifest


def test_names_of_a_manifest_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    for name, dataset in (("../../etc/x.parquet", "items"), ("a.parquet", "../up")):
        file = {"name": name, "url": f"{URL}/f", "bytes": 1, "sha256": "0"}
        caller = client(answers(httpx.Response(200, json=manifest(file, dataset=dataset))))
        with pytest.raises(DownloadFailed, match="no names of a release"):
            caller.release("items").download(tmp_path / "to")
    assert list(tmp_path.iterdir()) == []


def test_a_download_continues_and_is_checked(tmp_path: Path, slept: list[float]) -> None:
    body = bytes(range(256)) * 40
    file = {
        "name": "a-1.parquet",
        "url": f"{URL}/f",
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "signed_url": "http://secret",
    }
    ranges: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("latest"):
            return httpx.Response(200, json=manifest(file))
        wanted = request.headers.get("Range")
        ranges.append(wanted)
        if len(ranges) == 1:
            raise httpx.ReadError("cut")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        return httpx.Response(206 if wanted else 200, content=body[start:])

    folder = tmp_path / "items" / "3"
    folder.mkdir(parents=True)
    (folder / "a-1.parquet.part").write_bytes(body[:1000])
    assert client(handler).release("items").download(tmp_path) == folder
    assert (folder / "a-1.parquet").read_bytes() == body
    assert ranges == ["bytes=1000-", "bytes=1000-"]
    assert "secret" not in (folder / "manifest.json").read_text()


async def test_the_asynchronous_client_does_the_same() -> None:
    pages = answers(
        httpx.Response(200, json={"data": [{"iid": "a"}], "next_cursor": "1"}),
        httpx.Response(200, json={"data": [{"iid": "b"}], "next_cursor": None}),
    )
    async with AsyncClient(URL, http=httpx.AsyncClient(transport=httpx.MockTransport(pages))) as caller:
        assert [hit["iid"] async for hit in caller.search("soy")] == ["a", "b"]
        with pytest.raises(KeyNeeded):
            await caller.report.cohorts(brand="b").wait()


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    for one, other in ((Client, AsyncClient), (ReportCall, AsyncReportCall), (Release, AsyncRelease)):
        named = {name: inspect.signature(call) for name, call in vars(one).items() if inspect.isfunction(call)}
        public = {name for name in named if not name.startswith("_")}
        assert public and public == {
            name for name, call in vars(other).items() if inspect.isfunction(call) and not name.startswith("_")
        }
        for name in public:
            assert named[name].parameters == inspect.signature(vars(other)[name]).parameters, name


async def test_the_asynchronous_client_follows_reports_and_downloads_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b"PAR1" * 100
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    rows = {"data": [{"median": "1.50"}], "meta": {"rows": 1}}

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/f"):
            return httpx.Response(200, content=body)
        if request.url.path.endswith("/latest"):
            return httpx.Response(200, json=manifest(file))
        return httpx.Response(200, json={"cost_units": 10} if "dry_run" in request.url.params else rows)

    class Threads(httpx.Client):
        def __init__(self, **options: Any) -> None:
            super().__init__(transport=httpx.MockTransport(handler), **options)

    monkeypatch.setattr(httpx, "Client", Threads)
    async with AsyncClient(URL, key="k", http=httpx.AsyncClient(transport=httpx.MockTransport(handler))) as caller:
        call = caller.report.brand_insights("vita/soy")
        assert (await call.cost())["cost_units"] == 10
        assert (await call.wait()).rows == rows["data"]
        folder = await (await caller.release("items")).download(tmp_path)
    assert (folder / "a.parquet").read_bytes() == body


def test_the_key_is_sent_to_no_other_server(tmp_path: Path) -> None:
    body = b"PAR1"
    signed = "http://elsewhere/f?signature=s"
    file = {"name": "a.parquet", "url": "http://elsewhere/f", "signed_url": signed, "bytes": len(body)}
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if request.url.host == "elsewhere":
            return httpx.Response(200, content=body)
        return httpx.Response(200, json=manifest({**file, "sha256": hashlib.sha256(body).hexdigest()}))

    client(handler).release("items").download(tmp_path)
    assert [(str(one.url), one.headers.get("Authorization")) for one in sent[1:]] == [(signed, None)]


def test_bytes_of_a_wrong_file_are_taken_back_from_the_progress(tmp_path: Path, slept: list[float]) -> None:
    body = bytes(range(250))
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": 250, "sha256": hashlib.sha256(body).hexdigest()}
    folder = tmp_path / "items" / "3"
    folder.mkdir(parents=True)
    for before in (b"x" * 250, b"x" * 300, b"x" * 100, b""):
        (folder / "a.parquet").unlink(missing_ok=True)
        (folder / "a.parquet.part").write_bytes(before)
        reported: list[int] = []
        conditions: list[str | None] = []

        def handler(request: httpx.Request, conditions: list[str | None] = conditions) -> httpx.Response:
            if request.url.path.endswith("latest"):
                return httpx.Response(200, json=manifest(file))
            conditions.append(request.headers.get("If-Range"))
            return httpx.Response(200, content=body)  # another file by now, so that the whole of it comes

        client(handler).release("items").download(tmp_path, progress=reported.append)
        assert (folder / "a.parquet").read_bytes() == body
        assert sum(reported) == 250
        assert conditions == [f'"sha256-{file["sha256"]}"' if len(before) == 100 else None]
