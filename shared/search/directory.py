"""The directory of an index, for those that write it: whole segments are there first, then a manifest names them."""

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.fsync import fsync
from shared.search import layout
from shared.search.layout import Manifest, SegmentEntry

KEPT_VERSIONS = 2
_UNFINISHED = ".unfinished-"
_NONE = np.zeros(0, np.uint32)


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Wait until no other process publishes or removes segments here."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".writing").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_deleted(directory: Path, entry: SegmentEntry) -> NDArray[np.uint32]:
    """Return the sorted numbers of a segment's deleted documents."""
    return _NONE if entry.deletions is None else np.fromfile(directory / layout.DELETIONS / entry.deletions, np.uint32)


def is_whole(directory: Path, manifest: Manifest) -> bool:
    """Return whether each file of an index is there and as long as it was written.

    Searches of a file that was cut find too little, or fail. What a file contains is not read.
    """
    try:
        return all((directory / file.path).stat().st_size == file.size for file in manifest.files())
    except OSError:
        return False


def with_deleted(directory: Path, entry: SegmentEntry, numbers: NDArray[np.uint32]) -> SegmentEntry:
    """Write which documents of a segment are deleted, sorted; return the segment's entry that says so."""
    if len(numbers) == entry.deleted:
        return entry
    content = numbers.tobytes()
    digest = sha256(content).hexdigest()
    write(directory / layout.DELETIONS / digest, content)
    return msgspec.structs.replace(entry, deleted=len(numbers), deletions=digest)


def publish(
    directory: Path,
    version: int,
    committed_at: str,
    segments: Sequence[SegmentEntry],
    identifiers: int | None = None,
    built_version: int | None = None,
) -> Manifest:
    """Make a manifest of these segments the newest of its data_version; readers see it whole or not at all.

    `identifiers` as in `Manifest`; `built_version` too, by default this one.
    """
    numbers = [int(path.name.split(".")[1]) for path in directory.glob(f"{version}.*.json")]
    number, with_items = max(numbers, default=-1) + 1, tuple(segment for segment in segments if segment.live)
    built = version if built_version is None else built_version
    manifest = Manifest(
        uuid4().hex, layout.FORMAT, version, number, committed_at, with_items, identifiers, built_version=built
    )
    write_manifest(directory, manifest)
    return manifest


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write a manifest, and remove those of higher data_versions.

    Such are of a database that is no longer there, as after a restore.
    """
    write(directory / manifest.name, msgspec.json.encode(manifest))
    for path in layout.manifests(directory):
        if path.name == manifest.name:
            return
        path.unlink()


def write(path: Path, content: bytes) -> None:
    """Write a file that is seen whole or not at all, and is durable."""
    with replacing(path) as beside:
        beside.write_bytes(content)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Return where to write a file that takes its place, durably, when the block has ended without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{_UNFINISHED}{uuid4().hex}")
    try:
        yield beside
        beside.chmod(0o664)
        fsync(beside)
        beside.rename(path)
        fsync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def make_durable(folder: Path) -> None:
    """Write a folder and all that is in it to the disk, readable for edges of the same group."""
    for path in [*folder.rglob("*"), folder]:
        # tantivy leaves its own files to their writer alone; edges may run as another user of the same group.
        path.chmod(0o775 if path.is_dir() else 0o664)
        fsync(path)
    fsync(folder.parent)


def prune(directory: Path) -> None:
    """Remove all but the newest versions, and the leftovers of broken builds.

    Versions of another format, which parts of another release may still open, stay until all that are kept are of ours.
    The caller holds the lock of `writing`. An edge may still read what is removed: mapped files stay until it lets go.
    """
    kept: dict[int, Manifest] = {}
    foreign: list[Manifest] = []
    superseded: list[Path] = []
    for path in layout.manifests(directory):
        manifest = layout.read_manifest(path)
        if manifest is not None and manifest.format != layout.FORMAT:
            foreign.append(manifest)
        elif manifest is None or manifest.data_version in kept or len(kept) == KEPT_VERSIONS:
            superseded.append(path)
        else:
            kept[manifest.data_version] = manifest
    if len(kept) == KEPT_VERSIONS:
        superseded += [directory / manifest.name for manifest in foreign]
        foreign = []
    for path in [*superseded, *directory.rglob(f"{_UNFINISHED}*")]:
        path.unlink()
    entries = [entry for manifest in (*kept.values(), *foreign) for entry in manifest.segments]
    _keep_only(directory / layout.SEGMENTS, {entry.id for entry in entries})
    _keep_only(directory / layout.DELETIONS, {entry.deletions for entry in entries})


def _keep_only(folder: Path, names: set[str | None]) -> None:
    for path in folder.glob("*"):
        if path.name not in names:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def is_of_former_format(directory: Path, identifiers: int | None) -> bool:
    """Return whether there is only an index that this version cannot read, or that lacks identifiers of these rules."""
    newest = layout.newest(directory)
    return bool(layout.manifests(directory)) if newest is None else newest.identifiers != identifiers
