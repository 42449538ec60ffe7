"""`itemindex fetch`: downloads a release, several files at a time; resumes after an interruption."""

import hashlib
import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from deploy.ctl.console import console
from deploy.terminal import safe
from shared.errors import ItemIndexError

_CHUNK_BYTES = 1 << 18
_ANSWER_SECONDS = 30
_TRIES_MAX = 8
_BACKOFF_SECONDS = 0.2
_BACKOFF_SECONDS_MAX = 5.0
# A name is the server's: nothing of it may lead out of the folder.
_NAME = re.compile(r"[a-z0-9-]{1,80}\.parquet", re.ASCII)
ReportProgress = Callable[[int], None]


class FetchFailed(ItemIndexError):
    """A release or a file of it could not be had; the text says why."""


class Wanted(NamedTuple):
    """One file of a manifest."""

    name: str
    url: str
    bytes: int
    sha256: str


@click.command(epilog="Example: itemindex fetch observations --url https://api.example/v1 --to data")
@click.argument("dataset")
@click.option("--release", default="latest", show_default=True, help="A data_version.")
@click.option("--url", default="http://127.0.0.1:8080/v1", show_default=True, help="Address of the API.")
@click.option("--key", envvar="ITEMINDEX_KEY", required=True, help="API key; better in the variable ITEMINDEX_KEY.")
@click.option("--to", "folder", type=click.Path(path_type=Path), default=Path(), help="Where to; default: here.")
@click.option("--parallel", default=4, show_default=True, type=click.IntRange(1, 16), help="Files at a time.")
def fetch(dataset: str, release: str, url: str, key: str, folder: Path, parallel: int) -> None:
    """Download a release. Run again, it resumes; files that are there and correct are not fetched twice."""
    manifest = read_manifest(f"{url.rstrip('/')}/index/datasets/{dataset}/releases/{release}", key)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(safe(f"{dataset} {manifest['data_version']}"), total=manifest["bytes"])
        target = download(manifest, key, folder, parallel, lambda count: progress.advance(task, count))
    console.say(
        "{rows:,} rows in {files} files: {target}", rows=manifest["rows"], files=len(manifest["files"]), target=target
    )


def read_manifest(address: str, key: str) -> dict[str, Any]:
    """Return a release's manifest. Raises FetchFailed with the server's own words, or why it could not be reached."""
    try:
        with _opened(address, key, {}) as answer:
            manifest: dict[str, Any] = json.load(answer)
    except (OSError, HTTPException, ValueError) as error:
        raise FetchFailed(f"{address} cannot be read: {getattr(error, 'reason', None) or error}") from None
    return manifest


def download(
    manifest: dict[str, Any],
    key: str,
    folder: Path,
    parallel: int,
    report_progress: ReportProgress = lambda count: None,
) -> Path:
    """Fetch all files of a manifest into folder/dataset/version, each whole and checked; return that folder."""
    target = folder / str(manifest["dataset"]) / str(int(manifest["data_version"]))
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FetchFailed(f"{target} cannot be created ({error.strerror}); name another folder with --to") from None
    wanted = [Wanted(*(file[name] for name in Wanted._fields)) for file in manifest["files"]]
    for file in wanted:
        if not _NAME.fullmatch(file.name):
            raise FetchFailed(f"the manifest names a file {file.name!r}, which is no name of a release")
    lock = threading.Lock()

    def counted(count: int) -> None:
        with lock:
            report_progress(count)

    with ThreadPoolExecutor(parallel) as pool:
        for done in [pool.submit(_fetch, file, key, target, counted) for file in wanted]:
            done.result()
    kept = {**manifest, "files": [{k: v for k, v in file.items() if k != "signed_url"} for file in manifest["files"]]}
    (target / "manifest.json").write_text(json.dumps(kept, indent=1))
    return target


def _fetch(file: Wanted, key: str, target: Path, report_progress: ReportProgress) -> None:
    path, part = target / file.name, target / f"{file.name}.part"
    if path.exists() and path.stat().st_size == file.bytes and _sha256(path) == file.sha256:
        report_progress(file.bytes)
        return
    counted = 0
    for wait in _waits():
        reached = part.stat().st_size if part.exists() else 0
        report_progress(reached - counted)
        counted = reached
        if reached >= file.bytes:
            if reached == file.bytes and _sha256(part) == file.sha256:
                part.replace(path)
                return
            part.unlink()  # not the bytes that were promised: from the beginning
            continue
        try:
            for count in _go_on(file, key, part, reached):
                counted += count
                report_progress(count)
        except (OSError, HTTPException):
            time.sleep(wait)  # interrupted: the next try resumes after the bytes received so far
    raise FetchFailed(f"{file.name} could not be fetched whole in {_TRIES_MAX} tries; run the command again to resume")


def _go_on(file: Wanted, key: str, part: Path, reached: int) -> Iterator[int]:
    """Fetch from where it broke off; yield how many bytes came. If the file is another one by now, all of it comes."""
    fields = {"Range": f"bytes={reached}-", "If-Range": f'"sha256-{file.sha256}"'} if reached else {}
    with _opened(file.url, key, fields) as answer:
        going_on = answer.status == 206
        with part.open("ab" if going_on else "wb") as sink:
            if reached and not going_on:
                yield -reached
            while chunk := answer.read(_CHUNK_BYTES):
                sink.write(chunk)
                yield len(chunk)


def _opened(address: str, key: str, fields: dict[str, str]) -> Any:
    if not address.startswith(("http://", "https://")):
        raise FetchFailed("the address must begin with http:// or https://")
    request = urllib.request.Request(address, headers={"Authorization": f"ApiKey {key}", **fields})  # noqa: S310
    try:
        return urllib.request.urlopen(request, timeout=_ANSWER_SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            if error.code in (429, 500, 502, 503, 504):
                raise ConnectionError(f"the service answers {error.code}") from None
            raise FetchFailed(f"the service answers {error.code}: {_detail(error)}") from None


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError, OSError):
        return str(error.reason)


def _waits() -> Iterator[float]:
    for n in range(_TRIES_MAX):
        yield min(_BACKOFF_SECONDS * 2**n, _BACKOFF_SECONDS_MAX)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
