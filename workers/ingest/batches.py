"""The output of a reader: batches of text columns, bounded in memory, and the rows that could not be read."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

RAW_CHARACTERS_MAX = 4_000
VALUE_CHARACTERS_MAX = 300


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


def as_json(value: object) -> str:
    """Return a row or a value as JSON, cut to what a reject keeps."""
    return json.dumps(value, ensure_ascii=False, default=str)[:RAW_CHARACTERS_MAX]


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


def reject(
    file: str,
    line: int,
    reason: str,
    raw: object,
    column: str | None = None,
    value: str | None = None,
    scope: str = "row",
) -> Reject:
    """Return a reject that keeps of the texts no more than is shown; `raw` is a text, or a row by its columns."""
    kept = raw[:RAW_CHARACTERS_MAX] if isinstance(raw, str) else as_json(raw)
    return Reject(file, line, reason, kept, column, value and value[:VALUE_CHARACTERS_MAX], scope)


def of_sheet(file: str, sheet: str) -> str:
    """Return the name of a file with that of a sheet, as rejects name both."""
    return f"{file} [{sheet}]" if sheet else file


def unread(file: str, line: int, reason: str, raw: str | bytes) -> Reject:
    """Return the reject of a line that is no row: no column is to blame, and its value is its text."""
    text = raw[: 4 * RAW_CHARACTERS_MAX].decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    text = text[:RAW_CHARACTERS_MAX].rstrip("\r\n")
    return reject(file, line, reason, text, value=text)


def there_is(missing: str, known: Iterable[str]) -> str:
    """Return the names that are there, for the refusal of one that is missing, and which of them is probably meant."""
    close = difflib.get_close_matches(missing, known := list(known), 1)
    return ", ".join(known)[:500] + (f"; is {close[0]!r} meant?" if close else "")


def unpacks_to_more(bytes_max: int) -> str:
    """Return what a file is refused with that is too large when it is unpacked."""
    return f"unpacks to more than {bytes_max:,} bytes (INGEST_UNPACKED_BYTES_MAX)"


@dataclass
class Batch:
    """Rows as columns of text or as Parquet has them, null where the source has nothing; their lines; broken rows."""

    columns: dict[str, Any]
    lines: Any
    rejects: list[Reject] = field(default_factory=list)
    sheet: str = ""
    """The sheet of a workbook that the lines are of, where several are read."""

    @property
    def rows(self) -> int:
        """How many rows could be read."""
        return len(self.lines)

    @property
    def rows_in_file(self) -> int:
        """How many rows the file has for this batch, also those that could not be read; a broken field is no row."""
        return self.rows + sum(reject.scope == "row" for reject in self.rejects)
