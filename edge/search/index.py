"""One search index, opened read-only and memory-mapped: documents, words, the sorted IIDs."""

import mmap
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import tantivy

from edge.search.bitmaps import CommonTerms, Ranked
from shared.search import layout
from shared.search.layout import Manifest
from shared.search.model import Item

_STORED: msgspec.json.Decoder[tuple[Item, list[str]]] = msgspec.json.Decoder(tuple[Item, list[str]])
_AFTER_ANY_IID = "\x7f"


class SearchIndex:
    """The index of one data_version. All methods are quick and may be called from several threads."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        items = tantivy.Index.open(str(folder / layout.ITEMS))
        vocabulary = tantivy.Index.open(str(folder / layout.VOCABULARY))
        self.id = manifest.id
        self.data_version = manifest.data_version
        self.items = manifest.items
        self.schema = items.schema
        self.common = CommonTerms(folder, manifest.items)
        self._searcher = items.searcher()
        self._word_schema = vocabulary.schema
        self._word_searcher = vocabulary.searcher()
        self._iids = _map(folder / layout.IIDS)
        self._offsets = memoryview(_map(folder / layout.IID_OFFSETS)).cast("Q")

        self._warm()

    def best(self, query: tantivy.Query, count: int) -> tuple[Ranked, int]:
        """Return score and rank of the best documents, best first and equal scores by IID, and how many there are."""
        result = self._searcher.search(query, count, count=True)
        # One segment, written in the order of IIDs: a document's number is its rank, and equals come in that order.
        return [(score, address.doc) for score, address in result.hits], int(result.count)  # type: ignore[attr-defined]

    def frequency(self, field: str, term: str) -> int:
        """Return how many documents have a term."""
        return self._searcher.doc_freq(field, term)

    def read(self, rank: int) -> tuple[Item, list[str]]:
        """Return an item and its other names."""
        stored = self._searcher.doc(tantivy.DocAddress(0, rank))
        return _STORED.decode(bytes(stored.get_first(layout.HIT)))  # type: ignore[arg-type]

    def words_near(self, word: str, edits: int, count: int, *, beginning: bool = False) -> list[str]:
        """Return the most frequent words within so many edits of a word, or of which a beginning is."""
        query = tantivy.Query.fuzzy_term_query(self._word_schema, layout.WORD, word, edits, prefix=beginning)
        found = self._word_searcher.search(query, count, count=False, order_by_field=layout.FREQUENCY)
        return [str(self._word_searcher.doc(address).get_first(layout.WORD)) for _, address in found.hits]

    def iid(self, rank: int) -> str:
        """Return the IID of a document."""
        return str(self._iids[self._offsets[rank] : self._offsets[rank + 1]], "ascii")

    def rank_of(self, iid: str) -> int:
        """Return the rank that an IID has or would have."""
        return bisect_left(range(self.items), iid, key=self.iid)

    def among(self, ranks: range, filters: Sequence[tuple[str, str]], count: int) -> tuple[list[int], int]:
        """Return the first of some ranks whose items have all the filters' terms, and how many there are."""
        field = tantivy.FieldType.Unsigned
        terms = [tantivy.Query.term_query(self.schema, name, term, "basic") for name, term in filters]
        within = tantivy.Query.range_query(
            self.schema, layout.RANK, field, ranks.start, ranks.stop, include_upper=False
        )
        clauses = [(tantivy.Occur.Must, query) for query in (within, *terms)]
        equal = tantivy.Query.const_score_query(tantivy.Query.boolean_query(clauses), 1.0)
        found, total = self.best(equal, count)
        return [rank for _, rank in found], total

    def has(self, iid: str) -> bool:
        """Tell whether an item with this IID is in the index."""
        rank = self.rank_of(iid)
        return rank < self.items and self.iid(rank) == iid

    def ranks_beginning(self, prefix: str) -> range:
        """Return the ranks of all IIDs with a beginning."""
        return range(self.rank_of(prefix), self.rank_of(prefix + _AFTER_ANY_IID))

    def _warm(self) -> None:
        # What libraries build on first use (tables of edits: 10 ms) is not for the first caller to wait for.
        self.words_near("beginning", 2, 1)
        self.words_near("beginning", 1, 1, beginning=True)
        self.best(tantivy.Query.term_query(self.schema, layout.WORDS, "begin", "freq"), 1)


def _map(path: Path) -> Any:
    if path.stat().st_size == 0:  # an index of no items; nothing cannot be mapped
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
