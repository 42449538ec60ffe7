"""The search index in the object store, for edges of hosts that do not share its directory.

    search/newest-{format}.json        the newest manifest, written last
    search/segments/{sha256}/{file}    a segment, its description last
    search/deletions/{sha256}

A manifest names segments and deletions by their digests, and a segment's description has those of its files: what was
fetched is what was built, or it is not used.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from shared.errors import ResultGone, StoreUnavailable
from shared.search import layout
from shared.search.directory import forget_newer, prune, sync, unfinished, write, writing
from shared.search.layout import Manifest, SegmentEntry, SegmentInfo

# Edges of a former version look for one of their own format.
NEWEST = f"search/newest-{layout.FORMAT}.json"
_SEGMENTS, _DELETIONS = "search/segments/", "search/deletions/"
_CHUNK_BYTES = 4 * 1024 * 1024
_MANIFEST_BYTES_MAX = 1024 * 1024
NAME = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.-]*(/(?!\.+$)[0-9A-Za-z_.][0-9A-Za-z_.-]*)?")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Stored(Protocol):
    """An open object."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes; fewer only at the end."""

    def close(self) -> None:
        """Give it back."""


class Named(Protocol):
    """An object of a listing."""

    @property
    def key(self) -> str:
        """Its key."""


class Objects(Protocol):
    """The used part of the object store. Raises StoreUnavailable; `open` ResultGone where there is no object."""

    def open(self, key: str) -> Stored:
        """Open an object."""

    def size(self, key: str) -> int | None:
        """Return an object's size, None where it is not there."""

    def writing(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Open a new object for writing; it exists when the block has ended."""

    def remove(self, key: str) -> None:
        """Delete an object."""

    def listed(self, prefix: str) -> Iterator[Named]:
        """List the objects below a prefix."""


class Damaged(ValueError):
    """The fetched bytes are not those that the manifest names."""


def upload(objects: Objects, directory: Path, manifest: Manifest) -> None:
    """Put a manifest's segments into the store, then the manifest."""
    for entry in manifest.segments:
        _put_segment(objects, directory / layout.SEGMENTS / entry.id)
        if entry.deletions is not None and objects.size(_DELETIONS + entry.deletions) is None:
            _put(objects, directory / layout.DELETIONS / entry.deletions, _DELETIONS + entry.deletions)
    with objects.writing(NEWEST) as file:
        file.write(msgspec.json.encode(manifest))


def clean(objects: Objects, directory: Path) -> None:
    """Remove the segments that the directory from which they were uploaded has no longer."""
    for prefix, folder in ((_SEGMENTS, layout.SEGMENTS), (_DELETIONS, layout.DELETIONS)):
        for listed in list(objects.listed(prefix)):
            if not (directory / folder / listed.key.removeprefix(prefix).split("/")[0]).exists():
                objects.remove(listed.key)


def discard(objects: Objects) -> None:
    """Remove all segments: the next upload puts them again."""
    for prefix in (_SEGMENTS, _DELETIONS):
        for listed in list(objects.listed(prefix)):
            objects.remove(listed.key)


def fetch(objects: Objects, directory: Path) -> bool:
    """Bring a directory to the store's newest manifest; return whether another one is the newest there now.

    Raises StoreUnavailable, OSError, or Damaged: then the directory is as before.
    """
    try:
        manifest = _read_manifest(objects)
    except ResultGone:
        return False
    with writing(directory):
        newest = layout.newest(directory)
        if newest is not None and newest[1].id == manifest.id:
            return False
        try:
            for entry in manifest.segments:
                _fetch_segment(objects, directory, entry)
                _fetch_deletions(objects, directory, entry)
        except ResultGone as error:  # a newer manifest has replaced this one; the next fetch finds it
            raise StoreUnavailable("search") from error
        write(directory / manifest.name, msgspec.json.encode(manifest))
        forget_newer(directory, manifest)
        prune(directory)
    return True


def _put_segment(objects: Objects, folder: Path) -> None:
    described = f"{_SEGMENTS}{folder.name}/{layout.SEGMENT}"
    if objects.size(described) is not None:
        return
    info = msgspec.json.decode((folder / layout.SEGMENT).read_bytes(), type=SegmentInfo)
    for name in info.files:
        _put(objects, folder / name, f"{_SEGMENTS}{folder.name}/{name}")
    _put(objects, folder / layout.SEGMENT, described)


def _put(objects: Objects, path: Path, key: str) -> None:
    with path.open("rb") as source, objects.writing(key) as file:
        shutil.copyfileobj(source, file, _CHUNK_BYTES)


def _read_manifest(objects: Objects) -> Manifest:
    try:
        manifest = msgspec.json.decode(_read(objects, NEWEST, _MANIFEST_BYTES_MAX), type=Manifest)
    except msgspec.DecodeError as error:
        raise Damaged(NEWEST) from error
    names = [name for entry in manifest.segments for name in (entry.id, entry.deletions) if name is not None]
    if manifest.format != layout.FORMAT or not all(map(_DIGEST.fullmatch, names)):
        raise Damaged(NEWEST)
    return manifest


def _fetch_segment(objects: Objects, directory: Path, entry: SegmentEntry) -> None:
    target = directory / layout.SEGMENTS / entry.id
    if target.exists():
        return
    folder = unfinished(directory)
    try:
        _fetch_files(objects, f"{_SEGMENTS}{entry.id}/", entry.id, folder)
        folder.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fetch_files(objects: Objects, prefix: str, digest: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    description = _read(objects, prefix + layout.SEGMENT, _MANIFEST_BYTES_MAX)
    _check(sha256(description).hexdigest() == digest, prefix)
    for name, (size, of_file) in msgspec.json.decode(description, type=SegmentInfo).files.items():
        _check(NAME.fullmatch(name) is not None, prefix)
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        _check(_copy(objects, prefix + name, path, size) == of_file, prefix + name)
    (folder / layout.SEGMENT).write_bytes(description)
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o775 if path.is_dir() else 0o664)
        sync(path)


def _fetch_deletions(objects: Objects, directory: Path, entry: SegmentEntry) -> None:
    if entry.deletions is None:
        return
    target = directory / layout.DELETIONS / entry.deletions
    if target.exists():
        return
    target.parent.mkdir(exist_ok=True)
    content = _read(objects, _DELETIONS + entry.deletions, 4 * entry.items)
    _check(sha256(content).hexdigest() == entry.deletions, _DELETIONS)
    write(target, content)


def _copy(objects: Objects, key: str, path: Path, size: int) -> str:
    """Copy an object of a known size into a file; return its digest."""
    digest, done = sha256(), 0
    stored = objects.open(key)
    try:
        with path.open("wb") as file:
            while done < size and (part := stored.read(done, min(_CHUNK_BYTES, size - done))):
                digest.update(part)
                file.write(part)
                done += len(part)
    finally:
        stored.close()
    return digest.hexdigest()


def _read(objects: Objects, key: str, most: int) -> bytes:
    stored = objects.open(key)
    try:
        _check(stored.size <= most, key)
        return stored.read(0, stored.size)
    finally:
        stored.close()


def _check(holds: bool, key: str) -> None:
    if not holds:
        raise Damaged(key)
