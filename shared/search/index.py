"""One search index, opened read-only and memory-mapped: the segments of a manifest as if they were one."""

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search import rows as bitmaps
from shared.search.directory import is_whole, read_deleted
from shared.search.layout import Manifest
from shared.search.model import Item
from shared.search.rows import Numbers, Row
from shared.search.segment import Postings, Segment
from shared.units.names import read

_STORED: msgspec.json.Decoder[tuple[Item, list[str]]] = msgspec.json.Decoder(tuple[Item, list[str]])
_FREQUENCIES_KEPT = 32_768
# A mistyped word is looked for again where few items have all words of its query.
_SPELLINGS_KEPT = 4_096
# Sorts after an IID and before all that begin with it; after all that begin with a prefix.
_AFTER_IT, _AFTER_ANY = "!", "\x7f"
# BM25's constants.
_SATURATION, _LENGTH_SHARE = 1.2, 0.75


class Best(NamedTuple):
    """Documents with their scores, best first, equal scores by IID."""

    documents: Numbers
    scores: NDArray[np.float64]


class SearchIndex:
    """The index of one data_version. All methods are thread-safe.

    Documents have numbers that hold for this index: those of a segment follow those of the one before, from a multiple
    of 64 on, so that their bits do as well.
    """

    def __init__(self, directory: Path, manifest: Manifest, former: "SearchIndex | None" = None) -> None:
        """Open a manifest's segments; those that `former` has too are taken over from it.

        Raises ValueError where a file is missing or was cut, OSError where it is removed meanwhile.
        """
        if not is_whole(directory, manifest):
            raise ValueError("a file is missing, or not as long as it was written")
        self.id, self.data_version = manifest.id, manifest.data_version
        self.committed_at, self.identifiers = manifest.committed_at, manifest.identifiers
        self.items = manifest.items
        known: dict[str, Segment] = {segment.id: segment for segment in former.segments} if former else {}
        self.segments: list[Segment] = [
            known.get(entry.id) or Segment(directory / layout.SEGMENTS / entry.id, entry.items)
            for entry in manifest.segments
        ]
        self._opened = [segment for segment in self.segments if segment.id not in known]
        sizes = [layout.row_words(segment.items) * 64 for segment in self.segments]
        self.bases = [sum(sizes[:position]) for position in range(len(sizes))]
        self.numbers = sum(sizes)
        self._delete([read_deleted(directory, entry) for entry in manifest.segments])
        self.common_from = layout.common_from(self.items)
        self.shares, self.described_shares = self._shares(layout.LENGTHS), self._shares(layout.DESCRIPTION_LENGTHS)
        self.similar_words: Callable[..., tuple[str, ...]] = lru_cache(_SPELLINGS_KEPT)(self._similar_words)
        self.frequency: Callable[[str, str], int] = lru_cache(_FREQUENCIES_KEPT)(self._frequency)
        self._warm()

    def _delete(self, numbers: list[Numbers]) -> None:
        parts = zip(self.segments, numbers, strict=True)
        self._deleted_ranks = [np.sort(segment.ranks[deleted]) for segment, deleted in parts]
        self._deleted: NDArray[np.bool_] | None = None
        self._live: Row | None = None
        if any(map(len, numbers)):
            self._deleted = np.zeros(self.numbers, np.bool_)
            for base, deleted in zip(self.bases, numbers, strict=True):
                self._deleted[base + deleted] = True
            self._live = bitmaps.bits(~self._deleted, self.numbers)

    def touch(self) -> None:
        """Map the pages of the segments that were opened with this index; queries find most of them mapped then."""
        for segment in self._opened:
            segment.touch()

    def is_common(self, field: str, term: str) -> bool:
        """Return whether a term has so many documents that it is found by rows of bits."""
        return field not in layout.WITHOUT_ROWS and self.frequency(field, term) > self.common_from

    def inverse_frequency(self, documents: int) -> float:
        """Return the weight of a term that so many documents have."""
        return math.log(1 + (self.items - documents + 0.5) / (documents + 0.5))

    def postings(self, field: str, term: str) -> Postings:
        """Return the documents with a term."""
        if field in layout.RANGES:
            documents = bitmaps.first(self.row(field, term), self.numbers)
            return Postings(documents, np.ones(len(documents), np.uint8))
        parts = [segment.read(field, term) for segment in self.segments]
        if len(parts) == 1:
            documents, times = parts[0]
        else:
            of_segments = [part.documents + np.uint32(base) for part, base in zip(parts, self.bases, strict=True)]
            documents = np.concatenate([np.zeros(0, np.uint32), *of_segments])
            times = np.concatenate([np.zeros(0, np.uint8), *(part.times for part in parts)])
        if self._deleted is not None:
            live = ~self._deleted[documents]
            documents, times = documents[live], times[live]
        return Postings(documents, times)

    def row(self, field: str, term: str) -> Row:
        """Return the documents with a term, or with a value in a range, as bits."""
        parts = [segment.row(field, term) for segment in self.segments]
        row = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.uint64), *parts])
        return row if self._live is None else row & self._live

    def values(self, column: str, documents: Numbers) -> NDArray[Any]:
        """Return the values of documents, given in ascending order, in a column."""
        if len(self.segments) == 1:
            return self.segments[0].columns[column].take(documents)
        bounds = [*np.searchsorted(documents, self.bases).tolist(), len(documents)]
        values = np.empty(len(documents), layout.COLUMNS[column])
        for segment, base, first, end in zip(self.segments, self.bases, bounds, bounds[1:], strict=False):
            values[first:end] = segment.columns[column][documents[first:end] - base]
        return values

    def best(self, documents: Numbers, scores: NDArray[Any], count: int) -> Best:
        """Return the best of some documents: of the highest scores, of equal scores the first IIDs."""
        if len(scores) > count:
            # Not numpy's partition: where many scores are equal, as here, it takes ten times as long as to sort them.
            least = np.sort(scores)[len(scores) - count] if count else np.inf
            equal = np.flatnonzero(scores == least)
            above = np.flatnonzero(scores > least)
            kept = np.concatenate([above, equal[self.first_by_iid(documents[equal], count - len(above))]])
            documents, scores = documents[kept], scores[kept]
        if len(scores) > 1:
            by_iid = self.first_by_iid(documents, count)
            order = by_iid[np.argsort(-scores[by_iid].astype(np.float64), kind="stable")]
            documents, scores = documents[order], scores[order]
        return Best(documents, scores)

    def first_by_iid(self, documents: Numbers, count: int) -> NDArray[np.intp]:
        """Return the positions of the documents with the first IIDs, in this order."""
        if len(self.segments) == 1:
            return _first_of(self.segments[0].ranks.take(documents), count)
        places, iids = [np.zeros(0, np.intp)], [np.zeros(0, "S1")]
        for segment, base in zip(self.segments, self.bases, strict=True):
            mine = np.flatnonzero((documents >= base) & (documents < base + segment.items))
            ranks = segment.ranks[documents[mine] - base]
            order = _first_of(ranks, count)
            places.append(mine[order])
            iids.append(segment.iids[ranks[order]])
        return np.concatenate(places)[np.argsort(np.concatenate(iids), kind="stable")][:count]

    def read(self, number: int) -> tuple[Item, list[str]]:
        segment, document = self._locate(number)
        return _STORED.decode(segment.hit(int(segment.ranks[document])))

    def iid(self, number: int) -> str:
        segment, document = self._locate(number)
        return str(segment.iids[segment.ranks[document]], "ascii")

    def _locate(self, number: int) -> tuple[Segment, int]:
        position = bisect_right(self.bases, number) - 1
        return self.segments[position], number - self.bases[position]

    def find(self, iid: str) -> int | None:
        numbers, _ = self.beginning(iid, None, 1)
        return numbers[0] if numbers and self.iid(numbers[0]) == iid else None

    def may_have(self, scheme: str, value: str) -> bool:
        """Return False only if no item had this identifier in the index's data_version.

        That holds where `identifiers` names the rules by which the value was made.
        """
        hashed = layout.identifier_hash(scheme, value)
        return any(
            self._deleted is None or not self._deleted[base + document]
            for segment, base in zip(self.segments, self.bases, strict=True)
            for document in segment.identified(hashed)
        )

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

    def beginning(
        self, prefix: str, after: str | None, count: int, among: Numbers | None = None
    ) -> tuple[list[int], int]:
        """Return the first items, `among` some or of all, whose IID begins so and follows `after`, and how many do."""
        parts, total = [np.zeros(0, np.uint32)], 0
        for segment, base, deleted in zip(self.segments, self.bases, self._deleted_ranks, strict=True):
            end = segment.rank_of(prefix + _AFTER_ANY)
            first = min(max(segment.rank_of(prefix), segment.rank_of(after + _AFTER_IT) if after else 0), end)
            if among is None:
                gone = int(np.subtract(*np.searchsorted(deleted, [end, first])))
                numbers = segment.documents[first : min(end, first + count + gone)] + np.uint32(base)
                numbers = numbers if self._deleted is None else numbers[~self._deleted[numbers]][:count]
                total += end - first - gone
            else:
                mine = among[(among >= base) & (among < base + segment.items)]
                ranks = segment.ranks[mine - base]
                numbers = mine[(ranks >= first) & (ranks < end)]
                total += len(numbers)
            parts.append(numbers)
        numbers = np.concatenate(parts)
        return numbers[self.first_by_iid(numbers, count)].tolist(), total

    def _frequency(self, field: str, term: str) -> int:
        """Return the number of documents with a term."""
        if field in layout.RANGES:
            return bitmaps.count(self.row(field, term))
        if self._deleted is None and field != layout.PREFIXES:
            return sum([segment.size(field, term) for segment in self.segments])
        if any(segment.stored_row(field, term) is not None for segment in self.segments):
            return bitmaps.count(self.row(field, term))
        return len(self.postings(field, term).documents)

    def _shares(self, column: str) -> NDArray[np.float64]:
        """Return BM25's share of a term's weight, at 256 times how often a document has it plus its length."""
        length_sum = sum(int(segment.columns[column].sum(dtype=np.int64)) for segment in self.segments)
        if self._deleted is not None:
            deleted = np.flatnonzero(self._deleted).astype(np.uint32)
            length_sum -= int(self.values(column, deleted).sum(dtype=np.int64))
        mean = length_sum / self.items if length_sum else 1.0
        times = np.arange(layout.TIMES_MAX + 1, dtype=np.float64)[:, np.newaxis]
        lengths = np.arange(layout.LENGTH_MAX + 1, dtype=np.float64)
        share: NDArray[np.float64] = (_SATURATION + 1) * times
        share = share / (times + _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / mean))
        return share.ravel()

    def _warm(self) -> None:
        # Tables are built on first use (edit distances 10 ms, units 6 ms); the first caller should not wait for them.
        read("500 ml")
        self.similar_words("beginning", 2, 1)
        self.similar_words("beginning", 1, 1, beginning=True)


def _first_of(ranks: Numbers, count: int) -> NDArray[np.intp]:
    """Return the positions of the lowest ranks in their order."""
    if len(ranks) <= 2 * count:
        return np.argsort(ranks)[:count]
    lowest = np.argpartition(ranks, count)[:count]
    return lowest[np.argsort(ranks[lowest])]
