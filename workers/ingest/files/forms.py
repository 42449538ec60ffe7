"""What a file is, by its content: its form, and the one file of an archive that has the rows. Bounded."""

import csv
import fnmatch
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from shared.errors import LoadRefused
from workers.ingest.batches import unpacks_to_more
from workers.ingest.files.read_sheet import Workbook
from workers.jobs.host_faults import is_host_fault

# What is no table, by its first bytes.
_NO_TABLES = {
    b"\xfd7zXZ\0": "packed with xz: unpack it first",
    b"7z\xbc\xaf": "packed with 7-Zip: unpack it first",
    b"Rar!": "packed with RAR: unpack it first",
    b"%PDF": "a PDF document: export the table itself, for example as CSV",
}
_PARQUET, _ZIP, _OLE = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TAR_MAGIC_AT, _TAR_MAGIC = 257, b"ustar"
_TAR_NAMES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
# Members of the packed forms of spreadsheets: Excel's (ECMA-376) and OpenDocument's.
_SHEET_MEMBERS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
_LINES_OF_JSON = (".ndjson", ".jsonl")
_MEMBERS_MAX = 10_000
_COPIED_BYTES = 1 << 20
UNPACKED_BYTES_MAX = 1 << 36
"""Where no settings are at hand, as for a guess of the command line."""
# What the readers of archives, texts and Parquet raise where a file is broken, or packed in a way they do not know.
_BROKEN = (
    OSError,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
    csv.Error,
    lzma.LZMAError,
    pa.ArrowException,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Opened:
    """A file to be read: its name, its place on disk for forms that are read from their end, and its bytes."""

    name: str
    path: Path
    file: BinaryIO
    unpacked_bytes_max: int

    @cached_property
    def workbook(self) -> Workbook:
        """The file as a workbook. Raises LoadRefused as `Workbook` does."""
        return Workbook(self.path, self.unpacked_bytes_max)


@contextmanager
def opened(path: Path, member: str, bytes_max: int) -> Iterator[tuple[BinaryIO, Opened]]:
    """Open a file, or the file within it that has the rows; yields what is read of `path`, and what to read.

    Raises LoadRefused where the file is empty, or an archive has no such member, several, or one that is too large;
    and, also while it is read, where it is broken.
    """
    with refused_by_name(path), path.open("rb") as outer:
        head = outer.read(_TAR_MAGIC_AT + len(_TAR_MAGIC))
        outer.seek(0)
        if not head:
            raise LoadRefused(f"{path.name}: the file is empty")
        if head.startswith(_ZIP) and not _is_sheet(path):
            with zipfile.ZipFile(outer) as archive, archive.open(_zip_member(archive, member)) as inner:
                with _on_disk(inner.name, cast(BinaryIO, inner), bytes_max) as found:
                    yield outer, found
        elif head[_TAR_MAGIC_AT:] == _TAR_MAGIC or path.name.lower().endswith(_TAR_NAMES):
            with _open_tar(outer) as packed:
                entry = _tar_member(packed, member)
                extracted = packed.extractfile(entry)
                assert extracted is not None  # `_tar_member` returns files alone
                with _on_disk(entry.name, cast(BinaryIO, extracted), bytes_max) as found:
                    yield outer, found
        elif member:
            raise LoadRefused(f"{path.name}: is no archive: leave `member` out")
        else:
            yield outer, Opened(path.name, path, outer, bytes_max)


@contextmanager
def refused_by_name(path: Path) -> Iterator[None]:
    """Raise LoadRefused with the name of the file for what its reader raises."""
    try:
        yield
    except LoadRefused as error:
        raise LoadRefused(str(error) if path.name in str(error) else f"{path.name}: {error}") from None
    except _BROKEN as error:
        if is_host_fault(error):
            raise
        reason = (str(error) or "it ends too early").splitlines()[0][:300]
        raise LoadRefused(f"{path.name}: the file is broken: {reason}") from None


def form_of(name: str, file: BinaryIO, path: Path) -> str:
    """Return the form of a file that cannot be anything else: `parquet`, `sheet`, or an empty text."""
    head = file.read(8)
    file.seek(0)
    if head.startswith(_PARQUET):
        return "parquet"
    if head.startswith(_OLE) or (head.startswith(_ZIP) and _is_sheet(path)):
        return "sheet"
    if head.startswith(_ZIP):
        raise LoadRefused(f"{name}: is an archive within an archive: unpack it first")
    what = next((what for magic, what in _NO_TABLES.items() if head.startswith(magic)), None)
    if what:
        raise LoadRefused(f"{name}: is {what}")
    return ""


def form_of_text(name: str, beginning: bytes) -> str:
    """Return the form of a text, UTF-8: `csv`, `ndjson`, `json` or `xml`."""
    inner = name.lower().removesuffix(".gz").removesuffix(".zst").removesuffix(".bz2")
    text = beginning.lstrip()
    if inner.endswith(_LINES_OF_JSON):
        return "ndjson"
    if text[:15].lower().startswith((b"<!doctype html", b"<html")):
        raise LoadRefused(f"{name}: is an HTML page: export the table itself, for example as CSV")
    if text.startswith(b"<"):
        return "xml"
    if text.startswith(b"["):
        return "json" if text[1:].lstrip()[:1] in (b"{", b"[", b"]", b'"') else "csv"
    if text.startswith(b"{"):
        line, ended, following = text.partition(b"\n")
        whole = line.rstrip().endswith(b"}") and (not following.strip() or following.lstrip().startswith(b"{"))
        return "ndjson" if ended and whole else "json"
    return "csv"


def _is_sheet(path: Path) -> bool:
    """Return whether a ZIP file is a spreadsheet."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
            return any(member in names for member in _SHEET_MEMBERS)
    except zipfile.BadZipFile:
        return False


def _zip_member(archive: zipfile.ZipFile, member: str) -> str:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    chosen = _choose_member([entry.filename for entry in entries], member)
    if archive.getinfo(chosen).flag_bits & 1:
        raise LoadRefused(f"{chosen} is locked by a password: unpack it first")
    return chosen


def _open_tar(file: BinaryIO) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=file, mode="r:*")
    except ValueError as error:
        raise LoadRefused(_broken_header(error)) from None


def _broken_header(error: ValueError) -> str:
    """Return what an archive is refused with where tarfile reads a number in a header that is none."""
    return f"the archive is broken: {str(error)[:200]}"


def _tar_member(packed: tarfile.TarFile, member: str) -> tarfile.TarInfo:
    entries = {}
    try:
        for number, entry in enumerate(packed):
            if number >= _MEMBERS_MAX:
                raise LoadRefused(
                    f"has more than {_MEMBERS_MAX:,} files: unpack it, and load the one that has the rows"
                )
            if entry.isfile():
                entries[entry.name] = entry
    except ValueError as error:
        raise LoadRefused(_broken_header(error)) from None
    # What a packing is checked by stands at its end, behind the last that tar reads of it.
    while cast(BinaryIO, packed.fileobj).read(_COPIED_BYTES):
        pass
    return entries[_choose_member(list(entries), member)]


def _choose_member(names: list[str], member: str) -> str:
    """Return the one file that fits; files that programs of archives add, and hidden ones, are not considered."""
    if len(names) > _MEMBERS_MAX:
        raise LoadRefused(f"has more than {_MEMBERS_MAX:,} files: unpack it, and load the one that has the rows")
    usual = [name for name in names if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]
    fitting = (
        [name for name in usual if fnmatch.fnmatch(name, member) or Path(name).name == member] if member else usual
    )
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(sorted(usual))[:500] or "none"
    what = f"no file {member!r}" if member and not fitting else f"{len(fitting)} files"
    raise LoadRefused(f"the archive has {what}: name one of them by `member` (or --member); it has {listed}")


@contextmanager
def _on_disk(name: str, inner: BinaryIO, bytes_max: int) -> Iterator[Opened]:
    """Write a member of an archive into a temporary file: sheets and Parquet are read from their ends."""
    with tempfile.NamedTemporaryFile(prefix="itemindex-", suffix=Path(name).suffix) as copy:
        left = bytes_max
        while chunk := inner.read(_COPIED_BYTES):
            left -= len(chunk)
            if left < 0:
                raise LoadRefused(f"{name}: {unpacks_to_more(bytes_max)}")
            copy.write(chunk)
        copy.flush()
        copy.seek(0)
        if not copy.read(1):
            raise LoadRefused(f"{name}: the file is empty")
        copy.seek(0)
        yield Opened(Path(name).name, Path(copy.name), cast(BinaryIO, copy.file), bytes_max)
