"""All other datasets from PostgreSQL's CSV COPY into Arrow, with the types that the datasets declare."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shared.releases.arrow import arrow_schema
from shared.releases.datasets import LIST, Dataset

_JOINED = "\x1f"


class Sheet:
    """Reads pieces of a COPY of one dataset's columns."""

    def __init__(self, dataset: Dataset) -> None:
        self._schema = arrow_schema(dataset)
        lists = {column.name for column in dataset.columns if column.type == LIST}
        self._lists = lists
        # Lists and moments have a spelling of PostgreSQL's own and are turned afterwards.
        types = {field.name: pa.string() if field.name in lists else _plain(field.type) for field in self._schema}
        self._read = pyarrow.csv.ReadOptions(column_names=self._schema.names, block_size=1 << 30, use_threads=False)
        self._parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
        self._convert = pyarrow.csv.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        )

    def batch_of(self, piece: bytes) -> Any:
        """Return a piece's rows as a record batch."""
        table = pyarrow.csv.read_csv(pa.BufferReader(piece), self._read, self._parse, self._convert)
        columns = [self._turned(table[field.name].combine_chunks(), field) for field in self._schema]
        return pa.RecordBatch.from_arrays(columns, self._schema.names)

    def _turned(self, column: Any, field: Any) -> Any:
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if field.name in self._lists:
            # A list of nothing came as null: no list is, itself, absent.
            split = pc.split_pattern(pc.fill_null(column, ""), _JOINED)
            none = pa.array([[]], pa.list_(pa.string())).take(pa.array([0] * len(column)))
            return pc.if_else(pc.is_null(column), none, split)
        return column.cast(field.type)


def _plain(kind: Any) -> Any:
    return pa.timestamp("us") if pa.types.is_timestamp(kind) else kind
