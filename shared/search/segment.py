"""The files of one segment, memory-mapped: documents, dictionary, postings, rows of bits."""

import mmap
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.layout import SegmentInfo

Numbers = NDArray[np.uint32]
Row = NDArray[np.uint64]
Span = tuple[int, int]
# A query asks for each of its keys several times.
_SPANS_KEPT = 8_192
_TOUCHED_BYTES_MAX = 1 << 30


class Segment:
    """An immutable part of an index. Documents are numbered by (length, IID); a rank is a position by IID alone."""

    def __init__(self, folder: Path) -> None:
        info = read_info(folder)
        self.items = info.items
        self.length_sum, self.description_length_sum = info.length_sum, info.description_length_sum
        self.iids: NDArray[np.bytes_] = np.frombuffer(_map(folder / layout.IIDS), f"S{info.iid_bytes}")
        self.ranks: Numbers = np.frombuffer(_map(folder / layout.RANKS), np.uint32)
        self.documents: Numbers = np.frombuffer(_map(folder / layout.DOCUMENTS), np.uint32)
        self.lengths: NDArray[np.uint8] = np.frombuffer(_map(folder / layout.LENGTHS), np.uint8)
        self.description_lengths: NDArray[np.uint8] = np.frombuffer(_map(folder / layout.DESCRIPTION_LENGTHS), np.uint8)
        self._hits = _map(folder / layout.HITS)
        self._hit_offsets = memoryview(_map(folder / layout.HIT_OFFSETS)).cast("Q")
        self.dictionary = Dictionary(folder)
        names = msgspec.json.decode((folder / layout.ROW_KEYS).read_bytes(), type=list[str])
        self._row_positions = {bytes.fromhex(name): position for position, name in enumerate(names)}
        rows: Row = np.frombuffer(_map(folder / layout.ROWS), np.uint64)
        self._rows = rows.reshape(len(self._row_positions), layout.row_words(self.items))
        identifiers = _map(folder / layout.IDENTIFIERS) if layout.IDENTIFIERS in info.files else b""
        self.identifiers: Row = np.frombuffer(identifiers, np.uint64)
        self._identifiers = self.identifiers.data

    def touch(self) -> None:
        """Read a byte of each page of the files: a query waits for each page that it is the first to read.

        Files of more than a gigabyte are left alone, as they may need more memory than there is.
        """
        numbers = (self.iids, self.ranks, self.documents, self.lengths, self.description_lengths, self._rows)
        files = (*numbers, self.identifiers, self._hits, self._hit_offsets, *self.dictionary.files)
        parts = [np.frombuffer(file, np.uint8) for file in files if len(file)]
        if sum(len(part) for part in parts) <= _TOUCHED_BYTES_MAX:
            for part in parts:
                part[:: mmap.PAGESIZE].max()

    def hit(self, rank: int) -> bytes:
        """Return what was stored of the document at a position in the order of IIDs."""
        return self._hits[self._hit_offsets[rank] : self._hit_offsets[rank + 1]]

    def identified(self, first: int, end: int) -> Row:
        """Return the entries of `identifiers` from one hash to before another."""
        start = bisect_left(self._identifiers, first << 32)
        return self.identifiers[start : bisect_left(self._identifiers, end << 32, start)]

    def row(self, key: bytes) -> Row | None:
        """Return the bits of a key, one for each document, where the segment has them."""
        position = self._row_positions.get(key)
        return None if position is None else self._rows[position]


def read_info(folder: Path) -> SegmentInfo:
    """Return the description of a segment.

    Raises OSError or ValueError where a file is missing or not as long as it was written: searches of a file that was
    cut find too little, or fail.
    """
    info = msgspec.json.decode((folder / layout.SEGMENT).read_bytes(), type=SegmentInfo)
    for name, (size, _) in info.files.items():
        if (folder / name).stat().st_size != size:
            raise ValueError(f"{name} is not as long as it was written")
    return info


class Dictionary:
    """The keys of a segment in their order, with the documents of each."""

    def __init__(self, folder: Path) -> None:
        self._keys = _map(folder / layout.KEYS)
        self._offsets = memoryview(_map(folder / layout.KEY_OFFSETS)).cast("Q")
        self.starts: NDArray[np.uint64] = np.frombuffer(_map(folder / layout.POSTING_STARTS), np.uint64)
        self._starts = self.starts.data
        self.postings: Numbers = np.frombuffer(_map(folder / layout.POSTINGS), np.uint32)
        self.times: NDArray[np.uint8] = np.frombuffer(_map(folder / layout.TIMES), np.uint8)
        self._slot_starts = memoryview(_map(folder / layout.SLOT_STARTS)).cast("I")
        self._slots = memoryview(_map(folder / layout.SLOTS)).cast("I") if len(self) else memoryview(b"")
        self._mask = len(self._slot_starts) - 2
        self.find: Callable[[bytes], Span] = lru_cache(_SPANS_KEPT)(self._find)
        self.beginning: Callable[[bytes], Span] = lru_cache(_SPANS_KEPT)(self._beginning)

    @property
    def files(self) -> tuple[NDArray[Any] | memoryview | bytes, ...]:
        """The content of each file."""
        keys = (self._keys, self._offsets, self._slot_starts, self._slots)
        return (*keys, self.starts, self.postings, self.times)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def key(self, ordinal: int) -> bytes:
        """Return the key at a position."""
        return self._keys[self._offsets[ordinal] : self._offsets[ordinal + 1]]

    def _find(self, key: bytes) -> Span:
        """Return the position of a key as a span of one, or an empty span."""
        slot = crc32(key) & self._mask
        for at in range(self._slot_starts[slot], self._slot_starts[slot + 1]):
            ordinal = self._slots[at]
            if self.key(ordinal) == key:
                return ordinal, ordinal + 1
        return 0, 0

    def _beginning(self, prefix: bytes) -> Span:
        """Return the positions of all keys that begin so."""
        first, end = self._find(prefix)
        if first == end:
            first = self.position(prefix)
        # Few keys begin as a whole word does: the end is looked for in steps that double.
        step = 1
        while first + step < len(self) and self.key(first + step).startswith(prefix):
            step *= 2
        return first, self.position(prefix + b"\xff", first + step // 2, min(first + step, len(self)))

    def position(self, key: bytes, first: int = 0, end: int | None = None) -> int:
        """Return where a key is or would be inserted, at `first` or later, and at `end` at the latest."""
        return bisect_left(range(len(self)), key, first, end, key=self.key)

    def size(self, span: Span) -> int:
        """Return the number of postings of neighbouring keys."""
        return self._starts[span[1]] - self._starts[span[0]]

    def read(self, span: Span) -> tuple[Numbers, NDArray[np.uint8]]:
        """Return the documents of neighbouring keys, key by key, and how often each has the key."""
        first, end = self._starts[span[0]], self._starts[span[1]]
        return self.postings[first:end], self.times[first:end]


def bits(documents: Numbers, items: int) -> Row:
    """Return a row with the bits of these documents, which may be named more than once."""
    row = np.zeros(layout.row_words(items) * 64, np.bool_)
    row[documents] = True
    return np.packbits(row, bitorder="little").view(np.uint64)


def _map(path: Path) -> bytes:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return b""
    with path.open("rb") as file:
        # A map has all that bytes have which is used here, without being read at once.
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # type: ignore[return-value]
