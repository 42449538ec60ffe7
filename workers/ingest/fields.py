"""What a mapping says of each part of an item, an observation or a factor, as frozen values."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where a value comes from (a column, a constant, or the file's name by a regular expression) and its cleaning."""

    column: str | None = None
    constant: str | None = None
    file_name: str | None = None
    trim: bool = True
    strip: str = ""
    thousands: str = ""
    decimal: str = "."
    format: str = "%Y-%m-%d"
    case: Literal["", "lower", "upper"] = ""
    null: tuple[str, ...] = ("",)
    replace: tuple[tuple[str, str], ...] = ()
    crosswalk: tuple[tuple[str, str], ...] | None = None
    split: str = ""
    match: str = ""
    multiply: str = ""
    unit: Literal["", "kg"] = ""
    round: Literal["", "half-even"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AltNames:
    """A JSON file beside the data: by the source's id an object, whose members under `keys` make the other name."""

    file: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """One indicator of an item's own figures, per unit."""

    indicator: str
    value: Field
    basis: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFields:
    """What makes an item."""

    id: Field
    name: Field
    iid: Field | None = None
    brand: Field | None = None
    category: tuple[Field, ...] = ()
    product_type: Field | None = None
    first_seen_on: Field | None = None
    alt_names: AltNames | None = None
    identifiers: tuple[tuple[str, Field], ...] = ()
    attributes: tuple[tuple[str, Field], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationFields:
    """What makes an observation. `identity`: a `state` is replaced by a later load, an `event` counts each time."""

    day: Field
    channel: Field
    price: Field
    currency: Field
    kind: Literal["listing", "sale"] = "listing"
    identity: Literal["state", "event"] = "state"
    list_price: Field | None = None
    units: Field | None = None
    event_key: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFields:
    """What makes an impact factor: per kilogram, by category code; rows of one code are averaged."""

    code: Field
    indicators: tuple[tuple[str, Field], ...]
    method: str
    scope: Literal["category", "product_type"] = "category"
