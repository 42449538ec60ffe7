"""The choices of an export: formats, columns, filters, changes. Pure."""

from typing import NamedTuple

from shared.datasets.schema import DATASETS, Column, Dataset

FORMATS: dict[str, tuple[str, ...]] = {
    "parquet": ("zstd", "gzip", "none"),
    "csv": ("none", "gzip", "zstd"),
    "ndjson": ("none", "gzip", "zstd"),
    "arrow": ("none", "zstd"),
}
"""Each format with its compressions, the usual one first. Those of Parquet and Arrow are inside the file."""
JSON_COLUMNS = frozenset({"identifiers", "attributes", "sources"})
"""Text that is JSON: NDJSON has it as the value that it is."""
FORMULA_PREFIX = "'"
"""In CSV, put before a text cell that a spreadsheet would run as a formula."""
ROWS, GONE = "rows", "gone"
ID_END = 2**63 - 1
"""Keys of items are hashes of 63 bits; ranges end before this."""


class Shape(NamedTuple):
    """How a dataset can be narrowed: by which filters, by `since`, and the column whose span names its files."""

    filters: frozenset[str]
    since: bool
    key: str


_ITEM = frozenset({"brand", "category"})
SHAPES: dict[str, Shape] = {
    "items": Shape(_ITEM, True, "iid"),
    "observations": Shape(_ITEM | {"channel", "from", "to"}, True, "day"),
    "impacts": Shape(_ITEM, True, "iid"),
    "brands": Shape(frozenset(), False, "slug"),
    "categories": Shape(frozenset(), False, "code"),
    "merged": Shape(frozenset(), False, "from"),
}
GONE_ITEMS = Dataset(
    "gone",
    "Items whose rows a copy made before must drop.",
    (
        Column("iid", "string", "The item."),
        Column(
            "reason",
            "dictionary",
            "withdrawn, merged, removed (no load brings it), or outside: the filter does not hold it (any more).",
        ),
    ),
    ("iid",),
)


def chosen(dataset: Dataset, names: list[str] | None) -> tuple[Column, ...]:
    """Return the columns of these names, in their order; all columns if `names` is empty."""
    by_name = {column.name: column for column in dataset.columns}
    return tuple(by_name[name] for name in names) if names else dataset.columns


def dataset_of(name: str, content: str) -> Dataset:
    """Return what a file of this content holds."""
    return DATASETS[name] if content == ROWS else GONE_ITEMS
