"""The output of a reader: rows as columns of text, and the rows that could not be read."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

RAW_CHARACTERS_MAX = 4_000
VALUE_CHARACTERS_MAX = 300


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
