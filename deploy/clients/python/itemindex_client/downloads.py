"""Files of a release onto the disk: several at a time, resumed where they stopped, checked by their digests."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx

from itemindex_client.errors import DownloadFailed, problem_of, retry_after
from itemindex_client.schemas import ReleaseFile, ReleaseManifest
from itemindex_client.settings import Credentials

_TRIES_MAX = 8
_BACKOFF_SECONDS, _BACKOFF_SECONDS_MAX = 0.2, 5.0
_BLOCK_BYTES = 1 << 18
# A name is the server's: nothing of it may lead out of the folder.
_NAME = re.compile(r"[a-z0-9-]{1,80}\.parquet", re.ASCII)
_DATASET = re.compile(r"[a-z-]{1,40}", re.ASCII)
Counted = Callable[[int], object]
"""Called with numbers of bytes that came; a number below zero takes back bytes that turned out to be others."""


def uncounted(count: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class _File:
    name: str
    url: str
    signed_url: str | None
    bytes: int
    sha256: str

    @classmethod
    def of(cls, entry: ReleaseFile) -> "_File":
        return cls(entry["name"], entry["url"], entry.get("signed_url"), int(entry["bytes"]), entry["sha256"])

    def is_at(self, path: Path) -> bool:
        return path.exists() and path.stat().st_size == self.bytes and _sha256(path) == self.sha256


def download(
    http: httpx.Client,
    manifest: ReleaseManifest,
    credentials: Credentials,
    folder: Path,
    parallel: int,
    progress: Counted,
) -> Path:
    """Download all files of a manifest into folder/dataset/version; return that folder.

    Raises DownloadFailed, or ApiProblem where the service refuses a file.
    """
    files = [_File.of(entry) for entry in manifest["files"]]
    wrong = [file.name for file in files if not _NAME.fullmatch(file.name)]
    if wrong or not _DATASET.fullmatch(str(manifest["dataset"])):
        raise DownloadFailed(f"the manifest has names that are no names of a release: {wrong or manifest['dataset']}")
    target = folder / str(manifest["dataset"]) / str(int(manifest["data_version"]))
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadFailed(f"{target} cannot be created: {error.strerror}") from None
    lock = threading.Lock()

    def counted(count: int) -> None:
        with lock:
            progress(count)

    with ThreadPoolExecutor(parallel) as pool:
        for done in [pool.submit(_fetch, http, file, credentials, target, counted) for file in files]:
            done.result()
    # Signed addresses open the files to everyone who reads them, so they are not kept.
    kept = {**manifest, "files": [{k: v for k, v in file.items() if k != "signed_url"} for file in manifest["files"]]}
    (target / "manifest.json").write_text(json.dumps(kept, indent=1))
    return target


def _fetch(http: httpx.Client, file: _File, credentials: Credentials, target: Path, progress: Counted) -> None:
    path, part = target / file.name, target / f"{file.name}.part"
    if file.is_at(path):
        progress(file.bytes)
        return
    counted = 0
    for attempt in range(_TRIES_MAX):
        reached = part.stat().st_size if part.exists() else 0
        progress(reached - counted)
        counted = reached
        if reached >= file.bytes:
            if file.is_at(part):
                part.replace(path)
                return
            part.unlink()  # not the bytes that were promised: from the beginning
            continue
        try:
            for count in _continue(http, file, credentials, part, reached, attempt):
                counted += count
                progress(count)
        except httpx.TransportError:
            time.sleep(_pause(attempt))  # the next try resumes after the bytes that came
    if not file.is_at(part):
        raise DownloadFailed(f"{file.name} did not come whole in {_TRIES_MAX} tries; run it again to continue")
    part.replace(path)


def _continue(
    http: httpx.Client, file: _File, credentials: Credentials, part: Path, reached: int, attempt: int
) -> Iterator[int]:
    """Append what is missing of a file, and yield how many bytes came; all of it comes where it is another file by now.

    Raises httpx.TransportError where the connection ends, or ApiProblem.
    """
    own = credentials.are_for(file.url)
    fields = credentials.headers(key_needed=True) if own else {}
    if reached:
        fields |= {"Range": f"bytes={reached}-", "If-Range": f'"sha256-{file.sha256}"'}
    url = file.url if own else file.signed_url or file.url
    with http.stream("GET", url, headers=fields, follow_redirects=True) as answer:
        if answer.status_code in (429, 500, 502, 503, 504):
            time.sleep(min(retry_after(answer) or _pause(attempt), _BACKOFF_SECONDS_MAX))
            return
        if not answer.is_success:
            answer.read()
            raise problem_of(answer)
        resumed = answer.status_code == 206
        if reached and not resumed:
            yield -reached
        with part.open("ab" if resumed else "wb") as out:
            for block in answer.iter_bytes(_BLOCK_BYTES):
                out.write(block)
                yield len(block)


def _pause(attempt: int) -> float:
    return float(min(_BACKOFF_SECONDS * 2**attempt, _BACKOFF_SECONDS_MAX))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
