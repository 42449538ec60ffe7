"""Rows of a result as a table for people."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

from edge.analytics.reports.declared import REPORTS
from edge.analytics.wording import (
    BY_CODE,
    GROUPS,
    NAMED,
    NO_UNITS,
    PLAIN,
    Names,
    RowContext,
    amount,
    estimate,
    figure,
    name_of,
    names_of_group,
)
from shared.analytics.footprint import Indicator
from shared.printable import isolate

_SHARE = re.compile(r"^share_|_share$|^share$|_change(_low|_high)?$|^discount_|_covered$|_measured$")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LONG = re.compile(r"-?[0-9]+\.[0-9]{5,}")
COLUMNS_SHOWN = 8
_LISTED_MAX = 3


# A channel of the API is a shop to people.
_SHOPS = {"channel": "Shop", "channels": "Shops", "base_channel": "Chosen shop"}
_HEADINGS = _SHOPS | {name: words for report in REPORTS for name, words in report.headings.items()}
_TWO_DECIMALS = {"ratio", "first period = 100"}
_CURRENCY = "currency"
_AMOUNTS = {"median", "median_before", "category_median"}
_SHARE_UNITS = ("share of ", "ratio to ")
# A change is relative in one report, and an amount in another one: its unit says so.
_CHANGE, _RELATIVE, _PER_CENT = "change", "ratio", "per cent"
_BOUNDS = {"low": "low", "central": "median", "high": "high"}


class TableColumn(NamedTuple):
    """A column: its figures stand on the right, days do not fold, and text does."""

    name: str
    heading: str
    style: Literal["number", "day", "text"]
    shown: bool = True


class TableCell(NamedTuple):
    """The text of a cell, and how many members of its list are left out."""

    text: str
    more: int = 0


class ResultTable(NamedTuple):
    """Every column of the rows, those that are shown first, and the cells of the columns that are shown."""

    columns: list[TableColumn]
    rows: list[list[TableCell]]

    @property
    def shown(self) -> list[TableColumn]:
        """The columns that are shown."""
        return [column for column in self.columns if column.shown]


def table_of(
    rows: Sequence[Mapping[str, Any]],
    reading: RowContext = PLAIN,
    usual: Sequence[str] = (),
    chosen: Sequence[str] = (),
    currency: str | None = None,
) -> ResultTable:
    """Return the rows as text: units in the headings, names for slugs, three members of a list, a dash for unknown.

    The columns `chosen` are shown, or the first eight of those that identify a row and of the `usual` ones.
    """
    present = [name for name in (rows[0] if rows else ()) if not repeats(name, rows[0])]
    wanted = [name for name in chosen if name in present] or _default(rows, present, usual)
    ordered = [*wanted, *(name for name in present if name not in wanted)]
    currency = _only([row.get("currency") for row in rows]) or currency
    columns = [
        TableColumn(name, heading(name, reading.units, currency), _style([row[name] for row in rows]), name in wanted)
        for name in ordered
    ]
    return ResultTable(columns, [[cell(name, row, reading) for name in wanted] for row in rows])


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
    if is_share(name, units) or units.get(name) == _PER_CENT:
        return f"{words}, %"
    if is_amount(name, units):
        return f"{words}, {units.get(name, _CURRENCY).replace(_CURRENCY, currency)}" if currency else words
    return f"{words} ({units[name]})" if name == "index" and name in units else words


def _indicator(name: str) -> tuple[Indicator | None, str]:
    """Return the indicator that a column has figures of, and which bound of its interval they are, or its sum."""
    stem, _, bound = name.rpartition("_")
    return (BY_CODE.get(stem), bound) if bound in _BOUNDS else (BY_CODE.get(name), "")


def is_amount(name: str, units: Mapping[str, str]) -> bool:
    """Return whether a field's figures are amounts of a currency."""
    return name in _AMOUNTS or units.get(name, "").startswith(_CURRENCY)


def is_share(name: str, units: Mapping[str, str] = NO_UNITS) -> bool:
    """Return whether a field's figures are shown in per cent: by its name, or by the unit that its report states."""
    unit = units.get(name, "")
    is_relative = name == _CHANGE and unit == _RELATIVE
    return is_relative or _SHARE.search(name) is not None or unit.startswith(_SHARE_UNITS)


def keys_in(value: Any, found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Add the slugs, codes and ids in rows or parameters to `found`, by the kind of their names."""
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        keys_in(one, found)
    if isinstance(value, Mapping):
        for field in NAMED.keys() & value.keys():
            listed = value[field] if isinstance(value[field], list) else [value[field]]
            found.setdefault(NAMED[field], set()).update(one for one in listed if isinstance(one, str))
    return found


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


def cell(name: str, row: Mapping[str, Any], reading: RowContext = PLAIN) -> TableCell:
    """Return a field of a row as text; of a list its first three members."""
    value = row[name]
    if isinstance(value, list):
        listed = value if name == "path" else value[:_LISTED_MAX]
        joint, of_list = (" › ", str) if name == "path" else (", ", isolate)
        text = joint.join(of_list(_member(one, reading.names)) for one in listed)
        return TableCell(text or "–", len(value) - len(listed))
    return TableCell(_text(name, row, reading))


def _text(name: str, row: Mapping[str, Any], reading: RowContext) -> str:
    value = row[name]
    if value is None:
        return "–"
    if name == "period":
        return reading.periods.text(value)
    if name in GROUPS:
        return ", ".join(names_of_group(row, reading.names, (name,)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and is_share(name, reading.units):
        return f"{100 * value:.1f}"
    if isinstance(value, float) and reading.units.get(name) in _TWO_DECIMALS:
        return _without_zeros(f"{value:,.2f}")
    if isinstance(value, float):
        return estimate(value)
    if isinstance(value, str) and row.get("currency") and is_amount(name, reading.units):
        return str(amount(value, row["currency"]))  # the file has all of its digits
    if isinstance(value, str) and _LONG.fullmatch(value):
        return f"{Decimal(value):.4f}"
    if isinstance(value, str):
        return name_of(reading.names, name, value)
    return _member(value, reading.names) if isinstance(value, Mapping) else figure(value)


def _without_zeros(text: str) -> str:
    """Return a decimal without the zeros at its end: what was rounded to three digits shows no more than that."""
    return text.rstrip("0").rstrip(".")


def _member(value: Any, names: Names) -> str:
    """Return one member of a list: its name, and its share where it has one; of a category only its own part."""
    if not isinstance(value, Mapping):
        return str(value)
    fields = [field for field in ("brand", "category", "iid", "channel") if value.get(field)]
    known = [name_of(names, field, value[field]).rpartition(" › ")[2] for field in fields]
    words = [str(one) for one in value.values() if isinstance(one, str) and not _is_figure(one)]
    share = value.get("share")
    name = next(iter([*([value["name"]] if value.get("name") else []), *known, *words]), "")
    return f"{name} {100 * share:.1f}\u202f%" if isinstance(share, float) else str(name)
