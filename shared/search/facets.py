"""What hits have in common: how many of them have each brand, category or channel. Pure."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Facet, FacetCount
from shared.search.rows import Numbers, Row, as_row, bits
from shared.search.segment import Segment

FACET_VALUES_MAX = 20
_FIELDS: dict[Facet, str] = {"brand": layout.BRAND, "category": layout.CATEGORY, "channel": layout.CHANNEL}


def count_facets(index: SearchIndex, facets: Sequence[Facet], matched: Numbers | Row) -> dict[Facet, list[FacetCount]]:
    """Return the most frequent values of each facet among documents, or their bits."""
    row = bits(matched, index.numbers) if as_row(matched) is None else matched  # type: ignore[arg-type]
    marked = np.unpackbits(row.view(np.uint8), bitorder="little").view(np.bool_)
    return {facet: _count(index, facet, marked) for facet in facets}


def _count(index: SearchIndex, facet: Facet, marked: NDArray[np.bool_]) -> list[FacetCount]:
    counts: Counter[str] = Counter()
    for segment, base in zip(index.segments, index.bases, strict=True):
        counts.update(_counts(segment, _FIELDS[facet], marked[base:]))
    frequent = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:FACET_VALUES_MAX]
    return [FacetCount(value, _name(index, facet, value), count) for value, count in frequent]


def _counts(segment: Segment, field: str, marked: NDArray[np.bool_]) -> dict[str, int]:
    """Return how many of the marked documents have each term of a field."""
    dictionary, prefix = segment.dictionary, layout.key(field, "")
    first, end = dictionary.beginning(prefix)
    if first == end:
        return {}
    starts = (dictionary.starts[first:end] - dictionary.starts[first]).astype(np.intp)
    counts = np.add.reduceat(marked[dictionary.read((first, end)).documents], starts, dtype=np.int64)
    some = np.flatnonzero(counts).tolist()
    return {dictionary.key(first + at)[len(prefix) :].decode(): int(counts[at]) for at in some}


def _name(index: SearchIndex, facet: Facet, value: str) -> str:
    if facet == "brand":
        return next((name for segment in index.segments if (name := segment.names.brands.get(value))), value)
    if facet == "category":
        paths = (segment.names.categories.get(value) for segment in index.segments)
        return next((" > ".join(path) for path in paths if path), value)
    return value
