"""The answer of a report: rows with what they rest on, and as tables of the usual libraries."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Report:
    """Rows, and in `meta` their units, method, coverage and data_version."""

    rows: list[dict[str, Any]]
    meta: dict[str, Any]

    @classmethod
    def of(cls, document: dict[str, Any]) -> "Report":
        """Read an answer."""
        return cls(list(document["data"]), dict(document["meta"]))

    def __len__(self) -> int:
        return len(self.rows)

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table. Needs pyarrow."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows)

    def to_polars(self) -> Any:
        """Return a polars.DataFrame. Needs polars."""
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)
