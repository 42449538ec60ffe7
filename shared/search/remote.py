"""The search index in the object store, for edges of hosts that do not share its directory.

    search/newest-{format}.json        the newest manifest, written last
    search/segments/{sha256}/{file}    a segment, its description last
    search/deletions/{sha256}

A manifest names segments and deletions by their digests, and a segment's description has those of its files: what was
fetched is what was built, or it is not used.
"""

import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from shared.errors import ResultGone, StoreUnavailable
from shared.search import layout
from shared.search.directory import forget_newer, is_whole, make_durable, prune, sync, unfinished, write, writing
from shared.search.layout import Manifest, SegmentEntry, SegmentInfo

if TYPE_CHECKING:
    from shared.objects.directory import ResultStore

# Edges of a former version look for one of their own format.
NEWEST = f"search/newest-{layout.FORMAT}.json"
_SEGMENTS, _DELETIONS = "search/segments/", "search/deletions/"
_CHUNK_BYTES = 4 * 1024 * 1024
_MANIFEST_BYTES_MAX = 1024 * 1024
NAME = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.-]*(/(?!\.+$)[0-9A-Za-z_.][0-9A-Za-z_.-]*)?")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Damaged(ValueError):
    """The fetched bytes are not those that the manifest names."""


def upload(objects: "ResultStore", directory: Path, manifest: Manifest) -> None:
    """Put a manifest's segments into the store, then the manifest."""
    for entry in manifest.segments:
        _put_segment(objects, directory / layout.SEGMENTS / entry.id)
        if entry.deletions is not None and objects.size(_DELETIONS + entry.deletions) is None:
            _put(objects, directory / layout.DELETIONS / entry.deletions, _DELETIONS + entry.deletions)
    with objects.writing(NEWEST) as file:
        file.write(msgspec.json.encode(manifest))


def clean(objects: "ResultStore", directory: Path) -> None:
    """Remove the segments that the directory from which they were uploaded has no longer."""
    for prefix, folder in ((_SEGMENTS, layout.SEGMENTS), (_DELETIONS, layout.DELETIONS)):
        for listed in list(objects.listed(prefix)):
            if not (directory / folder / listed.key.removeprefix(prefix).split("/")[0]).exists():
                objects.remove(listed.key)


def discard(objects: "ResultStore") -> None:
    """Remove all segments: the next upload puts them again."""
    for prefix in (_SEGMENTS, _DELETIONS):
        for listed in list(objects.listed(prefix)):
            objects.remove(listed.key)


def fetch(objects: "ResultStore", directory: Path) -> bool:
    """Bring a directory to the store's newest manifest; return whether another one is the newest there now.

    Raises StoreUnavailable, OSError, or Damaged: then the directory is as before.
    """
    try:
        manifest = _read_manifest(objects)
    except ResultGone:
        return False
    with writing(directory):
        newest = layout.newest(directory)
        if newest is not None and newest.id == manifest.id:
            if is_whole(directory, newest):
                return False
            for folder in (layout.SEGMENTS, layout.DELETIONS):
                shutil.rmtree(directory / folder, ignore_errors=True)
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


def _put_segment(objects: "ResultStore", folder: Path) -> None:
    described = f"{_SEGMENTS}{folder.name}/{layout.SEGMENT}"
    if objects.size(described) is not None:
        return
    info = msgspec.json.decode((folder / layout.SEGMENT).read_bytes(), type=SegmentInfo)
    for name in info.files:
        _put(objects, folder / name, f"{_SEGMENTS}{folder.name}/{name}")
    _put(objects, folder / layout.SEGMENT, described)


def _put(objects: "ResultStore", path: Path, key: str) -> None:
    with path.open("rb") as source, objects.writing(key) as file:
        shutil.copyfileobj(source, file, _CHUNK_BYTES)


def _read_manifest(objects: "ResultStore") -> Manifest:
    try:
        manifest = msgspec.json.decode(_read(objects, NEWEST, _MANIFEST_BYTES_MAX), type=Manifest)
    except msgspec.DecodeError as error:
        raise Damaged(NEWEST) from error
    names = [name for entry in manifest.segments for name in (entry.id, entry.deletions) if name is not None]
    if manifest.format != layout.FORMAT or not all(map(_DIGEST.fullmatch, names)):
        raise Damaged(NEWEST)
    return manifest


def _fetch_segment(objects: "ResultStore", directory: Path, entry: SegmentEntry) -> None:
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


def _fetch_files(objects: "ResultStore", prefix: str, digest: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    description = _read(objects, prefix + layout.SEGMENT, _MANIFEST_BYTES_MAX)
    _check(sha256(description).hexdigest() == digest, prefix)
    for name, (size, of_file) in msgspec.json.decode(description, type=SegmentInfo).files.items():
        _check(NAME.fullmatch(name) is not None, prefix)
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        _check(_copy(objects, prefix + name, path, size) == of_file, prefix + name)
    (folder / layout.SEGMENT).write_bytes(description)
    make_durable(folder)


def _fetch_deletions(objects: "ResultStore", directory: Path, entry: SegmentEntry) -> None:
    if entry.deletions is None:
        return
    target = directory / layout.DELETIONS / entry.deletions
    if target.exists():
        return
    target.parent.mkdir(exist_ok=True)
    content = _read(objects, _DELETIONS + entry.deletions, 4 * entry.items)
    _check(sha256(content).hexdigest() == entry.deletions, _DELETIONS)
    write(target, content)


def _copy(objects: "ResultStore", key: str, path: Path, size: int) -> str:
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


def _read(objects: "ResultStore", key: str, most: int) -> bytes:
    stored = objects.open(key)
    try:
        _check(stored.size <= most, key)
        return stored.read(0, stored.size)
    finally:
        stored.close()


def _check(holds: bool, key: str) -> None:
    if not holds:
        raise Damaged(key)
