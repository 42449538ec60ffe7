"""The field of a mapping while it is guessed: its keys as TOML will have them. A load makes a `fields.Field` of it."""

from typing import Literal, Required, TypedDict


class ColumnSpec(TypedDict, total=False):
    """The keys of one field; docs/guides/bring-your-own-data.md says what each means."""

    column: str
    columns: list[str]
    first_of: list[str]
    beside: str
    constant: str
    load_day: bool
    join: str
    gaps: bool
    html: bool
    match: str
    replace: dict[str, str]
    case: str
    null: list[str]
    crosswalk: dict[str, str]
    split: str
    pad: int
    free_form: bool
    strip: str
    thousands: str
    decimal: str
    multiply: str
    round: str
    unit: str
    format: str | list[str]
    required: bool
    sparse: bool
    on_error: str


Open = Literal["?"]
"""A field that a person must write."""


class ItemSpecs(TypedDict, total=False):
    """The fields of an item."""

    id: Required[ColumnSpec | Open]
    name: Required[ColumnSpec | Open]
    brand: ColumnSpec
    category: list[ColumnSpec] | ColumnSpec
    product_type: ColumnSpec
    identifiers: dict[str, ColumnSpec]
    attributes: dict[str, ColumnSpec]


class FieldSpecs(TypedDict, total=False):
    """The fields of a mapping, by its tables."""

    item: Required[ItemSpecs]
    observation: dict[str, ColumnSpec]
