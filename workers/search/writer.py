"""Writes the files of a segment: documents in the order of IIDs, keys in their order, vocabulary, rows of bits."""

from array import array
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self
from zlib import crc32

import msgspec
import numpy as np
import tantivy
from numpy.typing import NDArray

from shared.search import layout
from shared.search.directory import make_durable
from shared.search.layout import SegmentInfo
from shared.search.segment import Dictionary, Numbers, Span, bits
from shared.text import is_unspaced

# Rows of bits for the common terms of a segment: which documents have the term, in the order of their numbers.


_PLAIN = layout.key(layout.PLAIN, "")
# Longer beginnings are of few words, whose documents are read without a row.
_BEGINNING_CHARACTERS_MAX = 12
_FIELDS = [
    layout.key(field, "")
    for field in (layout.WORDS, layout.QUANTITIES, layout.BRAND, layout.CATEGORY, layout.PRODUCT_TYPE)
]


def write_rows(folder: Path, dictionary: Dictionary, items: int) -> None:
    """Write the rows of all terms and beginnings of words that are common among so many documents."""
    least = layout.common_from(items)
    names = []
    with (folder / layout.ROWS).open("wb") as file:
        for name, span in [*_terms(dictionary, least), *_beginnings(dictionary, least)]:
            row = bits(dictionary.read(span)[0], items)
            if int(np.bitwise_count(row).sum()) > least:
                names.append(name.hex())
                file.write(row.tobytes())
    (folder / layout.ROW_KEYS).write_bytes(msgspec.json.encode(names))


def _terms(dictionary: Dictionary, least: int) -> Iterator[tuple[bytes, Span]]:
    for code in _FIELDS:
        first, end = dictionary.beginning(code)
        for position in np.flatnonzero(np.diff(dictionary.starts[first : end + 1]) > least).tolist():
            yield dictionary.key(first + position), (first + position, first + position + 1)


def _beginnings(dictionary: Dictionary, least: int) -> Iterator[tuple[bytes, Span]]:
    # Sorted words with one beginning are neighbours; a longer beginning is only looked for below a common shorter one.
    level = [("", dictionary.beginning(_PLAIN))]
    for _ in range(_BEGINNING_CHARACTERS_MAX):
        deeper = []
        for begun, span in level:
            for longer, part in _continuations(dictionary, begun, span):
                if dictionary.size(part) > least and not is_unspaced(longer):
                    yield layout.key(layout.PREFIXES, longer), part
                    deeper.append((longer, part))
        level = deeper


def _continuations(dictionary: Dictionary, begun: str, span: Span) -> Iterator[tuple[str, Span]]:
    """Return each beginning that is one character longer, with the words that begin so."""
    first, end = span
    while first < end:
        word = dictionary.key(first)[len(_PLAIN) :].decode()
        longer = word[: len(begun) + 1]
        if longer == begun:  # the word ends here
            first += 1
            continue
        last = min(end, dictionary.position(_PLAIN + longer.encode() + b"\xff", first))
        yield longer, (first, last)
        first = last


# The vocabulary of a segment: an index of its words, in which similar spellings are found.


# All words must be in one part, in their order: a word's number there is its position among the plain words.
_BYTES_MIN, _BYTES_MAX = 20_000_000, 1_000_000_000
_BYTES_PER_WORD = 200


def write_vocabulary(folder: Path, dictionary: Dictionary) -> None:
    """Write the index of all plain words of a dictionary."""
    folder.mkdir()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field(layout.WORD, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(schema.build(), str(folder))
    first, end = dictionary.beginning(_PLAIN)
    size = _BYTES_MIN + (end - first) * _BYTES_PER_WORD
    writer = index.writer(min(size, _BYTES_MAX), 1)
    for ordinal in range(first, end):
        entry = tantivy.Document()
        entry.add_text(layout.WORD, dictionary.key(ordinal)[len(_PLAIN) :].decode())
        writer.add_document(entry)
    writer.commit()
    writer.wait_merging_threads()


# Writes the files of a segment: documents in the order of IIDs, keys in their order, and derived data.


# IIDs are kept at one length, a multiple of this.
_IID_BYTES = 8
Bytes = NDArray[np.uint8]


def iid_bytes(longest: int) -> int:
    """Return the bytes that each IID takes where the longest has so many."""
    return max(1, -(-longest // _IID_BYTES)) * _IID_BYTES


def write_order(folder: Path, lengths: Bytes, description_lengths: Bytes) -> Numbers:
    """Write how documents are numbered, and their lengths, both given in the order of IIDs; return the numbers in it.

    Numbers are by (length, IID). BM25 prefers short texts: where each word of a query occurs once, the first documents
    that have all are the best.
    """
    ranks = np.argsort(lengths, kind="stable").astype(np.uint32)
    documents = np.empty(len(ranks), np.uint32)
    documents[ranks] = np.arange(len(ranks), dtype=np.uint32)
    ranks.tofile(folder / layout.RANKS)
    documents.tofile(folder / layout.DOCUMENTS)
    lengths[ranks].tofile(folder / layout.LENGTHS)
    description_lengths[ranks].tofile(folder / layout.DESCRIPTION_LENGTHS)
    return documents


def identifier_entries(hashes: NDArray[np.uint32] | NDArray[np.uint64], documents: Numbers) -> NDArray[np.uint64]:
    """Return hashes of identifiers, each with a document that has it, as the segment lists them."""
    return np.sort(hashes.astype(np.uint64) << np.uint64(32) | documents)


class Hits:
    """The stored items, in the order of IIDs."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / layout.HITS).open("wb")
        self._path = folder / layout.HIT_OFFSETS
        self._offsets = array("Q", [0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if kind is None:
            self._path.write_bytes(self._offsets.tobytes())

    def add(self, hits: list[bytes]) -> None:
        """Add those of the next documents."""
        end = self._offsets[-1]
        for hit in hits:
            end += len(hit)
            self._offsets.append(end)
        self._file.write(b"".join(hits))


class Keys:
    """The dictionary and the postings, key by key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {
            name: (folder / name).open("wb") for name in (layout.KEYS, layout.POSTINGS, layout.TIMES)
        }
        self._offsets, self._starts = array("Q", [0]), array("Q", [0])
        self._hashes = array("I")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        if kind is None:
            (self._folder / layout.KEY_OFFSETS).write_bytes(self._offsets.tobytes())
            (self._folder / layout.POSTING_STARTS).write_bytes(self._starts.tobytes())
            self._write_slots()

    def add(self, keys: Iterable[bytes], sizes: Iterable[int], postings: Numbers, times: Bytes) -> None:
        """Add the next keys with the number of documents of each, and these documents."""
        end, start = self._offsets[-1], self._starts[-1]
        blob = []
        for key, size in zip(keys, sizes, strict=True):
            end += len(key)
            start += size
            self._offsets.append(end)
            self._starts.append(start)
            self._hashes.append(crc32(key))
            blob.append(key)
        self._files[layout.KEYS].write(b"".join(blob))
        self._files[layout.POSTINGS].write(np.ascontiguousarray(postings).data)
        self._files[layout.TIMES].write(np.ascontiguousarray(times).data)

    def _write_slots(self) -> None:
        slots = 1 << max(0, len(self._hashes) - 1).bit_length()
        slot = np.frombuffer(self._hashes, np.uint32) & np.uint32(slots - 1) if self._hashes else np.zeros(0, np.uint32)
        starts = np.zeros(slots + 1, np.uint32)
        starts[1:] = np.cumsum(np.bincount(slot, minlength=slots))
        starts.tofile(self._folder / layout.SLOT_STARTS)
        np.argsort(slot, kind="stable").astype(np.uint32).tofile(self._folder / layout.SLOTS)


def finish(folder: Path, iid_width: int) -> SegmentInfo:
    """Write what is derived from the dictionary, then the segment's description; make all of it durable."""
    lengths = np.fromfile(folder / layout.LENGTHS, np.uint8)
    description_lengths = np.fromfile(folder / layout.DESCRIPTION_LENGTHS, np.uint8)
    dictionary = Dictionary(folder)
    write_rows(folder, dictionary, len(lengths))
    write_vocabulary(folder / layout.VOCABULARY, dictionary)
    info = SegmentInfo(
        items=len(lengths),
        iid_bytes=iid_width,
        length_sum=int(lengths.sum(dtype=np.int64)),
        description_length_sum=int(description_lengths.sum(dtype=np.int64)),
        files={str(path.relative_to(folder)): _described(path) for path in sorted(folder.rglob("*")) if path.is_file()},
    )
    (folder / layout.SEGMENT).write_bytes(msgspec.json.encode(info))
    make_durable(folder)
    return info


def _described(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, file_digest(file, "sha256").hexdigest()
