"""The smaller datasets: read as CSV in the order of their key, a batch at a time, and split as they come."""

import os
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shared.releases.arrow import arrow_schema
from shared.releases.datasets import LIST, Dataset
from workers.releases.parts import FilePart, PartWriter, ends_of_parts
from workers.releases.snapshot import Snapshot

PART_ROWS = 262_144
"""Rows of these are wide: names, attributes."""
_SEPARATOR = "\x1f"
_BLOCK_BYTES = 8 * 1024 * 1024
Told = Callable[[str, int, int | None], None]


def cut_table(snapshot: Snapshot, query: str, dataset: Dataset, writer: PartWriter, told: Told) -> list[FilePart]:
    """Cut a whole dataset; return its files in their order."""
    parts: list[FilePart] = []
    pending: list[pa.Table] = []
    done = 0

    def write(table: pa.Table) -> None:
        keys = table.column(dataset.order[0])
        name = f"{len(parts):04d}.parquet"
        parts.append(writer.write(dataset, table.unify_dictionaries(), name, lambda row: str(keys[row].as_py())))

    for batch in _batches(snapshot, query, dataset):
        pending.append(batch)
        done += batch.num_rows
        told(dataset.name, done, None)
        if sum(table.num_rows for table in pending) >= PART_ROWS:
            table = pa.concat_tables(pending)
            ends = _ends(table, dataset, more=True)
            for start, end in zip([0, *ends], ends, strict=False):
                write(table.slice(start, end - start))
            pending = [table.slice(ends[-1] if ends else 0)]
    table = pa.concat_tables(pending) if pending else None
    if table is not None and table.num_rows:
        ends = _ends(table, dataset, more=False)
        for start, end in zip([0, *ends], ends, strict=False):
            write(table.slice(start, end - start))
    return parts


def _ends(table: pa.Table, dataset: Dataset, *, more: bool) -> list[int]:
    keys = table.column(dataset.order[0]).to_pylist()
    starts = np.array([row for row, key in enumerate(keys) if row == 0 or key != keys[row - 1]], "i8")
    hashes = np.array([zlib.crc32(keys[row].encode()) for row in starts.tolist()], "u8")
    # As if it were one full part and more: the spacing of possible ends must not depend on how much is pending.
    return ends_of_parts(hashes, starts, len(keys), PART_ROWS, more=more)


def _batches(snapshot: Snapshot, query: str, dataset: Dataset) -> Iterator[pa.Table]:
    schema = arrow_schema(dataset)
    plain = {column.name: _plain(schema.field(column.name).type) for column in dataset.columns}
    pieces = snapshot.copied(query, format="csv")
    first = next(pieces, None)
    if first is None:  # no rows at all, which the reader takes for an error
        return
    with _piped(chain([first], pieces)) as source:
        reader = pyarrow.csv.open_csv(
            source,
            read_options=pyarrow.csv.ReadOptions(column_names=list(plain), block_size=_BLOCK_BYTES),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=plain, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )
        for batch in reader:
            columns = [
                _typed(batch.column(place), column.type, schema.field(place).type)
                for place, column in enumerate(dataset.columns)
            ]
            yield pa.Table.from_arrays(columns, schema=schema)


def _plain(type: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type) or pa.types.is_dictionary(type):
        return pa.string()
    return pa.timestamp("us") if pa.types.is_timestamp(type) else type


def _typed(column: pa.Array, type: str, wanted: pa.DataType) -> pa.Array:
    if type == LIST:
        return _lists(column)
    if type == "dictionary":
        return column.dictionary_encode()
    return pc.assume_timezone(column, "UTC") if type == "timestamp" else column.cast(wanted)


def _lists(joined: pa.Array) -> pa.Array:
    """Split texts into lists; nothing is an empty list."""
    split = pc.split_pattern(joined, _SEPARATOR)
    lengths = pc.fill_null(pc.list_value_length(split), 0)
    offsets = np.concatenate([[0], np.cumsum(lengths.to_numpy(zero_copy_only=False))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), split.flatten())


@contextmanager
def _piped(pieces: Iterator[bytes]) -> Iterator[Any]:
    """Give an iterator of bytes the form of a file. What went wrong while reading is raised when the block ends."""
    read_end, write_end = os.pipe()
    failed: list[BaseException] = []

    def feed() -> None:
        try:
            with os.fdopen(write_end, "wb", buffering=0) as sink:
                for piece in pieces:
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[sink.write(rest) :]
        except BrokenPipeError:
            return  # who reads has stopped, and says why
        except BaseException as error:  # noqa: BLE001 - it belongs to who reads, not to this thread
            failed.append(error)

    feeder = threading.Thread(target=feed, name="pipe", daemon=True)
    feeder.start()
    try:
        with os.fdopen(read_end, "rb") as source:
            yield source
    finally:
        feeder.join()
        if failed:
            raise failed[0]
