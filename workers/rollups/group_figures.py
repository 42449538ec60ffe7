"""The finished figures of a large rollup's groups: what a report by channel or by category shows of a month. Pure.

Such a report would sort all entries of the month to show a few rows. Groups of several rollups, and days that are not
the whole month, need the entries: percentiles do not add up.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workers.rollups.codec import Array, in_order, numbered, order_by, pack, starts_of, unpack
from workers.rollups.columns import summed_pairs
from workers.rollups.statistics import Discounts, Spread, discounts, spread

# Of fewer entries, or of fewer for each group, the figures would be nearly as long and spare little.
ENTRIES_MIN = 1_024
ENTRIES_A_GROUP_MIN = 32
_DAYS = 32
_LENGTH_BYTES = 4
_INTEGER_MAX = 1 << 63


class GroupFigures(NamedTuple):
    """Figures of each group; `place` is a place among the groups. Days are those of the month.

    The last three columns are the distinct pairs of group and channel, and how many observations each has.
    """

    group: Array
    items: Array
    first_day: Array
    last_day: Array
    spread: Spread
    discounts: Discounts
    place: Array
    channel: Array
    n: Array


def of_entries(group: Array, item: Array, day: Array, channel: Array, price: Array, list_price: Array) -> GroupFigures:
    """Return the figures of entries, which come in the order of their items; `group` is what they are grouped by."""
    ids, place = numbered(group)
    order = order_by(place)
    ordered = place.take(order)
    firsts = starts_of(ordered, item.take(order))
    seen = np.bincount(place * _DAYS + day, minlength=len(ids) * _DAYS).reshape(-1, _DAYS) > 0
    listed = np.flatnonzero(list_price)
    prices, list_prices = (column.take(listed).astype("i8") for column in (price, list_price))
    return GroupFigures(
        ids,
        np.bincount(ordered.take(firsts)),
        seen.argmax(axis=1),
        _DAYS - 1 - seen[:, ::-1].argmax(axis=1),
        spread(*in_order(place, price)),
        discounts(len(ids), place.take(listed), prices, list_prices, np.ones(len(listed), "i8")),
        *summed_pairs(place, channel),
    )


def pack_figures(figures: GroupFigures) -> bytes | None:
    """Pack figures; None where a sum leaves 63 bits."""
    prices, cuts = figures.spread, figures.discounts
    if max(prices.squares) >= _INTEGER_MAX:
        return None
    rows = pack(
        *figures[:4],
        *(prices.n, prices.least, prices.most, *prices.hundredths.T),
        *(np.array(sums, "i8") for sums in (prices.total, prices.squares)),
        *(cuts.listed, cuts.promoted, *(np.nan_to_num(share).view("i8") for share in (cuts.mean, cuts.median))),
    )
    return len(rows).to_bytes(_LENGTH_BYTES, "little") + rows + pack(*figures[-3:])


def unpack_figures(packed: bytes) -> GroupFigures:
    """Read figures back."""
    end = _LENGTH_BYTES + int.from_bytes(packed[:_LENGTH_BYTES], "little")
    columns = [column.astype("i8") for column in unpack(packed[_LENGTH_BYTES:end])]
    group, items, first_day, last_day, n, least, most, *hundredths, total, squares = columns[:-4]
    listed, promoted, *shares = columns[-4:]
    places = np.arange(len(group))
    mean, median = (np.where(promoted > 0, share.view("f8"), np.nan) for share in shares)
    prices = Spread(places, n, least, most, np.stack(hundredths, axis=1), total.tolist(), squares.tolist())
    of_channels = (column.astype("i8") for column in unpack(packed[end:]))
    return GroupFigures(
        group, items, first_day, last_day, prices, Discounts(listed, promoted, mean, median), *of_channels
    )


def each_packed(group: Array, columns: tuple[Array, Array, Array, Array, Array], bounds: Array) -> "list[bytes | None]":
    """Pack the figures of each rollup that is large enough: rollup n is rows `bounds[n]` to `bounds[n + 1]`.

    `columns` are item, day, channel, price and list price.
    """
    return [
        _packed(group[start:stop], *(column[start:stop] for column in columns))
        for start, stop in pairwise(bounds.tolist())
    ]


def _packed(group: Array, *columns: Array) -> bytes | None:
    if len(group) < ENTRIES_MIN:
        return None
    groups = np.count_nonzero(np.bincount(group))
    return pack_figures(of_entries(group, *columns)) if groups * ENTRIES_A_GROUP_MIN <= len(group) else None
