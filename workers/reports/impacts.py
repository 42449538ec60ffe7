"""The footprint of a unit of an item: its own figure, else its product type's by weight, else its category's."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from shared.db.connect import Connection
from shared.footprint import weight_of
from shared.indicators import CODES
from shared.uncertainty.stated import Spread, Stated, enough, of_factor, of_item
from workers.reports.filters import SQL, Filter, Tree
from workers.rollups.codec import Array

EVIDENCE = ("none", "category_average", "modelled", "measured")
"""The bases of an item's figures, the best first; `Footprints.evidence` counts into it."""
OWN = -1
"""The factor number of a figure that is the item's own."""


class Footprints(NamedTuple):
    """Items in the order of their ids; a column for each indicator, NaN where nothing is known.

    `medians` and `sigmas` are of the figures' distributions; `factors` number the factor that a figure rests on, or are
    OWN; `common` holds the sigma of the error that all figures of a factor share.
    """

    item: Array
    figures: Array
    evidence: Array
    medians: Array
    sigmas: Array
    factors: Array
    common: Array

    def positions(self, item: Array) -> Array:
        """Return where items are; those of which nothing is known are at the end, in a row of NaN."""
        position = np.searchsorted(self.item, item)
        position[position == len(self.item)] = 0
        known = self.item[position] == item if len(self.item) else np.zeros(len(item), bool)
        return np.where(known, position, len(self.item))


class _Factor(NamedTuple):
    number: int
    per_kg: float
    samples: int
    stated: Stated


class _Cell(NamedTuple):
    """A figure of an item for one indicator."""

    figure: float = np.nan
    median: float = np.nan
    sigma: float = 0.0
    factor: int = OWN


_Factors = dict[str, _Factor]
_Cells = dict[int, list[_Cell]]
_UNKNOWN = _Cell()


def read(connection: Connection, tree: Tree, chosen: Filter) -> Footprints:
    """Read the figures of every item that has any."""
    brands = list(chosen.brands) if chosen.brands is not None else None
    categories = list(chosen.categories) if chosen.categories is not None else None
    factors = [
        (scope, code, indicator, _Factor(number, per_kg, samples, of_factor(per_kg, samples, *moments)))
        for number, (scope, code, indicator, per_kg, samples, *moments) in enumerate(connection.execute(SQL.factors))
    ]
    cells = _by_weight(connection, tree, factors, (brands, categories))
    average = EVIDENCE.index("category_average")
    evidence = {item: average for item, known in cells.items() if any(one.factor != OWN for one in known)}
    for item, indicator, per_unit, basis, *spread in connection.execute(SQL.own_figures, (brands, categories)):
        stated = of_item(per_unit, basis, Spread(*spread))
        own = _Cell(per_unit, stated.median, stated.sigma)
        cells.setdefault(item, [_UNKNOWN] * len(CODES))[CODES.index(indicator)] = own
        evidence[item] = max(evidence.get(item, 0), EVIDENCE.index(basis))
    ids = np.array(sorted(cells), "i8")
    table = [cells[item] for item in ids.tolist()] + [[_UNKNOWN] * len(CODES)]
    columns = [np.array([[cell[n] for cell in row] for row in table]) for n in range(len(_UNKNOWN))]
    figures, medians, sigmas, numbers = columns
    known = np.array([evidence.get(item, 0) for item in ids.tolist()] + [0])
    common = np.array([factor.stated.common_sigma for *_, factor in factors], "f8")
    return Footprints(ids, figures, known, medians, sigmas, numbers, common)


def _by_weight(
    connection: Connection,
    tree: Tree,
    factors: list[tuple[str, str, str, _Factor]],
    chosen: tuple[list[int] | None, list[int] | None],
) -> _Cells:
    of_type: dict[str, _Factors] = {}
    of_category: dict[str, _Factors] = {}
    for scope, code, indicator, factor in factors:
        (of_type if scope == "product_type" else of_category).setdefault(code, {})[indicator] = factor
    nearest = {one.id: _nearest(one.code, of_category) for one in tree.by_id.values()}
    reached = [number for number, factors in nearest.items() if factors]
    cells: _Cells = {}
    values = (*chosen, list(of_type), reached)
    for item, product_type, category, weight in connection.execute(SQL.weighed_items, values):
        kilograms = weight_of(weight)
        if kilograms is not None:
            figures = {**nearest.get(category, {}), **of_type.get(product_type, {})}
            cells[item] = [_cell(figures.get(name), float(kilograms)) for name in CODES]
    return cells


def _cell(factor: _Factor | None, kilograms: float) -> _Cell:
    if factor is None:
        return _UNKNOWN
    stated = factor.stated
    return _Cell(factor.per_kg * kilograms, stated.median * kilograms, stated.sigma, factor.number)


def _nearest(code: str, factors: Mapping[str, _Factors]) -> _Factors:
    """Return for each indicator the factor of the nearest category with enough samples, else of the nearest."""
    nearest: _Factors = {}
    parts = code.split(".")
    for depth in range(len(parts), 0, -1):
        for indicator, factor in factors.get(".".join(parts[:depth]), {}).items():
            nearer = nearest.get(indicator)
            if nearer is None or (not enough(nearer.samples) and enough(factor.samples)):
                nearest[indicator] = factor
    return nearest
