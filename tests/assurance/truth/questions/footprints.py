"""Sustainability of one item, and the rollup over many."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import Any

from tests.assurance.truth import footprint, spread
from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, Within, share
from tests.assurance.truth.index import Index, Scope, window_end
from tests.assurance.truth.questions.scopes import parameters_of, random_scope

_DEFAULT_DAYS = 90
_BOUNDS = spread.Bounds._fields
_SIMULATED = "co2e_kg"
# The 97.5 % quantile of a sum that one wide figure decides varies by some 3 % from one simulation to the next.
_SIMULATED_WITHIN = 0.08
_EVIDENCE = ("measured", "modelled", "category_average")
"""What figures rest on, the best first."""


def sustainability(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the indicators of random items; more often than chance would, of items that have a footprint."""
    some = index.column("SELECT iid FROM active ORDER BY iid")
    known = index.column("SELECT iid FROM averages UNION SELECT iid FROM own_figures ORDER BY iid")
    for n in range(count):
        iid = random.choice(known if n % 4 and known else some)
        found = client.get(f"/index/sustainability/{iid}").body
        yield Question(f"/index/sustainability/{iid}", found.get("data", found), _rows(index, iid))


def rollup(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare items, units and totals of random ranges and groups, by sales, by assortment and as it comes."""
    for _ in range(count):
        scope = random_scope(index, random, named=False)
        basis = random.choice([None, None, "sales", "assortment"])
        parameters = {**parameters_of(scope), "basis": basis}
        del parameters["kind"]
        found = client.get("/index/rollups/sustainability", parameters).body
        answered = found.get("data", found)
        yield Question(f"rollup {parameters}", answered, _rollup(index, scope, basis))
        yield Question(f"totals inside {parameters}", _outside(answered), [])


def _outside(rows: list[dict[str, Any]]) -> list[str]:
    """Return the totals of an answer that are outside their own intervals."""
    named = [(row, name) for row in rows for name in footprint.INDICATORS if row[name] is not None]
    return [
        f"{row['period']} {name}" for row, name in named if not row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
    ]


def _rows(index: Index, iid: str) -> list[dict[str, Any]]:
    figures = footprint.of_item(index, iid)
    last = window_end(dict.fromkeys(index.column("SELECT day FROM observations WHERE iid = ?", [iid]), True))
    first = last and last - timedelta(days=_DEFAULT_DAYS - 1)
    sold = index.column(
        "SELECT coalesce(sum(units), 0) FROM observations WHERE iid = ? AND kind = 'sale' AND day BETWEEN ? AND ?",
        [iid, first, last],
    )[0]
    licenses = dict(index.db.execute("SELECT source, license FROM sources").fetchall())
    return [_row(name, unit, figures.get(name), int(sold), licenses) for name, unit in footprint.INDICATORS.items()]


def _row(name: str, unit: str, figure: footprint.Figure | None, sold: int, licenses: dict[str, str]) -> dict[str, Any]:
    names = (
        "per_unit",
        "cumulative",
        "basis",
        "scope",
        "code",
        "per_kg",
        "weight_kg",
        "weight_basis",
        "as_of",
        "pedigree",
        "reference_year",
        *_BOUNDS,
        *(f"cumulative_{bound}" for bound in _BOUNDS),
        "interval_from",
        "source",
        "license",
        "method",
        "samples",
    )
    row = {
        "indicator": name,
        "unit": unit,
        **dict.fromkeys(names),
        "units_observed": sold,
        "cumulative_basis": "sales" if sold else "assortment",
    }
    if figure is None:
        return row
    return row | {
        "per_unit": figure.shown(),
        "cumulative": figure.shown(sold or 1),
        "basis": figure.basis,
        "scope": figure.scope,
        "code": figure.code,
        "per_kg": Near(figure.per_kg) if figure.per_kg is not None else None,
        "weight_kg": Near(figure.weight) if figure.weight is not None else None,
        "weight_basis": figure.weight_basis,
        "as_of": figure.as_of,
        "pedigree": figure.pedigree,
        "reference_year": figure.year,
        **_interval(figure, "", 1),
        **_interval(figure, "cumulative_", sold or 1),
        "interval_from": figure.spread.origin if figure.per_unit else "pedigree",
        "source": figure.source,
        "license": licenses[figure.source],
        "method": figure.method,
        "samples": figure.samples,
    }


def _interval(figure: footprint.Figure, prefix: str, units: int) -> dict[str, Any]:
    """Return the bounds of some units of one figure; Student's quantile is an approximation in the answer."""
    bounds = spread.of_figure(float(figure.per_unit * units), figure.spread)
    return {f"{prefix}{name}": Within(bound, 0.005) for name, bound in bounds._asdict().items()}


def quantities(index: Index, scope: Scope, basis: str | None) -> tuple[str, dict[tuple[Any, ...], dict[str, int]]]:
    """Return the basis, and by period and groups the units of each item."""
    sales = replace(scope, kind="sale")
    if basis is None:
        basis = "sales" if index.seen_days(sales) else "assortment"
    condition, values = (sales if basis == "sales" else scope).condition()
    names = ["period", *scope.group_by]
    keys = ", ".join([f"{scope.period()} AS period", *scope.group_by])
    found = index.db.execute(
        f"SELECT {keys}, iid, sum(units)::BIGINT FROM observations WHERE {condition} GROUP BY ALL", values
    ).fetchall()
    groups: dict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    for row in found:
        groups[row[: len(names)]][row[-2]] = row[-1] if basis == "sales" else 1
    if basis == "assortment":
        for key, iid in _unpriced(index, scope):
            groups[key][iid] = 1
    return basis, groups


def _rollup(index: Index, scope: Scope, basis: str | None) -> list[dict[str, Any]]:
    basis, groups = quantities(index, scope, basis)
    names = ["period", *scope.group_by]
    rows = [
        {**dict(zip(names, key, strict=True)), "basis": basis, **_totals(index, units, basis)}
        for key, units in groups.items()
    ]
    return sorted(rows, key=lambda row: [row["period"], *((row[n] is None, row[n]) for n in scope.group_by)])


def _unpriced(index: Index, scope: Scope) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield, for each period from the first that knows it, each item with figures of its own that was never priced.

    Such items are in no channel and have no currency: a question about those is not about them.
    """
    if scope.channels or scope.currency or "channel" in scope.group_by:
        return
    condition, values = replace(scope, first=date.min, last=date.max).condition()
    found = index.rows(
        "SELECT DISTINCT iid, brand, category, first_seen_on FROM (SELECT *, first_seen_on AS day FROM active) "
        f"JOIN (SELECT DISTINCT iid FROM own_figures) USING (iid) "
        f"ANTI JOIN observations o USING (iid) WHERE {condition} "
        "AND first_seen_on <= ?",
        [*values, scope.last],
    )
    days = "SELECT unnest(generate_series(?::DATE, ?::DATE, INTERVAL 1 DAY))::DATE AS day"
    distinct = f"SELECT DISTINCT {scope.period()} AS period FROM ({days}) ORDER BY period"
    periods = index.column(distinct, [scope.first, scope.last])
    for row in found:
        begins = max(row["first_seen_on"], scope.first)
        start = index.column(f"SELECT {scope.period()} FROM (SELECT ?::DATE AS day)", [begins])[0]
        for period in periods:
            if period >= start:
                yield (period, *(row[name] for name in scope.group_by)), row["iid"]


def _totals(index: Index, units: dict[str, int], basis: str) -> dict[str, Any]:
    known = {iid: all_figures(index)[iid] for iid in units if iid in all_figures(index)}
    best = [_evidence(figures) for figures in known.values()]
    totals: dict[str, Any] = {"items": len(units), "units": sum(units.values()) if basis == "sales" else None}
    for name in footprint.INDICATORS:
        parts = [figures[name].per_unit * units[iid] for iid, figures in known.items() if name in figures]
        totals[name] = Near(sum(parts, Fraction(0)), digits=9) if parts else None
        totals |= _bounds_of_sum(name, known, units)
    counts = {f"{name}_items": best.count(name) for name in _EVIDENCE}
    return (
        totals
        | counts
        | {
            "items_covered": share(len(known), len(units)),
            "items_measured": share(counts["measured_items"], len(units)),
        }
    )


def _bounds_of_sum(
    name: str, known: dict[str, dict[str, footprint.Figure]], units: dict[str, int]
) -> dict[str, Within | None]:
    """Return the bounds of a sum: of the widely different figures that a simulation shows within a few per cent."""
    terms = [
        (float(figures[name].per_unit * units[iid]), figures[name].spread)
        for iid, figures in known.items()
        if name in figures
    ]
    if not terms:
        return {f"{name}_{bound}": None for bound in _BOUNDS}
    if name != _SIMULATED:
        return {}
    bounds = spread.of_sum(terms)._asdict()
    return {f"{name}_{bound}": Within(value, _SIMULATED_WITHIN) for bound, value in bounds.items()}


def _evidence(figures: dict[str, footprint.Figure]) -> str:
    """Return the best that an item's figures rest on."""
    return min((figure.basis for figure in figures.values()), key=_EVIDENCE.index)


_CACHE: dict[int, dict[str, dict[str, footprint.Figure]]] = {}


def all_figures(index: Index) -> dict[str, dict[str, footprint.Figure]]:
    """Return the figures of every item that has one, by IID and indicator."""
    if id(index) not in _CACHE:
        _CACHE[id(index)] = footprint.of_all(index)
    return _CACHE[id(index)]


ENDPOINTS = {"sustainability": sustainability, "rollups/sustainability": rollup}
