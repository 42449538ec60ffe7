"""A segment made of documents, all of them in memory."""

from array import array
from pathlib import Path

import numpy as np

from shared.search import layout
from shared.search.model import Document
from shared.search.segment import Numbers
from workers.search.analysis import analyze
from workers.search.writer import Hits, Keys, finish, identifier_entries, iid_bytes, write_order


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
