"""The output of a reader: batches of text columns, bounded in memory, and the rows that could not be read."""

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# How much of a file a load holds in memory at once.


@dataclass(frozen=True, slots=True)
class LoadBuffers:
    """Bounds of a load's memory, whatever the size of the file and the order of its rows."""

    block_bytes: int = 4 * 1024 * 1024
    """Bytes of a CSV file that are parsed at once."""
    kept_bytes: int = 48 * 1024 * 1024
    """Bytes of observations that wait for others of their month."""
    chunk_rows: int = 65_536
    """Observations that are written at once."""


DEFAULT_BUFFERS = LoadBuffers()


# The output of a reader: rows as columns of text, and the rows that could not be read.


RAW_CHARACTERS_MAX = 4_000
VALUE_CHARACTERS_MAX = 300


def as_json(value: Any, characters_max: int = RAW_CHARACTERS_MAX) -> str:
    """Return a row or a value as JSON, cut to what a reject keeps."""
    return json.dumps(value, ensure_ascii=False, default=str)[:characters_max]


class Reject(NamedTuple):
    """A row or a field that cannot be used: its line, the reason, and its text. A CSV's header is line 1.

    `scope` is `row`, or `field` where the rest of the row is used.
    """

    file: str
    line: int
    reason: str
    raw: str
    column: str | None = None
    value: str | None = None
    scope: str = "row"


@dataclass
class Batch:
    """Rows as columns of text or as Parquet has them, null where the source has nothing; their lines; broken rows."""

    columns: dict[str, Any]
    lines: Any
    rejects: list[Reject] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows could be read."""
        return len(self.lines)

    @property
    def rows_in_file(self) -> int:
        """How many rows the file has for this batch, also those that could not be read; a broken field is no row."""
        return self.rows + sum(reject.scope == "row" for reject in self.rejects)
