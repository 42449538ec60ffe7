"""One search index, opened read-only and memory-mapped: documents, vocabulary, sorted IIDs."""

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
    """The index of one data_version. All methods are fast and thread-safe."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        items = tantivy.Index.open(str(folder / layout.ITEMS))
        vocabulary = tantivy.Index.open(str(folder / layout.VOCABULARY))
        self.id = manifest.id
        self.data_version = manifest.data_version
        self.items = manifest.items
        self.has_quantities = manifest.quantities
        self.schema = items.schema
        self.common = CommonTerms(folder, manifest.items)
        self._searcher = items.searcher()
        self._word_schema = vocabulary.schema
        self._word_searcher = vocabulary.searcher()
        self._iids = _map(folder / layout.IIDS)
        self._offsets = memoryview(_map(folder / layout.IID_OFFSETS)).cast("Q")

        self._warm()

    def best(self, query: tantivy.Query, count: int) -> tuple[Ranked, int]:
        """Return score and rank of the best documents (equal scores by IID) and the total number of matches."""
        result = self._searcher.search(query, count, count=True)
        # The one segment is in IID order: a document's number is its rank, and equal scores come in that order.
        return [(score, address.doc) for score, address in result.hits], int(result.count)  # type: ignore[attr-defined]

    def frequency(self, field: str, term: str) -> int:
        """Return the number of documents with a term."""
        return self._searcher.doc_freq(field, term)

    def read(self, rank: int) -> tuple[Item, list[str]]:
        """Return an item and its alternative names."""
        stored = self._searcher.doc(tantivy.DocAddress(0, rank))
        return _STORED.decode(bytes(stored.get_first(layout.HIT)))  # type: ignore[arg-type]

    def similar_words(self, word: str, edits: int, count: int, *, beginning: bool = False) -> list[str]:
        """Return the most frequent words within so many edits of a word, or of which a beginning is."""
        query = tantivy.Query.fuzzy_term_query(self._word_schema, layout.WORD, word, edits, prefix=beginning)
        found = self._word_searcher.search(query, count, count=False, order_by_field=layout.FREQUENCY)
        return [str(self._word_searcher.doc(address).get_first(layout.WORD)) for _, address in found.hits]

    def iid(self, rank: int) -> str:
        """Return the IID of a document."""
        return str(self._iids[self._offsets[rank] : self._offsets[rank + 1]], "ascii")

    def rank_of(self, iid: str) -> int:
        """Return the rank of an IID, or the rank at which it would be inserted."""
        return bisect_left(range(self.items), iid, key=self.iid)

    def among(self, ranks: range, filters: Sequence[tuple[str, str]], count: int) -> tuple[list[int], int]:
        """Return the first `count` ranks whose items have all filter terms, and the total number of such ranks."""
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
        """Return whether the index contains an IID."""
        rank = self.rank_of(iid)
        return rank < self.items and self.iid(rank) == iid

    def ranks_beginning(self, prefix: str) -> range:
        """Return the ranks of all IIDs with a prefix."""
        return range(self.rank_of(prefix), self.rank_of(prefix + _AFTER_ANY_IID))

    def _warm(self) -> None:
        # Libraries build tables on first use (10 ms for edit distances); the first caller should not wait for them.
        self.similar_words("beginning", 2, 1)
        self.similar_words("beginning", 1, 1, beginning=True)
        self.best(tantivy.Query.term_query(self.schema, layout.WORDS, "begin", "freq"), 1)


def _map(path: Path) -> Any:
    if path.stat().st_size == 0:  # an index without items; an empty file cannot be mapped
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
