"""Parquet as batches of columns: days, times and decimals as they are, all else as text; members of objects by path."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from shared.errors import LoadRefused
from workers.ingest.batches import Batch, there_is, unpacks_to_more

_PLACE_DIGITS_MAX = 5


def read_parquet(path: Path, columns: tuple[str, ...], batch_rows: int, unpacked_bytes_max: int) -> Iterator[Batch]:
    """Read a Parquet file in batches.

    Raises LoadRefused where the file is too large when unpacked, or a column is absent, an object or a list.
    """
    file = pyarrow.parquet.ParquetFile(path)
    groups = (file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups))
    if sum(groups) > unpacked_bytes_max:
        raise LoadRefused(unpacks_to_more(unpacked_bytes_max))
    paths = {column: _path(file.schema_arrow, column) for column in columns}
    roots = list(dict.fromkeys(steps[0] for steps in paths.values()))
    line = 1
    for record_batch in file.iter_batches(batch_size=batch_rows, columns=roots):
        listed = {column: _as_text(_at(record_batch, steps)) for column, steps in paths.items()}
        yield Batch(listed, range(line, line + record_batch.num_rows))
        line += record_batch.num_rows


def _path(schema: pa.Schema, column: str) -> list[str]:
    """Return the steps to a column's values: its name alone, or a name, members of objects and places in lists."""
    steps = [column] if column in schema.names else column.split(".")
    kind: pa.DataType = pa.struct(list(schema))
    for step in steps:
        kind = _step(kind, step)
        if kind is None:
            known = [name for field in schema for name in _values(field.name, field.type)]
            raise LoadRefused(f"has no column {column!r}; it has {there_is(column, known)}")
    if pa.types.is_nested(kind):
        members = ", ".join(_values(column, kind))[:500]
        raise LoadRefused(f"column {column!r} holds objects or lists; name a value of them by a path: {members}")
    return steps


def _step(kind: pa.DataType, step: str) -> pa.DataType | None:
    """Return the type at a member of an object or a place in a list; None where there is none."""
    if pa.types.is_struct(kind):
        position = kind.get_field_index(step)
        return kind.field(position).type if position >= 0 else None
    if _is_list(kind) and step.isascii() and step.isdigit() and len(step) <= _PLACE_DIGITS_MAX:
        return kind.value_type
    return None


def _values(name: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the paths of the single values within a column; of a list its first place."""
    if pa.types.is_struct(kind):
        for member in kind:
            yield from _values(f"{name}.{member.name}", member.type)
    elif _is_list(kind):
        yield from _values(f"{name}.0", kind.value_type)
    else:
        yield name


def _at(record_batch: pa.RecordBatch, steps: list[str]) -> pa.Array:
    """Return the values at a path; null where an object or a list before it is null or has no such place."""
    column = record_batch.column(steps[0])
    for step in steps[1:]:
        if pa.types.is_struct(column.type):
            column = pc.struct_field(column, step)
        else:
            # Arrow refuses a place behind a list's end; a slice of fixed size has null there.
            position = int(step)
            column = pc.list_element(pc.list_slice(column, position, position + 1, return_fixed_size_list=True), 0)
    return column


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _as_text(column: pa.Array) -> pa.Array:
    """Keep days, times and decimals as they are, dictionaries as dictionaries of text; the rest becomes text."""
    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal128(kind):
        return column
    if pa.types.is_dictionary(kind):
        if len(column.dictionary) > len(column):
            # A dictionary is that of a whole group of rows: with millions of items, each batch would clean all of them.
            column = pc.dictionary_encode(column.dictionary_decode())
        return column.cast(pa.dictionary(pa.int32(), pa.string()))
    return column.cast(pa.string())
