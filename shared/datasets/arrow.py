"""The datasets' columns as Arrow types."""

import pyarrow as pa

from shared.datasets.schema import Dataset

_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "integer": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "decimal(20,4)": pa.decimal128(20, 4),
    "array<string>": pa.list_(pa.string()),
}


def arrow_schema(dataset: Dataset) -> pa.Schema:
    """Return the schema of a dataset's files."""
    return pa.schema([pa.field(c.name, _TYPES[c.type], nullable=c.nullable) for c in dataset.columns])
