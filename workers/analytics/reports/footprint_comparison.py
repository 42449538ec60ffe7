"""Footprints that compare: per unit, per kilogram, per amount of money, with what they rest on and why they changed."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.footprint import CODES, INDICATORS, weight_of
from shared.analytics.results import NINE_DIGITS, SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.money import minor_digits
from shared.uncertainty.stated import Scores
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import Names, grouped_schema, in_row_order
from workers.analytics.reports.filters import SQL, Tree
from workers.analytics.reports.footprint_change import Cell, Cells, change_of, effects
from workers.analytics.reports.footprint_origins import assumptions_of_sums, quality_of_sums, read_origins
from workers.analytics.reports.footprint_sums import (
    Amounts,
    Bounds,
    bounds_of_sums,
    by_segment,
    nine_digits,
    read_stages,
    stages_of_sums,
    totals_of_sums,
)
from workers.analytics.reports.footprints import Footprints, read
from workers.analytics.reports.median_prices import MedianPrices, read_median_prices
from workers.analytics.reports.periods import day_of
from workers.analytics.reports.price_change import period_before
from workers.analytics.reports.quantities import CountedUnits, Quantities
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.rollups.arrays import Array

DEFAULT_INDICATOR, DEFAULT_MIX = CODES[0], "category"
_PARTS = ("volume", "mix", "intensity")
_QUALITY = ("pedigree_share", *Scores._fields, "year_share", "year_first", "year_last")
_FIGURES = [
    ("indicator", pa.string()),
    ("basis", pa.string()),
    ("items", pa.int64()),
    ("units", pa.int64()),
    ("items_with_figure", pa.int64()),
    ("footprint", pa.float64()),
    *((f"footprint_{bound}", pa.float64()) for bound in Bounds._fields),
    ("per_unit", pa.float64()),
    (
        "per_kg",
        pa.list_(
            pa.struct(
                [
                    ("weight_basis", pa.string()),
                    ("items", pa.int64()),
                    ("weight_kg", pa.float64()),
                    ("footprint", pa.float64()),
                    ("per_kg", pa.float64()),
                ]
            )
        ),
    ),
    (
        "per_money",
        pa.list_(
            pa.struct(
                [
                    ("currency", pa.string()),
                    ("items", pa.int64()),
                    ("value", pa.float64()),
                    ("footprint", pa.float64()),
                    ("per_money", pa.float64()),
                ]
            )
        ),
    ),
    ("stages", pa.list_(pa.struct([("stage", pa.string()), ("sum", pa.float64())]))),
    *((name, pa.int64() if name in ("year_first", "year_last") else pa.float64()) for name in _QUALITY),
    (
        "assumptions",
        pa.list_(
            pa.struct(
                [
                    *((name, pa.string()) for name in ("scope", "code", "weight_basis", "source", "method")),
                    ("items", pa.int64()),
                    ("share", pa.float64()),
                    ("variance_share", pa.float64()),
                ]
            )
        ),
    ),
    ("compared_with", pa.date32()),
    *((name, pa.float64()) for name in ("footprint_before", "change", *_PARTS)),
]
UNITS = {
    **dict.fromkeys(("items", "items_with_figure", "per_kg.items", "per_money.items", "assumptions.items"), "items"),
    "units": "units",
    **dict.fromkeys(
        (
            "footprint",
            *(f"footprint_{bound}" for bound in Bounds._fields),
            *(("per_kg.footprint", "per_money.footprint", "stages.sum", "footprint_before", "change")),
            *_PARTS,
        ),
        "unit of the indicator",
    ),
    "per_unit": "unit of the indicator a unit",
    "per_kg.weight_kg": "kg",
    "per_kg.per_kg": "unit of the indicator a kg",
    "per_money.value": "currency",
    "per_money.per_money": "unit of the indicator an amount of 1 in the currency",
    **dict.fromkeys(Scores._fields, "mean score, 1 (best) to 5"),
    **dict.fromkeys(("pedigree_share", "year_share", "assumptions.share"), "share of the footprint"),
    "assumptions.variance_share": "share of the variance",
    **dict.fromkeys(("year_first", "year_last"), "year"),
}
ROUNDING = {
    **dict.fromkeys(
        (
            "footprint",
            *(f"footprint_{bound}" for bound in Bounds._fields),
            *("per_unit", "per_kg.weight_kg", "per_kg.footprint", "per_kg.per_kg"),
            *("per_money.value", "per_money.footprint", "per_money.per_money", "stages.sum", "footprint_before"),
        ),
        NINE_DIGITS,
    ),
    **dict.fromkeys(("change", *_PARTS), "to the ninth significant digit of the larger footprint, adding up exactly"),
    **dict.fromkeys(
        ("pedigree_share", *Scores._fields, "year_share", "assumptions.share", "assumptions.variance_share"),
        SIX_DECIMALS,
    ),
}
METHOD = (
    "figures and their intervals are those of the sustainability rollup; per_unit is the footprint over the units (or "
    "items) that have a figure; per_kg and per_money are of those that also have a weight, or a price: an item's price "
    "is the median of its prices in the period without outliers, times the units; scores and years are those that "
    "sources state, scores weighted by footprint; variances of assumptions add up, as figures of one factor share its "
    "error and all others err independently; the change against the whole period before is decomposed by the "
    "logarithmic mean Divisia index (LMDI-I) over {mix}: volume is the number of units (or items) with a figure, mix "
    "the share of each {cell} among them, intensity the footprint per unit within a {cell}; an item's figure is the "
    "same in all periods, so that intensity is 0 where a {cell} has the same items in the same proportions"
)


class _Summed(NamedTuple):
    """The segments of a range, the entries of each, and its footprint: the sum, which is None without a figure."""

    keys: list[Key]
    amounts: Amounts
    totals: list[float | None]


class _Items(NamedTuple):
    """Items in the order of their ids, with the cell of the mix that each is in, and what it weighs on which basis."""

    ids: Array
    cell: Array
    basis: list[str]
    kilograms: Array


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute a comparison.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, JobRefused, and what `report_progress` raises to stop it.
    """
    indicator = parameters.get("indicator") or DEFAULT_INDICATOR
    mix, place = parameters.get("mix") or DEFAULT_MIX, CODES.index(indicator)
    with snapshot(connection):
        tree = Tree.read(connection)
        units = CountedUnits.asked(connection, tree, parameters, report_progress)
        basis, chosen, reader, once = units.basis, units.chosen, units.reader, units.once
        report_progress("figures", 0, None)
        footprints = read(connection, tree, chosen)
        origins = read_origins(connection, chosen, footprints, place, indicator)
        staged = {key: found for key, found in read_stages(connection, chosen).items() if key[0] == indicator}
        quantities = Quantities.read(reader, units.counted, once=once)
        before = Quantities.read(reader.of(reader.days.before()), units.counted, once=once)
        now, earlier = (_sum(found, footprints, place) for found in (quantities, before))
        priced = replace(chosen, kinds=() if once else units.counted.kinds, outliers=False)
        priced = reader.with_default_kind(priced)
        prices = read_median_prices(reader, priced)
        items = _read_items(connection, np.union1d(now.amounts.item, earlier.amounts.item), mix)
        names = Names.read(connection, tree, chosen, now.keys)
    report_progress("intervals", 0, None)
    count, totals = len(now.keys), now.totals
    columns: dict[str, list[Any]] = {"footprint": list(totals)}
    bounds = bounds_of_sums(now.amounts, footprints, place, totals)
    columns |= {f"footprint_{bound}": values for bound, values in bounds._asdict().items()}
    columns |= _counts(now.amounts, footprints, place, totals, basis)
    columns["per_kg"] = _per_kg(now.amounts, footprints, place, items, count)
    columns["per_money"] = _per_money(prices, now.keys, footprints, place, once=once)
    stages = stages_of_sums(now.amounts, footprints, staged, {indicator: totals}, count)
    columns["stages"] = [[{"stage": part["stage"], "sum": part["sum"]} for part in row] for row in stages]
    columns["assumptions"] = assumptions_of_sums(now.amounts, footprints, origins, place, count)
    quality = quality_of_sums(now.amounts, footprints, origins, place, count)
    changes = _changes(reader, now, earlier, footprints, place, items)
    rows = [
        {
            "period": day_of(key.period),
            **names.of(chosen.group_by, key),
            "indicator": indicator,
            "basis": basis,
            **{name: values[segment] for name, values in columns.items()},
            **quality[segment],
            **changes[segment],
        }
        for segment, key in enumerate(now.keys)
    ]
    return Answer(
        in_row_order(Rows.of(rows, grouped_schema(chosen.group_by, _FIGURES)), chosen.group_by),
        reader.days,
        quantities.seen,
        {**UNITS, "indicator": INDICATORS[place].unit},
        METHOD.format(mix="categories" if mix == "category" else "brands", cell=mix),
        ROUNDING,
        kind=priced.kind,
        basis=basis,
    )


def _sum(quantities: Quantities, footprints: Footprints, place: int) -> _Summed:
    segment, item, units = quantities.totals()
    amounts = Amounts(segment, item, footprints.positions(item), units)
    return _Summed(quantities.keys, amounts, totals_of_sums(amounts, footprints, place, len(quantities.keys)))


def _read_items(connection: Connection, ids: Array, mix: str) -> _Items:
    rows = sorted(connection.execute(SQL.item_sizes, (ids.tolist(),)).fetchall())
    weights = [weight_of(*row[4:]) for row in rows]
    return _Items(
        np.array([row[0] for row in rows], "i8"),
        np.array([row[1 if mix == "brand" else 2] for row in rows], "i8"),
        [row[3] for row in rows],
        np.array([np.nan if weight is None else float(weight) for weight in weights], "f8"),
    )


def _counts(
    amounts: Amounts, footprints: Footprints, place: int, totals: list[float | None], basis: str
) -> dict[str, list[Any]]:
    """Return how many items and units there are, and the footprint for each unit that has one."""
    count = len(totals)
    known = ~np.isnan(footprints.figures[amounts.position, place])
    counted = np.bincount(amounts.segment[known], weights=amounts.units[known], minlength=count)
    units = np.bincount(amounts.segment, weights=amounts.units, minlength=count).astype("i8").tolist()
    return {
        "items": np.bincount(amounts.segment, minlength=count).tolist(),
        "units": units if basis == "sales" else [None] * count,
        "items_with_figure": np.bincount(amounts.segment[known], minlength=count).tolist(),
        "per_unit": [
            None if total is None else nine_digits(total / of) for total, of in zip(totals, counted, strict=True)
        ],
    }


def _per_kg(
    amounts: Amounts, footprints: Footprints, place: int, items: _Items, segments: int
) -> list[list[dict[str, Any]]]:
    """Return each segment's footprint a kilogram, of each basis by itself: one as sold is not one as consumed."""
    rows: list[list[dict[str, Any]]] = [[] for _ in range(segments)]
    figures = footprints.figures[amounts.position, place]
    at = np.searchsorted(items.ids, amounts.item)
    bases = sorted(set(items.basis))
    number = np.array([bases.index(basis) for basis in items.basis], "i8")
    for segment, entries in by_segment(amounts.segment, ~np.isnan(figures) & ~np.isnan(items.kilograms[at])):
        for basis in np.unique(number[at[entries]]).tolist():
            of_basis = entries[number[at[entries]] == basis]
            units = amounts.units[of_basis]
            weight = float((items.kilograms[at[of_basis]] * units).sum())
            footprint = float((figures[of_basis] * units).sum())
            row = {"weight_basis": bases[basis], "items": len(of_basis), "weight_kg": nine_digits(weight)}
            rows[segment].append(
                {**row, "footprint": nine_digits(footprint), "per_kg": nine_digits(footprint / weight)}
            )
    return rows


def _per_money(
    prices: MedianPrices, keys: list[Key], footprints: Footprints, place: int, *, once: bool
) -> list[list[dict[str, Any]]]:
    """Return each segment's footprint for an amount of 1, in each currency."""
    rows: list[list[dict[str, Any]]] = [[] for _ in keys]
    segment_of = {key: segment for segment, key in enumerate(keys)}
    figures = footprints.figures[footprints.positions(prices.item), place]
    units = np.ones(len(prices.units), "i8") if once else prices.units
    for own, entries in by_segment(prices.segment, ~np.isnan(figures) & (prices.median > 0)):
        listed = rows[segment_of[prices.keys[own]]]
        for number in np.unique(prices.currency[entries]).tolist():
            of_currency, currency = entries[prices.currency[entries] == number], prices.currencies[number]
            minor = float((prices.median[of_currency] * units[of_currency]).sum())
            value = minor / 10 ** minor_digits(currency)
            footprint = float((figures[of_currency] * units[of_currency]).sum())
            row = {"currency": currency, "items": len(of_currency), "value": nine_digits(value)}
            listed.append({**row, "footprint": nine_digits(footprint), "per_money": nine_digits(footprint / value)})
        listed.sort(key=lambda row: str(row["currency"]))
    return rows


def _changes(
    reader: Reader, now: _Summed, earlier: _Summed, footprints: Footprints, place: int, items: _Items
) -> list[dict[str, Any]]:
    """Return each segment's change against the whole period before it, where that has data.

    Where the range cuts its first period, the second is compared with the whole of it, which is read with those before.
    A period that the range cuts is compared with none.
    """
    days = reader.days
    whole = {key for key in now.keys if not days.holds_part_of(key.period)}
    known: dict[Key, tuple[float, Cells]] = {}
    for summed, keys in ((earlier, set(earlier.keys)), (now, whole)):
        cells = _cells(summed, footprints, place, items)
        known |= {
            key: (total or 0.0, cells.get(key, {}))
            for key, total in zip(summed.keys, summed.totals, strict=True)
            if key in keys
        }
    periods = {key.period for key in known}
    rows: list[dict[str, Any]] = []
    for key, total in zip(now.keys, now.totals, strict=True):
        before = key._replace(period=period_before(days, key.period))
        if key not in whole or before.period not in periods or total is None:
            rows.append({})
            continue
        was, cells_before = known.get(before, (0.0, {}))
        change = change_of(was, total, effects(cells_before, known[key][1]))
        rows.append({"compared_with": day_of(before.period), "footprint_before": was, **change._asdict()})
    return rows


def _cells(found: _Summed, footprints: Footprints, place: int, items: _Items) -> dict[Key, Cells]:
    """Return for each segment with figures what each cell of the mix has in it."""
    amounts = found.amounts
    figures = footprints.figures[amounts.position, place]
    cell_of = items.cell[np.searchsorted(items.ids, amounts.item)]
    cells: dict[Key, Cells] = {}
    for segment, entries in by_segment(amounts.segment, ~np.isnan(figures)):
        numbers, part = np.unique(cell_of[entries], return_inverse=True)
        units = np.bincount(part, weights=amounts.units[entries])
        sums = np.bincount(part, weights=figures[entries] * amounts.units[entries])
        columns = (numbers.tolist(), units.tolist(), sums.tolist())
        cells[found.keys[segment]] = {
            number: Cell(int(count), total) for number, count, total in zip(*columns, strict=True)
        }
    return cells
