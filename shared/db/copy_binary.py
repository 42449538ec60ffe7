"""PostgreSQL's binary COPY (its documentation, "Binary Format"): tables of rows, and rows one at a time. Pure.

A stream is a header, rows, and a trailer. A row is the number of its columns, then for each column the length of its
value (-1 for NULL) and the value in network byte order. If all rows have the same widths they are one numpy table.
"""

import struct
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from itertools import chain
from typing import Any

import numpy as np

from shared.errors import ItemIndexError

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
EPOCH = date(2000, 1, 1)
"""The day from which PostgreSQL counts."""
EPOCH_DAYS = (EPOCH - date(1970, 1, 1)).days
_STRUCT_CODES = {"i2": "h", "i4": "i", "i8": "q"}
_LENGTH = struct.Struct(">i")
_COUNT = "fields"


def text_array(texts: Iterable[str]) -> str:
    """Return texts as the literal of an array.

    Each is quoted, so that none is read as NULL. Format: PostgreSQL, "Array Input and Output Syntax".
    """
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join([f'"{text}"' for text in quoted]) + "}"


Array = np.ndarray[Any, np.dtype[Any]]  # type: ignore[explicit-any]  # numbers of any kind, or rows of them


class CopyFormatError(ItemIndexError):
    """The rows are not of the columns or widths that the layout names."""


class TableLayout:
    """Rows of fixed width. `columns` are (name, kind) in order; kinds are `i2`, `i4`, `i8`, and `S1`, `S3` for text.

    A column of `nulls` is NULL in every row and has no place in the table.
    """

    def __init__(self, columns: Iterable[tuple[str, str]], *, nulls: Collection[str] = ()) -> None:
        listed = list(columns)
        self.names = [name for name, _ in listed if name not in nulls]
        fields: list[tuple[str, str]] = [(_COUNT, ">i2")]
        self._constants: dict[str, int] = {_COUNT: len(listed)}
        for name, kind in listed:
            fields.append((_length_of(name), ">i4"))
            self._constants[_length_of(name)] = -1 if name in nulls else np.dtype(kind).itemsize
            if name not in nulls:
                fields.append((name, kind if kind.startswith("S") else f">{kind}"))
        self.dtype = np.dtype(fields)

    def blank(self, rows: int) -> Array:
        """Return a table of `rows` rows, in which only the columns' values remain to be set."""
        table = np.zeros(rows, self.dtype)
        for name, value in self._constants.items():
            table[name] = value
        return table

    def rows_in(self, data: bytes | bytearray | memoryview) -> Array:
        """Return the whole rows of a stream or of a piece of it, without header and trailer; a view of `data`.

        Raises CopyFormatError if the data are not whole rows of this layout.
        """
        view = memoryview(data)
        start = len(HEADER) if view[: len(HEADER)] == HEADER else 0
        count, rest = divmod(len(view) - start, self.dtype.itemsize)
        if rest and view[len(view) - rest :] != TRAILER:
            raise CopyFormatError("the rows are not of the width that was asked for")
        table = np.frombuffer(view, self.dtype, count, start)
        if count and not (table[_COUNT] == self._constants[_COUNT]).all():
            raise CopyFormatError("the rows are not of the columns that were asked for")
        return table


class RowLayout:
    """Rows of some columns of fixed width, followed by `values` columns of any width. Kinds as in TableLayout."""

    def __init__(self, kinds: Sequence[str], values: int) -> None:
        self._columns = len(kinds) + values
        self._lengths = [np.dtype(kind).itemsize for kind in kinds]
        codes = (f"{kind[1:]}s" if kind.startswith("S") else _STRUCT_CODES[kind] for kind in kinds)
        self._head = struct.Struct(">h" + "".join(f"i{code}" for code in codes))

    def pack(self, fixed: Iterable[int | bytes], values: Iterable[bytes | None]) -> bytes:
        """Return one row; a value of None is NULL."""
        row = self._head.pack(self._columns, *chain.from_iterable(zip(self._lengths, fixed, strict=True)))
        for value in values:
            row += _LENGTH.pack(-1) if value is None else _LENGTH.pack(len(value)) + value
        return row


def _length_of(name: str) -> str:
    return f"{name}_bytes"
