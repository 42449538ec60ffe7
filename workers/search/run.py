"""The indexed form of an item: the keys under which it is found, and the stored fields of a hit."""

from array import array
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from shared.search import layout
from shared.search.model import Document, Item
from shared.search.segment import Numbers
from shared.text import fold, indexed_words, stems
from shared.units.terms import indexed_quantities
from workers.search.writer import Hits, Keys, finish, identifier_entries, iid_bytes, write_order

_ENCODER = msgspec.json.Encoder()


class Entry(NamedTuple):
    """An item of the index: keys with frequencies, lengths in words, a hit's stored fields, hashes of identifiers."""

    iid: bytes
    times: dict[bytes, int]
    length: int
    description_length: int
    hit: bytes
    identifiers: list[int]


def analyze(document: Document) -> Entry:
    """Return the index's entry of a document."""
    item = document.item
    words = indexed_words("\n".join(_texts(document)))
    described = indexed_words(document.description) if document.description else []
    times = _times(layout.WORDS, words) | _times(layout.DESCRIPTION, described)
    times |= {layout.key(layout.PLAIN, word): 1 for word in words}
    times |= {layout.key(field, term): 1 for field, term in _filters(item) + _quantities(document)}
    return Entry(
        item.iid.encode(),
        times,
        min(len(words), layout.LENGTH_MAX),
        min(len(described), layout.LENGTH_MAX),
        _ENCODER.encode((item, document.alt_names)),
        [layout.identifier_hash(*identifier) for identifier in document.identifiers],
    )


def _times(field: str, words: list[str]) -> dict[bytes, int]:
    return {layout.key(field, stem): min(count, layout.TIMES_MAX) for stem, count in Counter(stems(words)).items()}


def _texts(document: Document) -> list[str]:
    item = document.item
    texts = [item.name, *document.alt_names]
    texts += [item.brand.name] if item.brand else []
    texts += [item.product_type] if item.product_type else []
    texts += item.category.path if item.category else []
    return texts


def _quantities(document: Document) -> list[tuple[str, str]]:
    texts = [(layout.QUANTITIES, text) for text in (document.item.name, *document.alt_names)]
    texts += [(layout.DESCRIBED_QUANTITIES, document.description)] if document.description else []
    return [(field, term) for field, text in texts for term in indexed_quantities(text)]


def _filters(item: Item) -> list[tuple[str, str]]:
    filters = [(layout.BRAND, item.brand.slug)] if item.brand else []
    filters += [(layout.PRODUCT_TYPE, fold(item.product_type))] if item.product_type else []
    if item.category:
        # Every ancestor's code, so that a category finds what is in those below it.
        segments = item.category.code.split(".")
        filters += [(layout.CATEGORY, ".".join(segments[:depth])) for depth in range(1, len(segments) + 1)]
    return filters


# A segment made of documents, all of them in memory.


class Run:
    """Gathers documents in ascending order of IID and writes them as a segment."""

    def __init__(self, after: bytes = b"") -> None:
        """`after`: the IID that the first document's must follow."""
        self._last = after
        self._codes: dict[bytes, int] = {}
        self._gathered, self._times = array("I"), array("B")
        self._counts = array("I")
        self._lengths, self._description_lengths = array("B"), array("B")
        self._iids: list[bytes] = []
        self._hits: list[bytes] = []
        self._identifiers, self._identified = array("I"), array("I")

    def __len__(self) -> int:
        return len(self._iids)

    @property
    def last(self) -> bytes:
        """The highest IID so far."""
        return self._last

    @property
    def postings(self) -> int:
        """How many postings were gathered; what the run takes in memory is in proportion to them."""
        return len(self._gathered)

    def add(self, document: Document) -> None:
        """Add the next document."""
        entry = analyze(document)
        if entry.iid <= self._last:
            raise ValueError(f"documents must come in the order of their IIDs: {entry.iid!r} after {self._last!r}")
        self._last = entry.iid
        self._identifiers.extend(entry.identifiers)
        self._identified.extend([len(self._iids)] * len(entry.identifiers))
        codes = self._codes
        self._gathered.extend([codes.setdefault(key, len(codes)) for key in entry.times])
        self._times.extend(entry.times.values())
        self._counts.append(len(entry.times))
        self._lengths.append(entry.length)
        self._description_lengths.append(entry.description_length)
        self._iids.append(entry.iid)
        self._hits.append(entry.hit)

    def write(self, folder: Path) -> None:
        """Write the segment."""
        folder.mkdir(parents=True)
        width = iid_bytes(max(map(len, self._iids), default=0))
        np.array(self._iids, f"S{width}").tofile(folder / layout.IIDS)
        lengths, description_lengths = np.array(self._lengths), np.array(self._description_lengths)
        documents = write_order(folder, lengths, description_lengths)
        with Hits(folder) as hits:
            hits.add(self._hits)
        self._write_keys(folder, np.repeat(documents, np.array(self._counts)))
        with (folder / layout.IDENTIFIERS).open("wb") as file:
            file.write(identifier_entries(np.array(self._identifiers), documents[np.array(self._identified)]).data)
        finish(folder, width)

    def _write_keys(self, folder: Path, owners: Numbers) -> None:
        keys = sorted(self._codes)
        ordinals = np.empty(len(keys), np.uint64)
        ordinals[[self._codes[key] for key in keys]] = np.arange(len(keys), dtype=np.uint64)
        ordered = ordinals[np.array(self._gathered)] << np.uint64(32) | owners
        order = np.argsort(ordered)
        sizes = np.bincount(np.array(self._gathered), minlength=len(keys))[[self._codes[key] for key in keys]]
        with Keys(folder) as writer:
            writer.add(keys, sizes.tolist(), owners[order], np.array(self._times)[order])
