"""The one interface behind which results lie, and its first form: a directory that edges and workers share."""

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from shared.errors import ResultGone


class Reader(Protocol):
    """An open result; readable to its end even if it is deleted meanwhile."""

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes; fewer only at the end."""

    def close(self) -> None:
        """Give it back."""


class ResultStore(Protocol):
    """All calls block; the edge makes them in a thread."""

    def writing(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Open a new object for writing; on leaving without an error it is whole and durable."""

    def open(self, key: str) -> Reader:
        """Open an object. Raises ResultGone where it is not there."""

    def delete(self, job_id: str, attempt: int) -> None:
        """Delete all that an attempt has written; nothing is there afterwards, whether or not something was."""

    def attempts(self) -> Iterator[tuple[str, int]]:
        """Name each attempt that has written something."""


class _File:
    """A file, open for reading."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDONLY)

    def read(self, offset: int, length: int) -> bytes:
        """Read at a place, without moving anything that another reader would see."""
        return os.pread(self._fd, length, offset)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


class DirectoryStore:
    """Results as files below one directory, which may be a shared file system."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def writing(self, key: str) -> Iterator[BinaryIO]:
        """Write a file and make it and its name durable before anybody is told of it."""
        path = self._root / key
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        with path.open("w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        for folder in (path.parent, path.parent.parent, self._root):
            _sync(folder)

    def open(self, key: str) -> Reader:
        """Open a file for reading."""
        try:
            return _File(self._root / key)
        except FileNotFoundError:
            raise ResultGone(key) from None

    def delete(self, job_id: str, attempt: int) -> None:
        """Delete an attempt's folder, and the job's where it was the last one."""
        folder = self._root / job_id
        shutil.rmtree(folder / str(attempt), ignore_errors=True)
        try:
            folder.rmdir()
        except OSError:
            return  # another attempt's is still there, or nothing ever was

    def attempts(self) -> Iterator[tuple[str, int]]:
        """List the folders of all attempts."""
        for folder in self._root.glob("*/*/"):
            if folder.name.isdigit():
                yield folder.parent.name, int(folder.name)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
