"""The indicators of environmental impact that the index knows, each with its unit. Pure.

The table `indicators` holds the same rows for SQL; a migration adds a row there whenever one is added here.
"""

from typing import NamedTuple


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
