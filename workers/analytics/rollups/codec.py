"""Arrays of integers: sorted, packed into bytes and back, and the entries of a rollup. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

# Sorting integers of known width: 16 bits at a time, the least first, each pass a counting sort. Pure.
#
# A pass costs the same whatever the order of the values. NumPy's own sort of 64 bits by vector instructions takes
# twice to four times as long on some processors, whose compressed stores are slow; nothing here depends on such
# instructions.


_DIGIT_BITS = 16
Array = np.ndarray[Any, np.dtype[Any]]


def order_of(keys: Array, bits: int) -> Array:
    """Return the places that sort keys of so many bits, none of them negative; equal keys stay in their order."""
    order = _digit_order(keys, 0)
    for shift in range(_DIGIT_BITS, bits, _DIGIT_BITS):
        order = order.take(_digit_order(keys.take(order), shift))
    return order


def _digit_order(keys: Array, shift: int) -> Array:
    digits = (keys >> keys.dtype.type(shift)).astype("u2")  # NumPy sorts 16 bits by counting if the sort is stable
    return np.argsort(digits, kind="stable")


# Arrays as bytes, and the entries of a rollup. Pure. Packed: one byte that counts the columns, one byte a column for
# its width, then the columns one after the other, each of little-endian unsigned integers as wide as its largest
# value needs. A column of zeros takes no byte, unless it is the first, whose length is the number of rows. The same
# values always give the same bytes.


_WIDTHS = (0, 1, 2, 4, 8)
_KINDS = {width: np.dtype(f"<u{width}") for width in _WIDTHS if width}
_BITS_MAX = 63
_NARROW_BITS = 32
_TABLE_MAX = 0xFFFF
_CELLS_A_ROW = 8  # bounds the memory of a table by that of the rows
_SEEN_A_ROW = 64  # the same of a table of bytes


def pack(*columns: Array) -> bytes:
    """Pack columns of equal length; values must not be negative."""
    return next(pack_each(columns, np.array([0, len(columns[0])])))


def pack_each(columns: tuple[Array, ...], bounds: Array) -> Iterator[bytes]:
    """Pack many groups of rows: group n is rows `bounds[n]` to `bounds[n + 1]`."""
    ready = [_narrowed(column, bounds, least=0 if position else 1) for position, column in enumerate(columns)]
    for group, (start, stop) in enumerate(pairwise(bounds.tolist())):
        widths = [widths[group] for widths, _ in ready]
        parts = [narrow[width][start:stop].tobytes() for width, (_, narrow) in zip(widths, ready, strict=True) if width]
        yield bytes([len(columns), *widths]) + b"".join(parts)


def _narrowed(column: Array, bounds: Array, least: int) -> tuple[list[int], dict[int, Array]]:
    """Return each group's width, at least `least`, and the column in each width that occurs."""
    filled = np.diff(bounds) > 0
    most = np.zeros(len(bounds) - 1, "i8")
    if filled.any():
        most[filled] = np.maximum.reduceat(column, bounds[:-1][filled])
    widths = np.array(_WIDTHS)[np.searchsorted([8 * width for width in _WIDTHS], _bit_lengths(most))]
    widths = np.maximum(widths, least)
    wanted = np.unique(widths).tolist()
    return widths.tolist(), {width: column.astype(f"<u{width}", copy=False) for width in wanted if width}


def narrow(column: Array) -> Array:
    """Return values, none of them negative, as the narrowest unsigned integers that hold them all."""
    return column.astype(np.min_scalar_type(int(column.max()))) if len(column) else column


def _bit_lengths(values: Array) -> Array:
    return np.searchsorted(np.left_shift(1, np.arange(63)), values, side="right")


def unpack(packed: bytes, columns: int | None = None) -> list[Array]:
    """Return the columns, or so many of them, as narrow as they were packed. They view the bytes: nothing is copied."""
    offset = 1 + packed[0]
    widths = packed[1:offset]
    rows = (len(packed) - offset) // sum(widths)
    unpacked = []
    for width in widths[:columns]:
        unpacked.append(np.frombuffer(packed, _KINDS[width], rows, offset) if width else np.zeros(rows, "u1"))
        offset += width * rows
    return unpacked


def unpack_joined(packed: Sequence[bytes], columns: int) -> tuple[list[int], list[Array]]:
    """Return how many rows each of several has, and their first `columns` columns, those of all as one.

    Columns of few rows are nearly all fixed cost: those of the same width are made arrays once.
    """
    heads = [pack[1 : 1 + pack[0]] for pack in packed]
    offsets = [1 + len(head) for head in heads]
    rows = [(len(pack) - start) // sum(head) for pack, start, head in zip(packed, offsets, heads, strict=True)]
    unpacked = []
    for column in range(columns):
        widths = [head[column] for head in heads]
        ends = [start + width * count for start, width, count in zip(offsets, widths, rows, strict=True)]
        parts = [pack[start:end] for pack, start, end in zip(packed, offsets, ends, strict=True)]
        unpacked.append(_joined(parts, widths, rows))
        offsets = ends
    return rows, unpacked


def _joined(parts: list[bytes], widths: list[int], rows: list[int]) -> Array:
    """Return a column of several parts as one; `widths` are its widths in each of them."""
    if len(set(widths)) == 1 and widths[0]:
        return np.frombuffer(b"".join(parts), _KINDS[widths[0]])
    columns = zip(parts, widths, rows, strict=True)
    return np.concatenate([np.frombuffer(p, _KINDS[w]) if w else np.zeros(n, "u1") for p, w, n in columns])


def is_empty(packed: bytes) -> bool:
    """Return whether there are no rows."""
    return len(packed) == 1 + packed[0]


class Stratum(NamedTuple):
    """Prices that a statistic may mix. `kind`: `l` listings, `s` sales; `L`, `S` their outliers."""

    currency: str
    kind: str

    @property
    def sales(self) -> bool:
        """Return whether its units are units sold."""
        return self.kind in ("s", "S")

    @property
    def set_aside(self) -> "Stratum":
        """Return the stratum of this one's outliers."""
        return self._replace(kind=self.kind.upper())


class Entries(NamedTuple):
    """Observations of a month and stratum, a column each. Brand, category and list price are 0 where there is none."""

    item: Array
    day: Array
    channel: Array
    price: Array
    units: Array
    list_price: Array
    brand: Array
    category: Array

    def take(self, chosen: Array) -> "Entries":
        """Return some of them: by places or by a mask."""
        positions = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return Entries(*(column.take(positions) for column in self))

    @classmethod
    def joined(cls, parts: "list[Entries]") -> "Entries":
        if not parts:
            return cls(*(np.empty(0, "i8") for _ in cls._fields))
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


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
