"""The files of one segment, memory-mapped: documents, dictionary, postings, rows of bits."""

import mmap
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np
import tantivy
from numpy.typing import NDArray

from shared.search import layout
from shared.search.rows import Numbers, Row, bits, distinct

Span = tuple[int, int]
# A query asks for each of its keys several times.
_SPANS_KEPT = 8_192
_TOUCHED_BYTES_MAX = 1 << 30
# More similar spellings than this are looked for a second time, with room for all.
_SPELLINGS = 2_048
_PLAIN = layout.key(layout.PLAIN, "")
_VOCABULARY = tantivy.SchemaBuilder().add_text_field(layout.WORD, tokenizer_name="raw", index_option="basic").build()


class Postings(NamedTuple):
    """Documents in ascending order, and how often each has the term."""

    documents: Numbers
    times: NDArray[np.uint8]


class DisplayNames(msgspec.Struct, frozen=True):
    """What brands and categories are called, by slug and by code."""

    brands: dict[str, str]
    categories: dict[str, list[str]]


class Segment:
    """An immutable part of an index. Documents are numbered by (length, IID); a rank is a position by IID alone."""

    def __init__(self, folder: Path, items: int) -> None:
        self.id, self.items = folder.name, items
        self._files = files = map_files(folder)
        self.iids: NDArray[np.bytes_] = np.frombuffer(files[layout.IIDS], f"S{len(files[layout.IIDS]) // items}")
        self.ranks: Numbers = np.frombuffer(files[layout.RANKS], np.uint32)
        self.documents: Numbers = np.frombuffer(files[layout.DOCUMENTS], np.uint32)
        self.columns: dict[str, NDArray[Any]] = {
            name: np.frombuffer(files[name], kind) for name, kind in layout.COLUMNS.items()
        }
        self.names = msgspec.json.decode(files[layout.NAMES], type=DisplayNames)
        self._hits = files[layout.HITS]
        self._hit_offsets = memoryview(files[layout.HIT_OFFSETS]).cast("Q")
        self.dictionary = Dictionary(files)
        row_keys = msgspec.json.decode(files[layout.ROW_KEYS], type=list[str])
        self._row_positions = {key: position for position, key in enumerate(row_keys)}
        rows: Row = np.frombuffer(files[layout.ROWS], np.uint64)
        self._rows = rows.reshape(len(row_keys), layout.row_words(items))
        self._identifiers = memoryview(files[layout.IDENTIFIERS]).cast("Q")
        self._words: tantivy.Searcher = tantivy.Index.open(str(folder / layout.VOCABULARY)).searcher()
        self._first_word = self.dictionary.beginning(_PLAIN)[0]

    def touch(self) -> None:
        """Read a byte of each page of the files: a query waits for each page that it is the first to read.

        Files of more than a gigabyte are left alone, as they may need more memory than there is.
        """
        if sum(map(len, self._files.values())) <= _TOUCHED_BYTES_MAX:
            for content in self._files.values():
                np.frombuffer(content, np.uint8)[:: mmap.PAGESIZE].sum()

    def hit(self, rank: int) -> bytes:
        """Return what was stored of the document at a position in the order of IIDs."""
        return self._hits[self._hit_offsets[rank] : self._hit_offsets[rank + 1]]

    def rank_of(self, iid: str) -> int:
        """Return the position of an IID in the order of IIDs, or where it would be inserted."""
        return bisect_left(range(self.items), iid.encode(), key=self.iids.__getitem__)

    def identified(self, hashed: int) -> list[int]:
        """Return the documents that have an identifier of this hash."""
        return _behind_hash(self._identifiers, hashed)

    def size(self, field: str, term: str) -> int:
        """Return an upper bound of the number of documents with a term, without reading them."""
        return self.dictionary.size(self._span(field, term))

    def read(self, field: str, term: str) -> Postings:
        """Return the documents with a term."""
        span = self._span(field, term)
        documents, times = self.dictionary.read(span)
        if field == layout.PREFIXES:  # the words of a beginning, some of them in the same documents
            documents = documents if span[1] - span[0] < 2 else distinct(np.sort(documents))
            times = np.ones(len(documents), np.uint8)
        return Postings(documents, times)

    def stored_row(self, field: str, term: str) -> Row | None:
        """Return the documents with a term as bits, where the segment has them."""
        position = self._row_positions.get(field + term)
        return None if position is None else self._rows[position]

    def row(self, field: str, term: str) -> Row:
        """Return the documents with a term, or with a value in a range, as bits."""
        if field in layout.RANGES:
            low, high = map(float, term.split(":"))
            return bits((self.columns[field] >= low) & (self.columns[field] <= high), self.items)
        row = self.stored_row(field, term)
        return bits(self.read(field, term).documents, self.items) if row is None else row

    def similar_words(self, word: str, edits: int, *, beginning: bool) -> list[tuple[int, str]]:
        """Return the words at so many edits, or of which a beginning is, with bounds of their frequencies."""
        query = tantivy.Query.const_score_query(
            tantivy.Query.fuzzy_term_query(_VOCABULARY, layout.WORD, word, edits, prefix=beginning), 1.0
        )
        spellings: Any = self._words.search(query, _SPELLINGS)
        if spellings.count > _SPELLINGS:
            spellings = self._words.search(query, spellings.count)
        positions = [self._first_word + address.doc for _, address in spellings.hits]
        dictionary = self.dictionary
        return [(dictionary.size((at, at + 1)), dictionary.key(at)[len(_PLAIN) :].decode()) for at in positions]

    def _span(self, field: str, term: str) -> Span:
        if field == layout.PREFIXES:
            return self.dictionary.beginning(layout.key(layout.PLAIN, term))
        return self.dictionary.find(layout.key(field, term))


class Dictionary:
    """The keys of a segment in their order, with the documents of each."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files`: those of a segment, by their names."""
        self._keys = files[layout.KEYS]
        self._offsets = memoryview(files[layout.KEY_OFFSETS]).cast("Q")
        self._hashes = memoryview(files[layout.KEY_HASHES]).cast("Q")
        self.starts: NDArray[np.uint64] = np.frombuffer(files[layout.POSTING_STARTS], np.uint64)
        self._starts = self.starts.data
        self.postings: Numbers = np.frombuffer(files[layout.POSTINGS], np.uint32)
        self.times: NDArray[np.uint8] = np.frombuffer(files[layout.TIMES], np.uint8)
        self.find: Callable[[bytes], Span] = lru_cache(_SPANS_KEPT)(self._find)
        self.beginning: Callable[[bytes], Span] = lru_cache(_SPANS_KEPT)(self._beginning)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def key(self, ordinal: int) -> bytes:
        """Return the key at a position."""
        return self._keys[self._offsets[ordinal] : self._offsets[ordinal + 1]]

    def _find(self, key: bytes) -> Span:
        """Return the position of a key as a span of one, or an empty span."""
        for ordinal in _behind_hash(self._hashes, crc32(key)):
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

    def read(self, span: Span) -> Postings:
        """Return the documents of neighbouring keys, key by key, and how often each has the key."""
        first, end = self._starts[span[0]], self._starts[span[1]]
        return Postings(self.postings[first:end], self.times[first:end])


def _behind_hash(numbers: memoryview, hashed: int) -> list[int]:
    """Return what stands behind a hash in ascending numbers, whose upper 32 bits are hashes."""
    least = hashed << 32
    at = bisect_left(numbers, least)
    found = []
    while at < len(numbers) and (number := numbers[at] - least) <= 0xFFFF_FFFF:
        found.append(number)
        at += 1
    return found


def map_files(folder: Path) -> dict[str, bytes]:
    """Map the files of a segment, but those of its vocabulary."""
    return {path.name: _map(path) for path in folder.iterdir() if path.is_file()}


def _map(path: Path) -> bytes:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return b""
    with path.open("rb") as file:
        # A map has all that bytes have which is used here, without being read at once.
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # type: ignore[return-value]
