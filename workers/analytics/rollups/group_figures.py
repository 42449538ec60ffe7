"""The finished figures of a large rollup's groups: what a report by channel or by category shows of a month. Pure.

Such a report would sort all entries of the month to show a few rows. Groups of several rollups, and days that are not
the whole month, need the entries: percentiles do not add up.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workers.analytics.rollups.arrays import Array, numbered, order_by, starts_of, sums_by
from workers.analytics.rollups.codec import pack_each, unpack
from workers.analytics.rollups.figures import Discounts, Spread, discounts, spread

# Each costs a load half a millisecond, however few entries there are. Of fewer, or of fewer a group, they spare little.
ENTRIES_MIN = 4_096
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
        spread(*sums_by((place, price), None)),
        discounts(len(ids), place.take(listed), prices, list_prices, np.ones(len(listed), "i8")),
        *sums_by((place, channel), None),
    )


def pack_figures(each: Sequence[GroupFigures]) -> Iterator[bytes]:
    """Pack the figures of several rollups, of which no sum may leave 63 bits: together, as each has few rows."""
    if not each:
        return
    rows = _packed_together([_columns(figures) for figures in each])
    pairs = _packed_together([figures[-3:] for figures in each])
    for row, pair in zip(rows, pairs, strict=True):
        yield len(row).to_bytes(_LENGTH_BYTES, "little") + row + pair


def _columns(figures: GroupFigures) -> tuple[Array, ...]:
    prices, cuts = figures.spread, figures.discounts
    sums = (np.array(sums, "i8") for sums in (prices.total, prices.squares))
    shares = (np.nan_to_num(share).view("i8") for share in (cuts.mean, cuts.median))
    return (
        *figures[:4],
        *(prices.n, prices.least, prices.most, *prices.hundredths.T),
        *(*sums, cuts.listed, cuts.promoted, *shares),
    )


def _packed_together(each: list[tuple[Array, ...]]) -> Iterator[bytes]:
    bounds = np.cumsum([0, *(len(columns[0]) for columns in each)])
    return pack_each(tuple(np.concatenate(column) for column in zip(*each, strict=True)), bounds)


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


def each_packed(group: Array, columns: tuple[Array, Array, Array, Array, Array], bounds: Array) -> list[bytes | None]:
    """Pack the figures of each rollup that is large enough: rollup n is rows `bounds[n]` to `bounds[n + 1]`.

    `columns` are item, day, channel, price and list price.
    """
    made = [
        _of_large(group[start:stop], *(column[start:stop] for column in columns))
        for start, stop in pairwise(bounds.tolist())
    ]
    packed = pack_figures([figures for figures in made if figures is not None])
    return [None if figures is None else next(packed) for figures in made]


def _of_large(group: Array, *columns: Array) -> GroupFigures | None:
    """Return the figures of a large rollup; None where a sum leaves 63 bits."""
    if len(group) < ENTRIES_MIN:
        return None
    groups = np.count_nonzero(np.bincount(group))
    if groups * ENTRIES_A_GROUP_MIN > len(group):
        return None
    figures = of_entries(group, *columns)
    return figures if max(figures.spread.squares) < _INTEGER_MAX else None
