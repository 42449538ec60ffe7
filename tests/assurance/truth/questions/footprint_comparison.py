"""Footprints per unit and kilogram, the quality of their data, what they rest on, and their changes."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near
from tests.assurance.truth.footprint import INDICATORS, Figure
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.footprints import all_figures, quantities
from tests.assurance.truth.questions.scopes import parameters_of, random_scope

_SCORES = ("reliability", "completeness", "temporal", "geographical", "technology")
_PARTS = ("volume", "mix", "intensity")
_NAMED = ("scope", "code", "weight_basis", "source", "method")
# Sums of doubles, and logarithms of nearly equal ones, of the larger footprint.
_PART_WITHIN = 1e-7
Units = dict[str, int]


def comparison(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random ranges and groups; half of the time whole periods, which are compared with those before."""
    for n in range(count):
        scope = random_scope(index, random, named=False)
        if n % 2:
            first = scope.period_before(scope.first.replace(day=1))
            scope = replace(scope, first=first, last=_last_of_month(scope), granularity="month")
        basis = random.choice([None, None, "sales", "assortment"])
        indicator, mix = random.choice(list(INDICATORS)[:3]), random.choice(["category", "brand"])
        parameters = {**parameters_of(scope), "basis": basis, "indicator": indicator, "mix": mix}
        del parameters["kind"]
        found = client.get("/index/footprints", parameters).body
        answered = found.get("data", found)
        basis, now = quantities(index, scope, basis)
        yield Question(f"footprints {parameters}", answered, _rows(index, scope, basis, now, indicator))
        yield Question(f"assumptions {parameters}", *_assumptions(index, scope, now, answered, indicator))
        wrong = _wrong_changes(index, scope, basis, now, answered, indicator, mix)
        yield Question(f"changes {parameters}", list(wrong), [])


def _last_of_month(scope: Scope) -> Any:
    return (scope.last.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _known(index: Index, units: Units, indicator: str) -> dict[str, Figure]:
    figures = all_figures(index)
    return {iid: figures[iid][indicator] for iid in units if indicator in figures.get(iid, {})}


def _rows(
    index: Index, scope: Scope, basis: str, groups: dict[tuple[Any, ...], Units], indicator: str
) -> list[dict[str, Any]]:
    names = ["period", *scope.group_by]
    rows = []
    for key, units in groups.items():
        known = _known(index, units, indicator)
        total = sum((figure.per_unit * units[iid] for iid, figure in known.items()), Fraction())
        counted = sum(units[iid] for iid in known)
        rows.append(
            {
                **dict(zip(names, key, strict=True)),
                "partial_period": scope.cuts(key[0]),
                "indicator": indicator,
                "basis": basis,
                "items": len(units),
                "units": sum(units.values()) if basis == "sales" else None,
                "items_with_figure": len(known),
                "footprint": Near(total, digits=9) if known else None,
                "per_unit": _ratio(total, counted),
                "per_kg": _per_kg(index, known, units),
                **_quality(known, units, total),
            }
        )
    return sorted(rows, key=lambda row: [row["period"], *((row[n] is None, row[n]) for n in scope.group_by)])


def _ratio(total: Fraction, of: Fraction | int) -> Near | None:
    """Return a quotient of a total that is rounded before: its ninth digit may be one off."""
    return Near(total / of, digits=8) if of else None


def _per_kg(index: Index, known: dict[str, Figure], units: Units) -> list[dict[str, Any]]:
    found = index.rows(
        "SELECT iid, basis, weight FROM weights WHERE weight > 0 AND list_contains(?, iid)", [list(known)]
    )
    sums: dict[str, list[Fraction]] = defaultdict(lambda: [Fraction(), Fraction(), Fraction()])
    for row in found:
        iid, of_basis = row["iid"], sums[row["basis"]]
        parts = (Fraction(1), Fraction(row["weight"]) * units[iid], known[iid].per_unit * units[iid])
        sums[row["basis"]] = [one + part for one, part in zip(of_basis, parts, strict=True)]
    return [
        {
            "weight_basis": basis,
            "items": int(items),
            "weight_kg": Near(weight, digits=9),
            "footprint": Near(footprint, digits=9),
            "per_kg": Near(footprint / weight, digits=9),
        }
        for basis, (items, weight, footprint) in sorted(sums.items())
    ]


def _quality(known: dict[str, Figure], units: Units, total: Fraction) -> dict[str, Any]:
    if not total:
        return dict.fromkeys(("pedigree_share", *_SCORES, "year_share", "year_first", "year_last"))
    weighed = [(figure, figure.per_unit * units[iid]) for iid, figure in known.items()]
    scored = [(figure.pedigree.strip("()").split(","), weight) for figure, weight in weighed if figure.pedigree]
    whole = sum((weight for _, weight in scored), Fraction())
    years = [figure.year for figure, _ in weighed if figure.year is not None]
    dated = sum((weight for figure, weight in weighed if figure.year is not None), Fraction())
    means = {
        name: Near(sum(int(scores[n]) * weight for scores, weight in scored) / whole, places=6) if whole else None
        for n, name in enumerate(_SCORES)
    }
    return {
        "pedigree_share": Near(whole / total, places=6),
        **means,
        "year_share": Near(dated / total, places=6),
        "year_first": min(years, default=None),
        "year_last": max(years, default=None),
    }


def _assumptions(
    index: Index, scope: Scope, groups: dict[tuple[Any, ...], Units], answered: Any, indicator: str
) -> tuple[list[Any], list[Any]]:
    """Return the shares of the assumptions that the rows name, and what they must be."""
    ours, theirs = [], []
    for row in answered:
        units = groups[_key(row, scope)]
        known = _known(index, units, indicator)
        total = sum((figure.per_unit * units[iid] for iid, figure in known.items()), Fraction())
        shares: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
        for iid, figure in known.items():
            basis = figure.weight_basis
            name = (figure.scope, figure.code, basis, figure.source, figure.method)
            shares[name] += figure.per_unit * units[iid] / total if total else 0
        named = {tuple(one[part] for part in _NAMED): one["share"] for one in row["assumptions"] if one["scope"]}
        variance = sum(float(one["variance_share"] or 0) for one in row["assumptions"])
        ours.append([*named.values(), round(variance, 4)])
        theirs.append([*(Near(shares[name], places=6) for name in named), 1 if named else 0])
    return ours, theirs


def _key(row: dict[str, Any], scope: Scope) -> tuple[Any, ...]:
    return (type(scope.first).fromisoformat(row["period"]), *(row[name] for name in scope.group_by))


def _wrong_changes(
    index: Index,
    scope: Scope,
    basis: str,
    now: dict[tuple[Any, ...], Units],
    answered: Any,
    indicator: str,
    mix: str,
) -> Iterator[str]:
    """Yield the rows whose change is not that of the guide's formula, or whose parts do not add up to it."""
    cell_of = dict(index.db.execute(f"SELECT iid, {mix} FROM active").fetchall())
    before: dict[tuple[Any, ...], Units] = {}
    for period in {key[0] for key in now}:
        first, last = scope.period_before(period), period - timedelta(days=1)
        before |= quantities(index, replace(scope, first=first, last=last), basis)[1]
    for row in answered:
        key = _key(row, scope)
        earlier = (scope.period_before(key[0]), *key[1:])
        if scope.cuts(key[0]) or earlier[0] not in {one[0] for one in before} or row["footprint"] is None:
            if row["change"] is not None:
                yield f"{key}: has a change"
            continue
        if row["change"] is None:
            yield f"{key}: has no change"
            continue
        cells = [_cells(index, units, indicator, cell_of) for units in (before.get(earlier, {}), now[key])]
        scale = max(sum(footprint for _, footprint in one.values()) for one in cells)
        parts = _decomposed(*cells)
        shown = [Decimal(str(row[name])) for name in ("change", *_PARTS)]
        if shown[0] != sum(shown[1:]):
            yield f"{key}: the parts add up to {sum(shown[1:])}, not to {shown[0]}"
        for name, part in zip(_PARTS, parts, strict=True):
            if abs(float(row[name]) - part) > _PART_WITHIN * max(scale, abs(part)):
                yield f"{key}: {name} is {row[name]}, not {part}"


def _cells(index: Index, units: Units, indicator: str, cell_of: dict[str, Any]) -> dict[Any, tuple[int, float]]:
    cells: dict[Any, tuple[int, Fraction]] = defaultdict(lambda: (0, Fraction()))
    for iid, figure in _known(index, units, indicator).items():
        count, footprint = cells[cell_of[iid]]
        cells[cell_of[iid]] = (count + units[iid], footprint + figure.per_unit * units[iid])
    return {cell: (count, float(footprint)) for cell, (count, footprint) in cells.items()}


def _decomposed(before: dict[Any, tuple[int, float]], now: dict[Any, tuple[int, float]]) -> tuple[float, ...]:
    """Return volume, mix and intensity as the guide has them."""
    whole = [sum(count for count, _ in cells.values()) for cells in (before, now)]
    parts = [0.0, 0.0, 0.0]
    for cell in {*before, *now}:
        (n0, e0), (n1, e1) = (cells.get(cell, (0, 0.0)) for cells in (before, now))
        if not n0 or not n1:
            parts[0 if 0 in whole else 1] += e1 - e0
        elif not e0 or not e1:
            parts[2] += e1 - e0
        else:
            weight = e1 if e0 == e1 else (e1 - e0) / math.log1p((e1 - e0) / e0)
            parts[0] += weight * math.log(whole[1] / whole[0])
            parts[1] += weight * math.log(n1 / whole[1] / (n0 / whole[0]))
            parts[2] += weight * math.log(e1 / n1 / (e0 / n0))
    return tuple(parts)


ENDPOINTS = {"footprints": comparison}
