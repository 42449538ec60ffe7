"""Positions of keys among many that are spread evenly, as hashes are. Pure."""

import numpy as np

from shared.db.copy_binary import Array

_BUCKETS_PER_KEY = 4
_STEPS_MAX = 4


class KeyPositions:
    """Finds keys in an ascending array of them, by a table of its stretches.

    A binary search waits for memory at each of its steps. Keys that are not spread evenly are found too, more slowly.
    """

    def __init__(self, keys: Array) -> None:
        self._keys = keys
        self._least = int(keys[0])
        span = int(keys[-1]) - self._least
        self._shift = max(0, span.bit_length() - (len(keys) * _BUCKETS_PER_KEY).bit_length())
        last = span >> self._shift
        self._firsts = np.searchsorted((keys - self._least) >> self._shift, np.arange(last + 1)).astype("i4")

    def of(self, wanted: Array) -> tuple[Array, Array]:
        """Return each key's position, and whether it is there at all; else the position says nothing."""
        stretch = np.clip(wanted - self._least >> self._shift, 0, len(self._firsts) - 1)
        position = self._firsts.take(stretch)
        found = self._keys.take(position)
        before = np.flatnonzero(found < wanted)
        for _ in range(_STEPS_MAX):
            if not len(before):
                return position, found == wanted
            position[before] = np.minimum(position[before] + 1, len(self._keys) - 1)
            found[before] = self._keys.take(position[before])
            before = before[found[before] < wanted[before]]
        position[before] = np.minimum(np.searchsorted(self._keys, wanted[before]), len(self._keys) - 1)
        return position, self._keys.take(position) == wanted
