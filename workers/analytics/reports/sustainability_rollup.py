"""Sustainability rollup: the footprint of the units sold, or of the articles in the assortment."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.footprint import CODES, INDICATORS, weight_of
from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import NINE_DIGITS, SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.errors import JobRefused
from shared.uncertainty.stated import (
    Interval,
    Pooled,
    Stated,
    StatedSpread,
    enough,
    of_factor,
    of_item,
    requested_displacement,
)
from shared.uncertainty.sums import Group, interval_of_many
from workers.analytics.reports.aggregator import Key, Segments, day_of, number
from workers.analytics.reports.filters import SQL, Filter, Tree, filter_of
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer, Names
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.codec import Array, joined, ranges, sums_by

# Which items stand behind the rows of a rollup, and with how many units: as sold, or each item once.


_PAIRS_MAX = 5_000_000
"""Pairs of period and unpriced item: some 200 MB. More than any question that can be read needs."""


class Quantities:
    """Units by segment and item, month after month; segments are periods and groups. `once`: each item is one unit."""

    def __init__(self, reader: Reader, chosen: Filter, *, once: bool, pairs_max: int = _PAIRS_MAX) -> None:
        self._reader = reader
        self._days = reader.days
        self._chosen = chosen
        self._once = once
        self._pairs_max = pairs_max
        self._segments = Segments(reader.days)
        self._parts: list[tuple[Array, ...]] = []  # segment, item, rows and units of each distinct pair
        self.seen: set[int] = set()

    @property
    def keys(self) -> list[Key]:
        """The segments, in the order of their numbers."""
        return self._segments.keys

    def add(self, month: date) -> None:
        """Add a month's entries."""
        pieces = []
        for part in self._reader.entries(self._chosen, month):
            if not len(part.day):  # nothing of the rollup is of the days, brands and categories asked for
                continue
            self.seen.update((number(month) - 1 + np.unique(part.day).astype("i8")).tolist())
            segment = self._segments.of_entries("", month, part.day, part.groups(self._chosen))
            pieces.append((segment, part.ids, part.units))
        if pieces:
            self._add(*joined(pieces))

    def add_unpriced(self) -> None:
        """Add items with figures of their own and no price to each period from the day they were first seen on.

        They are in no channel and no currency, so a question that names one or groups by channel is not about them.
        Raises JobRefused where there are too many of them in too many periods.
        """
        if self._chosen.channels is not None or self._chosen.currency is not None or "channel" in self._chosen.group_by:
            return
        chosen = self._chosen
        values = (
            list(chosen.brands) if chosen.brands is not None else None,
            list(chosen.categories) if chosen.categories is not None else None,
            self._days.last,
        )
        rows = self._reader.connection.execute(SQL.unpriced_items, values).fetchall()
        if not rows:
            return
        item, brand, category = (np.array([row[position] for row in rows], "i8") for position in range(3))
        first_seen = np.array([max(number(row[3]), number(self._days.first)) for row in rows], "i8")
        periods = np.unique(self._days.periods_of(np.arange(number(self._days.first), number(self._days.last) + 1)))
        begins = np.searchsorted(periods, self._days.periods_of(first_seen))
        counts = len(periods) - begins
        if counts.sum() > self._pairs_max:
            raise JobRefused("query-too-large", "There are too many periods: ask for longer ones or a shorter range.")
        of = {"brand": brand, "category": category}
        position = np.repeat(np.arange(len(item)), counts)
        groups = [of[name][position] for name in chosen.group_by]
        segment = self._segments.of_periods("", periods[ranges(begins, counts)], groups)
        self._add(segment, item[position], np.ones(len(position), "i8"))

    def totals(self) -> tuple[Array, Array, Array]:
        """Return the distinct pairs of segment and item, and the units of each."""
        if not self._parts:
            return (np.empty(0, "i8"),) * 3
        segment, item, rows, units = joined(self._parts)
        segment, item, _, units = sums_by((segment, item), rows, units)
        return segment, item, np.ones(len(units), "i8") if self._once else units

    def _add(self, segment: Array, item: Array, units: Array) -> None:
        self._parts.append(sums_by((segment, item), None, units))


# The footprint of a unit of an item: its own figure, else its product type's by weight, else its category's.


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


# The width of a rollup's sums, and which items contribute most to them.


CONTRIBUTORS = 3
"""So many items are named for each indicator of a row."""


class Bounds(NamedTuple):
    """Low, median and high of each segment's sum; None where no item has a figure. The sum is inside."""

    low: list[float | None]
    central: list[float | None]
    high: list[float | None]


class Contributor(NamedTuple):
    """An item among those that a sum owes most to, by its share of the sum."""

    segment: int
    indicator: str
    item: int
    share: float


Staged = Mapping[tuple[str, str], tuple[Array, Array]]
"""For an indicator and a stage the items with a figure of it, and these figures."""


class Amounts(NamedTuple):
    """The entries that a rollup adds up: segment, item, the item's position in the footprints, and units of each."""

    segment: Array
    item: Array
    position: Array
    units: Array


def totals_of_sums(amounts: Amounts, footprints: Footprints, indicator: int, segments: int) -> list[float | None]:
    """Return each segment's sum of an indicator: of the figures, which are means; None where no item has one."""
    figures = footprints.figures[amounts.position, indicator]
    known = ~np.isnan(figures)
    total = np.bincount(amounts.segment[known], weights=(figures * amounts.units)[known], minlength=segments)
    there = np.bincount(amounts.segment[known], minlength=segments) > 0
    return [_nine_digits(value) if is_there else None for value, is_there in zip(total.tolist(), there, strict=True)]


def bounds_of_sums(amounts: Amounts, footprints: Footprints, indicator: int, totals: Sequence[float | None]) -> Bounds:
    """Return the middle 95 % of each segment's sum of an indicator, whose mean is among the `totals`.

    Units of one item share its error wholly, items of one factor that factor's; all else is independent.
    """
    columns: list[list[float | None]] = [[None] * len(totals) for _ in Bounds._fields]
    figures = footprints.figures[amounts.position, indicator]
    sigmas = footprints.sigmas[amounts.position, indicator]
    numbers = footprints.factors[amounts.position, indicator].astype("i8")
    for segment, entries in _by_segment(amounts.segment, ~np.isnan(figures)):
        total = totals[segment]
        assert total is not None
        alone = footprints.stated.get((int(amounts.item[entries[0]]), CODES[indicator])) if len(entries) == 1 else None
        if alone is not None:
            interval = alone.times(float(amounts.units[entries[0]])).interval
        else:
            means = figures[entries] * amounts.units[entries]
            interval = _interval(means, sigmas[entries], numbers[entries], footprints.common)
        for column, bound in zip(columns, Interval(*map(_nine_digits, interval)).around(total), strict=True):
            column[segment] = bound
    return Bounds(*columns)


def _interval(means: Array, sigmas: Array, numbers: Array, common: Array) -> Interval:
    """Return the interval of a sum of log-normals of these means."""
    own = numbers == OWN
    medians = means * np.exp(-np.square(sigmas) / 2)  # as median_of has it
    groups = []
    for factor in np.unique(numbers[~own]).tolist():
        mine, shared = numbers == factor, float(common[factor])
        # The shared error has a median of 1: the mean of the whole is then that of its figures.
        groups.append(Group(medians[mine] * math.exp(-(shared**2) / 2), sigmas[mine], shared))
    return interval_of_many(medians[own], sigmas[own], groups)


def _nine_digits(value: float) -> float:
    return float(f"{value:.9g}")


def read_stages(connection: Connection, chosen: Filter) -> Staged:
    """Read what stages of the life cycle contribute to items' own figures."""
    brands = list(chosen.brands) if chosen.brands is not None else None
    categories = list(chosen.categories) if chosen.categories is not None else None
    listed: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for indicator, stage, item, per_unit in connection.execute(SQL.own_stages, (brands, categories)):
        listed[indicator, stage].append((item, per_unit))
    return {
        key: (np.array([item for item, _ in rows], "i8"), np.array([per_unit for _, per_unit in rows]))
        for key, rows in listed.items()
    }


def stages_of_sums(
    amounts: Amounts,
    footprints: Footprints,
    staged: Staged,
    totals: Mapping[str, Sequence[float | None]],
    segments: int,
) -> list[list[dict[str, Any]]]:
    """Return each segment's sums by stage, and what no stage accounts for as the stage None: together the total."""
    rows: list[list[dict[str, Any]]] = [[] for _ in range(segments)]
    rest: dict[tuple[int, str], Decimal] = {}
    for (indicator, stage), (item, per_unit) in staged.items():
        of_item = np.full(len(footprints.item) + 1, np.nan)
        of_item[footprints.positions(item)] = per_unit
        figures = of_item[amounts.position]
        known = ~np.isnan(figures)
        sums = np.bincount(amounts.segment[known], weights=(figures * amounts.units)[known], minlength=segments)
        for segment in np.unique(amounts.segment[known]).tolist():
            total, part = totals[indicator][segment], _nine_digits(float(sums[segment]))
            rows[segment].append({"indicator": indicator, "stage": stage, "sum": part})
            rest[segment, indicator] = rest.get((segment, indicator), Decimal(repr(total))) - Decimal(repr(part))
    for (segment, indicator), left in rest.items():
        if left:
            rows[segment].append({"indicator": indicator, "stage": None, "sum": float(left)})
    for row in rows:
        row.sort(key=lambda one: (CODES.index(one["indicator"]), one["stage"] is None))
    return rows


def each_contributor(amounts: Amounts, footprints: Footprints) -> Iterator[Contributor]:
    """Yield the items with the largest shares of each segment's sums, the largest first."""
    for n, name in enumerate(CODES):
        values = footprints.figures[amounts.position, n] * amounts.units
        for segment, entries in _by_segment(amounts.segment, values > 0):
            total = float(values[entries].sum())
            # Equal shares in the order of ids, so that the same question has the same answer.
            largest = entries[np.lexsort((amounts.item[entries], -values[entries]))[:CONTRIBUTORS]]
            for entry in largest.tolist():
                yield Contributor(segment, name, int(amounts.item[entry]), round(float(values[entry]) / total, 6))


def _by_segment(segment: Array, known: Array) -> Iterator[tuple[int, Any]]:
    """Yield each segment with the places of its entries that are known."""
    entries = np.flatnonzero(known)
    entries = entries[np.argsort(segment[entries], kind="stable")]
    numbers, starts = np.unique(segment[entries], return_index=True)
    if len(entries):
        yield from zip(numbers.tolist(), np.split(entries, starts[1:]), strict=True)


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
    "null the rest of the sum; widths that no source states are those within categories, or assumed: measured ×/÷ "
    "1.10, modelled ×/÷ 2.54; avoided is the displacement rate times the bounds of what all units sold cause, also "
    "those sold new"
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
        # A unit was sold and an item exists, whatever price was noted.
        chosen = replace(filter_of(connection, tree, parameters), outliers=True)
        days = range_of(connection, tree, chosen, parameters)
        reader = Reader(connection, tree, days, report_progress)
        basis = parameters.get("basis") or ("sales" if reader.has_sales(chosen) else "assortment")
        report_progress("figures", 0, None)
        footprints, staged = read(connection, tree, chosen), read_stages(connection, chosen)
        counted = replace(chosen, kinds=OBSERVATION_KINDS["sale" if basis == "sales" else "both"])
        quantities = Quantities(reader, counted, once=basis == "assortment")
        months = list(days.months())
        for done, month in enumerate(months):
            report_progress("reading", done, len(months))
            quantities.add(month)
        if basis == "assortment":
            quantities.add_unpriced()
        report_progress("reading", len(months), len(months))
        keys = quantities.keys
        report_progress("intervals", 0, None)
        sums = _sums(connection, quantities, footprints, staged, basis)
        names = Names.read(connection, tree, chosen, keys)
    rate = displacement.rate if displacement and basis == "sales" else None
    return Answer(
        _table(keys, [{**row, "avoided": _avoided(row, rate)} for row in sums], chosen, names),
        days,
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
    return {bound: _nine_digits(rate * row[f"{name}_{bound}"]) for bound in Bounds._fields}


def _shares(part: Array, items: Array) -> list[float]:
    return [round(float(n / whole), 6) for n, whole in zip(part, items, strict=True)]


def _table(keys: list[Key], sums: list[dict[str, Any]], chosen: Filter, names: Names) -> Rows:
    schema = pa.schema([("period", pa.date32()), *((name, pa.string()) for name in chosen.group_by), *_FIGURES])
    rows = [
        {"period": day_of(key.period), **names.of(chosen.group_by, key), **row}
        for key, row in zip(keys, sums, strict=True)
    ]
    rows.sort(key=lambda row: (row["period"], *((row[name] is None, row[name]) for name in chosen.group_by)))
    return Rows.of(rows, schema)
