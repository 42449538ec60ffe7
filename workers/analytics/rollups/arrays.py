"""Arrays of integers: sorted, summed by keys, numbered, joined. Pure.

Integers of known width are sorted 16 bits at a time, the least first, each pass a counting sort. A pass costs the same
whatever the order of the values. NumPy's own sort of 64 bits by vector instructions takes twice to four times as long
on some processors, whose compressed stores are slow; nothing here depends on such instructions.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

_DIGIT_BITS = 16
Array = np.ndarray[Any, np.dtype[Any]]

_BITS_MAX = 63
_NARROW_BITS = 32
_TABLE_MAX = 0xFFFF
_CELLS_A_ROW = 8  # bounds the memory of a table by that of the rows
_SEEN_A_ROW = 64  # the same of a table of bytes


def order_of(keys: Array, bits: int) -> Array:
    """Return the places that sort keys of so many bits, none of them negative; equal keys stay in their order."""
    order = _digit_order(keys, 0)
    for shift in range(_DIGIT_BITS, bits, _DIGIT_BITS):
        order = order.take(_digit_order(keys.take(order), shift))
    return order


def _digit_order(keys: Array, shift: int) -> Array:
    digits = (keys >> keys.dtype.type(shift)).astype("u2")  # NumPy sorts 16 bits by counting if the sort is stable
    return np.argsort(digits, kind="stable")


def order_by(*keys: Array, nearly: bool = False) -> Array:
    """Return the places that sort by the first key, then the second …: by one integer where they fit into it.

    Equal rows stay in their order. `nearly`: most rows lie in order already, which another way of sorting makes use of.
    """
    bits = _bits(keys)
    if sum(bits) > _BITS_MAX:
        return np.lexsort(keys[::-1])
    combined = _combined(keys, bits)
    return np.argsort(combined, kind="stable") if nearly else order_of(combined, sum(bits))


def sums_by(keys: tuple[Array, ...], *figures: Array | None) -> tuple[Array, ...]:
    """Return the distinct combinations of keys in order, and the sum of each figure over them; None counts the rows.

    A combination whose first figure comes to 0 is left out. Sums are exact up to 2⁵³.
    """
    rows = len(keys[0])
    if not rows:
        return (np.empty(0, "i8"),) * (len(keys) + len(figures))
    least = [int(key.min()) for key in keys]
    above = [key - key.dtype.type(low) for key, low in zip(keys, least, strict=True)]
    widths = [int(key.max()) + 1 for key in above]
    if prod(widths) <= _CELLS_A_ROW * rows:  # a table costs less than sorting
        cell = np.ravel_multi_index(above, widths)
        sums = [np.bincount(cell, figure) for figure in figures]
        there = np.flatnonzero(sums[0] != 0)  # of booleans twice as fast
        distinct = np.unravel_index(there, widths)
    else:
        order = order_by(*above)
        above = [key.take(order) for key in above]
        starts = starts_of(*above)
        sums = [
            np.diff(starts, append=rows) if figure is None else np.add.reduceat(figure.take(order), starts, dtype="i8")
            for figure in figures
        ]
        there = np.flatnonzero(sums[0] != 0)
        distinct = tuple(key.take(starts.take(there)).astype("i8") for key in above)
    summed = (column.take(there).astype("i8", copy=False) for column in sums)
    return *(key + low for key, low in zip(distinct, least, strict=True)), *summed


def starts_of(*columns: Array) -> Array:
    """Return where a row differs from the one before it, the first included."""
    differs = np.ones(len(columns[0]), bool)
    np.not_equal(columns[0][1:], columns[0][:-1], out=differs[1:])
    for column in columns[1:]:
        differs[1:] |= column[1:] != column[:-1]
    return differs.nonzero()[0]


def numbered(values: Array) -> tuple[Array, Array]:
    """Return the distinct values in order, and the place of each value among them; values must not be negative."""
    if not len(values) or values.max() > max(_TABLE_MAX, _CELLS_A_ROW * len(values)):
        order = order_by(values)
        ascending_values, place = values.take(order), np.empty(len(order), "i8")
        starts = starts_of(ascending_values)
        place[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
        return ascending_values.take(starts), place
    seen = np.zeros(int(values.max()) + 1, "i8")  # values are mostly small: a table costs a tenth of sorting
    seen[values] = 1
    return np.flatnonzero(seen), (np.cumsum(seen) - 1).take(values)


def numbered_rows(*columns: Array) -> tuple[tuple[Array, ...], Array]:
    """Return the distinct rows of columns in order, a column each, and the place of each row among them.

    No value may be negative.
    """
    code, known = np.zeros(len(columns[0]), "i8"), []
    for column in columns:
        values, place = numbered(column.astype("i8", copy=False))
        code = code * max(1, len(values)) + place
        known.append(values)
    codes, place = numbered(code)
    of_rows = []
    for values in reversed(known):
        codes, position = np.divmod(codes, max(1, len(values)))
        of_rows.append(values.take(position))
    return tuple(reversed(of_rows)), place


def coded(values: Array) -> tuple[int, Array]:
    """Return how many distinct values there are, and a code for each value, from 0 in the order of first appearance.

    By a hash table: for items' ids, of which each bit counts, it takes a sixth of sorting them.
    """
    encoded = pa.array(values).dictionary_encode()
    return len(encoded.dictionary), encoded.indices.to_numpy()


def distinct(values: Array) -> Array:
    """Return the distinct values in order; values must not be negative."""
    if not len(values) or values.max() > max(_TABLE_MAX, _SEEN_A_ROW * len(values)):
        ascending_values = values.take(order_by(values))
        return ascending_values.take(starts_of(ascending_values)) if len(values) else values
    seen = np.zeros(int(values.max()) + 1, bool)
    seen[values] = True
    return np.flatnonzero(seen)


def ranges(starts: Array, lengths: Array) -> Array:
    """Return the places of many stretches of rows, one after the other."""
    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


def joined(parts: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the columns of several parts, each as one; there must be a part."""
    return parts[0] if len(parts) == 1 else tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _bits(keys: tuple[Array, ...]) -> list[int]:
    return [int(key.max()).bit_length() if len(key) else 0 for key in keys]


def _combined(keys: tuple[Array, ...], bits: list[int]) -> Array:
    kind = "u4" if sum(bits) <= _NARROW_BITS else "i8"  # half as wide is sorted twice as fast
    combined = keys[0].astype(kind)
    for key, width in zip(keys[1:], bits[1:], strict=True):
        combined <<= width
        combined |= key.astype(kind, copy=False)
    return combined
