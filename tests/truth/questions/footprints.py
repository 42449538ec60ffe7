"""Sustainability of one item, and the rollup over many."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from random import Random
from typing import Any

from tests.truth import footprint
from tests.truth.client import Client
from tests.truth.compare import Question
from tests.truth.exact import Near, share
from tests.truth.index import Index, Scope
from tests.truth.questions.scopes import parameters_of, random_scope

_DEFAULT_DAYS = 90


def sustainability(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the indicators of random items; more often than chance would, of items that have a footprint."""
    some = index.column("SELECT iid FROM active ORDER BY iid")
    known = index.column("SELECT iid FROM averages UNION SELECT iid FROM own_figures ORDER BY iid")
    for n in range(count):
        iid = random.choice(known if n % 4 and known else some)
        found = client.get(f"/index/sustainability/{iid}").body
        yield Question(f"/index/sustainability/{iid}", found.get("data", found), _rows(index, iid))


def rollup(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare units, items and totals of random ranges and groups."""
    for _ in range(count):
        scope = random_scope(index, random, named=False)
        parameters = parameters_of(scope)
        found = client.get("/index/rollups/sustainability", parameters).body
        yield Question(f"rollup {parameters}", found.get("data", found), _rollup(index, scope))


def _rows(index: Index, iid: str) -> list[dict[str, Any]]:
    figures = footprint.of_item(index, iid)
    last = index.column("SELECT max(day) FROM observations WHERE iid = ?", [iid])[0]
    first = last and last - timedelta(days=_DEFAULT_DAYS - 1)
    units = index.column("SELECT coalesce(sum(units), 0) FROM observations WHERE iid = ? AND day BETWEEN ? AND ?",
                         [iid, first, last])[0]  # fmt: skip
    licenses = dict(index.db.execute("SELECT source, license FROM sources").fetchall())
    return [_row(name, unit, figures.get(name), int(units), licenses) for name, unit in footprint.INDICATORS.items()]


def _row(name: str, unit: str, figure: footprint.Figure | None, units: int, licenses: dict[str, str]) -> dict[str, Any]:
    empty = dict.fromkeys(("per_unit", "cumulative", "basis", "scope", "code", "per_kg", "weight_kg", "source",
                           "license", "method"))  # fmt: skip
    row = {"indicator": name, "unit": unit, **empty, "units_observed": units}
    if figure is None:
        return row
    return row | {
        "per_unit": figure.shown(), "cumulative": figure.shown(units), "basis": figure.basis, "scope": figure.scope,
        "code": figure.code, "per_kg": Near(figure.per_kg) if figure.per_kg is not None else None,
        "weight_kg": figure.weight, "source": figure.source, "license": licenses[figure.source],
        "method": figure.method,
    }  # fmt: skip


def _rollup(index: Index, scope: Scope) -> list[dict[str, Any]]:
    condition, values = scope.condition()
    keys = ", ".join([f"{scope.period()} AS period", *scope.group_by])
    names = ["period", *scope.group_by]
    found = index.db.execute(
        f"SELECT {keys}, iid, sum(units)::BIGINT FROM observations WHERE {condition} GROUP BY ALL", values
    ).fetchall()
    groups: dict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    for row in found:
        groups[row[: len(names)]][row[-2]] = row[-1]
    rows = [
        {**dict(zip(names, key, strict=True)), **_totals(index, sold)}
        for key, sold in groups.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: [row["period"], *((row[n] is None, row[n]) for n in scope.group_by)])


def _totals(index: Index, sold: dict[str, int]) -> dict[str, Any]:
    known = _all_figures(index)
    covered = [iid for iid in sold if iid in known]
    measured = [iid for iid in covered if any(figure.basis == "measured" for figure in known[iid].values())]
    totals: dict[str, Any] = {"items": len(sold), "units": sum(sold.values())}
    for name in footprint.INDICATORS:
        parts = [known[iid][name].per_unit * sold[iid] for iid in covered if name in known[iid]]
        totals[name] = Near(sum(parts, Fraction(0)), digits=9) if parts else None
    return totals | {"items_covered": share(len(covered), len(sold)), "items_measured": share(len(measured), len(sold))}


_CACHE: dict[int, dict[str, dict[str, footprint.Figure]]] = {}


def _all_figures(index: Index) -> dict[str, dict[str, footprint.Figure]]:
    if id(index) not in _CACHE:
        iids = index.column("SELECT iid FROM averages UNION SELECT iid FROM own_figures")
        _CACHE[id(index)] = {iid: footprint.of_item(index, iid) for iid in iids}
    return _CACHE[id(index)]
