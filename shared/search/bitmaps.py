"""Rows of bits, one for each document of a segment in the order of (length, IID). Pure.

Where every word of a query is common, each is met about once in each item, so BM25 comes down to the length of the
text: the first set bits of a logical AND are the best hits, and the number of bits is the exact total.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.search.segment import Numbers, Row

# So much of a row is looked at first, then twice as much each time: the best hits of common words are at its beginning.
_FIRST_WORDS = 1_024


class Places(NamedTuple):
    """Where rows have the bits of some documents: in which word, and this word with that bit alone."""

    words: NDArray[np.intp]
    bits: Row


NOWHERE = Places(np.zeros(0, np.intp), np.zeros(0, np.uint64))


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
