"""Files of a release onto the disk: several at a time, resumed where they stopped, checked by digest and signature."""

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from itemindex_client.errors import DownloadFailed, NotVerified, problem_of, retry_after
from itemindex_client.schemas import ExportFile, ExportManifest, ReleaseFile, ReleaseManifest
from itemindex_client.settings import Credentials, user_agent

_TRIES_MAX = 8
_BACKOFF_SECONDS, _BACKOFF_SECONDS_MAX = 0.2, 5.0
# A name is the server's: nothing of it may lead out of the folder.
_NAME = re.compile(r"[a-z0-9-]{1,80}\.parquet", re.ASCII)
_EXPORTED_NAME = re.compile(r"[a-z0-9_-]{1,80}(\.[a-z0-9]{1,8}){1,2}", re.ASCII)
_DATASET = re.compile(r"[a-z_-]{1,40}", re.ASCII)
_SIGNED = ("dataset", "schema", "data_version", "created_at", "rows", "bytes", "files")
_SIGNED_OF_FILE = ("name", "rows", "bytes", "sha256", "min_key", "max_key")
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
    def of(cls, entry: ReleaseFile | ExportFile) -> "_File":
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
    _create(target)
    lock = threading.Lock()

    def counted(count: int) -> None:
        with lock:
            progress(count)

    with ThreadPoolExecutor(parallel) as pool:
        for done in [pool.submit(_fetch, http, file, credentials, target, counted) for file in files]:
            done.result()
    _keep_manifest(manifest, target)
    return target


def check_export_folder(folder: Path) -> None:
    """Raise DownloadFailed where the folder of an export has files: a reader would take two exports for one.

    It would count rows twice, and apply the removal of an item after its return.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DownloadFailed(f"{folder} is not an empty folder: name a new one for each export")


def download_export(
    http: httpx.Client, manifest: ExportManifest, credentials: Credentials, folder: Path
) -> Iterator[Path]:
    """Download the files of an export into its folder, one after another; yield where each one is.

    `manifest.json` follows the last file. Raises DownloadFailed, or ApiProblem where the service refuses a file.
    """
    files = [_File.of(entry) for entry in manifest["files"]]
    for file in files:
        if not _EXPORTED_NAME.fullmatch(file.name):
            raise DownloadFailed(f"{file.name!r} is not the name of an export's file")
    _create(folder)
    for file in files:
        _fetch(http, file, credentials, folder, uncounted)
        yield folder / file.name
    _keep_manifest(manifest, folder)


def _keep_manifest(manifest: ReleaseManifest | ExportManifest, folder: Path) -> None:
    """Write the manifest without signed addresses, which open the files to everyone who reads them."""
    kept = {**manifest, "files": [{k: v for k, v in file.items() if k != "signed_url"} for file in manifest["files"]]}
    (folder / "manifest.json").write_text(json.dumps(kept, indent=1))


def verify(folder: Path, keys: Mapping[str, Any]) -> ReleaseManifest:
    """Check a downloaded release without the service: its manifest by the signature, its files by the manifest.

    `keys` is the document at /.well-known/release-keys.json. Returns the manifest, or raises NotVerified.
    """
    manifest = _json(folder / "manifest.json", "name the folder of one release, as `ixc fetch` creates it")
    try:
        signed = {name: manifest[name] for name in _SIGNED}
        signed["files"] = [{name: file[name] for name in _SIGNED_OF_FILE} for file in manifest["files"]]
        signature = manifest["signature"]
        key_id, value = (signature["key_id"], signature["value"]) if signature else ("", "")
        known = {str(key["kid"]): str(key["x"]) for key in keys["keys"]}
    except KeyError as error:
        raise NotVerified(f"the manifest or the document of keys has no member {error}") from None
    except (TypeError, AttributeError):
        raise NotVerified(f"{folder / 'manifest.json'} is not a manifest, or the keys are not a set of keys") from None
    if not signature:
        raise NotVerified("the manifest has no signature: the service published this release unsigned")
    if key_id not in known:
        raise NotVerified(f"the manifest is signed with the key {key_id}, which is not one of the given keys")
    text = json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    if not _signature_holds(known[key_id], str(value), text):
        raise NotVerified(f"the manifest was changed: the signature of key {key_id} does not belong to it")
    faults = [fault for file in signed["files"] if (fault := _fault(folder, file))]
    named = {file["name"] for file in signed["files"]}
    faults += [
        f"{path.name} is not named by the manifest"
        for path in sorted(folder.glob("*.parquet"))
        if path.name not in named
    ]
    if faults:
        raise NotVerified("; ".join(faults))
    verified: ReleaseManifest = manifest
    return verified


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadFailed(f"{folder} cannot be created: {error.strerror}") from None


def _json(path: Path, remedy: str) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise NotVerified(f"{path} cannot be read ({error.strerror}): {remedy}") from None
    except ValueError:
        raise NotVerified(f"{path} is not JSON: {remedy}") from None


def read_keys(path: Path) -> Mapping[str, Any]:
    """Read a saved copy of /.well-known/release-keys.json. Raises NotVerified if it is none."""
    keys: Mapping[str, Any] = _json(path, "save the service's /.well-known/release-keys.json there")
    return keys


def _signature_holds(key: str, value: str, text: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise NotVerified("the package `cryptography` is needed: install itemindex-client[verify]") from None
    try:
        Ed25519PublicKey.from_public_bytes(_bytes(key)).verify(_bytes(value), text)
    except (InvalidSignature, ValueError):
        return False
    return True


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _fault(folder: Path, file: Mapping[str, Any]) -> str | None:
    name, path = str(file["name"]), folder / str(file["name"])
    if not _NAME.fullmatch(name):
        return f"{name!r} is not the name of a release's file"
    if not path.is_file():
        return f"{name} is missing"
    if path.stat().st_size != file["bytes"]:
        return f"{name} was changed: it has {path.stat().st_size:,} bytes, the manifest says {file['bytes']:,}"
    if _sha256(path) != file["sha256"]:
        return f"{name} was changed: its SHA-256 is not the one in the manifest"
    return None


def _fetch(http: httpx.Client, file: _File, credentials: Credentials, target: Path, progress: Counted) -> None:
    path, part = target / file.name, target / f"{file.name}.part"
    if file.is_at(path):
        progress(file.bytes)
        return
    part.touch()  # of a file without bytes nothing comes
    counted = furthest = tries = 0
    while tries < _TRIES_MAX:
        reached = part.stat().st_size
        progress(reached - counted)
        counted = reached
        # Tries are counted from the last one that came further: a file of hours may be cut many times.
        if reached > furthest:
            furthest, tries = reached, 0
        tries += 1
        if reached >= file.bytes:
            if file.is_at(part):
                part.replace(path)
                return
            part.write_bytes(b"")  # not the bytes that were promised: from the beginning
            continue
        try:
            for count in _continue(http, file, credentials, part, reached, tries):
                counted += count
                progress(count)
        except httpx.TransportError:
            time.sleep(_pause(tries))  # the next try resumes after the bytes that came
    if not file.is_at(part):
        raise DownloadFailed(f"{file.name} came no further in {_TRIES_MAX} tries; run it again to continue")
    part.replace(path)


def _continue(
    http: httpx.Client, file: _File, credentials: Credentials, part: Path, reached: int, tries: int
) -> Iterator[int]:
    """Append what is missing of a file, and yield how many bytes came; all of it comes where it is another file by now.

    Raises httpx.TransportError where the connection ends, or ApiProblem.
    """
    own = credentials.are_for(file.url)
    fields = user_agent(http) | (credentials.headers(key_needed=True) if own else {})
    if reached:
        fields |= {"Range": f"bytes={reached}-", "If-Range": f'"sha256-{file.sha256}"'}
    url = file.url if own else file.signed_url or file.url
    with http.stream("GET", url, headers=fields, follow_redirects=True) as answer:
        if answer.status_code in (429, 500, 502, 503, 504):
            time.sleep(min(retry_after(answer) or _pause(tries), _BACKOFF_SECONDS_MAX))
            return
        if not answer.is_success:
            answer.read()
            raise problem_of(answer)
        resumed = answer.status_code == 206
        if reached and not resumed:
            yield -reached
        with part.open("ab" if resumed else "wb") as out:
            # Blocks as they come: one that is being filled would be lost with the connection.
            for block in answer.iter_bytes():
                out.write(block)
                yield len(block)


def _pause(tries: int) -> float:
    return float(min(_BACKOFF_SECONDS * 2 ** (tries - 1), _BACKOFF_SECONDS_MAX))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
