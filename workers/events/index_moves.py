"""How far the prices of the same items in the same channels moved between two months: their Jevons index."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import groupby
from typing import NamedTuple

import numpy as np

from workers.analytics.rollups.item_prices import Cells, ItemPrices, unpacked

Rollup = tuple[str, str, str, str, date, bytes]
"""Target, code, kind, currency, month, packed prices; ordered by all but the last."""


class Move(NamedTuple):
    """The change of one target's index from the month before to `month`, in %."""

    target: str
    code: str
    kind: str
    currency: str
    month: date
    percent: float


def moves(rollups: Iterable[Rollup]) -> Iterator[Move]:
    """Yield the move of each target whose two newest months are neighbours and have an item of a channel in common."""
    for target, rows in groupby(rollups, key=lambda rollup: rollup[:4]):
        months = {month: [unpacked(rollup[5]) for rollup in part] for month, part in groupby(rows, key=lambda c: c[4])}
        if len(months) < 2:
            continue
        (before, old), (month, new) = sorted(months.items())
        if (month.year - before.year) * 12 + month.month - before.month != 1:
            continue
        index = jevons(_concatenate(old), _concatenate(new))
        if index is not None:
            yield Move(target[0], target[1], target[2], target[3], month, 100 * (index - 1))


def jevons(old: ItemPrices, new: ItemPrices) -> float | None:
    """Return the geometric mean of the price relatives of the items that both have in a channel; None without any."""
    cells = Cells.of([old, new])
    logs = np.full((2, len(cells.item)), np.nan)
    for row, places, prices in zip(logs, cells.places, (old.price, new.price), strict=True):
        row[places] = np.log(prices)
    relatives = logs[1] - logs[0]
    relatives = relatives[~np.isnan(relatives)]
    return float(np.exp(np.mean(relatives))) if len(relatives) else None


def _concatenate(parts: list[ItemPrices]) -> ItemPrices:
    return ItemPrices(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
