"""The footprint of a unit of an item: its own figure, else its product type's by weight, else its category's."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shared.analytics.footprint import CODES, weight_of
from shared.db.connect import Connection
from shared.uncertainty.stated import Pooled, Stated, StatedSpread, enough, of_factor, of_item
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.rollups.arrays import Array

EVIDENCE = ("none", "category_average", "modelled", "measured")
"""The bases of an item's figures, the best first; `Footprints.evidence` counts into it."""
OWN = -1
"""The factor number of a figure that is the item's own."""


class Footprints(NamedTuple):
    """Items in the order of their ids; a column for each indicator, NaN where nothing is known.

    `figures` are the means of distributions with these `sigmas`; `factors` number the factor that a figure rests on, or
    are OWN; `common` holds the sigma of the error that all figures of a factor share. `stated` has the bounds that a
    source itself states of an item's figure, by item and indicator.
    """

    item: Array
    figures: Array
    evidence: Array
    sigmas: Array
    factors: Array
    common: Array
    stated: Mapping[tuple[int, str], Stated]

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
    sigma: float = 0.0
    factor: int = OWN


_Factors = dict[str, _Factor]
_Cells = dict[int, list[_Cell]]
_UNKNOWN = _Cell()


def read(connection: Connection, tree: Tree, chosen: Filter) -> Footprints:
    """Read the figures of every item that has any."""
    brands = list(chosen.brands) if chosen.brands is not None else None
    categories = list(chosen.categories) if chosen.categories is not None else None
    factors = _factors(connection.execute(SQL.factors).fetchall())
    cells = _by_weight(connection, tree, factors, (brands, categories))
    average = EVIDENCE.index("category_average")
    evidence = {item: average for item, known in cells.items() if any(cell.factor != OWN for cell in known)}
    stated: dict[tuple[int, str], Stated] = {}
    for item, indicator, per_unit, basis, *spread in connection.execute(SQL.own_figures, (brands, categories)):
        figure = of_item(per_unit, basis, StatedSpread(*spread))
        if figure.low is not None:
            stated[item, indicator] = figure
        own = _Cell(per_unit, figure.sigma)
        cells.setdefault(item, [_UNKNOWN] * len(CODES))[CODES.index(indicator)] = own
        evidence[item] = max(evidence.get(item, 0), EVIDENCE.index(basis))
    ids = np.array(sorted(cells), "i8")
    table = [cells[item] for item in ids.tolist()] + [[_UNKNOWN] * len(CODES)]
    columns = [np.array([[cell[n] for cell in row] for row in table]) for n in range(len(_UNKNOWN))]
    figures, sigmas, numbers = columns
    known = np.array([evidence.get(item, 0) for item in ids.tolist()] + [0])
    common = np.array([factor.stated.common_sigma for *_, factor in factors], "f8")
    return Footprints(ids, figures, known, sigmas, numbers, common, stated)


def _factors(rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, str, str, str, _Factor]]:
    # One food group may stand for several categories: its samples count once.
    spreads = {(scope, name, per_kg, *spread) for scope, _, _, name, per_kg, _, *spread in rows}
    pooled: dict[tuple[str, str], Pooled] = defaultdict(Pooled)
    for scope, name, _, *spread in spreads:
        pooled[scope, name] = Pooled.of_all((pooled[scope, name], Pooled.of(*spread)))
    factors = []
    for place, (scope, basis, code, name, per_kg, samples, *spread) in enumerate(rows):
        stated = of_factor(per_kg, samples, Pooled.of(*spread), pooled[scope, name])
        factors.append((scope, basis, code, name, _Factor(place, per_kg, samples, stated)))
    return factors


def _by_weight(
    connection: Connection,
    tree: Tree,
    factors: list[tuple[str, str, str, str, _Factor]],
    chosen: tuple[list[int] | None, list[int] | None],
) -> _Cells:
    of_type: dict[tuple[str, str], _Factors] = {}
    of_category: dict[str, dict[str, _Factors]] = {}
    for scope, basis, code, indicator, factor in factors:
        codes = of_category.setdefault(basis, {}) if scope == "category" else None
        (of_type.setdefault((basis, code), {}) if codes is None else codes.setdefault(code, {}))[indicator] = factor
    nearest = {
        (basis, category.id): found
        for basis, codes in of_category.items()
        for category in tree.by_id.values()
        if (found := _nearest(category.code, codes))
    }
    cells: _Cells = {}
    values = (*chosen, sorted({code for _, code in of_type}), sorted({number for _, number in nearest}))
    for item, product_type, category, basis, *size in connection.execute(SQL.weighed_items, values):
        kilograms = weight_of(*size)
        if kilograms is not None:
            figures = {**nearest.get((basis, category), {}), **of_type.get((basis, product_type), {})}
            cells[item] = [_cell(figures.get(name), float(kilograms)) for name in CODES]
    return cells


def _cell(factor: _Factor | None, kilograms: float) -> _Cell:
    if factor is None:
        return _UNKNOWN
    return _Cell(factor.per_kg * kilograms, factor.stated.sigma, factor.number)


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
