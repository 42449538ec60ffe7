"""The search index in the object store, for edges of hosts that do not share its directory.

    search/newest-{format}.json        the newest manifest, written last
    search/segments/{id}/{file}        the files that it names, as in the directory
    search/deletions/{sha256}

A manifest has the digest of each file: what was fetched is what was built, or it is not used.
"""

import re
import shutil
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from shared.errors import ResultGone, StoreUnavailable
from shared.search import layout
from shared.search.directory import is_whole, prune, replacing, write_manifest, writing
from shared.search.layout import IndexFile, Manifest

if TYPE_CHECKING:
    from shared.objects.directory import ResultStore

_PREFIX = "search/"
# Edges of a former version look for one of their own format.
NEWEST = f"{_PREFIX}newest-{layout.FORMAT}.json"
_FILES = (f"{_PREFIX}{layout.SEGMENTS}/", f"{_PREFIX}{layout.DELETIONS}/")
_CHUNK_BYTES = 4 * 1024 * 1024
_MANIFEST_BYTES_MAX = 1024 * 1024
PATH = re.compile(r"(segments|deletions)(/(?!\.+(/|$))[0-9A-Za-z_.-]+){1,3}")


class Damaged(ValueError):
    """The fetched bytes are not those that the manifest names."""


def upload(objects: "ResultStore", directory: Path, manifest: Manifest) -> None:
    """Put a manifest's files into the store, then the manifest."""
    for name, _, _ in manifest.files():
        if objects.size(_PREFIX + name) is None:
            with (directory / name).open("rb") as source, objects.create(_PREFIX + name) as target:
                shutil.copyfileobj(source, target, _CHUNK_BYTES)
    with objects.create(NEWEST) as file:
        file.write(msgspec.json.encode(manifest))


def clean(objects: "ResultStore", directory: Path | None) -> None:
    """Remove the files that the directory from which they were uploaded has no longer, or all: they are put again."""
    for prefix in _FILES:
        for listed in list(objects.list_objects(prefix)):
            if directory is None or not (directory / listed.key.removeprefix(_PREFIX)).exists():
                objects.remove(listed.key)


def fetch(objects: "ResultStore", directory: Path) -> bool:
    """Bring a directory to the store's newest manifest; return whether another one is the newest there now.

    Raises StoreUnavailable, OSError, or Damaged: then the directory's newest manifest is as before.
    """
    try:
        manifest = _read_manifest(objects)
    except ResultGone:
        return False
    with writing(directory):
        newest = layout.newest(directory)
        if newest is not None and newest.id == manifest.id and is_whole(directory, newest):
            return False
        try:
            for file in manifest.files():
                _fetch_file(objects, directory, file)
        except ResultGone as error:  # a newer manifest has replaced this one; the next fetch finds it
            raise StoreUnavailable("search") from error
        write_manifest(directory, manifest)
        prune(directory)
    return True


def _read_manifest(objects: "ResultStore") -> Manifest:
    stored = objects.open(NEWEST)
    try:
        manifest = msgspec.json.decode(stored.read(0, min(stored.size, _MANIFEST_BYTES_MAX)), type=Manifest)
    except msgspec.DecodeError as error:
        raise Damaged(NEWEST) from error
    finally:
        stored.close()
    if manifest.format != layout.FORMAT or not all(PATH.fullmatch(file.path) for file in manifest.files()):
        raise Damaged(NEWEST)
    return manifest


def _fetch_file(objects: "ResultStore", directory: Path, file: IndexFile) -> None:
    target = directory / file.path
    if target.exists() and target.stat().st_size == file.size:
        return
    with replacing(target) as beside, beside.open("w+b") as copy:
        objects.fetch(_PREFIX + file.path, copy)
        copy.seek(0)
        if file_digest(copy, "sha256").hexdigest() != file.digest:
            raise Damaged(file.path)
