"""How rare words are: counted once over many records, then kept, so that a score does not change with each load."""

import math
import zlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Words are known by their bucket alone: with a million different words about one in eight shares its bucket.
BUCKETS = 1 << 22
# With fewer records, frequencies of words mean little.
_LEAST_RECORDS = 1000
_MOST_KNOWN = 1 << 17


@lru_cache(1 << 18)
def bucket(word: str) -> int:
    """Return the bucket of a word, the same in every process."""
    return zlib.crc32(word.encode()) & (BUCKETS - 1)


class Vocabulary:
    """In how many of `records` records the words of each bucket occur."""

    def __init__(self, frequency: NDArray[np.uint32] | None = None, records: int = 0) -> None:
        self.frequency = np.zeros(BUCKETS, np.uint32) if frequency is None else frequency
        self.records = records
        self._rarities: dict[str, float] = {}
        self._scale = math.log(max(records, _LEAST_RECORDS) + 1)

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[NDArray[np.uint32], int]]:
        return Vocabulary, (self.frequency, self.records)

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]]) -> "Vocabulary":
        """Count the words of records; each item is the words of one."""
        frequency, records = np.zeros(BUCKETS, np.uint32), 0
        for text in texts:
            records += 1
            for one in {bucket(word) for word in text}:
                frequency[one] += 1
        return cls(frequency, records)

    def rarity(self, word: str) -> float:
        """Return 0 for a word of every record up to 1 for one that is in none."""
        rarity = self._rarities.get(word)
        if rarity is None:
            if len(self._rarities) >= _MOST_KNOWN:
                self._rarities.clear()
            rarity = max(0.0, 1.0 - math.log(int(self.frequency[bucket(word)]) + 1) / self._scale)
            self._rarities[word] = rarity
        return rarity

    def rarities(self, buckets: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return `rarity` of each bucket."""
        rarity = 1.0 - np.log1p(self.frequency[buckets].astype(np.float64)) / self._scale
        return np.maximum(rarity, 0.0).astype(np.float32)
