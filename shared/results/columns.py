"""The rows of an answer as plain columns, from which its text is made without Arrow. Pure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.money import minor_digits

SCALE = 6
"""Digits after the point of every amount."""
_LEAST_WIDTH = SCALE + 1


class Columns(NamedTuple):
    """Rows by column: Arrow's values and the way back from them take longer than all else of a small answer.

    `values` are what Arrow's `to_pylist` gives for the types of the schema, in its order, but a decimal is a number
    of millionths, an amount in the currency of its row; none is negative. Nested values hold no amounts.
    """

    schema: pa.Schema
    values: list[list[Any]]

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self.values[0])

    def table(self) -> pa.Table:
        """Return the rows as Arrow's table, in which amounts are decimals."""
        arrays = [
            _decimals(column, kind) if pa.types.is_decimal(kind) else pa.array(column, kind)
            for column, kind in zip(self.values, self.schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def batches(self, at_once: int) -> Iterator[list[dict[str, Any]]]:
        """Yield rows as an answer in text has them, so many at once."""
        names, types = self.schema.names, self.schema.types
        currencies = self.values[names.index("currency")]
        amounts = [pa.types.is_decimal(kind) for kind in types]
        for start in range(0, self.num_rows, at_once):
            part = slice(start, start + at_once)
            digits = [minor_digits(currency) for currency in currencies[part]]
            columns = [
                list(map(_spelled, column[part], digits)) if is_amount else column[part]
                for column, is_amount in zip(self.values, amounts, strict=True)
            ]
            yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _spelled(millionths: int | None, digits: int) -> str | None:
    """Write an amount without idle zeros, but with so many digits at least."""
    if millionths is None:
        return None
    text = str(millionths).zfill(_LEAST_WIDTH)
    fraction = text[-SCALE:].rstrip("0").ljust(digits, "0")
    return f"{text[:-SCALE]}.{fraction}" if fraction else text[:-SCALE]


def _decimals(millionths: list[int | None], kind: pa.DataType) -> pa.Array:
    """Return amounts as a column of decimals with six digits after the point."""
    words = b"".join([(n or 0).to_bytes(16, "little") for n in millionths])
    valid = None
    if None in millionths:
        valid = pa.py_buffer(np.packbits([n is not None for n in millionths], bitorder="little"))
    return pa.Array.from_buffers(kind, len(millionths), [valid, pa.py_buffer(words)])
