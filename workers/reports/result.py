"""The result of every report, before it is formatted or stored. Pure."""

from dataclasses import dataclass
from datetime import date

import pyarrow as pa

from shared.results.columns import Columns
from shared.uncertainty.displacement import Displacement
from workers.reports.paging import Page


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which days of the range asked for hold data: `first` and `last` are None where none does."""

    days: int
    observed_days: int
    first: date | None
    last: date | None

    @property
    def missing_days(self) -> int:
        """How many days of the range hold no data."""
        return self.days - self.observed_days


@dataclass(frozen=True, slots=True)
class Outliers:
    """Whether outliers count (`exclude` or `include`), and how many of them there are."""

    mode: str
    set_aside: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a report in their final order, and the statements that go with them.

    `rows`: of a table money is decimal128, days are date32, nested values are structs or lists. `first` and `last` are
    the range that was answered (defaults filled in), `units` the unit of each figure, `method` one sentence on how,
    `rounding` to what each rounded field is rounded, `kind` of which observations the statistics of prices are,
    `basis` what footprints are multiplied by: `sales` or `assortment`, `page` which of many the rows are about,
    `outliers` which of them count, `conversion` by what rates amounts were converted, `displacement` how many
    new items each unit displaces, `ended_by` where the last day of the range comes from (workers/reports/periods.py).
    """

    rows: pa.Table | Columns
    first: date
    last: date
    coverage: Coverage
    units: dict[str, str]
    method: str
    rounding: dict[str, str]
    kind: str | None = None
    basis: str | None = None
    page: Page | None = None
    outliers: Outliers | None = None
    conversion: dict[str, object] | None = None
    displacement: Displacement | None = None
    ended_by: str = "request"

    @property
    def table(self) -> pa.Table:
        """The rows as Arrow's table."""
        return self.rows.table() if isinstance(self.rows, Columns) else self.rows
