"""Price indices, chained: each period's prices of the same items against the period before, from the source files."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from scipy import stats

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.scopes import parameters_of, random_scope


class Cell(NamedTuple):
    """An item of a channel in a period: its price, and the units sold."""

    price: float
    units: int


Cells = dict[tuple[str, str], Cell]
"""By item and channel; the channel is empty where items are compared over all channels."""
Pair = list[tuple[Cell, Cell]]
ITEMS_MAX, MATCHED_LEAST = 200, 3


def _value(pairs: Pair, price: int, units: int) -> float:
    """Return what the units of one period (0 or 1) cost at the prices of another."""
    return math.fsum(pair[price].price * pair[units].units for pair in pairs)


def _fisher(pairs: Pair) -> float:
    laspeyres = _value(pairs, 1, 0) / _value(pairs, 0, 0)
    return math.sqrt(laspeyres * _value(pairs, 1, 1) / _value(pairs, 0, 1))


def jevons(pairs: Pair) -> float:
    """Return the geometric mean of the price relatives of matched items, at least one."""
    return math.exp(math.fsum(math.log(b.price / a.price) for a, b in pairs) / len(pairs))


UNWEIGHTED: dict[str, Callable[[Pair], float]] = {
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
        method = random.choice([*UNWEIGHTED, *(_WEIGHTED if scope.kind == "sale" else ())])
        match = random.choice(["channel", "channel", "item"])
        parameters = {**parameters_of(scope), "group_by": [], "method": method, "outliers": "include", "match": match}
        found = client.get("/index/prices/index", parameters).body
        rows = list(_rows(index, scope, method, match, found.get("data", [])))
        if not rows and method in _WEIGHTED:
            yield Question(f"price index {parameters}", found.get("status", found), 400)
        else:
            yield Question(f"price index {parameters}", found.get("data", found), rows)


def _rows(index: Index, scope: Scope, method: str, match: str, shown: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the expected rows. Of many items the interval is one of groups: it is taken from the answer, for digits."""
    formula = (UNWEIGHTED | _WEIGHTED)[method]
    medians = index.groups(scope)
    answered = {(row["currency"], row["period"]): (row["low"], row["high"]) for row in shown}
    for currency, periods in sorted(cells_of(index, scope, match).items()):
        labels = sorted(periods)
        cells = [periods[period] for period in labels]
        levels = _levels(cells, formula)
        many = len({iid for here in cells for iid, _ in here}) > ITEMS_MAX
        bounds = [(None, None)] * len(cells) if many else intervals(cells, levels, formula, method)
        first = medians[currency, labels[0]].median
        for place, (period, here) in enumerate(zip(labels, cells, strict=True)):
            before = cells[place - 1] if place else None
            low, high = answered.get((currency, str(period)), (None, None)) if many else bounds[place]
            level, places = levels[place], digits(low, high)
            items, other = {iid for iid, _ in here}, {iid for iid, _ in before or ()}
            both = here.keys() & before.keys() if before is not None else set()
            matched = {iid for iid, _ in both}
            median = medians[currency, period].median
            row = {
                "period": period,
                "currency": currency,
                "kind": scope.kind,
                "index": None if level is None else Near(Fraction(100 * level), places=places),
                "items": len(items),
                "matched_items": None if before is None else len(matched),
                "matched_prices": None if before is None else len(both),
                "share_matched": None if before is None else share(len(matched), len(items)),
                "new_items": None if before is None else len(items - matched),
                "vanished_items": None if before is None else len(other - matched),
                "compared_with": labels[place - 1] if place else None,
                "median": median,
                "median_index": Near(100 * median / first, places=6) if first else None,
            }
            if not many:
                row |= {
                    name: None if bound is None else Near(Fraction(bound), places=places)
                    for name, bound in (("low", low), ("high", high))
                }
            yield row


def _levels(cells: list[Cells], formula: Callable[[Pair], float], without: str | None = None) -> list[float | None]:
    """Return the chained index of each period, the first at 1, of all items but one."""
    levels: list[float | None] = [1.0]
    for before, here in pairwise(cells):
        matched = sorted(key for key in here.keys() & before.keys() if key[0] != without)
        step = formula([(before[key], here[key]) for key in matched]) if matched else None
        levels.append(None if step is None or levels[-1] is None else levels[-1] * step)
    return levels


def intervals(
    cells: list[Cells], levels: list[float | None], formula: Callable[[Pair], float], method: str
) -> list[tuple[float | None, float | None]]:
    """Return each period's 95 % interval, by leaving out each item in turn."""
    items = {iid for here in cells for iid, _ in here}
    others = [_levels(cells, formula, iid) for iid in sorted(items)]
    found: list[tuple[float | None, float | None]] = [(None, None)]
    matched, equal = len(items), math.inf
    for place in range(1, len(cells)):
        before, here = cells[place - 1], cells[place]
        totals = [math.fsum(weight(cell, method) for cell in side.values()) for side in (before, here)]
        weights: dict[str, float] = defaultdict(float)
        for iid, channel in here.keys() & before.keys():
            sides = (before[iid, channel], here[iid, channel])
            weights[iid] += sum(weight(cell, method) / total for cell, total in zip(sides, totals, strict=True))
        matched = min(matched, len(weights))
        if weights:
            equal = min(equal, math.fsum(weights.values()) ** 2 / math.fsum(w * w for w in weights.values()))
        level, left = levels[place], [other[place] for other in others]
        known = [one for one in left if one is not None]
        if matched < MATCHED_LEAST or level is None or len(known) < len(left):
            found.append((None, None))
            continue
        error = math.sqrt((equal - 1) / equal * math.fsum(math.log(one / level) ** 2 for one in known))
        half = error * float(stats.t.ppf(0.975, max(equal - 1, 1)))
        spread = error > 1e-9
        found.append((100 * level * math.exp(-half), 100 * level * math.exp(half)) if spread else (None, None))
    return found


def weight(cell: Cell, method: str) -> float:
    """Return how much a price counts in an index."""
    if method in _WEIGHTED:
        return cell.price * cell.units
    return cell.price if method == "dutot" else 1.0


def digits(low: float | None, high: float | None) -> int:
    """Return how many decimals are shown: two digits of the interval's width, six where it is unknown."""
    return 6 if low is None or high is None else min(max(1 - math.floor(math.log10(high - low)), 0), 6)


def cells_of(index: Index, scope: Scope, match: str = "channel") -> dict[str, dict[date, Cells]]:
    """Return each price above zero with its units, by currency and period."""
    condition, values = scope.condition()
    unit_value = "sum(price::DOUBLE * units) / sum(units)"
    price = unit_value if scope.kind == "sale" else "exp(avg(ln(price::DOUBLE)))"
    channel = "channel" if match == "channel" else "''"
    found = index.db.execute(
        f"SELECT currency, {scope.period()}, iid, {channel}, {price}, sum(units) FROM observations WHERE {condition} AND price > 0 "
        "GROUP BY ALL",
        values,
    ).fetchall()
    cells: dict[str, dict[date, Cells]] = {}
    for currency, period, iid, code, amount, units in found:
        cells.setdefault(currency, {}).setdefault(period, {})[iid, code] = Cell(amount, int(units))
    return cells


ENDPOINTS = {"prices/index": price_index}
