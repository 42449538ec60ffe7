"""Files of a release onto the disk: several at a time, resumed where they stopped, checked by their digests."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from itemindex_client.errors import DownloadFailed, problem_of

_TRIES_MAX = 8
_BACKOFF_SECONDS, _BACKOFF_SECONDS_MAX = 0.2, 5.0
# A name is the server's: nothing of it may lead out of the folder.
_NAME = re.compile(r"[a-z0-9-]{1,80}\.parquet", re.ASCII)
_DATASET = re.compile(r"[a-z-]{1,40}", re.ASCII)
Counted = Callable[[int], object]


class _File(NamedTuple):
    name: str
    url: str
    bytes: int
    sha256: str


def download(
    http: httpx.Client,
    manifest: dict[str, Any],
    headers: dict[str, str],
    folder: Path,
    parallel: int,
    progress: Counted,
) -> Path:
    """Download all files of a manifest into folder/dataset/version; return that folder. Raises DownloadFailed."""
    files = [_File(*(file[name] for name in _File._fields)) for file in manifest["files"]]
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
        for done in [pool.submit(_fetch, http, file, headers, target, counted) for file in files]:
            done.result()
    kept = {**manifest, "files": [{k: v for k, v in file.items() if k != "signed_url"} for file in manifest["files"]]}
    (target / "manifest.json").write_text(json.dumps(kept, indent=1))
    return target


def _fetch(http: httpx.Client, file: _File, headers: dict[str, str], target: Path, counted: Counted) -> None:
    path, part = target / file.name, target / f"{file.name}.part"
    if path.exists() and path.stat().st_size == file.bytes and _sha256(path) == file.sha256:
        counted(file.bytes)
        return
    for attempt in range(_TRIES_MAX):
        try:
            _continue(http, file, headers, part, counted)
        except httpx.TransportError:
            time.sleep(min(_BACKOFF_SECONDS * 2**attempt, _BACKOFF_SECONDS_MAX))
            continue
        if part.stat().st_size == file.bytes and _sha256(part) == file.sha256:
            part.replace(path)
            return
        if part.stat().st_size >= file.bytes:
            part.unlink()  # not the bytes that were promised: once more from the beginning
    raise DownloadFailed(f"{file.name} did not come whole in {_TRIES_MAX} tries; run it again to continue")


def _continue(http: httpx.Client, file: _File, headers: dict[str, str], part: Path, counted: Counted) -> None:
    """Append what is missing of a file. Raises httpx.TransportError where the connection ends, or ApiProblem."""
    reached = part.stat().st_size if part.exists() else 0
    fields = {**headers, **({"Range": f"bytes={reached}-"} if reached else {})}
    with http.stream("GET", file.url, headers=fields, follow_redirects=True) as answer:
        if answer.status_code in (429, 502, 503, 504):
            time.sleep(min(float(answer.headers.get("Retry-After") or 1), _BACKOFF_SECONDS_MAX))
            return
        if not answer.is_success:
            answer.read()
            raise problem_of(answer)
        resumed = answer.status_code == 206
        with part.open("ab" if resumed else "wb") as out:
            if resumed:
                counted(reached)
            for block in answer.iter_bytes(1 << 18):
                out.write(block)
                counted(len(block))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
