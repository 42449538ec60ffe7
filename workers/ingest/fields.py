"""The fields of a mapping for an item, an observation or a factor, as frozen values.

What each key means is said once, in the tables of docs/guides/bring-your-own-data.md: a law compares both.
"""

from dataclasses import dataclass, field
from typing import Any, Literal


def required_field(*, exact_parts: bool = False, **options: Any) -> Any:
    """Declare a field whose empty value is an error; with `exact_parts` an empty part of several columns is one too."""
    return field(metadata={"needed": True, "exact_parts": exact_parts}, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where one value comes from and how its text is cleaned, in the order of these keys."""

    column: str | None = None
    columns: tuple[str, ...] = ()
    first_of: tuple[str, ...] = ()
    beside: str = ""
    constant: str | None = None
    file_name: str | None = None
    load_day: bool = False
    join: str = ""
    gaps: bool = False
    trim: bool = True
    html: bool = False
    match: str = ""
    group: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    case: Literal["", "lower", "upper"] = ""
    null: tuple[str, ...] = ("",)
    crosswalk: tuple[tuple[str, str], ...] | None = None
    split: str = ""
    pad: int = 0
    free_form: bool = False
    strip: str = ""
    thousands: str = ""
    decimal: str = "."
    round: Literal["", "half-even"] = ""
    multiply: str = ""
    unit: Literal["", "kg", "l"] = ""
    format: tuple[str, ...] = ("%Y-%m-%d",)
    min: str = ""
    max: str = ""
    required: bool = False
    sparse: bool = False
    on_error: Literal["", "row", "field"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AltNames:
    """A JSON file beside the data: by the source's id an object, whose members under `keys` make the other name."""

    file: str
    keys: tuple[str, ...] = ("name",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """One indicator of an item's own figures, per unit of the item."""

    indicator: str
    value: Field
    basis: Literal["measured", "modelled"]
    method: str
    stage: Field | None = required_field(default=None)
    low: Field | None = None
    high: Field | None = None
    deviation: Field | None = None
    pedigree: Field | None = None
    reference_year: Field | None = None

    @property
    def has_spread(self) -> bool:
        """Whether the source states how wide the figure is."""
        return self.low is not None or self.deviation is not None

    @property
    def describes_total(self) -> bool:
        """Whether it states what only a total has: how wide it is, and the quality of its data."""
        return self.has_spread or self.pedigree is not None or self.reference_year is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFields:
    """The fields that make an item, or find one of the index."""

    id: Field = required_field(exact_parts=True)
    name: Field | None = required_field(default=None)
    iid: Field | None = None
    join_by: str = ""
    join_source: str = ""
    brand: Field | None = None
    category: tuple[Field, ...] = ()
    product_type: Field | None = None
    first_seen_on: Field | None = required_field(default=None)
    alt_names: AltNames | None = None
    identifiers: tuple[tuple[str, Field], ...] = ()
    attributes: tuple[tuple[str, Field], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationFields:
    """The fields of an observation of a price. `[[observation]]` may be repeated: a row then gives several."""

    day: Field = required_field()
    channel: Field = required_field()
    price: Field
    currency: Field = required_field()
    kind: Field = required_field(default=Field(constant="listing"))
    identity: Literal["state", "event"] = "state"
    list_price: Field | None = None
    units: Field | None = required_field(default=None)
    event_key: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFields:
    """Impact factors: per kilogram, by category code or product type; the rows of one code are averaged."""

    code: Field = required_field()
    indicators: tuple[tuple[str, Field], ...]
    method: str
    scope: Literal["category", "product_type"] = "category"
    basis: Literal["as_sold", "as_consumed", "dry"] = "as_sold"
    reference_year: int | None = None
