"""All that a load is read from, as one digest: the same digest gives the same rows."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from shared.errors import LoadRefused
from workers.ingest.load.alt_names import alt_names_file
from workers.ingest.mapping import Mapping
from workers.ingest.outages import is_interruption

LAYOUT = 5
"""Raise it whenever the same files and mapping would be read otherwise, so that loaded files are read again."""


class InputFile(NamedTuple):
    """A file that a load reads. Its name is an input too: a day, a channel or the file's form may be taken from it."""

    name: str
    size: int
    sha256: bytes


def input_file(path: Path) -> InputFile:
    """Digest a file. Raises LoadRefused where it cannot be read."""
    try:
        with path.open("rb") as file:
            return InputFile(path.name, path.stat().st_size, hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        if is_interruption(error):
            raise
        raise LoadRefused(f"{path}: cannot be read: {error.strerror}") from None


def digest(mapping: Mapping, paths: list[Path], files: Sequence[InputFile]) -> bytes:
    """Return the digest of a load. The order of its files counts: of two equal observations the later one stays."""
    beside = alt_names_file(mapping, paths)
    others = [] if beside is None else [input_file(beside)]
    return hashlib.sha256(
        msgspec.msgpack.encode((LAYOUT, mapping.text, mapping.loaded_on, mapping.member, files, others))
    ).digest()
