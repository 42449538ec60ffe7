"""Footprints per unit: the indicators, and the figure of an item, its product type or its category. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from shared.uncertainty.stated import Pooled, Stated, StatedSpread, enough, of_factor, of_item

# The indicators of environmental impact that the index knows, each with its unit. Pure.
# The table `indicators` holds the same rows for SQL; a migration adds a row there whenever one is added here.

BASES = ("sales", "assortment")
"""The basis of cumulative figures: units sold, or, where no sale is known, each item once."""
REFERENCE_YEARS = range(1900, 2200)
"""The years to which a source can assign a figure."""
WEIGHT_BASES = ("as_sold", "as_consumed", "dry")
"""What a kilogram of a factor, and of an item's weight, is of. An item without one weighs as it is sold."""
_HEAVIEST_KG = Decimal(10**12)
"""Above it a weight is an error: times a factor it would leave the range of a double."""


class Indicator(NamedTuple):
    """One indicator. Its figures are per unit of an item, or per kilogram where they are factors."""

    code: str
    unit: str
    title: str


INDICATORS = (
    Indicator("co2e_kg", "kg CO2e", "Greenhouse gas emissions"),
    Indicator("water_l", "l", "Water consumption"),
    Indicator("waste_kg", "kg", "Waste"),
    Indicator("land_use_m2a", "m²·a", "Land use"),
    Indicator("acidification_kg_so2e", "kg SO2e", "Terrestrial acidification"),
    Indicator("freshwater_eutrophication_kg_pe", "kg Pe", "Freshwater eutrophication"),
    Indicator("marine_eutrophication_kg_ne", "kg Ne", "Marine eutrophication"),
)
CODES = tuple(indicator.code for indicator in INDICATORS)

OWN, AVERAGE = "item", "category_average"


class FootprintFigure(NamedTuple):
    """A figure per unit of an item and where it comes from. `scope` is item, product_type or category.

    `samples` is how many articles or records the figure is the mean of: 1 where it is the item's own. `stated` is the
    figure as a distribution. `weight_basis` is what the kilograms are of, `as_of` the day of a
    source's statement about the item itself. `pedigree` and `reference_year` are what a source states of its data.
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
    stated: Stated | None = None
    weight_basis: str | None = None
    as_of: date | None = None
    pedigree: str | None = None
    reference_year: int | None = None


def nearest(
    impacts: Sequence[Mapping[str, Any]], factors: Sequence[Mapping[str, Any]], kilograms: Decimal | None
) -> dict[str, FootprintFigure]:
    """Return the best figure of each indicator that has one. `factors` come nearest first and are of the item's basis.

    A product type's factor precedes a category's. Of categories the nearest with enough samples is taken; where none
    has enough, the nearest.
    """
    figures: dict[str, FootprintFigure] = {}
    if kilograms is not None:
        for indicator, factor in _choose_figures(factors).items():
            figures[indicator] = _of_factor(factor, kilograms)
    for impact in impacts:
        per_unit = Decimal(impact["per_unit"])
        low, high, deviation = (_double(impact.get(name)) for name in ("low", "high", "deviation"))
        spread = StatedSpread(low, high, deviation, impact.get("pedigree"))
        figures[impact["indicator"]] = FootprintFigure(
            per_unit,
            impact["basis"],
            impact["method"],
            OWN,
            source=impact.get("source"),
            stated=of_item(float(per_unit), impact["basis"], spread),
            as_of=date.fromisoformat(impact["as_of"]) if "as_of" in impact else None,
            pedigree=impact.get("pedigree"),
            reference_year=impact.get("reference_year"),
        )
    return figures


def _choose_figures(factors: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    chosen: dict[str, Mapping[str, Any]] = {}
    for factor in factors:
        before = chosen.get(factor["indicator"])
        wider = before is not None and before["scope"] == "category" and not enough(before["samples"])
        if before is None or (wider and enough(factor["samples"])):
            chosen[factor["indicator"]] = factor
    return chosen


def _of_factor(factor: Mapping[str, Any], kilograms: Decimal) -> FootprintFigure:
    per_kg = Decimal(factor["per_kg"])
    spread = Pooled.of(factor.get("log_samples"), _double(factor.get("log_deviation")))
    pooled = Pooled(_double(factor.get("squares")) or 0.0, factor.get("degrees") or 0)
    return FootprintFigure(
        per_kg * kilograms,
        AVERAGE,
        factor["method"],
        factor["scope"],
        factor["code"],
        per_kg,
        kilograms,
        factor.get("source"),
        factor["samples"],
        of_factor(float(per_kg), factor["samples"], spread, pooled).times(float(kilograms)),
        factor.get("weight_basis"),
        reference_year=factor.get("reference_year"),
    )


def _double(value: Any) -> float | None:
    return None if value is None else float(value)


def weight_of(weight: object, volume: object = None, density: object = None) -> Decimal | None:
    """Return the kilograms of an article: its weight, else its litres times kilograms a litre; None without either."""
    kilograms = _amount(weight)
    if kilograms is not None:
        return kilograms
    litres, per_litre = _amount(volume), _amount(density)
    return litres * per_litre if litres is not None and per_litre is not None else None


def _amount(value: object) -> Decimal | None:
    """Return what a source states; None where that could be no amount."""
    try:
        amount = Decimal(str(value))
    except ArithmeticError:
        return None
    return amount if amount.is_finite() and 0 < amount <= _HEAVIEST_KG else None
