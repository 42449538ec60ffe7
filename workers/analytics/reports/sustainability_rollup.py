"""Sustainability rollup: the footprint of the units sold, or of the articles in the assortment."""

from typing import Any

import numpy as np
import pyarrow as pa

from shared.analytics.footprint import CODES, INDICATORS
from shared.analytics.results import NINE_DIGITS, SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.uncertainty.stated import requested_displacement
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import Names, grouped_schema, in_row_order
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.footprint_sums import (
    Amounts,
    Bounds,
    Staged,
    bounds_of_sums,
    each_contributor,
    nine_digits,
    read_stages,
    stages_of_sums,
    totals_of_sums,
)
from workers.analytics.reports.footprints import EVIDENCE, Footprints, read
from workers.analytics.reports.periods import day_of
from workers.analytics.reports.quantities import CountedUnits, Quantities
from workers.analytics.reports.query import ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.rollups.arrays import Array

_EVIDENCE = {f"{name}_items": name for name in ("measured", "modelled", "category_average")}
_BOUNDS = tuple(f"{name}_{bound}" for name in CODES for bound in Bounds._fields)
UNITS = {
    "units": "units",
    "items": "items",
    **{indicator.code: indicator.unit for indicator in INDICATORS},
    **{f"{indicator.code}_{bound}": indicator.unit for indicator in INDICATORS for bound in Bounds._fields},
    "items_covered": "share of items",
    "items_measured": "share of items",
    **dict.fromkeys(_EVIDENCE, "items"),
    "contributors.share": "share of the sum",
    "avoided": "unit of the indicator",
    "stages.sum": "unit of the indicator",
}
METHOD = (
    "basis sales: units sold times the figure per unit; basis assortment: the figure per unit of each distinct "
    "item, observed or with figures of its own and no price; a figure is the item's own, else its product type's "
    "per kilogram times its weight, else that of the nearest category, of factors of the same basis as its weight; "
    "items without any figure count in units and items, not in the sums, and a sum is null where no item of the "
    "group has a figure; an item is counted under the best that its figures rest on; a figure is the mean of a log-"
    "normal, and a sum the sum of means, always within low to high, the middle 95 %; central is the median, below "
    "the sum where the distribution is skewed; figures of one factor share its error, all others err independently; "
    "contributors have the largest shares of a sum; stages are those that sources list for items' own figures, and "
    "null the rest of the sum; widths that no source states are those within categories, of the pedigree that the "
    "source states, or assumed: measured ×/÷ 1.10, modelled ×/÷ 2.54; avoided is the displacement rate times the "
    "bounds of what all units sold cause, also those sold new"
)
ROUNDING = {
    **dict.fromkeys((*CODES, *_BOUNDS, "stages.sum"), NINE_DIGITS),
    **{f"avoided.{bound}": NINE_DIGITS for bound in Bounds._fields},
    **dict.fromkeys(("items_covered", "items_measured", "contributors.share"), SIX_DECIMALS),
}
_FIGURES = [
    ("basis", pa.string()),
    ("items", pa.int64()),
    ("units", pa.int64()),
    *((name, pa.float64()) for name in CODES),
    *((name, pa.float64()) for name in _BOUNDS),
    (
        "contributors",
        pa.list_(pa.struct([("indicator", pa.string()), ("iid", pa.string()), ("share", pa.float64())])),
    ),
    ("items_covered", pa.float64()),
    ("items_measured", pa.float64()),
    *((name, pa.int64()) for name in _EVIDENCE),
    (
        "avoided",
        pa.list_(pa.struct([("indicator", pa.string()), *((bound, pa.float64()) for bound in Bounds._fields)])),
    ),
    ("stages", pa.list_(pa.struct([("indicator", pa.string()), ("stage", pa.string()), ("sum", pa.float64())]))),
]


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute a rollup.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, JobRefused, and what `report_progress` raises to stop it.
    """
    displacement = requested_displacement(parameters.get("displacement"), parameters.get("displacement_rate"))
    with snapshot(connection):
        tree = Tree.read(connection)
        units = CountedUnits.asked(connection, tree, parameters, report_progress)
        basis, chosen = units.basis, units.chosen
        report_progress("figures", 0, None)
        footprints, staged = read(connection, tree, chosen), read_stages(connection, chosen)
        quantities = Quantities.read(units.reader, units.counted, once=units.once)
        keys = quantities.keys
        report_progress("intervals", 0, None)
        sums = _sums(connection, quantities, footprints, staged, basis)
        names = Names.read(connection, tree, chosen, keys)
    rate = displacement.rate if displacement and basis == "sales" else None
    return Answer(
        _table(keys, [{**row, "avoided": _avoided(row, rate)} for row in sums], chosen, names),
        units.reader.days,
        quantities.seen,
        UNITS,
        METHOD,
        ROUNDING,
        basis=basis,
        displacement=displacement,
    )


def _sums(
    connection: Connection, quantities: Quantities, footprints: Footprints, staged: Staged, basis: str
) -> list[dict[str, Any]]:
    """Return each segment's figures."""
    segment, item, units = quantities.totals()
    count = len(quantities.keys)
    position = footprints.positions(item)
    evidence = footprints.evidence[position]
    amounts = Amounts(segment, item, position, units)
    items = np.bincount(segment, minlength=count)
    by_evidence = {name: np.bincount(segment[evidence == EVIDENCE.index(name)], minlength=count) for name in EVIDENCE}
    sold = np.bincount(segment, weights=units, minlength=count).astype("i8").tolist()
    columns: dict[str, list[Any]] = {
        "basis": [basis] * count,
        "items": items.tolist(),
        "units": sold if basis == "sales" else [None] * count,
    }
    for n, name in enumerate(CODES):
        columns[name] = totals_of_sums(amounts, footprints, n, count)
        bounds = bounds_of_sums(amounts, footprints, n, columns[name])
        columns |= {f"{name}_{bound}": values for bound, values in bounds._asdict().items()}
    columns["contributors"] = _contributors(connection, amounts, footprints, count)
    columns["stages"] = stages_of_sums(amounts, footprints, staged, columns, count)
    columns["items_covered"] = _shares(items - by_evidence["none"], items)
    columns["items_measured"] = _shares(by_evidence["measured"], items)
    columns |= {name: by_evidence[evidence].tolist() for name, evidence in _EVIDENCE.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _contributors(
    connection: Connection, amounts: Amounts, footprints: Footprints, count: int
) -> list[list[dict[str, Any]]]:
    """Return for each segment the items that its sums owe most to, by indicator."""
    contributors = list(each_contributor(amounts, footprints))
    named = connection.execute(SQL.iids, (sorted({contributor.item for contributor in contributors}),)).fetchall()
    iids: dict[int, str] = dict(named)
    rows: list[list[dict[str, Any]]] = [[] for _ in range(count)]
    for one in contributors:
        rows[one.segment].append({"indicator": one.indicator, "iid": iids[one.item], "share": one.share})
    return rows


def _avoided(row: dict[str, Any], rate: float | None) -> list[dict[str, Any]] | None:
    """Return what the units of a row avoid, an entry for each indicator with a figure; None without a rate."""
    if rate is None:
        return None
    known = (name for name in CODES if row[f"{name}_central"] is not None)
    return [{"indicator": name, **_scaled(row, name, rate)} for name in known]


def _scaled(row: dict[str, Any], name: str, rate: float) -> dict[str, float]:
    return {bound: nine_digits(rate * row[f"{name}_{bound}"]) for bound in Bounds._fields}


def _shares(part: Array, items: Array) -> list[float]:
    return [round(float(n / whole), 6) for n, whole in zip(part, items, strict=True)]


def _table(keys: list[Key], sums: list[dict[str, Any]], chosen: Filter, names: Names) -> Rows:
    schema = grouped_schema(chosen.group_by, _FIGURES)
    rows = [
        {"period": day_of(key.period), **names.of(chosen.group_by, key), **row}
        for key, row in zip(keys, sums, strict=True)
    ]
    return in_row_order(Rows.of(rows, schema), chosen.group_by)
