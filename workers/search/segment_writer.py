"""Writes documents as a segment: gathers what is indexed of each in memory, then sorts it."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import msgspec
import numpy as np
import tantivy
from numpy.typing import NDArray

from shared.search import layout
from shared.search.directory import make_durable
from shared.search.layout import SegmentEntry
from shared.search.model import Document
from shared.search.rows import Numbers
from shared.search.segment import Dictionary, Names, map_files
from workers.search.common_rows import write_rows
from workers.search.entries import analyze

_PLAIN = layout.key(layout.PLAIN, "")
# What is stored of documents is most of an index: it is written while they are gathered.
_HITS_BYTES = 1 << 20
# IIDs are kept at one length, a multiple of this.
_IID_BYTES = 8
# A posting is sorted as one number: its key's position, its document, how often the document has the key.
_KEY_SHIFT, _DOCUMENT_SHIFT = np.uint64(32), np.uint64(8)
_DOCUMENT_MASK = np.uint64(0xFF_FFFF)
DOCUMENTS_MAX = 1 << 24
# All words must be in one part, in their order: a word's number there is its position among the plain words.
_VOCABULARY_BYTES_MIN, _VOCABULARY_BYTES_MAX = 20_000_000, 1_000_000_000
_BYTES_PER_WORD = 200


class SegmentWriter:
    """Gathers documents in ascending order of IID and writes them as a segment."""

    def __init__(self, directory: Path, after: bytes = b"") -> None:
        """`after`: the IID that the first document's must follow."""
        self._folder = directory / layout.SEGMENTS / uuid4().hex
        self.last = after
        self._codes: defaultdict[str, int] = defaultdict()
        self._codes.default_factory = self._codes.__len__
        self._gathered, self._times, self._counts = array("I"), array("B"), array("I")
        self._columns: dict[str, array[Any]] = {name: array(kind) for name, kind in layout.COLUMNS.items()}
        self._iids: list[bytes] = []
        self._hits, self._hit_sizes = bytearray(), array("I")
        self._identifiers, self._identified = array("I"), array("I")
        self._names = Names({}, {})

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def postings(self) -> int:
        """How many postings were gathered; what the writer takes in memory is in proportion to them."""
        return len(self._gathered)

    def add(self, document: Document) -> None:
        entry, item = analyze(document), document.item
        if entry.iid <= self.last:
            raise ValueError(f"documents must come in the order of their IIDs: {entry.iid!r} after {self.last!r}")
        self.last = entry.iid
        self._identifiers.extend(entry.identifiers)
        self._identified.extend([len(self)] * len(entry.identifiers))
        self._gathered.extend(map(self._codes.__getitem__, entry.times))
        self._times.extend(entry.times.values())
        self._counts.append(len(entry.times))
        for name, column in self._columns.items():
            column.append(entry.columns[name])
        self._iids.append(entry.iid)
        self._hits += entry.hit
        if len(self._hits) > _HITS_BYTES:
            self._write_hits()
        self._hit_sizes.append(len(entry.hit))
        if item.brand is not None:
            self._names.brands[item.brand.slug] = item.brand.name
        if item.category is not None and item.category.code not in self._names.categories:
            parts = item.category.code.split(".")
            for depth in range(1, len(parts) + 1):
                self._names.categories[".".join(parts[:depth])] = item.category.path[:depth]

    def write(self, *, update: bool) -> SegmentEntry:
        """Write the files of the segment, durable and with their digests. The writer is spent then."""
        folder, items = self._folder, len(self)
        self._write_hits()
        documents = self._write_documents()
        positions = self._write_keys()
        self._write_postings(positions, documents)
        hashes, identified = np.array(self._identifiers, np.uint64), documents[np.array(self._identified, np.uint32)]
        np.sort(hashes << np.uint64(32) | identified).tofile(folder / layout.IDENTIFIERS)
        (folder / layout.NAMES).write_bytes(msgspec.json.encode(self._names))
        dictionary = Dictionary(map_files(folder))
        # The vocabulary first: it needs memory, and no pages of postings are mapped yet.
        write_vocabulary(folder / layout.VOCABULARY, dictionary)
        write_rows(folder, dictionary, items)
        make_durable(folder)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = {str(path.relative_to(folder)): _described(path) for path in paths}
        return SegmentEntry(folder.name, items, files=files, update=update)

    def _write_hits(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / layout.HITS).open("ab") as file:
            file.write(self._hits)
        self._hits.clear()

    def _write_documents(self) -> Numbers:
        """Write how documents are numbered, and what is stored of each; return the numbers in the order of IIDs.

        Numbers are by (length, IID). BM25 prefers short texts: where each word of a query occurs once, the first
        documents that have all are the best.
        """
        folder = self._folder
        width = -(-max(map(len, self._iids)) // _IID_BYTES) * _IID_BYTES
        np.array(self._iids, f"S{width}").tofile(folder / layout.IIDS)
        self._iids.clear()
        ranks = np.argsort(np.array(self._columns[layout.LENGTHS]), kind="stable").astype(np.uint32)
        documents = np.empty_like(ranks)
        documents[ranks] = np.arange(len(ranks), dtype=np.uint32)
        ranks.tofile(folder / layout.RANKS)
        documents.tofile(folder / layout.DOCUMENTS)
        for name, column in self._columns.items():
            np.array(column)[ranks].tofile(folder / name)
        _write_offsets(self._hit_sizes, folder / layout.HIT_OFFSETS)
        return documents

    def _write_keys(self) -> NDArray[np.uint64]:
        """Write the dictionary, let go of its texts, and return the position of each key by its code."""
        folder, texts = self._folder, sorted(self._codes)
        codes = np.fromiter(map(self._codes.__getitem__, texts), np.uint32, len(texts))
        self._codes.clear()
        positions = np.empty(len(texts), np.uint64)
        positions[codes] = np.arange(len(texts), dtype=np.uint64)
        keys = [text.encode() for text in texts]  # in UTF-8 they have the same order
        (folder / layout.KEYS).write_bytes(b"".join(keys))
        _write_offsets(np.fromiter(map(len, keys), np.uint32, len(keys)), folder / layout.KEY_OFFSETS)
        hashes = np.fromiter(map(crc32, keys), np.uint64, len(keys)) << np.uint64(32)
        np.sort(hashes | np.arange(len(keys), dtype=np.uint64)).tofile(folder / layout.KEY_HASHES)
        return positions

    def _write_postings(self, positions: NDArray[np.uint64], documents: Numbers) -> None:
        folder = self._folder
        postings = positions[np.frombuffer(self._gathered, np.uint32)]
        self._gathered = array("I")  # it is as large as all that follows may be
        owners = np.repeat(documents, np.frombuffer(self._counts, np.uint32))
        # In place: these arrays are what most memory is needed for.
        for shift, lower in (
            (_KEY_SHIFT - _DOCUMENT_SHIFT, owners),
            (_DOCUMENT_SHIFT, np.frombuffer(self._times, "B")),
        ):
            postings <<= shift
            postings |= lower
        postings.sort()
        starts = np.searchsorted(postings, np.arange(len(positions) + 1, dtype=np.uint64) << _KEY_SHIFT)
        starts.astype(np.uint64).tofile(folder / layout.POSTING_STARTS)
        postings.astype(np.uint8).tofile(folder / layout.TIMES)
        postings >>= _DOCUMENT_SHIFT
        postings &= _DOCUMENT_MASK
        postings.astype(np.uint32).tofile(folder / layout.POSTINGS)


def _write_offsets(sizes: Sequence[int] | NDArray[np.uint32], path: Path) -> None:
    offsets = np.zeros(len(sizes) + 1, np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    offsets.tofile(path)


def write_vocabulary(folder: Path, dictionary: Dictionary) -> None:
    """Write the index of all plain words of a dictionary."""
    folder.mkdir()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field(layout.WORD, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(schema.build(), str(folder))
    first, end = dictionary.beginning(_PLAIN)
    size = _VOCABULARY_BYTES_MIN + (end - first) * _BYTES_PER_WORD
    writer = index.writer(min(size, _VOCABULARY_BYTES_MAX), 1)
    for position in range(first, end):
        entry = tantivy.Document()
        entry.add_text(layout.WORD, dictionary.key(position)[len(_PLAIN) :].decode())
        writer.add_document(entry)
    writer.commit()
    writer.wait_merging_threads()


def _described(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, file_digest(file, "sha256").hexdigest()
