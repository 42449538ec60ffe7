"""The first rows of a file as text, with the keys of a mapping that say how the file is written."""

from dataclasses import dataclass, field
from typing import Any, Literal

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 1_000
COLUMNS_MAX = 2_000
HEADER_ROWS_MAX = 50
# What programs write where a value is missing.
NOTHING = frozenset((*"NULL null Null (null) N/A n/a #N/A NaN nan".split(), "\\N", "-", "Does not apply"))


Row = dict[str, str]
Part = Literal["column", "part", "member"]


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file: of each the cells that are not empty, and its line."""

    columns: tuple[str, ...]
    rows: list[Row]
    lines: list[int]
    form: dict[str, Any] = field(default_factory=dict)
    """The keys of a mapping with which a load reads the file."""
    doubts: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    """Columns that the header names more than once: no mapping can name them."""
    header: int = 1
    """The line that names the columns."""
    titles: tuple[str, ...] = ()
    """The texts of the lines above the header, or attributes around the rows, as the day of a price list is."""
    formats: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The number formats of a sheet's columns, which may be the only place that has the currency."""
    formulas: frozenset[str] = frozenset()
    """Columns in which programs write ="007" to keep a spreadsheet from taking a code for a number; here it is 007."""
    lacking: frozenset[str] = frozenset()
    """Columns that some of several sheets do not have."""
    marked_up: frozenset[str] = frozenset()
    """Columns of texts that have entities or tags of HTML in some row of the file."""
    repeated: frozenset[str] = frozenset()
    """Columns with another cell in each of these rows, and none or an earlier one in a row further down."""
    filled_below: frozenset[str] = frozenset()
    """Columns that have no cell in these rows, and some further down."""

    part: Part = "column"
    """What a file of its form calls that which holds a cell of each row."""
    further: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a column cells further down that state a currency, or stand for no value, as none of these rows does."""

    def values(self, column: str) -> list[str]:
        """Return the cells of a column that are not empty."""
        return [row[column] for row in self.rows if column in row]
