"""Values of reports in words: figures, amounts, and what rows are of. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from edge.analytics.period_words import Periods
from shared.analytics.footprint import INDICATORS
from shared.money import minor_digits
from shared.printable import isolate

BY_CODE = {one.code: one for one in INDICATORS}


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


class RowContext(NamedTuple):
    """What the rows of a result are read with: its periods, the units of its fields, and the names of what it is of."""

    periods: Periods = Periods()
    units: Mapping[str, str] = NO_UNITS
    names: Names = NO_NAMES


PLAIN = RowContext()


def name_of(names: Names, field: str, value: Any) -> str:
    """Return the name of what a field's slug, code or id stands for; itself where it has none."""
    return names.get(NAMED.get(field, ""), {}).get(str(value), str(value))


def differing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which of brand, category and channel distinguish these rows."""
    return [field for field in GROUPS if len({row.get(field) for row in rows}) > 1]


def group_name(row: Mapping[str, Any], names: Names, fields: Iterable[str] = GROUPS) -> str:
    """Return the group that a row is of in words: its brand, category and channel, or those of them that are named."""
    return ", ".join(map(isolate, names_of_group(row, names, fields)))


def names_of_group(row: Mapping[str, Any], names: Names, fields: Iterable[str]) -> list[str]:
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
        listed.append(f"no {field}" if row[field] is None else own or name_of(names, field, row[field]))
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


def per_unit(row: Mapping[str, Any]) -> str:
    """Return what the amounts of a report's row are for, ` per kg` of unit prices; nothing of prices."""
    return f" per {row['unit']}" if row.get("unit") else ""


def money_of(row: Mapping[str, Any]) -> str:
    """Return what the amounts of a report's row are in: `HKD`, `HKD per kg`; nothing where it has none."""
    return f"{row['currency']}{per_unit(row)}" if row.get("currency") else ""


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


def names_in_words(field: str, value: Any, names: Names) -> str:
    """Return the names of one value of a parameter, or of several."""
    return ", ".join(isolated_names(field, value, names))


def isolated_names(field: str, value: Any, names: Names) -> list[str]:
    """Return the name of each value of a parameter, of one or of several, for use within a sentence."""
    return [isolate(name_of(names, field, one)) for one in (value if isinstance(value, list) else [value])]
