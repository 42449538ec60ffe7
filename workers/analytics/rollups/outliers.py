"""Prices that nothing confirms. Pure, and the same for the same observations in any order.

The evidence on an observation is the other observations of its item in the same month, currency and kind. Deviations
are differences of natural logarithms of prices.

A fall is what an offer looks like, and so is the rise at its end: without a list price an offer of a single day differs
from an error only in size. A fall, or a rise that may be the end of an offer, is therefore contradicted only if it is
larger than offers are. A smaller rise is contradicted if all other prices of the item are far lower, in two channels or
more; or if the prices before and after it are both far lower and it is no regular price between two offers: it is
brief, or the two are not offers, or an exchange of digits explains it.
"""

from typing import NamedTuple

import numpy as np

from workers.analytics.rollups.arrays import Array, order_by, starts_of
from workers.analytics.rollups.outlier_causes import EXACT, MINOR_LEAST, causes, is_swapped

OFFER_MAX = 1.95
"""A greater deviation is neither an offer nor its end: a fall of over 85 %, a rise to over seven times."""
RISE_MIN = 0.66
"""The least rise that the prices before and after it contradict: to nearly twice the level."""
OTHERS_LEAST = 3
"""Other prices of the channel that make a level; with fewer, the item's other prices are compared."""
RETURN_DAYS = 3
"""Days between the prices before and after such a rise: shops raise a price between two offers for longer."""
RISE_OTHERS_LEAST, LEVEL_SHARE = 6, 0.25
"""Other prices of the channel at its level that are needed to contradict a smaller rise: so many, and this share."""
HIGHEST_OTHERS_LEAST = 6
"""Other prices of the item that contradict one far above all of them: with fewer, all may be of the same offers."""
NEAR = 0.1
"""Prices as near as this are at one level."""
SUPPORT_MAX = 0.35
"""A price as near as this to the level of another channel is supported by it."""
RETURNS_LEAST, RETURNS_SHARE = 2, 0.05
"""Other prices of the channel at a price's level that confirm it: so many, and this share of the channel's."""
STATED_MAX = np.log(10) - EXACT
"""A list price confirms a reduction from it up to this: of less than nine tenths."""


_ROOM = 64.0  # more than the logarithms of all prices span: groups do not overlap on one axis
_STEP = 2.0**-20  # of logarithms: sums of such multiples are exact, so that no order of rows decides


class Outliers(NamedTuple):
    """Places of the observations that are set aside, ascending, and the letters of their causes."""

    position: Array
    cause: Array


class _Groups(NamedTuple):
    """Rows in order of group; `of_row` is each row's group."""

    start: Array
    n: Array
    of_row: Array


class _Market(NamedTuple):
    """The observations of some items in the order of item, channel, day and price.

    `value` and `listed` are prices and list prices as logarithms, `listed` NaN where none is stated. `groups` are the
    channels of each item, `ascending` the rows in the order of these and of the price.
    """

    item: Array
    channel: Array
    day: Array
    price: Array
    value: Array
    listed: Array
    groups: _Groups
    ascending: Array


def find(item: Array, channel: Array, day: Array, price: Array, list_price: Array, currency: str) -> Outliers:
    """Return the outliers of one month, currency and kind; prices are in minor units, list prices 0 where unknown."""
    wide = _spread_items(item, price)
    item, channel, day, price, list_price = (column.take(wide) for column in (item, channel, day, price, list_price))
    order = order_by(item, channel, day, price, nearly=True)
    item, channel, day, price, list_price = (column.take(order) for column in (item, channel, day, price, list_price))
    value, groups = _logarithms(price), _groups(item, channel)
    listed = np.where(list_price > 0, _logarithms(list_price), np.nan)
    ascending = order_by(groups.of_row, price)
    # Items by number: their ids times _ROOM would leave no bits for the prices.
    market = _Market(_groups(item).of_row, channel, day, price, value, listed, groups, ascending)
    rows, deviation = _contradicted(market)
    if len(rows):
        kept = ~_confirmed(rows, market)
        rows, deviation = rows[kept], deviation[kept]
    level = np.rint(np.exp(value.take(rows) - deviation))
    others = np.stack([*(price.take(_neighbour(rows, market, step)[0]) for step in (-1, 1)), level], axis=1)
    positions = wide.take(order.take(rows))
    sorting = np.argsort(positions)
    return Outliers(positions.take(sorting), causes(price.take(rows), others, currency).take(sorting))


def _logarithms(price: Array) -> Array:
    logs: Array = np.rint(np.log(np.maximum(price, MINOR_LEAST)) / _STEP) * _STEP
    return logs


def _contradicted(market: _Market) -> tuple[Array, Array]:
    """Return the rows that the other prices contradict, and their deviations from the level of those."""
    groups, value = market.groups, market.value
    level, others = _of_others(groups.of_row, value, market.ascending)
    few, remaining = np.flatnonzero(others < OTHERS_LEAST), others.copy()
    if len(few):
        mixed = np.zeros(int(market.item[-1]) + 1, bool)
        mixed[market.item.take(few)] = True
        rows = np.flatnonzero(mixed.take(market.item))
        item = market.item.take(rows)
        of_item, in_item = _of_others(item, value.take(rows), order_by(item, market.price.take(rows)))
        place = np.searchsorted(rows, few)
        level[few], remaining[few] = of_item.take(place), in_item.take(place)
    deviation = value - level
    known = remaining >= OTHERS_LEAST
    rows = np.flatnonzero(known & (np.abs(deviation) > OFFER_MAX))
    candidates = np.flatnonzero(known & (np.abs(deviation) > RISE_MIN) & (np.abs(deviation) <= OFFER_MAX))
    rows = np.union1d(rows, candidates[_alone(candidates, deviation, others, market)])
    rows = np.union1d(rows, _highest(market))
    return rows, deviation.take(rows)


def _alone(rows: Array, deviation: Array, others: Array, market: _Market) -> Array:
    """Return which of some rows both the price before and the price after contradict.

    By more than an offer's depth; or by a smaller rise that lasted for a day or two in a channel that has a level, that
    is above two regular prices, or that exchanged digits of both explain.
    """
    value, groups = market.value, market.groups
    (before, begun), (after, ended) = (_neighbour(rows, market, step) for step in (-1, 1))
    own, low, high = value.take(rows), value.take(before), value.take(after)
    rise, fall = own - np.maximum(low, high), np.minimum(low, high) - own
    is_brief = market.day.take(after) - market.day.take(before) <= RETURN_DAYS
    at_level = _near(rows, value, groups.of_row, around=own - deviation.take(rows))
    least = np.maximum(RISE_OTHERS_LEAST, LEVEL_SHARE * others.take(rows))
    is_rise = begun & ended & (np.minimum(rise, deviation.take(rows)) > RISE_MIN)
    contradicted = is_rise & is_brief & (at_level >= least)
    rest = np.flatnonzero(is_rise & ~contradicted)
    contradicted[rest] = _are_regular(before.take(rest), after.take(rest), market)
    rest = rest[~contradicted[rest]]
    columns = (market.price.take(place.take(rest)).tolist() for place in (rows, before, after))
    contradicted[rest] = [
        is_swapped(price, one) and is_swapped(price, other) for price, one, other in zip(*columns, strict=True)
    ]
    alone: Array = contradicted | (begun & ended & (np.maximum(rise, fall) > OFFER_MAX))
    return alone


def _highest(market: _Market) -> Array:
    """Return the rows far above all other prices of their item, some in their own channel and some in another one."""
    item, value = market.item, market.value
    order = order_by(item, market.price)
    items = _groups(item.take(order))
    many = items.n > HIGHEST_OTHERS_LEAST
    last = (items.start + items.n - 1)[many]
    rows = order.take(last)
    rise = value.take(rows) - value.take(order.take(last - 1))
    of_channel = market.groups.n.take(market.groups.of_row.take(rows))
    highest: Array = rows[(rise > RISE_MIN) & (of_channel > 1) & (of_channel < items.n[many])]
    return highest


def _are_regular(before: Array, after: Array, market: _Market) -> Array:
    """Return where two prices have no list price, of channels that state one when they reduce this item."""
    stated = ~np.isnan(market.listed)
    states = np.logical_or.reduceat(stated, market.groups.start).take(market.groups.of_row.take(before))
    regular: Array = states & ~stated.take(before) & ~stated.take(after)
    return regular


def _confirmed(rows: Array, market: _Market) -> Array:
    """Return which of some rows' prices something confirms."""
    item, value, listed, groups = market.item, market.value, market.listed, market.groups
    own, reduction = value.take(rows), listed.take(rows) - value.take(rows)
    confirmed: Array = (reduction > 0) & (reduction < STATED_MAX)
    stated = np.flatnonzero(~np.isnan(listed))
    if len(stated):
        confirmed |= _near_to(own, item.take(rows), listed.take(stated), item.take(stated)) > 0
    for step in (-1, 1):
        beside, there = _neighbour(rows, market, step)
        confirmed |= there & (np.abs(own - value.take(beside)) <= NEAR)
    in_channel = _near(rows, value, groups.of_row)
    least = np.maximum(RETURNS_LEAST, RETURNS_SHARE * groups.n.take(groups.of_row).take(rows))
    confirmed |= in_channel - 1 >= least
    confirmed |= _near(rows, value, item, market.day) > _near(rows, value, groups.of_row, market.day)
    confirmed |= _supported(rows, market)
    return confirmed


def _supported(rows: Array, market: _Market) -> Array:
    """Return which prices are near the level of another channel of their item."""
    groups, value = market.groups, market.value
    known = np.flatnonzero(groups.n >= OTHERS_LEAST)
    medians, of_item = _medians(market).take(known), market.item.take(groups.start).take(known)
    near = _near_to(value.take(rows), market.item.take(rows), medians, of_item, SUPPORT_MAX)
    place = np.full(len(groups.n), -1)
    place[known] = np.arange(len(known))
    own = place.take(groups.of_row.take(rows))
    itself = np.zeros(len(rows), bool)
    if len(known):
        itself = (own >= 0) & (np.abs(medians.take(np.maximum(own, 0)) - value.take(rows)) <= SUPPORT_MAX)
    supported: Array = near > itself
    return supported


def _neighbour(rows: Array, market: _Market, step: int) -> tuple[Array, Array]:
    """Return the place of the price before (-1) or after (1) each row in its channel, its own if there is none, and
    whether there is one."""
    of_row = market.groups.of_row
    beside = np.clip(rows + step, 0, max(len(of_row) - 1, 0))
    there = (beside != rows) & (of_row.take(beside) == of_row.take(rows))
    return np.where(there, beside, rows), there


def _spread_items(item: Array, price: Array) -> Array:
    """Return the rows of items whose prices differ enough for an outlier: a cheap test that most items do not pass."""
    if not len(item):
        return np.empty(0, "i8")
    stretches = starts_of(item)
    lengths = np.diff(stretches, append=len(item))
    low, high = np.minimum.reduceat(price, stretches), np.maximum.reduceat(price, stretches)
    items, position = np.unique(item.take(stretches), return_inverse=True)
    if len(items) < len(stretches):
        lows, highs = np.full(len(items), np.iinfo("i8").max), np.zeros(len(items), "i8")
        np.minimum.at(lows, position, low)
        np.maximum.at(highs, position, high)
        low, high = lows.take(position), highs.take(position)
    wide = high > np.maximum(low, MINOR_LEAST) * np.exp(RISE_MIN)
    rows: Array = np.flatnonzero(np.repeat(wide, lengths))
    return rows


def _near(rows: Array, value: Array, *keys: Array, around: Array | None = None) -> Array:
    """Return for some rows how many of all rows have the same keys and a value near theirs, themselves included.

    `around`: count those near these values instead.
    """
    order = order_by(*keys)
    group = np.empty(len(order), "i8")
    group[order] = _groups(*(key.take(order) for key in keys)).of_row
    return _near_to(value.take(rows) if around is None else around, group.take(rows), value, group)


def _near_to(value: Array, group: Array, values: Array, groups: Array, within: float = NEAR) -> Array:
    """Return how many of `values` are near each value among those of its group."""
    least = min(int(group.min(initial=0)), int(groups.min(initial=0)))
    ascending = np.sort((groups - least) * _ROOM + values)
    points = (group - least) * _ROOM + value
    near: Array = np.searchsorted(ascending, points + within, "right") - np.searchsorted(ascending, points - within)
    return near


def _groups(*keys: Array) -> _Groups:
    start = starts_of(*keys)
    n = np.diff(start, append=len(keys[0]))
    return _Groups(start, n, np.repeat(np.arange(len(start)), n))


def _medians(market: _Market) -> Array:
    """Return the median of each channel of an item."""
    ascending, groups = market.value.take(market.ascending), market.groups
    low, high = groups.start + (groups.n - 1) // 2, groups.start + groups.n // 2
    median: Array = (ascending.take(low) + ascending.take(high)) / 2
    return median


def _of_others(group: Array, value: Array, order: Array) -> tuple[Array, Array]:
    """Return for each row the median of its group's other values, 0 without any, and their number.

    `order` are the rows in the order of group and value.
    """
    median, others = np.empty(len(order)), np.empty(len(order), "i8")
    median[order], others[order] = _without_itself(group.take(order), value.take(order))
    return median, others


def _without_itself(group: Array, ascending: Array) -> tuple[Array, Array]:
    """Return the median of the other values of each row's group, and their number; rows in order of group and value."""
    groups = _groups(group)
    start = groups.start.take(groups.of_row)
    rank = np.arange(len(group)) - start
    others = groups.n.take(groups.of_row) - 1

    def nth(position: Array) -> Array:
        value: Array = ascending.take(np.minimum(start + position + (position >= rank), len(ascending) - 1))
        return value

    if not len(group):
        return np.empty(0), others
    median = (nth(np.maximum(others - 1, 0) // 2) + nth(others // 2)) / 2
    return np.where(others > 0, median, 0.0), others
