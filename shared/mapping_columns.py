"""Which field of a mapping each column of a file becomes, and a mapping in which a column becomes another one. Pure."""

import re
import tomllib
from collections.abc import Iterator, Mapping
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

    A column that had the field before loses it. Raises LookupError where the mapping states the field in a form that
    only its text can change.
    """
    for column, key in chosen.items():
        for held in fields_of_columns(mapping).get(column, []):
            mapping = _release(mapping, held, column)
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
        return _with_line(mapping, table, name, _toml_of_columns(levels))
    return _with_line(mapping, table, name, _OPEN if key in _NEEDED else None)


def _assign(mapping: str, key: str, column: str) -> str:
    table, _, name = key.rpartition(".")
    if key == _LEVELS:
        return _with_line(mapping, table, name, _toml_of_columns([*_levels(mapping), column]))
    if table == "observation" and "[observation]" not in mapping.split("\n"):
        needed = "".join(
            f"{field.partition('.')[2]} = {_OPEN}\n" for field in sorted(_NEEDED) if field.startswith(table)
        )
        mapping = f"{mapping.rstrip()}\n\n[observation]\n{needed}"
    return _with_line(mapping, table, name, quoted(column))


def _levels(mapping: str) -> list[str]:
    return list(_columns(tomllib.loads(mapping).get("item", {}).get("category", [])))


def _toml_of_columns(columns: list[str]) -> str:
    return as_toml(columns[0] if len(columns) == 1 else columns)


def _with_line(mapping: str, table: str, name: str, value: str | None) -> str:
    """Return a mapping with a key of a table on a line of its own; without the line where the value is None."""
    lines = mapping.split("\n")
    head = f"[{table}]"
    if table and head not in lines:
        if value is None:
            raise LookupError(name)
        return f"{mapping.rstrip()}\n\n{head}\n{toml_key(name)} = {value}\n"
    begin = lines.index(head) + 1 if table else 0
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("[")), len(lines))
    heads = (f"{name} = ", f"{quoted(name)} = ")
    at = next((n for n in range(begin, end) if lines[n].startswith(heads)), None)
    if at is not None:
        lines[at : at + 1] = [] if value is None else [f"{toml_key(name)} = {value}"]
    elif value is None:
        raise LookupError(name)
    else:
        lines.insert(begin, f"{toml_key(name)} = {value}")
    return "\n".join(lines)
