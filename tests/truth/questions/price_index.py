"""Price indices, chained: each period's prices of the same items against the period before, from the source files."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from tests.truth.client import Client
from tests.truth.compare import Question
from tests.truth.exact import Near, share
from tests.truth.index import Index, Scope
from tests.truth.questions.scopes import parameters_of, random_scope


class Cell(NamedTuple):
    """An item in a period: its price, and the units sold."""

    price: float
    units: int


Cells = dict[str, Cell]
Pair = list[tuple[Cell, Cell]]


def _value(pairs: Pair, price: int, units: int) -> float:
    """Return what the units of one period (0 or 1) cost at the prices of another."""
    return math.fsum(pair[price].price * pair[units].units for pair in pairs)


def _fisher(pairs: Pair) -> float:
    laspeyres = _value(pairs, 1, 0) / _value(pairs, 0, 0)
    return math.sqrt(laspeyres * _value(pairs, 1, 1) / _value(pairs, 0, 1))


def jevons(pairs: Pair) -> float:
    """Return the geometric mean of the price relatives of matched items, at least one."""
    return math.exp(math.fsum(math.log(b.price / a.price) for a, b in pairs) / len(pairs))


_UNWEIGHTED: dict[str, Callable[[Pair], float]] = {
    "jevons": jevons,
    "dutot": lambda pairs: math.fsum(b.price for _, b in pairs) / math.fsum(a.price for a, _ in pairs),
    "carli": lambda pairs: math.fsum(b.price / a.price for a, b in pairs) / len(pairs),
}
_WEIGHTED: dict[str, Callable[[Pair], float]] = {
    "laspeyres": lambda pairs: _value(pairs, 1, 0) / _value(pairs, 0, 0),
    "paasche": lambda pairs: _value(pairs, 1, 1) / _value(pairs, 0, 1),
    "fisher": _fisher,
}


def price_index(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random chained indices, with outliers, which the files do not name."""
    for _ in range(count):
        scope = replace(random_scope(index, random, named=True), group_by=(), kind=random.choice(["listing", "sale"]))
        method = random.choice([*_UNWEIGHTED, *(_WEIGHTED if scope.kind == "sale" else ())])
        parameters = {**parameters_of(scope), "group_by": [], "method": method, "outliers": "include"}
        found = client.get("/index/prices/index", parameters).body
        rows = list(_rows(index, scope, method))
        if not rows and method in _WEIGHTED:
            yield Question(f"price index {parameters}", found.get("status", found), 400)
        else:
            yield Question(f"price index {parameters}", found.get("data", found), rows)


def _rows(index: Index, scope: Scope, method: str) -> Iterator[dict[str, Any]]:
    formula = (_UNWEIGHTED | _WEIGHTED)[method]
    medians = index.groups(scope)
    for currency, periods in sorted(cells_of(index, scope).items()):
        level: float | None = 100.0
        before: Cells | None = None
        earlier: date | None = None
        first = medians[currency, min(periods)].median
        for period, cells in sorted(periods.items()):
            matched = sorted(cells.keys() & before.keys()) if before is not None else []
            if before is not None:
                step = formula([(before[iid], cells[iid]) for iid in matched]) if matched else None
                level = None if step is None or level is None else level * step
            median = medians[currency, period].median
            yield {
                "period": period,
                "currency": currency,
                "kind": scope.kind,
                "index": None if level is None else Near(Fraction(level), places=6),
                "items": len(cells),
                "matched_items": None if before is None else len(matched),
                "share_matched": None if before is None else share(len(matched), len(cells)),
                "new_items": None if before is None else len(cells) - len(matched),
                "vanished_items": None if before is None else len(before) - len(matched),
                "compared_with": earlier,
                "median": median,
                "median_index": Near(100 * median / first, places=6) if first else None,
            }
            before, earlier = cells, period


def cells_of(index: Index, scope: Scope) -> dict[str, dict[date, Cells]]:
    """Return each item's price above zero and units, by currency and period."""
    condition, values = scope.condition()
    unit_value = "sum(price::DOUBLE * units) / sum(units)"
    price = unit_value if scope.kind == "sale" else "exp(avg(ln(price::DOUBLE)))"
    found = index.db.execute(
        f"SELECT currency, {scope.period()}, iid, {price}, sum(units) FROM observations WHERE {condition} AND price > 0 "
        "GROUP BY ALL",
        values,
    ).fetchall()
    cells: dict[str, dict[date, Cells]] = {}
    for currency, period, iid, amount, units in found:
        cells.setdefault(currency, {}).setdefault(period, {})[iid] = Cell(amount, int(units))
    return cells
