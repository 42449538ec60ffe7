"""The interface of the object store for results, exports and releases, and its first form: a shared directory.

An object is written without a name, made durable, and only then named: a reader that can open it has all of it. The
other form is an object store, in shared/objects/s3.py; shared/objects/open.py chooses.
"""

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol
from uuid import uuid4

from shared.errors import ResultGone, StoreFull, StoreUnavailable
from shared.fsync import fsync

# Also where a file may grow no further.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BLOCK_BYTES = 1 << 20
PARTIAL = ".partial"
"""The folder of incomplete objects. No key begins with it, so an incomplete object cannot be opened."""

PREFIX = "uploads/"
FILES_KEPT_DAYS = 7
ROWS_KEPT_DAYS = 90


class ObjectReader(Protocol):
    """An open object of `size` bytes. Deleted meanwhile, a file is readable to its end; one of S3 ends early."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes; fewer only at the end."""

    def close(self) -> None:
        """Give it back."""


class ObjectSpool(Protocol):
    """Bytes on their way into the store, without a name yet. `file` can be read back."""

    file: BinaryIO

    def keep(self, key: str) -> None:
        """Make the bytes durable and name them: from now on they can be opened, all of them."""


class ListedObject(NamedTuple):
    """One object in a listing; `age_seconds` since it was written."""

    key: str
    bytes: int
    age_seconds: float


class ResultStore(Protocol):
    """All calls block; the edge makes them in a thread. Keys are of our making: relative, plain ASCII, no `..`.

    Reading, listing and deleting raise StoreUnavailable if the store does not answer; writing raises that, also where a
    disk is full, or OSError.
    """

    def spool(self) -> AbstractContextManager[ObjectSpool]:
        """Begin an object whose key may depend on its bytes; unless it is kept, it is deleted when the block ends."""

    @contextmanager
    def create(self, key: str) -> Iterator[BinaryIO]:
        """Open a new object for writing; on leaving without an error it is whole and durable, else it is not there."""
        with self.spool() as spool:
            yield spool.file
            spool.keep(key)

    def open(self, key: str) -> ObjectReader:
        """Open an object. Raises ResultGone where it is not there."""

    def fetch(self, key: str, file: BinaryIO, on_block: Callable[[], None] = lambda: None) -> None:
        """Copy an object into a file. Raises ResultGone where it is not there, StoreUnavailable where it ends early."""
        reader = self.open(key)
        try:
            size, copied = reader.size, 0
            while copied < size and (block := reader.read(copied, _BLOCK_BYTES)):
                copied += file.write(block)
                on_block()
        finally:
            reader.close()
        if copied < size:
            raise StoreUnavailable("results", state="has lost a file while it was read")

    def size(self, key: str) -> int | None:
        """Return an object's size, None where it is not there."""

    def remove(self, key: str) -> None:
        """Delete one object if it exists."""

    def list_objects(self, prefix: str) -> Iterator[ListedObject]:
        """List the objects below a prefix that ends in a slash."""

    def sweep(self, age_seconds: float) -> int:
        """Delete what writers that died left behind longer ago than this; return how many."""

    def delete(self, job_id: str, attempt: int) -> None:
        """Delete all that an attempt has written, if anything."""

    def attempts(self) -> Iterator[tuple[str, int]]:
        """Name each attempt that has written something."""


class _File:
    """A file, open for reading."""

    def __init__(self, path: Path) -> None:
        # A link below the directory would lead out of it: the store itself makes none.
        self._fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)

    @property
    def size(self) -> int:
        """Ask the open file, which a later one of its name does not change."""
        with _raise_unavailable():
            return os.fstat(self._fd).st_size

    def read(self, offset: int, length: int) -> bytes:
        """Read at an offset, without moving anything that another reader would see."""
        with _raise_unavailable():
            return os.pread(self._fd, length, offset)

    def close(self) -> None:
        os.close(self._fd)


class _FileSpool:
    def __init__(self, root: Path, file: BinaryIO, path: Path) -> None:
        self.file = file
        self._root = root
        self._path = path

    def keep(self, key: str) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        target = self._root / key
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        self._path.replace(target)
        folder = target.parent
        while folder != self._root:
            fsync(folder)
            folder = folder.parent
        fsync(self._root)


class DirectoryStore(ResultStore):
    """Objects as files below one directory, which may be a shared file system."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def spool(self) -> Iterator[ObjectSpool]:
        """Write beside: a full disk or a killed writer leaves a file without a name, which `sweep` deletes."""
        path = self._root / PARTIAL / uuid4().hex
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        file = path.open("x+b")
        try:
            with full_is_unavailable():
                yield _FileSpool(self._root, file, path)
        finally:
            path.unlink(missing_ok=True)  # renamed by then if it was kept
            _close(file)

    def open(self, key: str) -> ObjectReader:
        try:
            return _File(self._root / key)
        except (FileNotFoundError, NotADirectoryError):
            self._check_exists()
            raise ResultGone(key) from None
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link is nothing
                raise ResultGone(key) from None
            raise StoreUnavailable("results") from error

    def size(self, key: str) -> int | None:
        """Ask the file system; a link is nothing."""
        path = self._root / key
        try:
            return None if path.is_symlink() else path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            self._check_exists()
            return None
        except OSError as error:
            raise StoreUnavailable("results") from error

    def _check_exists(self) -> None:
        # Every store that was ever written to has this folder. Without it a volume is not mounted, and to call its
        # files gone would make the loss of a moment a loss for good: their rows would be marked as expired.
        with _raise_unavailable():
            if not (self._root / PARTIAL).is_dir():
                raise StoreUnavailable("results")

    def remove(self, key: str) -> None:
        with _raise_unavailable():
            (self._root / key).unlink(missing_ok=True)

    def list_objects(self, prefix: str) -> Iterator[ListedObject]:
        """Walk the folder; a file that vanishes meanwhile is left out."""
        now = time.time()
        for folder, _, names in os.walk(self._root / prefix, onerror=_refuse_unless_gone):
            for name in names:
                path = Path(folder) / name
                try:
                    status = path.stat()
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise StoreUnavailable("results") from error
                yield ListedObject(str(path.relative_to(self._root)), status.st_size, now - status.st_mtime)

    def sweep(self, age_seconds: float) -> int:
        """Delete old files of the folder of incomplete objects."""
        old = [partial for partial in self.list_objects(f"{PARTIAL}/") if partial.age_seconds > age_seconds]
        for partial in old:
            self.remove(partial.key)
        return len(old)

    def delete(self, job_id: str, attempt: int) -> None:
        """Delete an attempt's folder, and the job's where it was the last one."""
        folder = self._root / job_id
        with _raise_unavailable(), suppress(FileNotFoundError):  # another process deletes it too
            shutil.rmtree(folder / str(attempt))
        try:
            folder.rmdir()
        except OSError:
            return  # another attempt's is still there, or nothing ever was

    def attempts(self) -> Iterator[tuple[str, int]]:
        """List the folders of all attempts."""
        for job in _folders(self._root):
            for attempt in _folders(self._root / job):
                if attempt.isascii() and attempt.isdigit():
                    yield job, int(attempt)


@contextmanager
def _raise_unavailable() -> Iterator[None]:
    """Make StoreUnavailable of any other error of the file system: a volume that is lost, a disk that fails."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable("results") from error


@contextmanager
def full_is_unavailable() -> Iterator[None]:
    """Make StoreFull of the error of a disk that is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise StoreFull("results") from error


def _refuse_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise StoreUnavailable("results") from error


def _folders(folder: Path) -> list[str]:
    """Name the folders in a folder; none where it is not there, or was deleted meanwhile."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError as error:
        _refuse_unless_gone(error)
        return []


def _close(file: BinaryIO) -> None:
    try:
        file.close()
    except OSError:
        return  # the disk was full: closing would have flushed bytes of a file that is deleted already


def upload_key(upload_id: str) -> str:
    """Return the key of an upload's file in the object store."""
    return f"{PREFIX}{upload_id}"
