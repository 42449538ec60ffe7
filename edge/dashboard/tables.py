"""Rows of a result as a table for people, their periods, and a question in words. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from shared.analytics.footprint import INDICATORS, Indicator
from shared.money import minor_digits
from shared.printable import isolated

_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class Periods:
    """The length of a result's periods, None where the whole range is one, and its first and last day with data."""

    granularity: str | None = None
    first: date | None = None
    last: date | None = None

    @classmethod
    def of(cls, parameters: Mapping[str, Any], meta: Mapping[str, Any]) -> "Periods":
        """Return the periods of a stored result."""
        coverage = meta.get("coverage") or {}
        first, last = (date.fromisoformat(coverage[end]) if coverage.get(end) else None for end in ("first", "last"))
        return cls(parameters.get("granularity"), first, last)

    @property
    def span(self) -> str:
        """The days with data, as titles state them; empty where there are none."""
        return days_text(self.first, self.last) if self.first and self.last else ""

    def spanning(self, periods: Iterable[str]) -> str:
        """Return the days that these periods have data of: the coverage, or the periods where it is not theirs."""
        listed = sorted(periods)
        if not listed or self.first is None or self.granularity is None:
            return self.span
        before = self._ends(date.fromisoformat(listed[0])) < self.first
        return f"{self._short(listed[0])} to {self._short(listed[-1])}" if before else self.span

    def _short(self, period: str) -> str:
        return period[:7] if self.granularity == "month" else period

    @property
    def unit(self) -> str:
        """The length of a period as a word."""
        return self.granularity or "period"

    def is_partial(self, period: str) -> bool:
        """Return whether data begins after the period's first day, or ends before its last one."""
        ends = self._ends(date.fromisoformat(period)) if self.granularity not in (None, "day") else None
        if ends is None or self.first is None or self.last is None or not self._has_data(period, ends):
            return False
        return date.fromisoformat(period) < self.first or ends > self.last

    def text(self, period: str) -> str:
        """Return a period by its days with data: never by a day before the first of them."""
        if self.first is None or self.last is None:
            return period
        if self.granularity is None:
            return self.span
        begins, ends = date.fromisoformat(period), self._ends(date.fromisoformat(period))
        if self.granularity == "day":
            return period
        if not self.is_partial(period):
            return period[:7] if self.granularity == "month" else days_text(begins, ends)
        return days_text(max(begins, self.first), min(ends, self.last))

    def name(self, period: str) -> str:
        """Return a period as one among others: "2024-Q2", "the week of 2024-06-03", "the incomplete month 2024-07"."""
        begins = date.fromisoformat(period)
        names = {
            "week": f"of {max(begins, self.first or begins)}",
            "quarter": f"{begins.year}-Q{(begins.month + 2) // 3}",
            "year": period[:4],
        }
        name = names.get(self.unit, self._short(period))
        if self.is_partial(period):
            return f"the incomplete {self.unit} {name}"
        return f"the week {name}" if self.unit == "week" else name

    def finer(self) -> str | None:
        """Return the longest length of period that would divide the days with data into several; None if none does."""
        if self.first is None or self.last is None:
            return None
        lengths = ("year", "quarter", "month", "week", "day")
        shorter = lengths[lengths.index(self.granularity) + 1 :] if self.granularity else lengths[2:]
        starts = {name: self._starts(name, self.first) != self._starts(name, self.last) for name in shorter}
        return next((name for name in shorter if starts[name]), None)

    def _has_data(self, period: str, ends: date) -> bool:
        assert self.first is not None
        assert self.last is not None
        return date.fromisoformat(period) <= self.last and ends >= self.first

    def _ends(self, begins: date) -> date:
        if self.granularity in _MONTHS:
            months = begins.year * 12 + begins.month - 1 + _MONTHS[self.granularity]
            return date(months // 12, months % 12 + 1, 1) - timedelta(days=1)
        return begins + timedelta(days=6 if self.granularity == "week" else 0)

    @staticmethod
    def _starts(length: str, day: date) -> date:
        if length in _MONTHS:
            return date(day.year, (day.month - 1) // _MONTHS[length] * _MONTHS[length] + 1, 1)
        return day - timedelta(days=day.weekday() if length == "week" else 0)


def days_text(first: date, last: date) -> str:
    """Return a range of days in words."""
    return first.isoformat() if first == last else f"{first} to {last}"


BY_CODE = {one.code: one for one in INDICATORS}

SHARE = re.compile(r"^share_|_share$|^share$|_change(_low|_high)?$|^discount_|_covered$|_measured$")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LONG = re.compile(r"-?[0-9]+\.[0-9]{5,}")
_SUBJECTS = ("dataset", "slug", "code", "brand", "category")
COLUMNS_SHOWN = 8
_LISTED_MAX = 3
GROUPS = ("brand", "category", "channel")
# The kind of name that the values of a field have; channels are known by their codes.
NAMED = {
    "brand": "brand",
    "slug": "brand",
    "category": "category",
    "code": "category",
    "parent": "category",
    "iid": "iid",
}
Names = Mapping[str, Mapping[str, str]]
NO_NAMES: Names = MappingProxyType({})
NO_UNITS: Mapping[str, str] = MappingProxyType({})
_HEADINGS = {
    "p50": "Median",
    "stddev": "Standard deviation",
    "min": "Lowest",
    "max": "Highest",
    "items": "Items",
    "price_n": "Prices",
    "list_price_n": "With a list price",
    "set_aside": "Outliers set aside",
    "against_categories": "Against its categories",
    "against_category": "Against the category",
    "median_before": "Median before",
    "category_median": "Median of the category",
    "kind": "Prices of",
    "median_change": "Change of the median",
    "matched_prices": "Matched prices",
    "index_change": "Change of the same items",
    "index_change_low": "Change, low",
    "index_change_high": "Change, high",
    "share_matched": "Matched share",
    "share_holding": "Reductions that hold",
    "index": "Price index",
    "low": "Index, low",
    "high": "Index, high",
    "median_index": "Index of the median",
    "items_covered": "Items with a figure",
    "items_measured": "Items measured",
} | {f"p{n}": f"{n}th percentile" for n in (10, 25, 75, 90)}
_TWO_DECIMALS = {"ratio", "first period = 100"}
_AMOUNTS = {"median", "median_before", "category_median"}
_BOUNDS = {"low": "low", "central": "median", "high": "high"}


class Column(NamedTuple):
    """A column: its figures stand on the right, days do not fold, and text does."""

    name: str
    heading: str
    style: Literal["number", "day", "text"]
    shown: bool = True


class Cell(NamedTuple):
    """The text of a cell, and how many members of its list are left out."""

    text: str
    more: int = 0


class Table(NamedTuple):
    """Every column of the rows, those that are shown first, and the cells of the columns that are shown."""

    columns: list[Column]
    rows: list[list[Cell]]

    @property
    def shown(self) -> list[Column]:
        """The columns that are shown."""
        return [column for column in self.columns if column.shown]


class Reading(NamedTuple):
    """What the rows of a result are read with: its periods, the units of its fields, and the names of what it is of."""

    periods: Periods = Periods()
    units: Mapping[str, str] = NO_UNITS
    names: Names = NO_NAMES


PLAIN = Reading()


def table_of(
    rows: Sequence[Mapping[str, Any]],
    reading: Reading = PLAIN,
    usual: Sequence[str] = (),
    chosen: Sequence[str] = (),
    currency: str | None = None,
) -> Table:
    """Return the rows as text: units in the headings, names for slugs, three members of a list, a dash for unknown.

    The columns `chosen` are shown, or the first eight of those that identify a row and of the `usual` ones.
    """
    present = [name for name in (rows[0] if rows else ()) if not repeats(name, rows[0])]
    wanted = [name for name in chosen if name in present] or _default(rows, present, usual)
    ordered = [*wanted, *(name for name in present if name not in wanted)]
    currency = _only([row.get("currency") for row in rows]) or currency
    columns = [
        Column(name, heading(name, reading.units, currency), _style([row[name] for row in rows]), name in wanted)
        for name in ordered
    ]
    return Table(columns, [[cell(name, row, reading) for name in wanted] for row in rows])


def _default(rows: Sequence[Mapping[str, Any]], present: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Return the columns that are shown without a choice: groups first, then what varies, then the usual figures."""
    varying = {name for name in present if len({str(row[name]) for row in rows}) > 1}
    known = {name for name in present if any(row[name] not in (None, []) for row in rows)}
    first = [name for name in GROUPS if name in known]
    first += [
        name
        for name in ("period", "original_currency", "currency")
        if name in varying or (name == "period" and not first)
    ]
    if rows and "period" in varying and not set(first) & set(GROUPS) & varying:
        first.sort(key=lambda name: name != "period")  # rows of one group are distinguished by their periods
    rest = [name for name in (usual or present) if name in known and name not in first]
    return [name for name in (*first, *rest) if name in present][:COLUMNS_SHOWN]


def repeats(name: str, row: Mapping[str, Any]) -> bool:
    """Return whether a column says what the name in another one does."""
    return (name == "name" and "brand" in row) or (name == "path" and "category" in row)


def _only(values: Sequence[Any]) -> str | None:
    return str(values[0]) if values and values[0] and len(set(values)) == 1 else None


def heading(name: str, units: Mapping[str, str] = NO_UNITS, currency: str | None = None) -> str:
    """Return a field's heading in words, with the unit of its figures."""
    indicator, bound = _indicator(name)
    if indicator is not None:
        return f"{indicator.title}{f', {_BOUNDS[bound]}' if bound else ', sum'}, {indicator.unit}"
    words = _HEADINGS.get(name) or name.replace("_", " ").capitalize()
    if SHARE.search(name):
        return f"{words}, %"
    if is_amount(name, units):
        return f"{words}, {currency}" if currency else words
    return f"{words} (first period = 100)" if name == "index" and units.get(name) else words


def _indicator(name: str) -> tuple[Indicator | None, str]:
    """Return the indicator that a column has figures of, and which bound of its interval they are, or its sum."""
    stem, _, bound = name.rpartition("_")
    return (BY_CODE.get(stem), bound) if bound in _BOUNDS else (BY_CODE.get(name), "")


def is_amount(name: str, units: Mapping[str, str]) -> bool:
    """Return whether a field's figures are amounts of a currency."""
    return name in _AMOUNTS or units.get(name) == "currency"


def named(names: Names, field: str, value: Any) -> str:
    """Return the name of what a field's slug, code or id stands for; itself where it has none."""
    return names.get(NAMED.get(field, ""), {}).get(str(value), str(value))


def keys_in(value: Any, found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Add the slugs, codes and ids in rows or parameters to `found`, by the kind of their names."""
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        keys_in(one, found)
    if isinstance(value, Mapping):
        for field in NAMED.keys() & value.keys():
            listed = value[field] if isinstance(value[field], list) else [value[field]]
            found.setdefault(NAMED[field], set()).update(one for one in listed if isinstance(one, str))
    return found


def differing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which of brand, category and channel distinguish these rows."""
    return [field for field in GROUPS if len({row.get(field) for row in rows}) > 1]


def group_name(row: Mapping[str, Any], names: Names, fields: Iterable[str] = GROUPS) -> str:
    """Return the group that a row is of in words: its brand, category and channel, or those of them that are named."""
    return ", ".join(map(isolated, _group(row, names, fields)))


def _group(row: Mapping[str, Any], names: Names, fields: Iterable[str]) -> list[str]:
    listed = []
    for field in fields:
        if field not in row:
            continue
        own = (
            row.get("name")
            if field == "brand"
            else " › ".join((row.get("path") or [])[-2:])
            if field == "category"
            else None
        )
        listed.append(f"no {field}" if row[field] is None else own or named(names, field, row[field]))
    return listed


def figure(value: Any) -> str:
    """Return a figure for people: thousands apart, six significant digits at most; text of amounts stays as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}" if abs(value) < 999_999.5 else f"{value:,.0f}"


def estimate(value: Any) -> str:
    """Return a figure that is known within an interval: three significant digits, and whole numbers from 100 on."""
    known = number(value)
    return figure(known) if known is None else f"{known:,.0f}" if abs(known) >= 99.5 else f"{known:.3g}"


def amount(value: Any, currency: str | None) -> Any:
    """Return an amount's text with the decimals of its currency, as it is where none of its digits would be left."""
    if currency is None or not isinstance(value, str):
        return value
    rounded = f"{Decimal(value):.{minor_digits(currency)}f}"
    return rounded if Decimal(rounded) or not Decimal(value) else value


def number(value: Any) -> float | None:
    """Return the number that a figure or its text is, None for anything else."""
    try:
        return float(value) if value is not None else None
    except (TypeError, ValueError):
        return None


def question(parameters: Mapping[str, Any], defaults: Mapping[str, Any], names: Names = NO_NAMES) -> str:
    """Return a question's parameters in words: its subject first; a parameter that equals its default is left out."""
    requested = {
        name: value
        for name, value in parameters.items()
        if value not in (None, "", [], {}) and value is not False and value != defaults.get(name)
    }
    subject = ", ".join(called(name, requested.pop(name), names) for name in _SUBJECTS if name in requested)
    first, last = requested.pop("from", None), requested.pop("to", None)
    parts = [subject or "all"]
    if first or last:
        parts.append(f"{first or 'the first day'} to {last or 'the last day'}")
    if "granularity" in requested:
        parts.append(f"by {requested.pop('granularity')}")
    if "group_by" in requested:
        parts.append(f"grouped by {_listed(requested.pop('group_by'), ' and ')}")
    if "sort" in requested:
        by = requested.pop("sort")
        parts.append(f"sorted by {by.removeprefix('-')}{', descending' if by.startswith('-') else ''}")
    if "limit" in requested:
        parts.append(f"first {requested.pop('limit')}")
    parts += [f"{name.replace('_', ' ')} {_listed(value)}" for name, value in requested.items()]
    return " · ".join(parts)


def export_question(request: Mapping[str, Any], names: Names = NO_NAMES) -> str:
    """Return an export in words: its dataset, its filters, since when; not its columns and format."""
    return question(
        {"dataset": request["dataset"], **(request.get("filter") or {}), "since": request.get("since")}, {}, names
    )


def called(field: str, value: Any, names: Names) -> str:
    """Return the names of one value of a parameter, or of several."""
    return ", ".join(each_called(field, value, names))


def each_called(field: str, value: Any, names: Names) -> list[str]:
    """Return the name of each value of a parameter, of one or of several, for use within a sentence."""
    return [isolated(named(names, field, one)) for one in (value if isinstance(value, list) else [value])]


def _listed(value: Any, joint: str = ", ") -> str:
    return joint.join(map(str, value)) if isinstance(value, list) else str(value)


def _is_figure(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return True
    try:
        return isinstance(value, str) and Decimal(value).is_finite()
    except InvalidOperation:
        return False


def _style(values: Sequence[Any]) -> Literal["number", "day", "text"]:
    known = [value for value in values if value is not None]
    if known and all(map(_is_figure, known)):
        return "number"
    return "day" if known and all(isinstance(value, str) and _DAY.fullmatch(value) for value in known) else "text"


def cell(name: str, row: Mapping[str, Any], reading: Reading = PLAIN) -> Cell:
    """Return a field of a row as text; of a list its first three members."""
    value = row[name]
    if isinstance(value, list):
        listed = value if name == "path" else value[:_LISTED_MAX]
        joint, of_list = (" › ", str) if name == "path" else (", ", isolated)
        text = joint.join(of_list(_member(one, reading.names)) for one in listed)
        return Cell(text or "–", len(value) - len(listed))
    return Cell(_text(name, row, reading))


def _text(name: str, row: Mapping[str, Any], reading: Reading) -> str:
    value = row[name]
    if value is None:
        return "–"
    if name == "period":
        return reading.periods.text(value)
    if name in GROUPS:
        return ", ".join(_group(row, reading.names, (name,)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and SHARE.search(name):
        return f"{100 * value:.1f}"
    if isinstance(value, float) and reading.units.get(name) in _TWO_DECIMALS:
        return f"{value:,.2f}"
    if isinstance(value, float) and _indicator(name)[0]:
        return estimate(value)
    if isinstance(value, str) and row.get("currency") and is_amount(name, reading.units):
        return str(amount(value, row["currency"]))  # the file has all of its digits
    if isinstance(value, str) and _LONG.fullmatch(value):
        return f"{Decimal(value):.4f}"
    if isinstance(value, str):
        return named(reading.names, name, value)
    return _member(value, reading.names) if isinstance(value, Mapping) else figure(value)


def _member(value: Any, names: Names) -> str:
    """Return one member of a list: its name, and its share where it has one; of a category only its own part."""
    if not isinstance(value, Mapping):
        return str(value)
    fields = [field for field in ("brand", "category", "iid", "channel") if value.get(field)]
    known = [named(names, field, value[field]).rpartition(" › ")[2] for field in fields]
    words = [str(one) for one in value.values() if isinstance(one, str) and not _is_figure(one)]
    share = value.get("share")
    name = next(iter([*([value["name"]] if value.get("name") else []), *known, *words]), "")
    return f"{name} {100 * share:.1f}\u202f%" if isinstance(share, float) else str(name)
