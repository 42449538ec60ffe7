"""Price positions: the same items over channels, beside the cheapest and beside a chosen one, from the source files."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from scipy import stats

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.price_index import Cells, cells_of, digits
from tests.assurance.truth.questions.scopes import everything, random_scope

COLUMNS = {"brand": "brand", "category": "category", "item": "iid"}
GROUPS = ((), (), ("brand",), ("category",), ("brand", "category"), ("item",))
MATCHED_LEAST, EQUAL = 3, 1e-9


class Beside(NamedTuple):
    """One price in a channel: logarithms of its ratios, None where there is nothing to compare it with."""

    price: float
    to_base: float | None
    to_cheapest: float | None
    channels_alike: int


def price_position(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random positions, with outliers, which the files do not name."""
    of_item = {
        iid: {"brand": brand, "category": category, "iid": iid}
        for iid, brand, category in index.db.execute(
            "SELECT iid, any_value(brand), any_value(category) FROM observations GROUP BY iid"
        ).fetchall()
    }
    for _ in range(count):
        scope = replace(
            random_scope(index, random, named=random.random() < 0.8),
            group_by=random.choice(GROUPS),
            kind=random.choice(["listing", "sale"]),
        )
        base = random.choice([None, *(scope.channels or index.known_channels)])
        parameters = {**everything(scope), "base_channel": base}
        found = client.get("/index/insights/price-position", parameters).body
        rows = list(_rows(index, scope, base, of_item))
        named = [COLUMNS[name] for name in scope.group_by]
        rows.sort(
            key=lambda row, named=named: [
                row["period"],
                *((row[name] is None, row[name]) for name in named),
                row["channel"],
                row["currency"],
            ]
        )
        yield Question(f"price position {parameters}", found.get("data", found), rows)


def _rows(
    index: Index, scope: Scope, base: str | None, of_item: dict[str, dict[str, str | None]]
) -> Iterator[dict[str, Any]]:
    for currency, periods in cells_of(index, scope).items():
        for period, cells in periods.items():
            groups: dict[tuple[Any, ...], list[Beside]] = defaultdict(list)
            for (iid, channel), beside in _beside(cells, base).items():
                groups[*(of_item[iid][COLUMNS[name]] for name in scope.group_by), channel].append(beside)
            for (*names, channel), prices in groups.items():
                yield {
                    **_fixed(scope, period, currency, channel),
                    **{COLUMNS[name]: value for name, value in zip(scope.group_by, names, strict=True)},
                    **_figures(prices, 1 if "item" in scope.group_by else MATCHED_LEAST),
                    **({"price": Near(Fraction(prices[0].price), places=6)} if "item" in scope.group_by else {}),
                }


def _fixed(scope: Scope, period: date, currency: str, channel: str) -> dict[str, Any]:
    return {
        "period": period,
        "partial_period": scope.cuts(period),
        "channel": channel,
        "currency": currency,
        "kind": scope.kind,
    }


def _beside(cells: Cells, base: str | None) -> dict[tuple[str, str], Beside]:
    """Return each price beside those of its item in the other channels."""
    by_item: dict[str, dict[str, float]] = defaultdict(dict)
    for (iid, channel), cell in cells.items():
        by_item[iid][channel] = math.log(cell.price)
    found = {}
    for (iid, channel), cell in cells.items():
        logs = by_item[iid]
        lowest, own = min(logs.values()), logs[channel]
        found[iid, channel] = Beside(
            cell.price,
            own - logs[base] if base in logs else None,
            own - lowest if len(logs) > 1 else None,
            sum(other - lowest <= EQUAL for other in logs.values()),
        )
    return found


def _figures(prices: list[Beside], least: int) -> dict[str, Any]:
    to_base = [one.to_base for one in prices if one.to_base is not None]
    compared = [one for one in prices if one.to_cheapest is not None]
    above = [one.to_cheapest for one in compared if one.to_cheapest is not None]
    cheapest = [one for one in compared if one.to_cheapest is not None and one.to_cheapest <= EQUAL]
    return {
        "items": len(prices),
        "matched_items": len(to_base),
        **_gap("gap", to_base, least, -math.inf),
        "compared_items": len(compared),
        **_gap("gap_to_cheapest", above, least, 0.0),
        "cheapest_items": len(cheapest),
        "tied_items": sum(one.channels_alike > 1 for one in cheapest),
        **_share(len(cheapest), len(compared), least),
    }


def _gap(name: str, logs: list[float], least: int, lowest: float) -> dict[str, Any]:
    """Return the geometric mean of ratios less 1, with the interval of the mean of their logarithms."""
    low = high = None
    if len(logs) >= MATCHED_LEAST and (error := stdev(logs) / math.sqrt(len(logs))) > EQUAL:
        half = float(stats.t.ppf(0.975, len(logs) - 1)) * error
        low, high = (max(math.expm1(fmean(logs) + side), lowest) for side in (-half, half))
    places = digits(low, high)
    values = {"": math.expm1(fmean(logs)) if len(logs) >= least else None, "_low": low, "_high": high}
    return {
        f"{name}{bound}": None if value is None else Near(Fraction(value), places=places)
        for bound, value in values.items()
    }


def _share(part: int, whole: int, least: int) -> dict[str, Any]:
    names = ("share_cheapest", "share_cheapest_low", "share_cheapest_high")
    if whole < MATCHED_LEAST:
        return dict(zip(names, (share(part, whole) if whole >= least else None, None, None), strict=True))
    bounds = stats.binomtest(part, whole).proportion_ci(method="wilson")
    ends = [Near(Fraction(end), places=6) for end in (bounds.low, bounds.high)]
    return dict(zip(names, (share(part, whole), *ends), strict=True))


ENDPOINTS = {"insights/price-position": price_position}
