"""Which field of a mapping each column of a file becomes, and a mapping in which a column becomes another one. Pure."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from shared.toml_text import as_toml, quoted, toml_key

FIELDS = {
    "item.id": "Item's id in this source",
    "item.name": "Name",
    "item.brand": "Brand",
    "item.category": "Category",
    "item.product_type": "Kind of product",
    "item.identifiers.gtin": "GTIN (barcode)",
    "item.identifiers.mpn": "Maker's number (MPN)",
    "item.identifiers.sku": "Shop's number (SKU)",
    "observation.price": "Price",
    "observation.list_price": "Price before a reduction",
    "observation.currency": "Currency",
    "observation.day": "Day",
    "observation.channel": "Shop",
    "observation.units": "Units sold",
}
"""The fields that a column may become, by their keys in a mapping, each with its name for people."""
ATTRIBUTE = "item.attributes"
"""An attribute that is called as its column is."""
_NEEDED = frozenset(
    f"{table}.{key}"
    for table, keys in (("item", ("id", "name")), ("observation", ("price", "day", "channel", "currency")))
    for key in keys
)
"""Fields that a mapping cannot lack: without a column they are open."""
_OPEN = '"?"'
_LEVELS = "item.category"
_HEAD = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_NOT_OF_A_NAME = re.compile(r"[^a-z0-9]+")


def fields_of_columns(mapping: str) -> dict[str, list[str]]:
    """Return for each column of a mapping the keys of the fields that it becomes; nothing for what is no TOML."""
    try:
        document = tomllib.loads(mapping)
    except tomllib.TOMLDecodeError:
        return {}
    found: dict[str, list[str]] = {}
    for table in ("item", "observation"):
        tables = document.get(table, {})
        for one in tables if isinstance(tables, list) else [tables]:
            for key, columns in _fields(table, one if isinstance(one, dict) else {}):
                for column in columns:
                    found.setdefault(column, []).append(key)
    return found


def assign_columns(mapping: str, chosen: Mapping[str, str]) -> str:
    """Return a mapping in which each column becomes the chosen field: a key of FIELDS, ATTRIBUTE, or "" for none.

    A column that had the field before loses it, with how its cells were read, in whatever form the mapping states that.
    Raises LookupError with the column where only the text of the mapping can change it.
    """
    try:
        return _assign_columns(mapping, chosen)
    except tomllib.TOMLDecodeError as error:
        raise LookupError(next(iter(chosen), "")) from error


def _assign_columns(mapping: str, chosen: Mapping[str, str]) -> str:
    for column in chosen:
        for held in fields_of_columns(mapping).get(column, []):
            mapping = _release(mapping, held, column)
    for column, key in chosen.items():
        if key:
            name = _NOT_OF_A_NAME.sub("_", column.lower()).strip("_") or "attribute"
            mapping = _assign(mapping, f"{ATTRIBUTE}.{name}" if key == ATTRIBUTE else key, column)
        now = fields_of_columns(mapping).get(column, [])
        if bool(key) != bool(now) or (key and not any(held.startswith(key) for held in now)):
            raise LookupError(column)
    return mapping


def set_top(mapping: str, key: str, text: str) -> str:
    """Return a mapping with a text as a key outside of its tables."""
    return _with_line(mapping, "", key, quoted(text))


def top_of(mapping: str, key: str) -> str:
    """Return the text of a key outside of the tables, empty where there is none."""
    try:
        value = tomllib.loads(mapping).get(key, "")
    except tomllib.TOMLDecodeError:
        return ""
    return value if isinstance(value, str) else ""


def constant_of(mapping: str, key: str) -> str:
    """Return the text that a field is for the whole file, empty where it is none."""
    try:
        table, _, name = key.rpartition(".")
        value = tomllib.loads(mapping).get(table, {}).get(name)
    except (tomllib.TOMLDecodeError, AttributeError):
        return ""
    constant = value.get("constant") if isinstance(value, dict) else None
    return constant if isinstance(constant, str) else ""


def set_constant(mapping: str, key: str, text: str) -> str:
    """Return a mapping in which a field is one text for the whole file."""
    table, _, name = key.rpartition(".")
    return _with_line(mapping, table, name, as_toml({"constant": text}))


def _fields(prefix: str, table: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for name, value in table.items():
        key = f"{prefix}.{name}"
        if key in ("item.identifiers", ATTRIBUTE) and isinstance(value, dict):
            yield from _fields(key, value)
        else:
            yield key, list(_columns(value))


def _columns(value: object) -> Iterator[str]:
    """Yield the columns that a field names: it is a column's name, a table with names, or a list of these."""
    if isinstance(value, str):
        yield from () if value == "?" else (value,)
    elif isinstance(value, list):
        for one in value:
            yield from _columns(one)
    elif isinstance(value, dict):
        for member in ("column", "columns", "first_of"):
            yield from _columns(value.get(member, []))


def _release(mapping: str, key: str, column: str) -> str:
    table, _, name = key.rpartition(".")
    if key == _LEVELS and (levels := [one for one in _levels(mapping) if one != column]):
        return _with_line(mapping, table, name, _toml_of_columns(_plain_levels(mapping, levels, column)))
    return _with_line(mapping, table, name, _OPEN if key in _NEEDED else None)


def _assign(mapping: str, key: str, column: str) -> str:
    table, _, name = key.rpartition(".")
    if key == _LEVELS:
        levels = [*_levels(mapping), column]
        return _with_line(mapping, table, name, _toml_of_columns(_plain_levels(mapping, levels, column)))
    if table == "observation" and _begin(mapping.split("\n"), table) is None:
        needed = "".join(
            f"{field.partition('.')[2]} = {_OPEN}\n" for field in sorted(_NEEDED) if field.startswith(table)
        )
        mapping = f"{mapping.rstrip()}\n\n[observation]\n{needed}"
    return _with_line(mapping, table, name, quoted(column))


def _levels(mapping: str) -> list[str]:
    return list(_columns(tomllib.loads(mapping).get("item", {}).get("category", [])))


def _plain_levels(mapping: str, levels: list[str], column: str) -> list[str]:
    """Return the levels of a category. Raises LookupError where the mapping says how they are read, which would go."""
    others = any(level != column for level in levels)
    if others and isinstance(tomllib.loads(mapping).get("item", {}).get("category"), dict):
        raise LookupError(column)
    return levels


def _toml_of_columns(columns: list[str]) -> str:
    return as_toml(columns[0] if len(columns) == 1 else columns)


def _with_line(mapping: str, table: str, name: str, value: str | None) -> str:
    """Return a mapping with a key of a table on a line of its own; without the key where the value is None.

    A table that the key has been goes, and so do those below it. Raises LookupError where a key that is to go is in
    neither form.
    """
    lines = mapping.split("\n")
    kept = _without_table(lines, f"{table}.{toml_key(name)}") if table else lines
    gone, lines = len(kept) < len(lines), kept
    begin = _begin(lines, table)
    written = [] if value is None else [f"{toml_key(name)} = {value}"]
    if begin is None:
        if not written and not gone:
            raise LookupError(name)
        return "\n".join(lines if not written else [*_without_end(lines), "", f"[{table}]", *written, ""])
    end = next((n for n in range(begin, len(lines)) if _head(lines[n]) is not None), len(lines))
    of_key = re.compile(rf"\s*({re.escape(name)}|{re.escape(quoted(name))})\s*=")
    at = next((n for n in range(begin, end) if of_key.match(lines[n])), None)
    if at is not None:
        lines[at : _end_of_value(lines, at, end)] = written
    elif written:
        lines[begin:begin] = written
    elif not gone:
        raise LookupError(name)
    return "\n".join(lines)


def _begin(lines: list[str], table: str) -> int | None:
    """Return where the lines of a table begin; None where the mapping does not have it."""
    return next((n + 1 for n, line in enumerate(lines) if _head(line) == table), None) if table else 0


def _head(line: str) -> str | None:
    found = _HEAD.fullmatch(line)
    return found[1] if found else None


def _without_table(lines: list[str], key: str) -> list[str]:
    kept, below = [], False
    for line in lines:
        head = _head(line)
        below = below if head is None else head == key or head.startswith(f"{key}.")
        if not below:
            kept.append(line)
    return kept


def _without_end(lines: list[str]) -> list[str]:
    return "\n".join(lines).rstrip().split("\n")


def _end_of_value(lines: list[str], at: int, end: int) -> int:
    """Return the line after a value, which may be on several."""
    for after in range(at + 1, end + 1):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("\n".join(lines[at:after]))
            return after
    return at + 1
