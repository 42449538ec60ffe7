"""Columns of integers: joined, replaced, added up; by tables where they are small, else by sorting. Pure."""

from collections.abc import Callable, Sequence

import numpy as np

from workers.rollups.codec import Array

NARROW = 1 << 31
"""Below it integers are kept in 32 bits: half the memory to go through."""
_BINS_MAX = 1 << 20


def replaced(codes: Array, bins: int, number: Callable[[int], int]) -> Array:
    """Return the number of each code, all of them below `bins`; `number` gives it, once for each, in order."""
    if bins > _BINS_MAX:
        distinct, positions = np.unique(codes, return_inverse=True)
        return np.array([number(code) for code in distinct.tolist()], "i4").take(positions)
    occurs = np.zeros(bins, bool)
    occurs[codes] = True
    distinct = np.flatnonzero(occurs)
    numbers = np.empty(bins, "i4")
    numbers[distinct] = [number(code) for code in distinct.tolist()]
    return numbers.take(codes)


def summed_pairs(first: Array, second: Array, n: Array | None = None) -> tuple[Array, Array, Array]:
    """Return the distinct pairs, and the sum of `n` over each."""
    if not len(first):
        return first, second, first
    low, least = int(second.min()), int(first.min())
    width = int(second.max()) - low + 1
    bins = (int(first.max()) - least + 1) * width
    kind = "i4" if bins < NARROW else "i8"
    key = (first - least).astype(kind)
    key *= width
    key += second.astype(kind, copy=False)
    key -= low
    if bins <= _BINS_MAX:
        sums = np.bincount(key, weights=n, minlength=bins)
        distinct = np.flatnonzero(sums)
        return distinct // width + least, distinct % width + low, sums[distinct].astype("i8")
    distinct, positions = np.unique(key, return_inverse=True)
    return distinct // width + least, distinct % width + low, np.bincount(positions, weights=n).astype("i8")


def join(parts: list[Array]) -> Array:
    """Return several arrays as one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def joined(parts: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the columns of several parts, each as one; there must be a part."""
    return tuple(join(list(column)) for column in zip(*parts, strict=True))
