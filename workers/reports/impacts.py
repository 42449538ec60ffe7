"""What a unit of an item costs the planet: its own figure, else its product type's by weight, else its category's."""

from typing import NamedTuple

import numpy as np

from shared.db.connect import Connection
from shared.indicators import CODES
from workers.reports.filters import SQL, Filter, Tree
from workers.rollups.codec import Array

EVIDENCE = ("none", "category_average", "modelled", "measured")
"""What an item's figures rest on, the best of them; `Footprints.evidence` counts into it."""


class Footprints(NamedTuple):
    """Items in the order of their ids; a column of figures per unit for each indicator, NaN where nothing is known."""

    item: Array
    figures: Array
    evidence: Array

    def places(self, item: Array) -> Array:
        """Return where items are; those of which nothing is known are at the end, in a row of NaN."""
        found = np.searchsorted(self.item, item)
        found[found == len(self.item)] = 0
        known = self.item[found] == item if len(self.item) else np.zeros(len(item), bool)
        return np.where(known, found, len(self.item))


def read(connection: Connection, tree: Tree, chosen: Filter) -> Footprints:
    """Read the figures of every item that has any."""
    brands = list(chosen.brands) if chosen.brands is not None else None
    categories = list(chosen.categories) if chosen.categories is not None else None
    figures = _by_weight(connection, tree, brands, categories)
    average = EVIDENCE.index("category_average")
    evidence = {item: average for item, known in figures.items() if not np.isnan(known).all()}
    for item, indicator, per_unit, basis in connection.execute(SQL.own_figures, (brands, categories)):
        figures.setdefault(item, [np.nan] * len(CODES))[CODES.index(indicator)] = per_unit
        evidence[item] = max(evidence.get(item, 0), EVIDENCE.index(basis))
    ids = np.array(sorted(figures), "i8")
    table = np.array([figures[item] for item in ids.tolist()] + [[np.nan] * len(CODES)], "f8")
    return Footprints(ids, table, np.array([evidence.get(item, 0) for item in ids.tolist()] + [0]))


def _by_weight(
    connection: Connection, tree: Tree, brands: list[int] | None, categories: list[int] | None
) -> dict[int, list[float]]:
    of_type: dict[str, dict[str, float]] = {}
    of_category: dict[str, dict[str, float]] = {}
    for scope, code, indicator, per_kg in connection.execute(SQL.factors):
        (of_type if scope == "product_type" else of_category).setdefault(code, {})[indicator] = per_kg
    nearest = {one.id: _nearest(one.code, of_category) for one in tree.by_id.values()}
    reached = [number for number, found in nearest.items() if found]
    figures = {}
    values = (brands, categories, list(of_type), reached)
    for item, product_type, category, weight in connection.execute(SQL.weighed_items, values):
        kilograms = _weight(weight)
        if kilograms is not None:
            per_kg = {**nearest.get(category, {}), **of_type.get(product_type, {})}
            figures[item] = [per_kg.get(name, np.nan) * kilograms for name in CODES]
    return figures


def _nearest(code: str, factors: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return a category's factors: for each indicator its own, or that of the nearest category above it."""
    found: dict[str, float] = {}
    parts = code.split(".")
    for depth in range(1, len(parts) + 1):
        found.update(factors.get(".".join(parts[:depth]), {}))
    return found


def _weight(text: str | None) -> float | None:
    try:
        weight = float(text or "")
    except ValueError:
        return None
    return weight if 0 < weight < float("inf") else None
