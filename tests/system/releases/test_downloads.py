"""Releases through nginx: downloads, the guide's examples, the client of Delta Sharing."""

import hashlib
import json
import random
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from itemindex_client import Client
from itemindex_client.client import Release

from shared.bulk.schema import RELEASED
from tests.system.releases.conftest import Buyer

pytestmark = pytest.mark.xdist_group("stack")


CUTS = 25


def some_of(buyer: Buyer, url: str, have: int, etag: str, most: int) -> tuple[int, bytes]:
    """Ask for a file from a place on, and hang up after so many bytes."""
    target = "/" + url.split("/", 3)[3]
    going_on = f"Range: bytes={have}-\r\nIf-Range: {etag}\r\n" if have else ""
    with socket.create_connection(("127.0.0.1", buyer.stack.port), timeout=20) as line:
        line.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{going_on}Connection: close\r\n\r\n".encode())
        raw = b""
        while b"\r\n\r\n" not in raw or len(raw.partition(b"\r\n\r\n")[2]) < most:
            chunk = line.recv(8192)
            if not chunk:
                break
            raw += chunk
    head, _, body = raw.partition(b"\r\n\r\n")
    return int(head.split()[1]), body[:most]


def test_a_download_cut_at_any_byte_resumes_and_its_digest_is_right(buyer: Buyer) -> None:
    """Random places, several cuts a download: the bytes are the file's, every time."""
    file, dice = buyer.manifest()["files"][0], random.Random(5)
    etag = f'"sha256-{file["sha256"]}"'
    for _ in range(CUTS):
        got = b""
        while len(got) < file["bytes"]:
            status, more = some_of(buyer, file["signed_url"], len(got), etag, dice.randint(1, file["bytes"] // 2))
            assert status == (206 if got else 200)
            got += more
        assert hashlib.sha256(got).hexdigest() == file["sha256"]


def test_a_file_that_was_replaced_comes_whole(buyer: Buyer) -> None:
    file = buyer.manifest()["files"][0]
    for stale in ('"sha256-' + "0" * 64 + '"', "W/" + f'"sha256-{file["sha256"]}"', "Sat, 21 Nov 2026 00:00:00 GMT"):
        status, body = some_of(buyer, file["signed_url"], 100, stale, file["bytes"])
        assert (status, hashlib.sha256(body).hexdigest()) == (200, file["sha256"])


def test_nginx_sends_the_bytes_and_all_fields_come_along(buyer: Buyer) -> None:
    manifest = buyer.manifest()
    file = manifest["files"][0]
    for url in (file["url"], file["signed_url"]):
        with buyer.get(url) as answer:
            assert hashlib.sha256(answer.read()).hexdigest() == file["sha256"]
            head = answer.headers
        assert head["Server"] == "nginx" and "X-Accel-Redirect" not in head
        assert (head["ETag"], int(head["Content-Length"])) == (f'"sha256-{file["sha256"]}"', file["bytes"])
        assert head["Repr-Digest"].startswith("sha-256=:") and head["X-Request-Id"]
        assert head["Content-Disposition"].startswith("attachment") and head["Last-Modified"] is None
        assert head["X-Content-Type-Options"] == "nosniff" and head["Accept-Ranges"] == "bytes"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"Range": "bytes=0-9"}, 206),
        ({"Range": "bytes=-9"}, 206),
        ({"Range": "bytes=5-2"}, 200),
        ({"Range": "items=0-5"}, 200),
        ({"Range": "bytes=0-1,4-5"}, 200),
        ({"Range": "bytes=999999999-"}, 416),
        ({"If-None-Match": "*"}, 304),
        ({"If-Match": '"x"'}, 412),
        ({"If-Modified-Since": "Sat, 21 Nov 2037 00:00:00 GMT"}, 200),
        ({"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, 200),
    ],
)
def test_conditions_are_answered_as_the_edge_alone_would(buyer: Buyer, fields: dict[str, str], status: int) -> None:
    url = buyer.manifest()["files"][0]["url"]
    try:
        with buyer.get(url, **fields) as answer:
            assert answer.status == status
    except urllib.error.HTTPError as refused:
        with refused:
            found, outside = refused.code, refused.headers["Content-Range"]
        assert (found, bool(outside)) == (status, status == 416)


@pytest.mark.parametrize("nonsense", ["bytes=5-2", "bytes=-", "bytes=a-b", "bytes=0-" + "9" * 30])
def test_a_range_that_means_nothing_brings_the_whole_file_beside_a_right_if_range(buyer: Buyer, nonsense: str) -> None:
    """nginx would answer 416, on which a client that resumes gives up."""
    file = buyer.manifest()["files"][0]
    with buyer.get(file["url"], **{"Range": nonsense, "If-Range": f'"sha256-{file["sha256"]}"'}) as answer:
        assert (answer.status, hashlib.sha256(answer.read()).hexdigest()) == (200, file["sha256"])


def test_a_head_with_a_range_describes_the_whole_file(buyer: Buyer) -> None:
    file = buyer.manifest()["files"][0]
    target = "/" + file["signed_url"].split("/", 3)[3]
    line = HTTPConnection("127.0.0.1", buyer.stack.port, timeout=20)
    with closing(line):
        line.request("HEAD", target, headers={"Range": "bytes=0-9"})
        answer = line.getresponse()
        assert (answer.status, int(answer.headers["Content-Length"])) == (200, file["bytes"])
        assert answer.headers["Content-Range"] is None


def test_the_stored_files_cannot_be_asked_for_directly(buyer: Buyer) -> None:
    sha256 = buyer.manifest()["files"][0]["sha256"]
    for path in (f"/_stored/releases/{sha256}.parquet", "/_stored/../postgres/PG_VERSION", "/v1/../_stored/releases/"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            buyer.get(f"http://127.0.0.1:{buyer.stack.port}{path}")
        assert refused.value.code == 404
        refused.value.close()


def test_no_log_of_any_part_keeps_a_signature(buyer: Buyer) -> None:
    address = buyer.manifest()["files"][0]["signed_url"]
    some_of(buyer, address, 0, "", 10)
    some_of(buyer, address.replace("signed/", "signed/" + "a" * 9000), 0, "", 10)  # one that nginx refuses itself
    secret = address.rpartition("signature=")[2]
    for path in (buyer.stack.folder / "log").glob("*.log"):
        assert secret not in path.read_text(errors="replace"), path


def test_a_download_resumes_checks_and_does_nothing_twice(buyer: Buyer, tmp_path: Path) -> None:
    with Client(buyer.api, key=buyer.key) as client:
        release = client.release("items")
        manifest, file = release.manifest, release.manifest["files"][0]
        with buyer.get(file["url"]) as answer:
            content = answer.read()
        target = tmp_path / "items" / str(manifest["data_version"])
        target.mkdir(parents=True)
        for before in (content[:1000], content[:-1] + b"x", content + b"too long", b""):
            for old in target.iterdir():
                old.unlink()
            (target / f"{file['name']}.part").write_bytes(before)
            reported: list[int] = []
            assert release.download(tmp_path, progress=reported.append) == target
            assert (target / file["name"]).read_bytes() == content
            assert sum(reported) == manifest["bytes"]
            assert sorted(path.name for path in target.iterdir()) == sorted([file["name"], "manifest.json"])
        assert "signed_url" not in (target / "manifest.json").read_text()
        unreachable: Any = {**manifest, "files": [{**file, "url": "http://127.0.0.1:1/"}]}
        Release(client, unreachable).download(tmp_path)  # nothing to fetch


def test_the_command_downloads_a_release_or_says_why_not(buyer: Buyer, tmp_path: Path) -> None:
    def fetch(key: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "itemindex_client.cli", "--url", buyer.api, "--key", key, "fetch", "items"]
        return subprocess.run([*command, "--to", str(tmp_path)], capture_output=True, text=True, check=False)

    refused = fetch("iixk_live_wrong")
    assert refused.returncode == 1 and refused.stderr.startswith("ixc: ") and "401" in refused.stderr
    assert fetch(buyer.key).returncode == 0
    assert len(list(tmp_path.glob("items/*/*.parquet"))) == len(buyer.manifest("items")["files"])


def test_the_command_line_cuts_and_lists(buyer: Buyer) -> None:
    assert "is cut" in buyer.stack.ctl("releases", "cut", "--wait")
    listed = json.loads(buyer.stack.ctl("releases", "list", "--json"))
    assert {entry["dataset"] for entry in listed} == set(RELEASED)


def test_a_client_of_s3_reads_the_releases_through_nginx(buyer: Buyer) -> None:
    """boto3 as its users have it: it signs what it likes, and nginx sends the bytes."""
    asked = urllib.request.Request(
        f"{buyer.api}/org/data-credentials", method="POST", headers={"Authorization": f"ApiKey {buyer.key}"}
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        made = json.load(answer)
    s3 = boto3.client(
        "s3",
        endpoint_url=made["endpoint"],
        region_name=made["region"],
        aws_access_key_id=made["access_key_id"],
        aws_secret_access_key=made["secret_access_key"],
        aws_session_token=made["session_token"],
        config=Config(signature_version="s3v4", retries={"total_max_attempts": 1}),
    )
    manifest = buyer.manifest()
    found = s3.list_objects_v2(Bucket="releases", Prefix=f"observations/{manifest['data_version']}/")["Contents"]
    assert [(one["Key"].rpartition("/")[2], one["Size"]) for one in found] == [
        (file["name"], file["bytes"]) for file in manifest["files"]
    ]
    named, sha256 = {"Bucket": "releases", "Key": found[0]["Key"]}, manifest["files"][0]["sha256"]
    whole = s3.get_object(**named)
    body = whole["Body"].read()
    assert hashlib.sha256(body).hexdigest() == sha256
    assert (whole["ETag"], whole["LastModified"]) == (found[0]["ETag"], s3.head_object(**named)["LastModified"])
    assert s3.get_object(**named, Range="bytes=100-")["Body"].read() == body[100:]
    with urllib.request.urlopen(s3.generate_presigned_url("get_object", Params=named, ExpiresIn=60)) as answer:
        assert answer.read() == body
    with pytest.raises(ClientError) as refused:
        s3.put_object(**named, Body=b"x")
    assert refused.value.response["Error"]["Code"] == "MethodNotAllowed"
