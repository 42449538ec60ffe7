"""Lines joined from pieces: text that is the same in each row, and columns given by their distinct texts. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.db.copy_binary import Array

TABLE_MAX = 4096
# The texts of a table are made anew for each batch: fewer than its rows, or the table costs more than it spares.
_ROWS_PER_TEXT = 8
# Arrow's views of text are 16 bytes each; numpy copies values of a type of its own of that size fastest.
_VIEW = np.dtype("c16")


Parts: TypeAlias = tuple[pa.Array | str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """A column by its `count` texts, none of them null, and the place of each row's text; without places, row by row.

    The texts are given in parts, arrays of them and text that is the same in all, which are joined as late as possible.
    """

    parts: Parts
    count: int
    places: Array | None = None

    @property
    def texts(self) -> pa.Array:
        return join_text(*self.parts) if len(self.parts) > 1 else self.parts[0]

    def beside(self, other: "Values") -> "Values":
        """Return the two as one column, whose values are the pairs; both have places."""
        assert self.places is not None
        assert other.places is not None
        first = self.texts.take(pa.array(np.arange(self.count).repeat(other.count)))
        second = other.texts.take(pa.array(np.tile(np.arange(other.count), self.count)))
        places = self.places * other.count + other.places
        return Values((first, second), self.count * other.count, places)

    @property
    def is_table(self) -> bool:
        """Whether joining text to all texts costs less than to leave it apart in each row."""
        return self.places is not None and self.count <= len(self.places) // 2


Piece = str | Values


def text_of(pieces: Iterable[Piece], rows: int) -> memoryview:
    """Return the text of all rows, one after the other, each of them all pieces joined.

    Text between columns belongs to the columns of few values beside it. What is left is named by views into a table of
    texts, piece by piece and row by row, so that each byte of a line is copied once.
    """
    merged: list[Piece] = []
    for piece in pieces:
        joint = _merge(merged[-1], piece) if merged else None
        if joint is None:
            merged.append(piece)
        else:
            merged[-1] = joint
    columns = [Values((pa.array([part]),), 1) if isinstance(part, str) else part for part in merged]
    table = pa.concat_arrays([column.texts for column in columns]).cast(pa.string_view())
    _, buffer, *texts = table.buffers()
    views = np.frombuffer(buffer, _VIEW)
    chosen = np.empty((rows, len(columns)), _VIEW)
    start = 0
    for number, column in enumerate(columns):
        own = views[start : start + column.count]
        start += column.count
        chosen[:, number] = own if column.places is None else own.take(column.places)
    array = pa.Array.from_buffers(pa.string_view(), chosen.size, [None, pa.py_buffer(chosen), *texts])
    return _bytes_of(array.cast(pa.string()))


def _bytes_of(texts: pa.Array) -> memoryview:
    """Return the text of an array that has no nulls: its values lie one after the other, without a copy."""
    _, offsets, values = texts.buffers()
    if values is None or not len(texts):
        return memoryview(b"")
    ends = np.frombuffer(offsets, "i4", len(texts) + 1, texts.offset * 4)
    return memoryview(values)[ends[0] : ends[-1]]


def _merge(first: Piece, second: Piece) -> Piece | None:
    """Return two neighbouring pieces as one; None where they stay apart."""
    match first, second:
        case str(), str():
            return first + second
        case str(), Values() if second.is_table:
            return Values((first, *second.parts), second.count, second.places)
        case Values(), str() if first.is_table:
            return Values((*first.parts, second), first.count, first.places)
        case Values(), Values() if first.places is not None and first.places is second.places:
            return Values((*first.parts, *second.parts), first.count, first.places)
        case Values(), Values() if first.is_table and second.is_table:
            assert first.places is not None
            if first.count * second.count <= _texts_max(len(first.places)):
                return first.beside(second)
    return None


def _texts_max(rows: int) -> int:
    return min(TABLE_MAX, max(rows // _ROWS_PER_TEXT, 1))


def places_of(indices: pa.Array, count: int) -> Array:
    """Return indices into `count` texts as an array, with `count` for null."""
    if indices.null_count:
        indices = pc.fill_null(indices, pa.scalar(count, indices.type))
    return np.asarray(indices)


def column_of(parts: Parts, count: int, places: Array, absent: str) -> Piece:
    """Return a column of texts by their places, of which `count` stands for `absent`; text if all rows have one."""
    if (places == count).any():
        parts = (pa.concat_arrays([join_text(*parts), pa.array([absent])]),)
        count += 1
    return str(join_text(*parts)[0]) if count == 1 else Values(parts, count, places)


def join_text(*parts: pa.Array | str) -> pa.Array:
    """Join texts, element by element."""
    return pc.binary_join_element_wise(*parts, "")
