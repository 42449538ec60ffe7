"""Uploaded files on disk: fetched from the object store once, and kept there while a person decides about them."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shared.errors import LoadRefused, ResultGone
from shared.objects.directory import FILES_KEPT_DAYS, ResultStore, upload_key

_PREFIX = "itemindex-upload-"
_PART = ".part"
# Previews and loads of a file follow one another within minutes; more files than this would fill the disk.
_KEPT_MAX = 4
_KEPT_SECONDS = 3_600.0


class UploadFiles:
    """The files that are kept in a folder, each in one of its own under its own name."""

    def __init__(self, store: ResultStore, folder: Path) -> None:
        self._store = store
        self._folder = folder

    def fetch(self, upload_id: str, name: str, report: Callable[[int], None]) -> Path:
        """Return the file of an upload; fetched unless it is there. Raises LoadRefused where it is no longer kept."""
        own = self._folder / f"{_PREFIX}{upload_id}"
        path = own / name
        if not path.exists():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._forget_all_but(_KEPT_MAX - 1)
            part = own.with_name(own.name + _PART)
            self._copy(upload_id, part, report)
            own.mkdir(exist_ok=True, mode=0o700)
            part.replace(path)
        own.touch()
        return path

    def forget(self, upload_id: str) -> None:
        """Delete the file of an upload, if it is here."""
        shutil.rmtree(self._folder / f"{_PREFIX}{upload_id}", ignore_errors=True)

    def sweep(self) -> None:
        """Delete what nobody has asked for in the last hour."""
        before = time.time() - _KEPT_SECONDS
        for path in self._stored_files():
            if path.stat().st_mtime < before:
                _remove(path)

    def _copy(self, upload_id: str, part: Path, report: Callable[[int], None]) -> None:
        try:
            with part.open("wb") as file:
                self._store.fetch(upload_key(upload_id), file, lambda: report(0))
        except ResultGone:
            raise LoadRefused(
                f"the file is no longer kept: after {FILES_KEPT_DAYS} days, or a load; upload it again"
            ) from None

    def _forget_all_but(self, count: int) -> None:
        newest_first = sorted(self._stored_files(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest_first[count:]:
            _remove(path)

    def _stored_files(self) -> Iterator[Path]:
        return self._folder.glob(f"{_PREFIX}*")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
