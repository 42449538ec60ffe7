"""Queries of common words only, answered from bitmaps: a logical AND whose first set bits are the best hits."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search import layout

# BM25's constants, as tantivy has them.
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
Bitmap = NDArray[np.uint64]
Ranked = list[tuple[float, int]]


class CommonTerms:
    """The bitmaps of an index, memory-mapped."""

    def __init__(self, folder: Path, items: int) -> None:
        terms = msgspec.json.decode((folder / layout.COMMON_TERMS).read_bytes(), type=list[tuple[str, str, int]])
        self._places = {(field, term): row for row, (field, term, _) in enumerate(terms)}
        self._documents = [documents for _, _, documents in terms]
        shape = (len(terms), layout.row_bytes(items) // 8)
        self._rows = np.memmap(folder / layout.COMMON_BITS, np.uint64, "r", shape=shape) if terms else None
        self._order = np.fromfile(folder / layout.COMMON_ORDER, np.uint32)
        self._place = np.empty(items, np.uint32)
        self._place[self._order] = np.arange(items, dtype=np.uint32)
        self._lengths = np.fromfile(folder / layout.COMMON_LENGTHS, np.uint8)
        self._length_mean = float(self._lengths.mean()) if items else 1.0
        self._items = items

    def row(self, field: str, terms: Sequence[str]) -> Bitmap | None:
        """Return the items that contain all terms, or None unless every term is common."""
        places = [self._places[field, term] for term in terms if (field, term) in self._places]
        if self._rows is None or len(places) < len(terms):
            return None
        found: Bitmap = np.bitwise_and.reduce(self._rows[places], axis=0)
        return found

    def match_all(self, rows: Sequence[Bitmap], count: int) -> tuple[Ranked, int]:
        """Return score and rank of the best items in every bitmap, and their total number."""
        found = np.bitwise_and.reduce(rows)
        weight = sum(self._idf(row) for row in rows)
        return self._best(found, count, weight), int(np.bitwise_count(found).sum())

    def match_any(self, rows: Sequence[Bitmap], kept: Sequence[Bitmap], count: int) -> tuple[Ranked, int]:
        """Return the best items in some of the bitmaps and in all filter bitmaps `kept`, and their total number.

        Items in more of the bitmaps rank first.
        """
        times = np.sum([_bits(row) for row in rows], axis=0, dtype=np.uint8)
        if kept:
            times *= _bits(np.bitwise_and.reduce(kept))
        weight = sum(self._idf(row) for row in rows)
        best: Ranked = []
        for met in range(len(rows), 0, -1):
            row = np.packbits(times == met, bitorder="little").view(np.uint64)
            best += self._best(row, count - len(best), weight * met / len(rows) + met)
            if len(best) >= count:
                break
        return best, int(np.count_nonzero(times))

    def rescore(self, candidates: Ranked, rows: Sequence[Bitmap], bonus: float) -> Ranked:
        """Add the weights of the common words in each candidate; return them best first, equal scores by rank."""
        if not candidates or not rows:
            return candidates
        ranks = np.array([rank for _, rank in candidates])
        scores = np.array([score for score, _ in candidates])
        places = self._place[ranks]
        word, bit = places // 64, (places % 64).astype(np.uint64)
        for row in rows:
            scores += (row[word] >> bit & np.uint64(1)) * (bonus + self._idf(row))
        best = np.lexsort((ranks, -scores))[: np.count_nonzero(scores)]  # without any word: no hit
        return list(zip(scores[best].tolist(), ranks[best].tolist(), strict=True))

    def _idf(self, row: Bitmap) -> float:
        documents = int(np.bitwise_count(row).sum())
        return math.log(1 + (self._items - documents + 0.5) / (documents + 0.5))

    def _best(self, row: Bitmap, count: int, weight: float) -> Ranked:
        filled = np.flatnonzero(row)[:count]
        bits = np.unpackbits(row[filled].view(np.uint8), bitorder="little").reshape(-1, 64)
        which, bit = np.nonzero(bits)
        places = (filled[which] * 64 + bit)[:count]
        lengths = self._lengths[places] / self._length_mean
        share = (_SATURATION + 1) / (1 + _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths))
        return list(zip((weight * share).tolist(), self._order[places].tolist(), strict=True))


def _bits(row: Bitmap) -> NDArray[np.uint8]:
    return np.unpackbits(row.view(np.uint8), bitorder="little")
