"""Figures per unit: an item's own, else its product type's by weight, else its nearest category's. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

BASES = ("sales", "assortment")
"""What cumulative figures count: units sold, or, where no sale is known, each item once."""
OWN, AVERAGE = "item", "category_average"


class Figure(NamedTuple):
    """A figure per unit of an item and where it comes from. `scope` is item, product_type or category.

    `samples` is how many articles or records the figure is the mean of: 1 where it is the item's own.
    """

    per_unit: Decimal
    basis: str
    method: str
    scope: str
    code: str | None = None
    per_kg: Decimal | None = None
    weight_kg: Decimal | None = None
    source: Mapping[str, Any] | None = None
    samples: int = 1


def nearest(
    impacts: Sequence[Mapping[str, Any]], factors: Sequence[Mapping[str, Any]], weight: Any
) -> dict[str, Figure]:
    """Return the best figure of each indicator that has one. `factors` come nearest first."""
    found: dict[str, Figure] = {}
    kilograms = weight_of(weight)
    for factor in factors:
        if kilograms is None:
            break
        per_kg = Decimal(factor["per_kg"])
        figure = Figure(
            per_kg * kilograms,
            AVERAGE,
            factor["method"],
            factor["scope"],
            factor["code"],
            per_kg,
            kilograms,
            factor.get("source"),
            factor["samples"],
        )
        found.setdefault(factor["indicator"], figure)
    for impact in impacts:
        found[impact["indicator"]] = Figure(
            Decimal(impact["per_unit"]), impact["basis"], impact["method"], OWN, source=impact.get("source")
        )
    return found


def weight_of(value: Any) -> Decimal | None:
    """Return a weight; None where the source has none that could be one."""
    try:
        weight = Decimal(str(value))
    except ArithmeticError:
        return None
    return weight if weight.is_finite() and weight > 0 else None


def as_double(value: Decimal) -> float:
    """Return the IEEE 754 double nearest to a figure. Up to 15 significant digits come out as they were loaded."""
    return float(value)
