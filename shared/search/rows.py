"""Rows of bits, one for each document of a segment in the order of (length, IID). Pure.

Where every word of a query is common, each is met about once in each item, so BM25 comes down to the length of the
text: the first set bits of a logical AND are the best hits, and the number of bits is the exact total.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.search import layout

Numbers = NDArray[np.uint32]
Row = NDArray[np.uint64]

# So much of a row is looked at first, then twice as much each time: the best hits of common words are at its beginning.
_FIRST_WORDS = 1_024


class Places(NamedTuple):
    """Where rows have the bits of some documents: in which word, and this word with that bit alone."""

    words: NDArray[np.intp]
    bits: Row


def bits(documents: Numbers | NDArray[np.bool_], items: int) -> Row:
    """Return a row with the bits of these documents, which may be named more than once, or of all for which is true."""
    row = np.zeros(layout.row_words(items) * 64, np.bool_)
    if documents.dtype == np.bool_:
        row[:items] = documents
    else:
        row[documents] = True
    return np.packbits(row, bitorder="little").view(np.uint64)


def count(row: Row) -> int:
    """Return how many bits are set."""
    return int(np.bitwise_count(row).sum(dtype=np.int64))


def first(row: Row, most: int) -> Numbers:
    """Return the first documents whose bit is set, at most so many."""
    numbers, start, size = [np.zeros(0, np.uint32)], 0, _FIRST_WORDS
    while most > 0 and start < len(row):
        # numpy finds what is set soonest in one dimension of truth values: numbers or two dimensions take twice as long
        part = row[start : start + size]
        filled = np.flatnonzero(part != 0)[:most]
        set_bits = np.flatnonzero(np.unpackbits(part[filled].view(np.uint8), bitorder="little").view(np.bool_))[:most]
        numbers.append(((filled[set_bits >> 6] + start) * 64 + (set_bits & 63)).astype(np.uint32))
        most -= len(numbers[-1])
        start, size = start + size, 2 * size
    return np.concatenate(numbers)


def as_row(documents: Numbers | Row) -> Row | None:
    """Return documents that are given as bits, None where they are given by their numbers."""
    return documents if documents.dtype == np.uint64 else None  # type: ignore[return-value]


def numbers_of(documents: Numbers | Row) -> Numbers:
    """Return documents by their numbers, where they may be given as bits."""
    row = as_row(documents)
    return documents if row is None else first(row, 64 * len(row))  # type: ignore[return-value]


def places(documents: Numbers) -> Places:
    """Return where the bits of documents are, for `has`: the same for all rows of a segment."""
    bits = np.uint64(1) << (documents & np.uint32(63)).astype(np.uint64)
    return Places((documents >> np.uint32(6)).astype(np.intp), bits)


def has(row: Row, at: Places) -> NDArray[np.uint8]:
    """Return 1 for each document whose bit is set, 0 for the others."""
    found: NDArray[np.bool_] = row.take(at.words) & at.bits != 0
    return found.view(np.uint8)


def by_number_met(rows: Sequence[Row]) -> list[Row]:
    """Return the documents that are in all of the rows, in all but one, and so on down to one."""
    at_least: list[Row] = []
    for row in rows:
        longer = [row, *(row & met for met in at_least)]
        at_least = [met | more for met, more in zip(at_least, longer, strict=False)] + [longer[-1]]
    exactly = [met & ~more for met, more in pairwise(at_least)] + at_least[-1:]
    return exactly[::-1]


def union(lists: Sequence[Numbers]) -> Numbers:
    """Return the numbers of ascending lists in ascending order, each once."""
    some = [numbers for numbers in lists if len(numbers)]
    if len(some) < 2:
        return some[0] if some else np.zeros(0, np.uint32)
    # The stable sort merges what is in order already, in a tenth of the time of the other one.
    return distinct(np.sort(np.concatenate(some), kind="stable"))


def distinct(ordered: Numbers) -> Numbers:
    """Return ascending numbers, each once."""
    first: NDArray[np.bool_] = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
