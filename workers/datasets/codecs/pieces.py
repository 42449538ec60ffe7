"""Lines joined from pieces: text that is the same in each row, columns of few values, and spelled columns. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

TABLE_MAX = 4096
# The texts of a table are made anew for each batch: fewer than its rows, or the table costs more than it spares.
_ROWS_PER_TEXT = 8


@dataclass(frozen=True, slots=True)
class Values:
    """A column of few values: the text of each, and for each row its value's place."""

    texts: list[str]
    places: Any

    def beside(self, other: "Values") -> "Values":
        """Return the two as one column, whose values are the pairs."""
        texts = [mine + its for mine in self.texts for its in other.texts]
        return Values(texts, self.places * len(other.texts) + other.places)

    def spelled(self) -> Any:
        """Return the text of each row."""
        return pa.array(self.texts, pa.string()).take(pa.array(self.places))


Piece = str | Values | Any


def lines(pieces: Iterable[Piece]) -> Any:
    """Join pieces to lines: text between columns belongs to the columns of few values beside it."""
    merged: list[Piece] = []
    for piece in pieces:
        joined = _merged(merged[-1], piece) if merged else None
        if joined is None:
            merged.append(piece)
        else:
            merged[-1] = joined
    spelled = [piece.spelled() if isinstance(piece, Values) else piece for piece in merged]
    return pc.binary_join_element_wise(*spelled, "") if len(spelled) > 1 else spelled[0]


def _merged(first: Piece, second: Piece) -> Piece | None:
    """Return two neighbouring pieces as one; None where they stay apart."""
    match first, second:
        case str(), str():
            return first + second
        case str(), Values():
            return Values([first + text for text in second.texts], second.places)
        case Values(), str():
            return Values([text + second for text in first.texts], first.places)
        case Values(), Values() if len(first.texts) * len(second.texts) <= _texts_max(len(first.places)):
            return first.beside(second)
    return None


def _texts_max(rows: int) -> int:
    return min(TABLE_MAX, max(rows // _ROWS_PER_TEXT, 1))


def with_absent(texts: Sequence[str], places: Any, absent: str) -> Values:
    """Return a column of these texts by its positions, with null for the text `absent`."""
    if places.null_count:
        return Values([*texts, absent], np.asarray(pc.fill_null(places, len(texts))).astype("i4"))
    return Values(list(texts), np.asarray(places).astype("i4"))
