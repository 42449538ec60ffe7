"""One segment of an open index: its matches, without the documents that were deleted in it."""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray

from shared.search import layout
from shared.search.directory import read_deleted
from shared.search.layout import SegmentEntry
from shared.search.segment import Numbers, Row, Segment, bits

_VOCABULARY = tantivy.SchemaBuilder().add_text_field(layout.WORD, tokenizer_name="raw", index_option="basic").build()
_PLAIN = layout.key(layout.PLAIN, "")
_FIRST = np.ones(1, np.bool_)
_NONE = np.zeros(0, np.uint32)
# More similar spellings than this are looked for a second time, with room for all.
_SPELLINGS = 2_048


class Postings(NamedTuple):
    """Documents in ascending order, and how often each has the term."""

    documents: Numbers
    times: NDArray[np.uint8]


class LiveSegment:
    """A segment of an index. Its documents' numbers in the index begin at `base`."""

    def __init__(self, directory: Path, entry: SegmentEntry, base: int, former: "LiveSegment | None" = None) -> None:
        """`former`: the same segment of another index, whose files are open already."""
        folder = directory / layout.SEGMENTS / entry.id
        self.id, self.base = entry.id, base
        self._segment: Segment = former._segment if former else Segment(folder)
        self._words: tantivy.Searcher = (
            former._words if former else tantivy.Index.open(str(folder / layout.VOCABULARY)).searcher()
        )
        self._first_word = self._segment.dictionary.beginning(_PLAIN)[0]
        self.items = self._segment.items
        self.lengths, self.description_lengths = self._segment.lengths, self._segment.description_lengths
        self.length_sum, self.description_length_sum = self._segment.length_sum, self._segment.description_length_sum
        self._deleted: NDArray[np.bool_] | None = None
        self._live_row: Row | None = None
        if entry.deletions is not None:
            self._delete(read_deleted(directory, entry))

    def _delete(self, numbers: Numbers) -> None:
        self._deleted = np.zeros(self.items, np.bool_)
        self._deleted[numbers] = True
        self._live_row = ~bits(numbers, self.items)
        self._deleted_ranks = np.sort(self._segment.ranks[numbers])
        self.length_sum -= int(self.lengths[numbers].sum(dtype=np.int64))
        self.description_length_sum -= int(self.description_lengths[numbers].sum(dtype=np.int64))

    def count(self, field: str, term: str) -> int:
        """Return the number of documents with a term."""
        if self._deleted is None and field != layout.PREFIXES:
            return self.estimate(field, term)
        row = self._segment.row(layout.key(field, term))
        if row is not None:
            return int(np.bitwise_count(self._live(row)).sum())
        if self._deleted is None or field == layout.PREFIXES:
            return len(self.postings(field, term).documents)
        documents = self._segment.dictionary.read(self._span(field, term))[0]
        return len(documents) - int(np.count_nonzero(self._deleted[documents]))

    def estimate(self, field: str, term: str) -> int:
        """Return an upper bound of the number of documents with a term, without reading them."""
        return self._segment.dictionary.size(self._span(field, term))

    def postings(self, field: str, term: str) -> Postings:
        """Return the documents with a term."""
        span = self._span(field, term)
        documents, times = self._segment.dictionary.read(span)
        if span[1] - span[0] > 1:  # the words of a beginning, some of them in the same documents
            documents = distinct(np.sort(documents))
            times = np.ones(len(documents), np.uint8)
        if self._deleted is not None:
            live = ~self._deleted[documents]
            documents, times = documents[live], times[live]
        return Postings(documents, times)

    def row(self, field: str, term: str) -> Row:
        """Return the documents with a term as bits."""
        row = self._segment.row(layout.key(field, term))
        return bits(self.postings(field, term).documents, self.items) if row is None else self._live(row)

    def similar_words(self, word: str, edits: int, *, beginning: bool) -> list[tuple[int, str]]:
        """Return the words at so many edits, or of which a beginning is, with bounds of their frequencies."""
        query = tantivy.Query.const_score_query(
            tantivy.Query.fuzzy_term_query(_VOCABULARY, layout.WORD, word, edits, prefix=beginning), 1.0
        )
        spellings: Any = self._words.search(query, _SPELLINGS)
        if spellings.count > _SPELLINGS:
            spellings = self._words.search(query, spellings.count)
        dictionary = self._segment.dictionary
        positions = [self._first_word + address.doc for _, address in spellings.hits]
        return [(dictionary.size((at, at + 1)), dictionary.key(at)[len(_PLAIN) :].decode()) for at in positions]

    def touch(self) -> None:
        self._segment.touch()

    def hit(self, document: int) -> bytes:
        return self._segment.hit(int(self._segment.ranks[document]))

    def iid(self, document: int) -> str:
        return str(self._segment.iids[self._segment.ranks[document]], "ascii")

    def may_have(self, hashed: int) -> bool:
        """Return whether a document has an identifier with this hash; another one may have the same."""
        entries = self._segment.identified(hashed, hashed + 1)
        return len(entries) > 0 and (self._deleted is None or not self._deleted[entries.astype(np.uint32)].all())

    def iids(self, documents: Numbers) -> NDArray[np.bytes_]:
        return self._segment.iids[self._segment.ranks[documents]]

    def ranks(self, documents: Numbers) -> Numbers:
        """Return the positions of documents in the order of IIDs."""
        return self._segment.ranks[documents]

    def find(self, iid: str) -> int | None:
        rank = self.rank_of(iid)
        if rank == self.items or self._segment.iids[rank] != iid.encode():
            return None
        document = int(self._segment.documents[rank])
        return None if self._deleted is not None and self._deleted[document] else document

    def rank_of(self, iid: str) -> int:
        """Return the position of an IID in the order of IIDs, or where it would be inserted."""
        return bisect_left(range(self.items), iid.encode(), key=self._segment.iids.__getitem__)

    def deleted_between(self, first: int, end: int) -> int:
        """Return how many documents are deleted among those of a range of ranks."""
        if self._deleted is None:
            return 0
        return int(np.subtract(*np.searchsorted(self._deleted_ranks, [end, first])))

    def listed(self, first: int, end: int, count: int) -> Numbers:
        """Return the first documents of a range of ranks, in the order of IIDs."""
        if self._deleted is None:
            return self._segment.documents[first : min(end, first + count)]
        documents = self._segment.documents[first : min(end, first + count + self.deleted_between(first, end))]
        return documents[~self._deleted[documents]][:count]

    def _span(self, field: str, term: str) -> tuple[int, int]:
        if field == layout.PREFIXES:
            return self._segment.dictionary.beginning(layout.key(layout.PLAIN, term))
        return self._segment.dictionary.find(layout.key(field, term))

    def _live(self, row: Row) -> Row:
        return row if self._live_row is None else row & self._live_row


def merged(lists: Sequence[Numbers]) -> Numbers:
    """Return the numbers of lists in ascending order, all of them."""
    # The stable sort merges what is in order already, in a tenth of the time of the other one.
    ordered: Numbers = np.sort(np.concatenate([_NONE, *lists]), kind="stable")
    return ordered


def distinct(ordered: Numbers) -> Numbers:
    """Return ascending numbers, each once."""
    first: NDArray[np.bool_] = np.concatenate((_FIRST, ordered[1:] != ordered[:-1]))[: len(ordered)]
    return ordered[first]


def union(lists: Sequence[Numbers]) -> Numbers:
    """Return the numbers of lists in ascending order, each once."""
    some = [numbers for numbers in lists if len(numbers)]
    return some[0] if len(some) == 1 else distinct(merged(some))


def positions_in_both(mine: Numbers, other: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where two ascending lists have the same numbers: the positions in the one and in the other."""
    if len(mine) > len(other):
        there, here = positions_in_both(other, mine)
        return here, there
    found = np.searchsorted(other, mine)
    found[found == len(other)] = 0
    here = np.flatnonzero(other[found] == mine)
    return here, found[here]
