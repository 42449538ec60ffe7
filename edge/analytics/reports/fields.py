"""Parameters and columns that several reports declare alike."""

from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields, validate

from edge.http.parameters import Utf8, field_doc, list_parameter, one_of
from shared.analytics.observations import KIND_NAMES, OBSERVATION_KINDS

HEADING = "heading"
_GROUPS_MAX = 2


def amount_field(sentence: str = "", *, heading: str = "") -> fields.Str:
    """Declare an amount in the currency of its row; without a `heading` its name heads its column on the dashboard."""
    description = f"{sentence}; decimal amount in `currency`" if sentence else "Decimal amount in `currency`"
    metadata = {"format": "decimal", "description": description, "example": "10.90", HEADING: heading}
    return fields.Str(allow_none=True, metadata=metadata)


def number_field(sentence: str, example: float, *, heading: str = "") -> fields.Float:
    """Declare a number that is no share: an index, a footprint, days."""
    return fields.Float(allow_none=True, metadata={**field_doc(sentence, example=example), HEADING: heading})


def share_field(sentence: str, *, heading: str = "") -> fields.Float:
    """Declare a share or a relative change, 0.25 for 25 %."""
    return number_field(sentence, 0.25, heading=heading)


def count_field(sentence: str, *, nullable: bool = False, heading: str = "") -> fields.Int:
    """Declare a count."""
    return fields.Int(allow_none=nullable, metadata={**field_doc(sentence, example=12), HEADING: heading})


def text_field(sentence: str, *, nullable: bool = False, heading: str = "", **options: Any) -> fields.Str:
    """Declare a text: a code, a name, a unit."""
    return fields.Str(allow_none=nullable, metadata={**field_doc(sentence), HEADING: heading}, **options)


def headings_of(row: Schema) -> dict[str, str]:
    """Return the headings that the fields of a row declare, and those of the rows in its lists."""
    headings: dict[str, str] = {}
    for name, field in row.fields.items():
        if isinstance(field, fields.List) and isinstance(field.inner, fields.Nested):
            headings |= headings_of(field.inner.schema)
        elif field.metadata.get(HEADING):
            headings[name] = field.metadata[HEADING]
    return headings


def brands() -> fields.List[Any]:
    """Declare the brands that an answer is about."""
    return list_parameter(Utf8(1, 200), "Brand (slug); repeat to select several", example="vitasoy")


def categories() -> fields.List[Any]:
    """Declare the categories that an answer is about."""
    return list_parameter(Utf8(1, 400), "Category (code); with its subcategories; repeat to select several")


def groups(*names: str) -> fields.List[Any]:
    """Declare what an answer may be grouped by."""
    return list_parameter(fields.Str(validate=validate.OneOf(names)), "Group by; repeat for a second one", _GROUPS_MAX)


def granularity(default: str | None, *longer: str) -> fields.Str:
    """Declare the length of a period; `longer` are those beyond months."""
    description = f"default: {default}" if default else "default: the whole range is one period"
    return one_of(["day", "week", "month", *longer], f"Length of a period; {description}", load_default=default)


def kind_field() -> fields.Str:
    """Declare of which observations the statistics of prices are."""
    description = "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings"
    return one_of(OBSERVATION_KINDS, description)


def row_kind(names: Iterable[str] = KIND_NAMES) -> fields.Str:
    """Declare of which observations a row is."""
    return text_field("Which observations the row covers", validate=validate.OneOf(names), heading="Prices of")


def sort_field(by_name: str, default: str) -> fields.Str:
    allowed = ("items", "-items", "observations", "-observations", by_name, f"-{by_name}")
    description = f"Sort order; `-` reverses it; default: {default}"
    return one_of(allowed, description, load_default=default)
