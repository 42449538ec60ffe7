"""Aggregate indices by random weights: chained elementary indices from the source files, aggregated here by recursion."""

import calendar
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.price_index import UNWEIGHTED, Cells, cells_of

NAME, TOTAL = "judge", "total"
Tree = dict[str, tuple[str | None, Fraction]]
"""The parent and the weight of each code, parents first."""


def aggregate_index(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random aggregates over random categories, some of them without prices in the middle."""
    for _ in range(count):
        currency, kind = random.choice(index.known_currencies), random.choice(["listing", "sale"])
        days = index.seen_days(Scope(date.min, date.max, currency=currency, kind=kind))
        if not days:
            continue
        tree = random_tree(index, random)
        base = random.choice(days)
        last = min(base + timedelta(days=random.choice([40, 200, 500])), days[-1])
        last = last.replace(day=calendar.monthrange(last.year, last.month)[1])
        method = random.choice(sorted(UNWEIGHTED))
        rows = [[code, parent or "", str(weight) if weight else ""] for code, (parent, weight) in written(tree)]
        document = {"rows": [dict(zip(("code", "parent", "weight"), row, strict=True)) for row in rows]}
        uploaded = client.put(f"/weights/{NAME}?price_reference={base}", document).body
        parameters = {"weights": NAME, "to": last, "currency": currency, "kind": kind, "method": method}
        found = client.get("/index/prices/aggregate-index", {**parameters, "outliers": "include"}).body
        client.delete(f"/weights/{NAME}")
        text = f"aggregate index {parameters} {rows}"
        scope = Scope(base.replace(day=1), last, granularity="month", currency=currency, kind=kind)
        expected = expected_rows(index, scope, tree, method)
        if expected is None:
            yield Question(text, found.get("status", found), 400)
            continue
        answered = found.get("data", found)
        yield Question(text, answered, expected)
        yield Question(
            f"{text}: version", found.get("meta", found).get("weights", {}).get("sha256"), uploaded["sha256"]
        )
        yield Question(f"{text}: sums", *_sums(answered))


def expected_rows(index: Index, scope: Scope, tree: Tree, method: str) -> list[dict[str, Any]] | None:
    """Return the expected rows; None where the price reference period, the scope's first, has no price."""
    leaves = [code for code in tree if code not in {parent for parent, _ in tree.values()}]
    items = {code for code in leaves if _is_item(code)}
    cells = {code: cells_of(index, _of(scope, code)).get(scope.currency or "", {}) for code in leaves}
    for code in set(leaves) - items:  # an item with a row of its own is not in that of its category
        of_others = {
            period: {key: cell for key, cell in of_period.items() if key[0] not in items}
            for period, of_period in cells[code].items()
        }
        cells[code] = {period: of_period for period, of_period in of_others.items() if of_period}
    periods = sorted({period for one in cells.values() for period in one})
    if periods and periods[0] != scope.first:
        return None
    return list(_rows(scope, tree, cells, periods, method))


def random_tree(index: Index, random: Random) -> Tree:
    """Return a tree of two or three levels over items, and categories of which none is part of another one."""
    leaves: list[str] = []
    for code in random.sample(index.known_categories, min(12, len(index.known_categories))):
        if not any(f"{a}.".startswith(f"{b}.") for one in leaves for a, b in ((code, one), (one, code))):
            leaves.append(code)
    items = random.sample(index.known_items, random.choice([0, 0, 1, 3]))
    weights = {code: Fraction(random.randint(1, 999), 10) for code in [*leaves[:6], *items]}
    groups = {code: random.choice(["A", "B", TOTAL]) for code in weights}
    tree: Tree = {TOTAL: (None, sum(weights.values(), Fraction()))}
    for group in sorted({*groups.values()} - {TOTAL}):
        tree[group] = TOTAL, sum((weights[code] for code in weights if groups[code] == group), Fraction())
    return tree | {code: (groups[code], weight) for code, weight in weights.items()}


def written(tree: Tree) -> Iterator[tuple[str, tuple[str | None, str]]]:
    """Yield the rows that are sent: inner ones without their weights, which follow."""
    parents = {parent for parent, _ in tree.values()}
    for code, (parent, weight) in tree.items():
        yield code, (parent, "" if code in parents else f"{float(weight):.1f}")


def _of(scope: Scope, code: str) -> Scope:
    return replace(scope, items=[code]) if _is_item(code) else replace(scope, categories=[code])


def _is_item(code: str) -> bool:
    return code.startswith("IID-")


def _rows(
    scope: Scope, tree: Tree, cells: dict[str, dict[date, Cells]], periods: list[date], method: str
) -> Iterator[dict[str, Any]]:
    levels: list[dict[str, Fraction]] = []
    for place, period in enumerate(periods):
        linked = bool(place) and len(levels) == place
        known = _relatives(cells, periods, place, method, levels) if linked else {}
        imputed: set[str] = set()
        if not place:
            levels.append(dict.fromkeys(tree, Fraction(1)))
        elif not known:  # nothing links this period, and so no later one, to the first
            yield from (_unknown_row(scope, tree, cells, period, code) for code in _in_order(tree))
            continue
        else:
            levels.append(_levels(tree, levels[-1], known))
            below = _with_parents(tree, known)
            imputed = {code for code in tree if code not in below}
        for code in _in_order(tree):
            month_before = (period - timedelta(days=1)).replace(day=1)
            row = {
                **_fixed(scope, tree, cells, period, code),
                "index": Near(100 * levels[place][code], places=6),
                "imputed": code in imputed,
                "share_imputed": Near(_share_imputed(tree, code, imputed), places=6),
            }
            for since, before in (("", month_before), ("_year", period.replace(year=period.year - 1))):
                earlier = levels[periods.index(before)] if before in periods[:place] else None
                row |= _change(tree, code, levels[place], earlier, since)
            yield row


def _fixed(scope: Scope, tree: Tree, cells: dict[str, dict[date, Cells]], period: date, code: str) -> dict[str, Any]:
    """Return what a row has whatever the indices are."""
    parent, weight = tree[code]
    return {
        "period": period,
        "partial_period": scope.cuts(period),
        "category": code,
        "parent": parent,
        "currency": scope.currency,
        "kind": scope.kind,
        "weight": share(1, 1) if parent is None else Near(weight / _below(tree, parent), places=6),
        "items": len(_items(tree, cells, code, period)),
    }


def _unknown_row(
    scope: Scope, tree: Tree, cells: dict[str, dict[date, Cells]], period: date, code: str
) -> dict[str, Any]:
    unknown = ("index", "change", "contribution", "change_year", "contribution_year")
    fixed = _fixed(scope, tree, cells, period, code)
    return {**fixed, **dict.fromkeys(unknown), "imputed": True, "share_imputed": share(1, 1)}


def _in_order(tree: Tree) -> list[str]:
    return sorted(tree, key=lambda code: _order(tree, code))


def _order(tree: Tree, code: str) -> tuple[int, str, str]:
    """Return the place of a code: by its depth, then below its parent."""
    depth, at = 0, code
    while (parent := tree[at][0]) is not None:
        depth, at = depth + 1, parent
    above = tree[code][0]
    return depth, _order(tree, above)[1] + above if above is not None else "", code


def _below(tree: Tree, parent: str) -> Fraction:
    return sum((weight for above, weight in tree.values() if above == parent), Fraction())


def _relatives(
    cells: dict[str, dict[date, Cells]], periods: list[date], place: int, method: str, levels: list[dict[str, Fraction]]
) -> dict[str, Fraction]:
    """Return the index of each leaf that has prices in common with the last period in which it had any."""
    known = {}
    for code, by_period in cells.items():
        earlier = [one for one in by_period if one < periods[place]]
        if periods[place] not in by_period or not earlier:
            continue
        before, here = by_period[max(earlier)], by_period[periods[place]]
        if matched := sorted(here.keys() & before.keys()):
            step = UNWEIGHTED[method]([(before[key], here[key]) for key in matched])
            known[code] = levels[periods.index(max(earlier))][code] * Fraction(step)
    return known


def _with_parents(tree: Tree, known: dict[str, Fraction]) -> set[str]:
    found = set(known)
    for code in reversed(list(tree)):
        if code in found and (parent := tree[code][0]) is not None:
            found.add(parent)
    return found


def _levels(tree: Tree, before: dict[str, Fraction], known: dict[str, Fraction]) -> dict[str, Fraction]:
    """Return all indices of a period: from the leaves up over those that are known, and down to the others."""
    now = dict(known)
    for parent in reversed([code for code in tree if any(above == code for above, _ in tree.values())]):
        children = [code for code, (above, _) in tree.items() if above == parent and code in now]
        if children:
            costs = [sum((tree[code][1] * level[code] for code in children), Fraction()) for level in (now, before)]
            now[parent] = before[parent] * costs[0] / costs[1]
    for code, (parent, _) in tree.items():
        if code not in now and parent is not None:
            now[code] = before[code] * now[parent] / before[parent]
    return {code: Fraction(float(level)) for code, level in now.items()}  # or the fractions grow with each period


def _share_imputed(tree: Tree, code: str, imputed: set[str]) -> Fraction:
    children = [one for one, (above, _) in tree.items() if above == code]
    if not children:
        return Fraction(code in imputed)
    parts = (tree[one][1] * _share_imputed(tree, one, imputed) for one in children)
    return sum(parts, Fraction()) / _below(tree, code)


def _items(tree: Tree, cells: dict[str, dict[date, Cells]], code: str, period: date) -> set[str]:
    children = [one for one, (above, _) in tree.items() if above == code]
    if not children:
        return {iid for iid, _ in cells[code].get(period, {})}
    return set().union(*(_items(tree, cells, one, period) for one in children))


def _change(
    tree: Tree, code: str, now: dict[str, Fraction], before: dict[str, Fraction] | None, since: str
) -> dict[str, Any]:
    if before is None:
        return {f"change{since}": None, f"contribution{since}": None}
    parent, weight = tree[code]
    change = 100 * (now[code] / before[code] - 1)
    contribution = change
    if parent is not None:
        cost = sum((own * before[one] for one, (above, own) in tree.items() if above == parent), Fraction())
        contribution = 100 * weight * (now[code] - before[code]) / cost
    # A contribution is rounded so that all add up: it is less than one unit of the fourth decimal away.
    return {f"change{since}": Near(change, places=4), f"contribution{since}": Near(contribution, places=3)}


def _sums(rows: list[dict[str, Any]]) -> tuple[dict[str, Decimal], dict[str, Decimal]]:
    """Return the sums of the contributions that an answer shows, and the changes that they must be, to the last digit."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    changes = {}
    for since in ("", "_year"):
        own = {(row["period"], row["category"]): row[f"change{since}"] for row in rows}
        for row in rows:
            if row["parent"] is not None and row[f"contribution{since}"] is not None:
                place = f"{row['period']} {row['parent']}{since}"
                sums[place] += Decimal(row[f"contribution{since}"])
                changes[place] = Decimal(own[row["period"], row["parent"]])
    return dict(sums), changes


ENDPOINTS = {"prices/aggregate-index": aggregate_index}
