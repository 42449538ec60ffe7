"""CSV COPY into Arrow: the rows of every dataset but the observations, with the types that the dataset declares."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shared.bulk.schema import LIST, Dataset, arrow_schema

_SEPARATOR = "\x1f"


class CsvRows:
    """Reads pieces of whole rows of a COPY of one dataset's columns; an unquoted empty field is NULL."""

    def __init__(self, dataset: Dataset) -> None:
        self._schema = arrow_schema(dataset)
        self._lists = {column.name for column in dataset.columns if column.type == LIST}
        self._options = {
            "read_options": pyarrow.csv.ReadOptions(
                column_names=self._schema.names, block_size=1 << 30, use_threads=False
            ),
            "parse_options": pyarrow.csv.ParseOptions(newlines_in_values=True),
            "convert_options": pyarrow.csv.ConvertOptions(
                column_types={field.name: self._type_of_reader(field) for field in self._schema},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }

    def batch(self, piece: bytes) -> pa.RecordBatch:
        """Return a piece's rows as a record batch."""
        table = pyarrow.csv.read_csv(pa.BufferReader(piece), **self._options)
        columns = [self._convert(table[field.name].combine_chunks(), field) for field in self._schema]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _type_of_reader(self, field: pa.Field) -> pa.DataType:
        """Return the type that the reader knows: it has no lists, and no timestamps with a zone."""
        if field.name in self._lists:
            return pa.string()
        return pa.timestamp("us") if pa.types.is_timestamp(field.type) else field.type

    def _convert(self, column: pa.Array, field: pa.Field) -> pa.Array:
        if field.name not in self._lists:
            return column.cast(field.type)
        # An empty list arrives as NULL: the dataset has no absent lists.
        split = pc.split_pattern(pc.fill_null(column, ""), _SEPARATOR)
        none = pa.array([[]], pa.list_(pa.string())).take(pa.array([0] * len(column)))
        return pc.if_else(pc.is_null(column), none, split)
