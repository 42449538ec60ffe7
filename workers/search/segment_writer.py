"""Writes documents as a segment: gathers what is indexed of each in memory, then sorts it."""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from hashlib import file_digest
from pathlib import Path
from struct import Struct
from uuid import uuid4

import msgspec
import numpy as np
import tantivy

from shared.search import layout
from shared.search.directory import make_durable
from shared.search.layout import SegmentEntry
from shared.search.model import Document
from shared.search.rows import Numbers
from shared.search.segment import Dictionary, DisplayNames, map_files
from shared.text import stem
from workers.search.common_rows import write_rows
from workers.search.dictionary_writer import DictionaryWriter, write_behind_hashes, write_offsets
from workers.search.entries import analyze

_PLAIN = layout.key(layout.PLAIN, "")
# What is stored of documents is most of an index: it is written while they are gathered.
_HITS_BYTES = 1 << 20
# IIDs are kept at one length, a multiple of this.
_IID_BYTES = 8
_COLUMNS = Struct("=" + "".join(layout.COLUMNS.values()))
# All words must be in one part, in their order: a word's number there is its position among the plain words.
_VOCABULARY_BYTES_MIN, _VOCABULARY_BYTES_MAX = 20_000_000, 1_000_000_000
_BYTES_PER_WORD = 200


class _GatheredNumbers:
    """Numbers that documents have, in the order in which the documents came."""

    def __init__(self) -> None:
        self._numbers, self._ends = array("I"), array("I")

    def add(self, numbers: Iterable[int]) -> None:
        """Add those of the next document."""
        self._numbers.extend(numbers)
        self._ends.append(len(self._numbers))

    def with_owners(self, documents: Numbers) -> tuple[Numbers, Numbers]:
        """Return the numbers, and for each the document that has it."""
        counts = np.diff(np.array(self._ends), prepend=np.uint32(0))
        return np.array(self._numbers), np.repeat(documents, counts)


class SegmentWriter:
    """Gathers documents in ascending order of IID and writes them as a segment."""

    def __init__(self, directory: Path, after: bytes = b"") -> None:
        """`after`: the IID that the first document's must follow."""
        self._folder = directory / layout.SEGMENTS / uuid4().hex
        self.last = after
        self.postings = 0
        """How many are written at most; what the writer takes in memory is in proportion to them."""
        # Words and terms are gathered by numbers that are given in the order in which they are met.
        self._words: defaultdict[str, int] = defaultdict()
        self._terms: defaultdict[str, int] = defaultdict()
        self._words.default_factory, self._terms.default_factory = self._words.__len__, self._terms.__len__
        self._named, self._described, self._of_terms, self._identifiers = (_GatheredNumbers() for _ in range(4))
        self._columns = bytearray()
        self._iids: list[bytes] = []
        self._hits, self._hit_sizes = bytearray(), array("I")
        self._names = DisplayNames({}, {})

    def __len__(self) -> int:
        return len(self._iids)

    def add(self, document: Document) -> None:
        entry, item = analyze(document), document.item
        if entry.iid <= self.last:
            raise ValueError(f"documents must come in the order of their IIDs: {entry.iid!r} after {self.last!r}")
        self.last = entry.iid
        self.postings += 2 * len(entry.words) + len(entry.described) + len(entry.terms)
        self._iids.append(entry.iid)
        self._named.add(map(self._words.__getitem__, entry.words))
        self._described.add(map(self._words.__getitem__, entry.described))
        self._of_terms.add(map(self._terms.__getitem__, entry.terms))
        self._identifiers.add(entry.identifiers)
        self._columns += _COLUMNS.pack(*entry.columns)
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
        self._write_dictionary(documents)
        hashes, identified = self._identifiers.with_owners(documents)
        write_behind_hashes(hashes, identified, folder / layout.IDENTIFIERS)
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
        columns = np.frombuffer(self._columns, [*layout.COLUMNS.items()])
        ranks = np.argsort(columns[layout.LENGTHS], kind="stable").astype(np.uint32)
        documents = np.empty_like(ranks)
        documents[ranks] = np.arange(len(ranks), dtype=np.uint32)
        ranks.tofile(folder / layout.RANKS)
        documents.tofile(folder / layout.DOCUMENTS)
        for name in layout.COLUMNS:
            columns[name][ranks].tofile(folder / name)
        write_offsets(np.array(self._hit_sizes, np.uint64), folder / layout.HIT_OFFSETS)
        return documents

    def _write_dictionary(self, documents: Numbers) -> None:
        """Write all keys; words are stemmed here, each once."""
        writer, words = DictionaryWriter(self._folder), list(self._words)
        writer.add(*self._of_terms.with_owners(documents), list(self._terms), str)
        writer.add(*self._named.with_owners(documents), words, lambda word: layout.WORDS + stem(word))
        writer.add(*self._described.with_owners(documents), words, lambda word: layout.DESCRIPTION + stem(word))
        writer.add(*self._named.with_owners(documents), words, lambda word: layout.PLAIN + word)
        writer.close()


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
