"""One search index, opened read-only and memory-mapped: the segments of a manifest as if they were one."""

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.layout import Manifest
from shared.search.live_segment import LiveSegment
from shared.search.model import Item
from shared.units.names import read

_STORED: msgspec.json.Decoder[tuple[Item, list[str]]] = msgspec.json.Decoder(tuple[Item, list[str]])
_FREQUENCIES_KEPT = 32_768
# A mistyped word is looked for again where few items have all words of its query.
_SPELLINGS_KEPT = 4_096
_WITHOUT_ROWS = (layout.PLAIN, layout.DESCRIPTION, layout.DESCRIBED_QUANTITIES)
# Sorts after an IID and before all that begin with it; after all that begin with a prefix.
_AFTER_IT, _AFTER_ANY = "!", "\x7f"
# BM25's constants.
_SATURATION, _LENGTH_SHARE = 1.2, 0.75

SHARE_MAX = _SATURATION + 1
"""BM25's share of a term's weight is below this, however often a document has the term."""

Filter = tuple[str, str]


class SearchIndex:
    """The index of one data_version. All methods are thread-safe. Documents have numbers that hold for this index."""

    def __init__(self, directory: Path, manifest: Manifest, former: "SearchIndex | None" = None) -> None:
        """Open a manifest's segments; those that `former` has too are taken over from it."""
        self.id = manifest.id
        self.data_version = manifest.data_version
        self.committed_at = manifest.committed_at
        self.identifiers = manifest.identifiers
        self.items = manifest.items
        known = {segment.id: segment for segment in former.segments} if former else {}
        self.segments: list[LiveSegment] = []
        base = 0
        for entry in manifest.segments:
            self.segments.append(LiveSegment(directory, entry, base, known.get(entry.id)))
            base += entry.items
        self._opened = [segment for segment in self.segments if segment.id not in known]
        self._bases = [segment.base for segment in self.segments]
        self.common_from = layout.common_from(self.items)
        self.shares = self._shares(sum(segment.length_sum for segment in self.segments))
        self.described_shares = self._shares(sum(segment.description_length_sum for segment in self.segments))
        self.similar_words: Callable[..., tuple[str, ...]] = lru_cache(_SPELLINGS_KEPT)(self._similar_words)
        self.frequency: Callable[[str, str], int] = lru_cache(_FREQUENCIES_KEPT)(self._frequency)
        self._warm()

    def touch(self) -> None:
        """Map the pages of the segments that were opened with this index; queries find most of them mapped then."""
        for segment in self._opened:
            segment.touch()

    def is_common(self, field: str, term: str) -> bool:
        """Return whether a term has so many documents that it is found by rows of bits."""
        return field not in _WITHOUT_ROWS and self.frequency(field, term) > self.common_from

    def inverse_frequency(self, documents: int) -> float:
        """Return the weight of a term that so many documents have."""
        return math.log(1 + (self.items - documents + 0.5) / (documents + 0.5))

    def read(self, number: int) -> tuple[Item, list[str]]:
        _, segment = self.segment_of(number)
        return _STORED.decode(segment.hit(number - segment.base))

    def iid(self, number: int) -> str:
        _, segment = self.segment_of(number)
        return segment.iid(number - segment.base)

    def find(self, iid: str) -> int | None:
        for segment in self.segments:
            document = segment.find(iid)
            if document is not None:
                return segment.base + document
        return None

    def may_have(self, scheme: str, value: str) -> bool:
        """Return False only if no item had this identifier in the index's data_version.

        That holds where `identifiers` names the rules by which the value was made.
        """
        hashed = layout.identifier_hash(scheme, value)
        return any(segment.may_have(hashed) for segment in self.segments)

    def segment_of(self, number: int) -> tuple[int, LiveSegment]:
        """Return the segment of a document with its position among the segments."""
        position = bisect_right(self._bases, number) - 1
        return position, self.segments[position]

    def _similar_words(self, word: str, edits: int, count: int, *, beginning: bool = False) -> tuple[str, ...]:
        """Return the most frequent words within so many edits of a word, or of which a beginning is."""
        bounds: dict[str, int] = {}
        for segment in self.segments:
            for documents, similar in segment.similar_words(word, edits, beginning=beginning):
                bounds[similar] = bounds.get(similar, 0) + documents
        best: list[tuple[int, str]] = []
        for bound, similar in sorted((-documents, similar) for similar, documents in bounds.items()):
            # Deletions make words rarer than their bounds say.
            if len(best) == count and (bound, similar) > best[-1]:
                break
            if documents := self.frequency(layout.PLAIN, similar):
                best = sorted([*best, (-documents, similar)])[:count]
        return tuple(similar for _, similar in best)

    def count_beginning(self, prefix: str) -> int:
        """Return the number of items whose IID begins so."""
        spans = [(segment, *self._span(segment, prefix, None)) for segment in self.segments]
        return sum(end - first - segment.deleted_between(first, end) for segment, first, end in spans)

    def beginning(self, prefix: str, after: str | None, count: int) -> list[int]:
        """Return the first items whose IID begins so and follows `after`."""
        parts = [(segment, segment.listed(*self._span(segment, prefix, after), count)) for segment in self.segments]
        return self._by_iid(parts, count)

    def among(
        self, passing: list[NDArray[np.uint32]], prefix: str, after: str | None, count: int
    ) -> tuple[list[int], int]:
        """Return the first of these documents whose IID begins so and follows `after`, and their number.

        `passing`: documents of each segment.
        """
        parts = []
        for segment, documents in zip(self.segments, passing, strict=True):
            first, end = self._span(segment, prefix, after)
            ranks = segment.ranks(documents)
            within = (ranks >= first) & (ranks < end)
            parts.append((segment, documents[within][np.argsort(ranks[within])]))
        return self._by_iid(parts, count), sum(len(documents) for _, documents in parts)

    def _span(self, segment: LiveSegment, prefix: str, after: str | None) -> tuple[int, int]:
        first, end = segment.rank_of(prefix), segment.rank_of(prefix + _AFTER_ANY)
        return (first if after is None else min(max(first, segment.rank_of(after + _AFTER_IT)), end)), end

    def _by_iid(self, parts: list[tuple[LiveSegment, NDArray[np.uint32]]], count: int) -> list[int]:
        entries = [
            (segment.iid(document), segment.base + document)
            for segment, documents in parts
            for document in documents[:count].tolist()
        ]
        return [number for _, number in sorted(entries)[:count]]

    def _frequency(self, field: str, term: str) -> int:
        """Return the number of documents with a term."""
        return sum([segment.count(field, term) for segment in self.segments])

    def _shares(self, length_sum: int) -> NDArray[np.float64]:
        """Return BM25's share of a term's weight, at 256 times how often a document has it plus its length."""
        mean = length_sum / self.items if length_sum else 1.0
        times = np.arange(layout.TIMES_MAX + 1, dtype=np.float64)[:, np.newaxis]
        lengths = np.arange(layout.LENGTH_MAX + 1, dtype=np.float64)
        share: NDArray[np.float64] = SHARE_MAX * times
        share = share / (times + _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / mean))
        return share.ravel()

    def _warm(self) -> None:
        # Tables are built on first use (edit distances 10 ms, units 6 ms); the first caller should not wait for them.
        read("500 ml")
        self.similar_words("beginning", 2, 1)
        self.similar_words("beginning", 1, 1, beginning=True)
