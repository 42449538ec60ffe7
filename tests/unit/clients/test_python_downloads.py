"""The Python client without a service: releases onto the disk, and the asynchronous client beside the other."""

import hashlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from itemindex_client import AsyncClient, Client, DownloadFailed, KeyNeeded
from itemindex_client.aio import AsyncRelease
from itemindex_client.cli import main
from itemindex_client.client import Release

from shared.bulk.schema import KeptReleaseFile
from shared.bulk.signing import SigningKey, new_key, public_jwk, statement
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


def test_a_download_that_is_cut_again_and_again_ends_as_long_as_it_comes_further(
    tmp_path: Path, slept: list[float]
) -> None:
    body = bytes(range(250)) * 4
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": 1000, "sha256": hashlib.sha256(body).hexdigest()}
    ranges: list[str | None] = []

    class Cut(httpx.SyncByteStream):
        def __init__(self, start: int) -> None:
            self.start = start

        def __iter__(self) -> Iterator[bytes]:
            yield body[self.start : self.start + 100]
            if self.start < 900:
                raise httpx.ReadError("cut")

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("latest"):
            return httpx.Response(200, json=manifest(file))
        ranges.append(wanted := request.headers.get("Range"))
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        return httpx.Response(206 if wanted else 200, stream=Cut(start))

    folder = client(handler).release("items").download(tmp_path)
    assert (folder / "a.parquet").read_bytes() == body
    assert ranges == [None, *(f"bytes={start}-" for start in range(100, 1000, 100))]


def signed_mirror(folder: Path) -> tuple[Path, Path]:
    """Return the folder of a signed release with two files, and the file of the keys."""
    (folder / "key.pem").write_bytes(new_key())
    key = SigningKey.read(folder / "key.pem")
    bodies = {"a-0.parquet": b"first", "b-0.parquet": b"second"}
    files = [
        KeptReleaseFile(name, hashlib.sha256(body).hexdigest(), 1, len(body), "é", "\u2028", {})
        for name, body in bodies.items()
    ]
    schema = [{"name": "iid", "type": "string", "nullable": False, "description": "Größe"}]
    text = statement("items", schema, 3, datetime(2026, 7, 1, tzinfo=UTC), files)
    mirror = folder / "items" / "3"
    mirror.mkdir(parents=True)
    for name, body in bodies.items():
        (mirror / name).write_bytes(body)
    document = {**json.loads(text), "signature": key.sign(text), "expires_at": "2027", "links": {}}
    (mirror / "manifest.json").write_text(json.dumps(document))
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": [public_jwk("other", "A" * 43), public_jwk(key.id, key.public)]}))
    return mirror, keys


def test_a_mirror_is_verified_without_the_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirror, keys = signed_mirror(tmp_path)
    main(["--url", "http://unreachable.invalid/v1", "verify", str(mirror), "--keys", str(keys)])
    assert capsys.readouterr().out == "items 3: signature and 2 files are as published\n"


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path) -> None:
    mirror, keys = signed_mirror(tmp_path)
    command = [sys.executable, "-m", "itemindex_client.cli", "verify", mirror, "--keys", keys]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.stderr, done.returncode) == ("", 1)


def edited(path: Path, change: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda m, k: (m / "a-0.parquet").write_bytes(b"firsT"), "a-0.parquet was changed: its SHA-256 is not"),
        (lambda m, k: (m / "a-0.parquet").write_bytes(b"firs"), "a-0.parquet was changed: it has 4 bytes"),
        (lambda m, k: (m / "b-0.parquet").unlink(), "b-0.parquet is missing"),
        (lambda m, k: (m / "c-0.parquet").write_bytes(b"x"), "c-0.parquet is not named by the manifest"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d.update(rows=9)), "the manifest was changed"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d["files"][0].update(rows=9)), "the manifest was changed"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d.update(signature=None)), "has no signature"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d.pop("rows")), "has no member 'rows'"),
        (lambda m, k: (m / "manifest.json").write_text("[]"), "is not a manifest"),
        (lambda m, k: (m / "manifest.json").write_text("{"), "is not JSON"),
        (lambda m, k: (m / "manifest.json").unlink(), "name the folder of one release"),
        (lambda m, k: edited(k, lambda d: d["keys"].pop()), "which is not one of the given keys"),
        (lambda m, k: edited(k, lambda d: d["keys"][1].update(x="B" * 43)), "does not belong to it"),
        (lambda m, k: k.write_text("{}"), "has no member 'keys'"),
        (lambda m, k: k.unlink(), "save the service's /.well-known/release-keys.json there"),
    ],
)
def test_what_is_not_as_published_is_said_and_ends_with_one(
    tmp_path: Path, damage: Callable[[Path, Path], object], sentence: str
) -> None:
    mirror, keys = signed_mirror(tmp_path)
    damage(mirror, keys)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(mirror), "--keys", str(keys)])
    assert isinstance(ended.value.code, str) and sentence in ended.value.code  # a text ends the process with 1


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
    for one, other in ((Client, AsyncClient), (Release, AsyncRelease)):
        named = {name: inspect.signature(call) for name, call in vars(one).items() if inspect.isfunction(call)}
        public = {name for name in named if not name.startswith("_")}
        assert public and public == {
            name for name, call in vars(other).items() if inspect.isfunction(call) and not name.startswith("_")
        }
        for name in public:
            assert named[name].parameters == inspect.signature(vars(other)[name]).parameters, name


async def test_the_asynchronous_client_follows_reports_and_downloads_releases(tmp_path: Path) -> None:
    body = b"PAR1" * 100
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    rows = {"data": [{"median": "1.50"}], "meta": {"rows": 1}}

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/f"):
            return httpx.Response(200, content=body)
        if request.url.path.endswith("/latest"):
            return httpx.Response(200, json=manifest(file))
        return httpx.Response(200, json={"cost_units": 10} if "dry_run" in request.url.params else rows)

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
