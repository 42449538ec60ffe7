"""Writes the keys of a segment in their order, with the documents of each."""

from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.rows import Numbers

# A posting is sorted as one number: its key's position, then its document.
_DOCUMENT_BITS = 24
_DOCUMENT_MASK = np.uint64((1 << _DOCUMENT_BITS) - 1)
DOCUMENTS_MAX = 1 << _DOCUMENT_BITS
_HASH_SHIFT = np.uint64(32)


class DictionaryWriter:
    """Writes the files of a dictionary. Fields are added in the order of their letters; `close` ends it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keys, self._postings, self._times = (
            (folder / name).open("wb") for name in (layout.KEYS, layout.POSTINGS, layout.TIMES)
        )
        self._lengths, self._hashes, self._sizes = ([np.zeros(0, np.uint64)] for _ in range(3))

    def add(self, codes: Numbers, owners: Numbers, texts: Sequence[str], key_of: Callable[[str], str]) -> None:
        """Add a key for each of some texts that occurs; texts may share one.

        `codes` are positions in `texts`, as often as documents have them, `owners` these documents.
        """
        occurs = np.zeros(len(texts), np.bool_)
        occurs[codes] = True
        occurring = np.flatnonzero(occurs)
        key_of_each = [key_of(texts[code]) for code in occurring.tolist()]
        keys = sorted(set(key_of_each))
        position_of = dict(zip(keys, range(len(keys)), strict=True))
        positions = np.zeros(len(texts), np.uint64)
        positions[occurring] = np.fromiter(map(position_of.__getitem__, key_of_each), np.uint64, len(key_of_each))
        self._add_keys([key.encode() for key in keys])  # in UTF-8 they have the same order
        self._add_postings(positions[codes], owners, len(keys))

    def _add_keys(self, keys: list[bytes]) -> None:
        self._keys.write(b"".join(keys))
        self._lengths.append(np.fromiter(map(len, keys), np.uint64, len(keys)))
        self._hashes.append(np.fromiter(map(crc32, keys), np.uint64, len(keys)))

    def _add_postings(self, postings: NDArray[np.uint64], owners: Numbers, keys: int) -> None:
        # In place: these arrays are what most memory is needed for.
        postings <<= np.uint64(_DOCUMENT_BITS)
        postings |= owners
        postings.sort()
        first = np.ones(len(postings), np.bool_)
        np.not_equal(postings[1:], postings[:-1], out=first[1:])
        at = np.flatnonzero(first)
        times = np.diff(at, append=len(postings))
        np.minimum(times, layout.TIMES_MAX).astype(np.uint8).tofile(self._times)
        postings = postings[at]
        bounds = np.arange(keys + 1, dtype=np.uint64) << np.uint64(_DOCUMENT_BITS)
        self._sizes.append(np.diff(np.searchsorted(postings, bounds)).astype(np.uint64))
        postings &= _DOCUMENT_MASK
        postings.astype(np.uint32).tofile(self._postings)

    def close(self) -> None:
        """Write where the keys and their documents begin, and how keys are found."""
        for file in (self._keys, self._postings, self._times):
            file.close()
        write_offsets(np.concatenate(self._lengths), self._folder / layout.KEY_OFFSETS)
        write_offsets(np.concatenate(self._sizes), self._folder / layout.POSTING_STARTS)
        hashes = np.concatenate(self._hashes)
        write_behind_hashes(hashes, np.arange(len(hashes)), self._folder / layout.KEY_HASHES)


def write_offsets(sizes: NDArray[np.uint64], path: Path) -> None:
    """Write where each of some parts begins that follow one another, and where the last one ends."""
    offsets = np.zeros(len(sizes) + 1, np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    offsets.tofile(path)


def write_behind_hashes(hashes: Numbers | NDArray[np.uint64], numbers: Numbers | NDArray[np.intp], path: Path) -> None:
    """Write numbers of 32 bits, each behind its hash, in ascending order."""
    np.sort(hashes.astype(np.uint64) << _HASH_SHIFT | numbers.astype(np.uint64)).tofile(path)
