"""The columns of an uploaded file as its page shows them: the field that each becomes, its cells, and its questions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from shared.mapping_columns import (
    ATTRIBUTE,
    FIELDS,
    assign_columns,
    constant_of,
    fields_of_columns,
    set_constant,
    set_top,
    top_of,
)
from shared.mapping_doubts import Doubt

_LICENSE_CHARACTERS_MAX = _SHOP_CHARACTERS_MAX = 200
SHOP = "observation.channel"
"""The shop of a file: where no column names it, its page asks for it."""


class FileColumn(NamedTuple):
    """A column: its number among the menus, its name, the field it becomes, others that it becomes too, its questions.

    `field` is a key of FIELDS or ATTRIBUTE, or empty; `other` is the key of a field that no menu offers.
    """

    number: int
    name: str
    field: str
    other: str
    also: tuple[str, ...]
    doubts: tuple[Doubt, ...]


def columns_of(upload: Mapping[str, Any], doubts: tuple[Doubt, ...]) -> list[FileColumn]:
    """Return the columns of an upload with what its mapping makes of each; none before the file was read."""
    fields = fields_of_columns(upload["mapping"] or "")
    return [
        _column(number, name, fields.get(name, []), doubts) for number, name in enumerate(_sample(upload)["columns"])
    ]


def rows_of(upload: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of an upload's first rows."""
    rows: list[list[str]] = _sample(upload)["rows"]
    return rows


def with_menus(
    mapping: str, doubts: tuple[Doubt, ...], upload: Mapping[str, Any], form: Mapping[str, str]
) -> tuple[str, tuple[Doubt, ...]]:
    """Return the mapping and the doubts left, once the menus of a form are applied where they were changed.

    A question about a field goes with the column that it was about. Raises LookupError where a menu cannot be applied.
    """
    shown = columns_of(upload, doubts)
    chosen = {
        column.name: value
        for column in shown
        if (value := form.get(f"column-{column.number}")) is not None
        and value != (column.field or column.other)
        and (value in ("", ATTRIBUTE) or value in FIELDS)
    }
    gone = {doubt.said for column in shown if column.name in chosen for doubt in column.doubts}
    taken = {(key.rpartition(".")[0], key.rpartition(".")[2]) for key in chosen.values() if key in FIELDS}
    mapping = assign_columns(mapping, chosen)
    license_text = form.get("license", "").strip()[:_LICENSE_CHARACTERS_MAX]
    if license_text and license_text != top_of(upload["mapping"] or "", "license"):
        mapping = set_top(mapping, "license", license_text)
        gone |= {doubt.said for doubt in doubts if doubt.of == "license"}
    shop, before = form.get("shop", "").strip()[:_SHOP_CHARACTERS_MAX], constant_of(mapping, SHOP)
    if shop and before and shop != before:
        mapping = set_constant(mapping, SHOP, shop)
        gone |= {doubt.said for doubt in doubts if is_about_shop(doubt)}
    left = tuple(doubt for doubt in doubts if doubt.said not in gone and (doubt.table, doubt.of) not in taken)
    return mapping, left


def is_about_shop(doubt: Doubt) -> bool:
    """Return whether a question asks for the shop of the whole file, which has a field of its own."""
    return doubt.of == SHOP.rpartition(".")[2] and not doubt.readings


def _sample(upload: Mapping[str, Any]) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(upload["sample"] or '{"columns": [], "rows": []}')
    return decoded


def _column(number: int, name: str, keys: list[str], doubts: tuple[Doubt, ...]) -> FileColumn:
    own = [ATTRIBUTE if key.startswith(f"{ATTRIBUTE}.") else key for key in keys]
    field = next((key for key in own if key in FIELDS or key == ATTRIBUTE), "")
    other = own[0] if own and not field else ""
    about = tuple(
        doubt for doubt in doubts if any(_is_about(doubt, key) for key in keys) or (not keys and _offers(doubt, name))
    )
    return FileColumn(number, name, field, other, tuple(key for key in own if key not in (field, other)), about)


def _is_about(doubt: Doubt, key: str) -> bool:
    """Return whether a question is about a field: it has the last part of its key, and its table if it has one."""
    table, _, name = key.rpartition(".")
    return doubt.of in (name, key) and doubt.table in ("", table, table.partition(".")[0])


def _offers(doubt: Doubt, column: str) -> bool:
    """Return whether one of the readings of a question would use a column."""
    return any(column in fields_of_columns(f"[item]\n{reading.statement}\n") for reading in doubt.readings)
