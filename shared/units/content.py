"""The content of one article in kilograms, litres and pieces, by which its price is divided. Pure."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from shared.units.names import read
from shared.units.quantity import COUNT, Quantity

PER = {"mass": ("kg", Fraction(1000)), "volume": ("l", Fraction(1000)), COUNT: ("piece", Fraction(1))}
"""For each dimension the unit that prices are given for, and how many base units that is."""
ATTRIBUTES = (
    "net_content",
    "contents",
    "content",
    "quantity",
    "size",
    "pack_size",
    "unit_size",
    "volume",
    "net_weight",
)
"""Attributes that state a content, the first that does wins."""
# Of a `4 port` switch or a `3 ply` tissue nothing is sold by the port or the ply.
SOLD_BY_THE_PIECE = frozenset(
    {
        *("", "can", "bottle", "sachet", "box", "roll", "sheet", "tablet", "capsule", "softgel", "pill", "strip"),
        *("pod", "bar", "cup", "wipe", "slice", "serving", "nappy", "pair", "wash"),
    }
)


class Content(NamedTuple):
    """An amount of kilograms, litres or pieces (`per`), and where it was read: `name` or an attribute."""

    per: str
    amount: Fraction
    read_in: str


def contents(name: str, attributes: Mapping[str, Any]) -> list[Content]:
    """Return what one article holds, at most once for each of kg, l and piece; nothing where a name is ambiguous."""
    sources = [("name", name)]
    sources += [(f"attributes.{key}", str(attributes[key])) for key in ATTRIBUTES if attributes.get(key)]
    for read_in, text in sources:
        amounts = _of(read(text).quantities)
        if amounts:
            return [Content(per, amount, read_in) for per, amount in amounts.items()]
    return []


def _of(quantities: Sequence[Quantity]) -> dict[str, Fraction]:
    amounts: dict[str, set[Fraction]] = {}
    for quantity in quantities:
        if quantity.form != "single" or quantity.dimension not in PER:
            continue
        if quantity.dimension == COUNT and quantity.nouns[0] not in SOLD_BY_THE_PIECE:
            continue
        per, size = PER[quantity.dimension]
        amounts.setdefault(per, set()).add(quantity.measures[0].value * quantity.packs / size)
        if quantity.dimension != COUNT and quantity.packs > 1:
            amounts.setdefault("piece", set()).add(quantity.packs)
    return {per: contents.pop() for per, contents in amounts.items() if len(contents) == 1 and min(contents) > 0}
