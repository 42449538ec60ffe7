"""The directory of an index, for those that write it: a whole segment gets a name, then a manifest names it."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import msgspec
import numpy as np

from shared.search import layout
from shared.search.layout import Manifest, SegmentEntry
from shared.search.segment import Numbers, read_info

KEPT_VERSIONS = 2
_UNFINISHED, _MERGING = ".unfinished-", ".merging-"
_NONE = np.zeros(0, np.uint32)


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Wait until no other process publishes or removes segments here."""
    with _locked(directory / ".writing", fcntl.LOCK_EX):
        yield


@contextmanager
def merging(directory: Path) -> Iterator[bool]:
    """Return whether no other process merges segments here; then none will, until the block ends."""
    try:
        with _locked(directory / ".merging", fcntl.LOCK_EX | fcntl.LOCK_NB):
            _remove(directory, _MERGING)
            yield True
    except BlockingIOError:
        yield False


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, how)
        yield


def unfinished(directory: Path) -> Path:
    """Return the path of a folder for a segment that a process writes while it holds the lock of `writing`."""
    return directory / layout.SEGMENTS / f"{_UNFINISHED}{uuid4().hex}"


def unmerged(directory: Path) -> Path:
    """Return the path of a folder for a segment that a process writes while it holds the lock of `merging`."""
    return directory / layout.SEGMENTS / f"{_MERGING}{uuid4().hex}"


def name_segment(directory: Path, folder: Path) -> str:
    """Name a segment that is whole and durable by the digest of its description, which has those of its files."""
    name = sha256((folder / layout.SEGMENT).read_bytes()).hexdigest()
    target = directory / layout.SEGMENTS / name
    if target.exists():
        shutil.rmtree(folder)
    else:
        folder.rename(target)
        sync(target.parent)
    return name


def read_deleted(directory: Path, entry: SegmentEntry) -> Numbers:
    """Return the sorted numbers of a segment's deleted documents. Raises OSError or ValueError unless all are there."""
    if entry.deletions is None:
        return _NONE
    numbers = np.fromfile(directory / layout.DELETIONS / entry.deletions, np.uint32)
    if len(numbers) != entry.deleted:
        raise ValueError("the file of deletions is not as long as it was written")
    return numbers


def is_whole(directory: Path, manifest: Manifest) -> bool:
    """Return whether each file of an index is there and as long as it was written. What it contains is not read."""
    try:
        for entry in manifest.segments:
            read_info(directory / layout.SEGMENTS / entry.id)
            read_deleted(directory, entry)
    except (OSError, ValueError):
        return False
    return True


def with_deleted(directory: Path, entry: SegmentEntry, numbers: Numbers) -> SegmentEntry:
    """Write which documents of a segment are deleted, sorted; return the segment's entry that says so."""
    if len(numbers) == entry.deleted:
        return entry
    content = numbers.tobytes()
    name = sha256(content).hexdigest()
    path = directory / layout.DELETIONS / name
    path.parent.mkdir(exist_ok=True)
    write(path, content)
    return SegmentEntry(entry.id, entry.items, len(numbers), name)


def publish(
    directory: Path, version: int, committed_at: str, segments: Sequence[SegmentEntry], identifiers: int | None = None
) -> Manifest:
    """Make a manifest of these segments the newest of its data_version; readers see it whole or not at all.

    `identifiers`: as in `Manifest`.
    """
    numbers = [int(path.name.split(".")[1]) for path in directory.glob(f"{version}.*.json")]
    number = max(numbers, default=-1) + 1
    with_items = tuple(segment for segment in segments if segment.live)
    manifest = Manifest(uuid4().hex, layout.FORMAT, version, number, committed_at, with_items, identifiers)
    write(directory / manifest.name, msgspec.json.encode(manifest))
    forget_newer(directory, manifest)
    return manifest


def forget_newer(directory: Path, manifest: Manifest) -> None:
    """Remove manifests of higher data_versions: they are of a database that is no longer there, as after a restore."""
    for path in layout.manifests(directory):
        if path.name == manifest.name:
            return
        path.unlink()


def write(path: Path, content: bytes) -> None:
    """Write a file that is seen whole or not at all, and is durable."""
    beside = path.with_name(f"{_UNFINISHED}{uuid4().hex}")
    beside.write_bytes(content)
    beside.chmod(0o664)
    sync(beside)
    beside.rename(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Write a file or a folder's names to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_durable(folder: Path) -> None:
    """Write a folder and all that is in it to the disk, readable for edges of the same group."""
    for path in [*folder.rglob("*"), folder]:
        # tantivy leaves its own files to their writer alone; edges may run as another user of the same group.
        path.chmod(0o775 if path.is_dir() else 0o664)
        sync(path)


def prune(directory: Path) -> list[int]:
    """Remove all but the newest versions, and the leftovers of broken builds; return the versions removed.

    Versions of another format, which parts of another release may still open, stay until all that are kept are of ours.
    The caller holds the lock of `writing`. An edge may still read what is removed: mapped files stay until it lets go.
    """
    kept: dict[int, Manifest] = {}
    superseded: list[Path] = []
    foreign: dict[Path, Manifest] = {}
    for path in layout.manifests(directory):
        version, manifest = _version(path), layout.read_manifest(path)
        if manifest is not None and manifest.format != layout.FORMAT:
            foreign[path] = manifest
        elif manifest is None or version in kept or len(kept) == KEPT_VERSIONS:
            superseded.append(path)
        else:
            kept[version] = manifest
    if len(kept) == KEPT_VERSIONS:
        superseded += foreign
        foreign = {}
    for path in superseded:
        path.unlink()
    entries = [entry for manifest in (*kept.values(), *foreign.values()) for entry in manifest.segments]
    _remove(directory, _UNFINISHED)
    _keep_only(directory / layout.SEGMENTS, {entry.id for entry in entries})
    _keep_only(directory / layout.DELETIONS, {entry.deletions for entry in entries if entry.deletions})
    return sorted({_version(path) for path in superseded} - set(kept), reverse=True)


def is_of_former_format(directory: Path, identifiers: int | None) -> bool:
    """Return whether there is only an index that this version cannot read, or that lacks identifiers of these rules."""
    newest = layout.newest(directory)
    return bool(layout.manifests(directory)) if newest is None else newest.identifiers != identifiers


def _version(path: Path) -> int:
    return int(path.name.split(".")[0])


def _remove(directory: Path, prefix: str) -> None:
    for path in [*directory.glob(f"{prefix}*"), *directory.glob(f"{layout.SEGMENTS}/{prefix}*")]:
        _delete(path)


def _keep_only(folder: Path, names: set[str]) -> None:
    for path in folder.glob("[!.]*"):
        if path.name not in names:
            _delete(path)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
