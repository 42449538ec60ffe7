"""Expected footprints: an item's own figure, else its weight times the nearest factor. Exact."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

from tests.assurance.truth import spread
from tests.assurance.truth.exact import Near
from tests.assurance.truth.index import Index
from tests.assurance.truth.spread import Spread

INDICATORS = {
    "co2e_kg": "kg CO2e",
    "water_l": "l",
    "waste_kg": "kg",
    "land_use_m2a": "m²·a",
    "acidification_kg_so2e": "kg SO2e",
    "freshwater_eutrophication_kg_pe": "kg Pe",
    "marine_eutrophication_kg_ne": "kg Ne",
}


class Figure(NamedTuple):
    """One indicator of an item per unit, and where it comes from."""

    per_unit: Fraction
    basis: str
    method: str
    scope: str
    source: str
    code: str | None = None
    per_kg: Fraction | None = None
    weight: Fraction | None = None
    samples: int = 1
    weight_basis: str | None = None
    as_of: date | None = None
    pedigree: str | None = None
    year: int | None = None
    spread: Spread = Spread(0.0, 0.0, "pedigree")

    def shown(self, times: int = 1) -> Fraction | Near:
        """Return the figure of so many units as an answer must show it: the double that is nearest to the exact one."""
        return Near(self.per_unit * times)


def of_item(index: Index, iid: str) -> dict[str, Figure]:
    """Return the figure of each indicator that has one."""
    return _figures(index, "iid = ?", [iid]).get(iid, {})


def of_all(index: Index) -> dict[str, dict[str, Figure]]:
    """Return the figures of every item that has one, by IID and indicator."""
    return _figures(index, "true", [])


def _figures(index: Index, condition: str, values: Sequence[str]) -> dict[str, dict[str, Figure]]:
    found: dict[str, dict[str, Figure]] = defaultdict(dict)
    for row in index.rows(f"SELECT * FROM averages WHERE {condition}", values):
        per_kg, weight = Fraction(row["total"]) / row["samples"], Fraction(row["weight"])
        found[row["iid"]][row["indicator"]] = Figure(
            per_kg * weight,
            "category_average",
            row["method"],
            row["scope"],
            row["source"],
            row["code"],
            per_kg,
            weight,
            row["samples"],
            row["weight_basis"],
            year=row["year"],
            spread=spread.of_factor(row),
        )
    for row in index.rows(f"SELECT * FROM own_figures WHERE {condition}", values):
        own = Figure(
            Fraction(row["value"]),
            row["basis"],
            row["method"],
            "item",
            row["source"],
            as_of=row["as_of"],
            pedigree=row["pedigree"],
            year=row["year"],
            spread=spread.of_own(row["basis"], row["pedigree"]),
        )
        found[row["iid"]][row["indicator"]] = own
    return found


def summary(index: Index, iid: str) -> dict[str, Any] | None:
    """Return the footprint as a record shows it; None where nothing is known."""
    found = of_item(index, iid)
    first = next((found[name] for name in INDICATORS if name in found), None)
    if first is None:
        return None
    figures = {name: found[name].shown() if name in found else None for name in INDICATORS}
    return {
        **figures,
        "basis": first.basis,
        "method": first.method,
        "samples": first.samples,
        "pedigree": first.pedigree,
        "reference_year": first.year,
    }
