"""How far the prices of the same items moved between two months: the Jevons index of matched items. Pure."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import groupby
from typing import NamedTuple

import numpy as np

from workers.rollups.item_prices import ItemPrices, unpacked

Rollup = tuple[str, str, str, str, date, bytes]
"""Target, code, kind, currency, month, packed prices; ordered by all but the last."""


class Move(NamedTuple):
    """The change of one target's index from the month before to `month`, in per cent."""

    target: str
    code: str
    kind: str
    currency: str
    month: date
    percent: float


def moves(rollups: Iterable[Rollup]) -> Iterator[Move]:
    """Yield the move of each target whose two newest months are neighbours and have an item in common."""
    for target, rows in groupby(rollups, key=lambda rollup: rollup[:4]):
        months = {month: [unpacked(rollup[5]) for rollup in part] for month, part in groupby(rows, key=lambda c: c[4])}
        if len(months) < 2:
            continue
        (before, old), (month, new) = sorted(months.items())
        if (month.year - before.year) * 12 + month.month - before.month != 1:
            continue
        index = jevons(_joined(old), _joined(new))
        if index is not None:
            yield Move(target[0], target[1], target[2], target[3], month, 100 * (index - 1))


def jevons(old: ItemPrices, new: ItemPrices) -> float | None:
    """Return the geometric mean of the price relatives of the items that both have; None where they share none."""
    _, first, second = np.intersect1d(old.item, new.item, return_indices=True)
    if not len(first):
        return None
    return float(np.exp(np.mean(np.log(new.price[second]) - np.log(old.price[first]))))


def _joined(parts: list[ItemPrices]) -> ItemPrices:
    return ItemPrices(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
