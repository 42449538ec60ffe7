"""Rows of a result as a table for people, and a question in words. Pure."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

_SHARE = re.compile(r"^share_|_share$|_change(_low|_high)?$|^discount_|_covered$")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LONG = re.compile(r"-?[0-9]+\.[0-9]{5,}")
_SUBJECTS = ("dataset", "slug", "code", "brand", "category")


class Column(NamedTuple):
    """A column's heading; its cells are figures, which stand on the right, days, which do not fold, or text."""

    name: str
    style: Literal["number", "day", "text"]


class Table(NamedTuple):
    """Columns and rows of text."""

    columns: list[Column]
    rows: list[list[str]]


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the rows as text: shares in percent, lists in words, unknown values as a dash."""
    names = list(rows[0]) if rows else []
    columns = [Column(name.replace("_", " "), _style([row[name] for row in rows])) for name in names]
    return Table(columns, [[_cell(name, row[name]) for name in names] for row in rows])


def figure(value: Any) -> str:
    """Return a figure for people: thousands apart, six significant digits at most; text of amounts stays as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}" if abs(value) < 999_999.5 else f"{value:,.0f}"


def question(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Return a question's parameters in words: its subject first; a parameter that equals its default is left out."""
    requested = {
        name: value
        for name, value in parameters.items()
        if value not in (None, "", [], {}) and value is not False and value != defaults.get(name)
    }
    subject = ", ".join(_listed(requested.pop(name)) for name in _SUBJECTS if name in requested)
    first, last = requested.pop("from", None), requested.pop("to", None)
    parts = [subject or "all"]
    if first or last:
        parts.append(f"{first or 'the first day'} to {last or 'the last day'}")
    if "granularity" in requested:
        parts.append(f"by {requested.pop('granularity')}")
    if "group_by" in requested:
        parts.append(f"grouped by {_listed(requested.pop('group_by'), ' and ')}")
    parts += [f"{name.replace('_', ' ')} {_listed(value)}" for name, value in requested.items()]
    return " · ".join(parts)


def export_question(request: Mapping[str, Any]) -> str:
    """Return an export in words: its dataset, its filters, since when; not its columns and format."""
    return question({"dataset": request["dataset"], **(request.get("filter") or {}), "since": request.get("since")}, {})


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


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and _SHARE.search(name):
        return f"{100 * value:.1f} %"
    if isinstance(value, list):
        joint = " › " if name == "path" else ", "
        return joint.join(_member(one) for one in value) or "–"
    if isinstance(value, str) and _LONG.fullmatch(value):
        return f"{Decimal(value):.4f}"  # the file has all of its digits
    return _member(value) if isinstance(value, Mapping) else figure(value)


def _member(value: Any) -> str:
    """Return one member of a list: its name, and its share where it has one."""
    if not isinstance(value, Mapping):
        return str(value)
    words = [str(one) for name, one in value.items() if isinstance(one, str) and not _is_figure(one)]
    share = value.get("share")
    return " ".join(words[:1]) + (f" {100 * share:.1f} %" if isinstance(share, float) else "")
