"""The result of every report, before it is formatted or stored. Pure."""

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from shared.analytics.observations import coverage
from shared.analytics.results import SIX_DECIMALS, Rows
from shared.uncertainty.stated import Displacement
from workers.analytics.reports.pages import PageOfIds
from workers.analytics.reports.periods import Range, day_of, number

UNIT_PRICES = (
    "a unit price is a price by what its item holds of the unit, as its name or an attribute states it, rounded "
    "half-even to six decimals; items that state no such content have none and are not in any figure of prices"
)


@dataclass(frozen=True, slots=True)
class OutlierTreatment:
    """Whether outliers count (`exclude` or `include`), and how many of them there are."""

    mode: str
    set_aside: int


@dataclass(frozen=True, slots=True)
class WithoutContent:
    """Items with prices that state no content in the `unit` asked for: how many, and those with most observations."""

    unit: str
    items_without: int
    without: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a report in their final order, and the statements that go with them.

    `days` is the range that was answered (defaults filled in), `seen` the days of it with data, counted from 1970;
    `units` the unit of each figure, `method` one sentence on how, `rounding` to what each rounded field is rounded,
    `kind` of which observations the statistics of prices are, `basis` what footprints are multiplied by: `sales` or
    `assortment`, `page` which of many the rows are about, `outliers` which of them count, `conversion` by what rates
    amounts were converted, `displacement` how many new items each unit displaces, `unit_prices` for which unit prices
    are and which items have none, `weights` which version of a table of weights was used.
    """

    rows: Rows
    days: Range
    seen: set[int]
    units: dict[str, str]
    method: str
    rounding: dict[str, str]
    kind: str | None = None
    basis: str | None = None
    page: PageOfIds | None = None
    outliers: OutlierTreatment | None = None
    conversion: dict[str, object] | None = None
    displacement: Displacement | None = None
    unit_prices: WithoutContent | None = None
    weights: dict[str, object] | None = None

    @property
    def coverage(self) -> dict[str, Any]:
        """Which days of the range hold data of what was asked for: the first and the last are None where none does."""
        earliest, latest = (day_of(min(self.seen)), day_of(max(self.seen))) if self.seen else (None, None)
        return coverage(self.days.first, self.days.last, len(self.seen), earliest, latest)

    @property
    def table(self) -> pa.Table:
        """The rows as Arrow's table."""
        return self.rows.table()


def with_partial_periods(answer: Answer) -> Answer:
    """Return an answer whose rows say whether the range holds only a part of their period."""
    schema, columns = answer.rows
    place = schema.get_field_index("period")
    parts = {period: answer.days.holds_part_of(number(period)) for period in set(columns[place])}
    partial = [parts[period] for period in columns[place]]
    rows = Rows(
        schema.insert(place + 1, pa.field("partial_period", pa.bool_())),
        [*columns[: place + 1], partial, *columns[place + 1 :]],
    )
    return replace(answer, rows=rows)


def with_unit(answer: Answer) -> Answer:
    """Return an answer of unit prices whose rows, units and method say so; any other as it is."""
    if answer.unit_prices is None:
        return answer
    unit = answer.unit_prices.unit
    schema, columns = answer.rows
    place = schema.get_field_index("currency") + 1
    rows = Rows(
        schema.insert(place, pa.field("unit", pa.string())),
        [*columns[:place], [unit] * answer.rows.num_rows, *columns[place:]],
    )
    amounts = {name for name, of in answer.units.items() if of == "currency"}
    return replace(
        answer,
        rows=rows,
        units=answer.units | dict.fromkeys(amounts, f"currency per {unit}"),
        rounding=answer.rounding | dict.fromkeys(amounts, SIX_DECIMALS),
        method=f"{answer.method}; {UNIT_PRICES}",
    )
