"""Rows of bits for common terms: which items have the term, the items standing in order of their texts' length.

Where every word of a question is common, BM25 comes down to that order: each word is met about once in each item, so
the shortest text wins. The best items are then the first bits of a logical AND, whatever the words.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.text import PREFIX_CHARACTERS_MAX, is_cjk, stems

LENGTH_MAX = 255
# Begins the key of a filter's term; no word has it, and it sorts before all words.
_FILTER = "\0"
Span = tuple[int, int]
Slices = list[Span]


class Terms:
    """Gathers the terms of each item, in the order of items; then lists the words and writes the common terms' rows."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._gathered = array("I")
        self._counts = array("I")
        self._lengths = array("B")

    def add(self, words: Iterable[str], filters: Iterable[tuple[str, str]], length: int) -> None:
        """Add the next item: its distinct words, its filter terms with their fields, its number of words."""
        before = len(self._gathered)
        codes = self._codes
        keys = [*words, *(f"{_FILTER}{field}{_FILTER}{term}" for field, term in filters)]
        self._gathered.extend([codes.setdefault(key, len(codes)) for key in keys])
        self._counts.append(len(self._gathered) - before)
        self._lengths.append(min(length, LENGTH_MAX))

    def write(self, folder: Path) -> None:
        """Write the rows, their names with the number of their items, and the order in which the items stand."""
        items = len(self._counts)
        lengths = np.frombuffer(self._lengths, np.uint8) if items else np.zeros(0, np.uint8)
        order = np.argsort(lengths, kind="stable").astype(np.uint32)
        order.tofile(folder / layout.COMMON_ORDER)
        lengths[order].tofile(folder / layout.COMMON_LENGTHS)
        place = np.empty(items, np.uint32)
        place[order] = np.arange(items, dtype=np.uint32)
        rows: list[tuple[str, str, int]] = []
        with (folder / layout.COMMON_BITS).open("wb") as file:
            for field, term, bits in self._rows(place):
                rows.append((field, term, int(np.count_nonzero(bits))))
                packed = np.packbits(bits, bitorder="little").tobytes()
                file.write(packed.ljust(layout.row_bytes(items), b"\0"))
        (folder / layout.COMMON_TERMS).write_bytes(msgspec.json.encode(rows))

    def words(self) -> Iterator[tuple[str, int]]:
        """Return every word of the items that can be mistyped, in alphabetical order, and how many items have it."""
        sizes = np.bincount(np.frombuffer(self._gathered, np.uint32), minlength=len(self._codes)).tolist()
        for key in sorted(self._codes):
            if not key.startswith(_FILTER) and not is_cjk(key):
                yield key, sizes[self._codes[key]]

    def _rows(self, place: NDArray[np.uint32]) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
        least = layout.common_from(len(place))
        keys = sorted(self._codes)
        places, starts = self._sorted_places(keys, place)
        for field, term, slices in _candidates(keys, starts, least):
            bits = np.zeros(len(place), np.bool_)
            for first, end in slices:
                bits[places[starts[first] : starts[end]]] = True
            if np.count_nonzero(bits) > least:
                yield field, term, bits

    def _sorted_places(self, keys: list[str], place: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], list[int]]:
        """Return the items' places sorted by key, and where each key's places start."""
        if not keys:
            return np.zeros(0, np.uint32), [0]
        alphabetical = np.empty(len(keys), np.uint32)
        alphabetical[[self._codes[key] for key in keys]] = np.arange(len(keys), dtype=np.uint32)
        gathered = alphabetical[np.frombuffer(self._gathered, np.uint32)]
        owners = np.repeat(place, np.frombuffer(self._counts, np.uint32))
        sizes = np.bincount(gathered, minlength=len(keys))
        return owners[np.argsort(gathered, kind="stable")], [0, *np.cumsum(sizes).tolist()]


def _candidates(keys: list[str], starts: list[int], least: int) -> Iterator[tuple[str, str, Slices]]:
    """Name each term that may be common, with the slices of keys that make it up."""
    first_word = bisect_left(keys, chr(ord(_FILTER) + 1))
    for number in range(first_word):
        if starts[number + 1] - starts[number] > least:
            _, field, term = keys[number].split(_FILTER)
            yield field, term, [(number, number + 1)]
    for stem, slices in _by_stem(keys, first_word).items():
        if sum(starts[end] - starts[first] for first, end in slices) > least:
            yield layout.WORDS, stem, slices
    yield from _beginnings(keys, starts, least, (first_word, len(keys)))


def _by_stem(keys: list[str], first_word: int) -> dict[str, Slices]:
    slices: dict[str, Slices] = {}
    for number, stem in enumerate(stems(keys[first_word:]), first_word):
        slices.setdefault(stem, []).append((number, number + 1))
    return slices


def _beginnings(keys: list[str], starts: list[int], least: int, all_words: Span) -> Iterator[tuple[str, str, Slices]]:
    # Sorted words with one beginning are neighbours; a longer beginning is only looked for below a common shorter one.
    level = [all_words]
    for length in range(1, PREFIX_CHARACTERS_MAX + 1):
        deeper: list[Span] = []
        for first, end in level:
            for begun, group in groupby(range(first, end), key=lambda number: keys[number][:length]):
                numbers = list(group)
                span = (numbers[0], numbers[-1] + 1)
                if len(begun) == length and not is_cjk(begun) and starts[span[1]] - starts[span[0]] > least:
                    yield layout.PREFIXES, begun, [span]
                    deeper.append(span)
        level = deeper
