"""Arrays as bytes. Pure.

Packed: one byte that counts the columns, one byte a column for its width, then the columns one after the other, each of
little-endian unsigned integers as wide as its largest value needs. A column of zeros takes no byte, unless it is the
first, whose length is the number of rows. The same values always give the same bytes.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from workers.analytics.rollups.arrays import Array

_WIDTHS = (0, 1, 2, 4, 8)
_KINDS = {width: np.dtype(f"<u{width}") for width in _WIDTHS if width}


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
