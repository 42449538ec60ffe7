"""Which of many brands or categories an answer is about: sorted, from a position on, at most so many. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import pyarrow as pa

from shared.analytics.results import Columns
from shared.errors import InvalidParameter
from shared.uncertainty.displacement import Displacement

LIMIT = 50
LIMIT_MAX = 500


class Listed(NamedTuple):
    """One of the brands or categories that a list may name, by what it is sorted by."""

    observations: int
    name: str


class Page(NamedTuple):
    """The ids of a page in their order, the position after it (None: it is the last), and how many there are in all."""

    ids: tuple[int, ...]
    after: list[Any] | None
    total: int


def page_of(listed: Mapping[int, Listed], by_name: str, parameters: Mapping[str, Any]) -> Page:
    """Return the page that `sort`, `limit` and `after` ask for; `by_name` is how a caller calls the sort by name.

    Equals are in the order of their names, so a position is exact even when other observations came in between.
    """
    sort = parameters.get("sort") or "-observations"
    if sort.removeprefix("-") not in ("observations", by_name):
        raise InvalidParameter("sort", f"must be one of observations, -observations, {by_name}, -{by_name}")
    after, limit = parameters.get("after"), parameters.get("limit") or LIMIT
    keys = {number: _key(one, sort) for number, one in listed.items()}
    left = [number for number, key in keys.items() if after is None or _follows(key, after, sort)]
    ordered = sorted(left, key=lambda number: listed[number].name)
    ordered.sort(key=lambda number: keys[number][0], reverse=sort.startswith("-"))
    ids = tuple(ordered[:limit])
    return Page(ids, list(keys[ids[-1]]) if len(ordered) > limit else None, len(listed))


def _key(one: Listed, sort: str) -> tuple[Any, ...]:
    return (one.observations, one.name) if sort.endswith("observations") else (one.name,)


def _follows(key: tuple[Any, ...], after: Sequence[Any], sort: str) -> bool:
    if key[0] != after[0]:
        return bool(key[0] < after[0]) if sort.startswith("-") else bool(key[0] > after[0])
    return len(key) > 1 and bool(key[1] > after[1])


# The result of every report, before it is formatted or stored. Pure.


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
    new items each unit displaces, `ended_by` where the last day of the range
    comes from (workers/analytics/reports/periods.py).
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
