"""Prices that nothing confirms: found, explained by a usual error, and marked in the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
from psycopg.types.json import Jsonb

from shared.analytics.outliers import CAUSES, NONE, PER_US_DOLLAR, OutlierCause
from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH
from shared.db.queries import load_queries
from shared.errors import InvalidFile
from shared.money import MINOR_MAX, minor_digits
from workers.analytics.rollups.codec import Array, Entries, Stratum, order_by, starts_of

if TYPE_CHECKING:
    from workers.analytics.rollups.aggregates import Items


# Which usual error explains a deviation: a shifted decimal point, another currency, exchanged digits, the price of a
# pack.


TOLERANCE = 0.03
"""How far a deviation may be from the one that an error makes, as a difference of natural logarithms."""
EXACT = 0.01
"""Within this of a shifted decimal point, no other error is considered."""
PACKS = (2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 30, 36, 48)
SHIFTS = (10, 100, 1000)


def causes(price: Array, others: Array, currency: str) -> Array:
    """Return the letter of each outlier's likely cause.

    `others` has for each what it may be compared with, one column each: the prices before and after it, and its level.
    """
    letters = np.full(len(price), OutlierCause.ONE_OFF.value.encode(), "S1")
    nearest = np.full(len(price), TOLERANCE)
    deviations = np.abs(np.log(np.maximum(price, _MINOR_LEAST))[:, None] - np.log(np.maximum(others, _MINOR_LEAST)))
    for cause, factors in (
        (OutlierCause.UNIT_SLIP, SHIFTS),
        (OutlierCause.CURRENCY, _rates(currency)),
        (OutlierCause.WRONG_PACK, PACKS),
    ):
        for factor in factors:
            away = np.abs(deviations - abs(np.log(factor))).min(axis=1)
            closer = away < nearest
            letters[closer] = cause.value.encode()
            nearest = np.minimum(nearest, away)
    shifted = (letters == OutlierCause.UNIT_SLIP.value.encode()) & (nearest < EXACT)
    for place in np.flatnonzero(~shifted).tolist():
        if any(_swapped(int(price[place]), int(other)) for other in others[place]):
            letters[place] = OutlierCause.DIGIT_SWAP.value.encode()
    return letters


def _rates(currency: str) -> list[float]:
    """Return the factors between a currency and the others that are often taken for it."""
    own = PER_US_DOLLAR.get(currency)
    return [rate / own for code, rate in PER_US_DOLLAR.items() if code != currency] if own else []


def _swapped(price: int, other: int) -> bool:
    """Return whether exchanging two adjacent digits of one price makes the other."""
    here, there = str(price), str(other)
    if len(here) != len(there):
        return False
    differs = [place for place in range(len(here)) if here[place] != there[place]]
    return (
        len(differs) == 2
        and differs[1] == differs[0] + 1
        and here[differs[0]] == there[differs[1]]
        and here[differs[1]] == there[differs[0]]
    )


# Prices that nothing confirms. Pure, and the same for the same observations in any order. The evidence on an
# observation is the other observations of its item in the same month, currency and kind. Deviations are differences of
# natural logarithms of prices.
#
# A fall is what an offer looks like, and so is the rise at its end: without a list price an offer of a single day
# differs from an error only in size. A fall, or a rise that may be the end of an offer, is therefore contradicted only
# if it is larger than offers are. A smaller rise is contradicted if the prices before and after it are both far lower.


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
NEAR = 0.1
"""Prices as near as this are at one level."""
SUPPORT_MAX = 0.35
"""A price as near as this to the level of another channel is supported by it."""
RETURNS_LEAST, RETURNS_SHARE = 2, 0.05
"""Other prices of the channel at a price's level that confirm it: so many, and this share of the channel's."""
STATED_MAX = np.log(10) - EXACT
"""A list price confirms a reduction from it up to this: of less than nine tenths."""
_MINOR_LEAST = 0.5  # a price of 0 has no logarithm; it counts as half the smallest unit
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
    logs: Array = np.rint(np.log(np.maximum(price, _MINOR_LEAST)) / _STEP) * _STEP
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
    return rows, deviation.take(rows)


def _alone(rows: Array, deviation: Array, others: Array, market: _Market) -> Array:
    """Return which of some rows both the price before and the price after contradict: by more than an offer's depth, or
    by a smaller rise that lasted for a day or two in a channel that has a level."""
    value, groups = market.value, market.groups
    (before, begun), (after, ended) = (_neighbour(rows, market, step) for step in (-1, 1))
    own, low, high = value.take(rows), value.take(before), value.take(after)
    rise, fall = own - np.maximum(low, high), np.minimum(low, high) - own
    brief = market.day.take(after) - market.day.take(before) <= RETURN_DAYS
    at_level = _near(rows, value, groups.of_row, around=own - deviation.take(rows))
    least = np.maximum(RISE_OTHERS_LEAST, LEVEL_SHARE * others.take(rows))
    brief &= (np.minimum(rise, deviation.take(rows)) > RISE_MIN) & (at_level >= least)
    alone: Array = begun & ended & (brief | (np.maximum(rise, fall) > OFFER_MAX))
    return alone


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
    wide = high > np.maximum(low, _MINOR_LEAST) * np.exp(RISE_MIN)
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


# Rows of observations into entries by stratum, with outliers apart from the rest.


ByStratum = dict[Stratum, Entries]
_NONE = NONE.encode()


class Marks(NamedTuple):
    """Observations whose letter in `observations.outlier` must change, a column each; `day` counts from 2000.

    `outlier` is the letter that they must have, `before` the one that the table has.
    """

    item: Array
    day: Array
    channel: Array
    price: Array
    currency: Array
    kind: Array
    outlier: Array
    before: Array


class Observed(NamedTuple):
    """The observations of a month: entries by stratum, and the marks that the table lacks."""

    entries: ByStratum
    marks: Marks


def by_stratum(month: date, items: "Items", rows: Array) -> Observed:
    """Make entries of rows with the columns item, day (since 2000), channel, price, units, list, currency and kind.

    The column `outlier` has the marks that are in the table. Without it, no row has one.
    """
    first = (month - EPOCH).days - 1
    item, day, channel, price, units, listed = (
        rows[name].astype("i8") for name in ("item", "day", "channel", "price", "units", "list")
    )
    entries = items.entries(item, day - first, channel, price, units, listed)
    owned = entries.item >= 0
    if not owned.all():  # observations of withdrawn items
        entries, rows = entries.take(owned), rows[owned]
    by_stratum: ByStratum = {}
    marks = [_marks(rows[:0], np.empty(0, "S1"))]
    for currency, kind, chosen in _parts(rows):
        part = entries if chosen is None else entries.take(chosen)
        of_part = rows if chosen is None else rows[chosen]
        outliers = find(part.item, part.channel, part.day, part.price, part.list_price, currency)
        letters = np.full(len(of_part), _NONE)
        letters[outliers.position] = outliers.cause
        marks.append(_marks(of_part, letters))
        by_stratum |= _split(Stratum(currency, kind), part, outliers.position)
    return Observed(by_stratum, Marks(*(np.concatenate(columns) for columns in zip(*marks, strict=True))))


def _parts(rows: Array) -> list[tuple[str, str, Array | None]]:
    """Return the currencies and kinds that occur, with a mask of their rows; None: all rows."""
    if not len(rows):
        return []
    currencies, kinds = (_distinct(rows[name]) for name in ("currency", "kind"))
    if len(currencies) == len(kinds) == 1:
        return [(currencies[0].decode(), kinds[0].decode(), None)]
    masks = [
        (currency.decode(), kind.decode(), (rows["currency"] == currency) & (rows["kind"] == kind))
        for currency, kind in product(currencies, kinds)
    ]
    return [part for part in masks if part[2].any()]


def _distinct(column: Array) -> list[bytes]:
    if (column == column[0]).all():  # the usual case, and much cheaper than sorting text
        return [bytes(column[0])]
    return [bytes(value) for value in np.unique(column)]


def _split(stratum: Stratum, entries: Entries, outliers: Array) -> ByStratum:
    """Put outliers into the stratum of what is set aside; a stratum without entries is left out."""
    if not len(outliers):
        return {stratum: entries}
    stays = np.ones(len(entries.item), bool)
    stays[outliers] = False
    parts = {stratum: entries.take(stays), stratum.set_aside: entries.take(outliers)}
    return {name: part for name, part in parts.items() if len(part.item)}


def _marks(rows: Array, letters: Array) -> Marks:
    """Return the marks that differ from those of the table."""
    names = rows.dtype.names or ()
    before = rows["outlier"] if "outlier" in names else np.full(len(rows), _NONE)
    changed = np.flatnonzero(letters != before)
    rows = rows.take(changed)
    item, day, channel, price = (rows[name].astype("i8") for name in ("item", "day", "channel", "price"))
    return Marks(item, day, channel, price, rows["currency"], rows["kind"], letters.take(changed), before.take(changed))


# Which observations are outliers, written into the table: only rows whose mark changes.


SQL = load_queries(__file__, "rollups.sql")


def partition(month: date) -> str:
    """Return the name of the table that a month's observations are in."""
    return f"observations_{month:%Y_%m}"


NO_OBSERVATIONS = -1
"""Stands for the number of an event that brings no observations. 0 is that of loads before events were numbered."""


def mark(connection: Connection, month: date, marks: Marks, event_no: int) -> None:
    """Give observations of a month their marks, and log the changes of those that were there before the event.

    Identical observations have the same mark.
    """
    if not len(marks.item):
        return
    table = sql.Identifier(partition(month)).as_string(connection)
    days = [EPOCH + timedelta(days=day) for day in marks.day.tolist()]
    currency, kind, outlier, before = (
        [value.decode() for value in column.tolist()]
        for column in (marks.currency, marks.kind, marks.outlier, marks.before)
    )
    numbers = [column.tolist() for column in (marks.item, marks.channel, marks.price)]
    values = (*numbers, days, currency, kind, outlier, event_no, before, Jsonb(CAUSES))
    connection.execute(SQL.mark_outliers.replace("{table}", table).encode(), values)


# Prices of a file as the columns that outliers are found in.


COLUMNS = {
    "item": ("item", "iid", "item_id", "sku", "product_code", "product", "article", "code"),
    "channel": ("channel", "supermarket_code", "store", "shop"),
    "day": ("day", "date"),
    "price": ("price",),
    "list_price": ("list_price", "list", "regular_price", "was"),
}
"""The columns of a file, each with the names that it may have."""
OPTIONAL = ("list_price",)


@dataclass(frozen=True)
class Prices:
    """One row an observation; `item`, `channel` and `month` are numbered, prices are in minor units."""

    item: Array
    channel: Array
    day: Array
    month: Array
    price: Array
    list_price: Array
    currency: str

    def outliers(self, price: Array) -> Array:
        """Return the letter of each row's cause, `-` for none, as if these were the prices."""
        letters = np.full(len(price), b"-", "S1")
        for month in np.unique(self.month):
            rows = np.flatnonzero(self.month == month)
            columns = (self.item, self.channel, self.day, price, self.list_price)
            item, channel, day, chosen, listed = (column.take(rows) for column in columns)
            outliers = find(item, channel, day, chosen, listed, self.currency)
            letters[rows.take(outliers.position)] = outliers.cause
        return letters


def prices_of(columns: Mapping[str, pa.ChunkedArray], currency: str) -> Prices:
    """Read a file's columns, which are text. Raises InvalidFile for a day or a price that is none."""
    days = _converted(columns["day"], pa.date32(), "day")
    day = np.asarray(days.cast(pa.int32())).astype("i8")
    price = _minor(columns["price"], "price", currency)
    stated = columns.get("list_price")
    list_price = np.zeros(len(price), "i8") if stated is None else _minor(stated, "list_price", currency)
    months = day.astype("M8[D]").astype("M8[M]").astype("i8")
    item, channel = (_numbered(columns[name]) for name in ("item", "channel"))
    return Prices(item, channel, day, months, price, list_price, currency)


def _minor(column: pa.ChunkedArray, name: str, currency: str) -> Array:
    """Return amounts in minor units, 0 for an empty list price."""
    filled = column if name == "price" else pc.if_else(pc.equal(column, ""), "0", column)
    amount = pc.multiply(_converted(filled, pa.float64(), name), float(10 ** minor_digits(currency)))
    price: Array = np.rint(np.asarray(amount))
    if not (price.min() >= 0 and price.max() <= MINOR_MAX):
        raise InvalidFile(f"{name}: negative or too large")
    minor: Array = price.astype("i8")
    return minor


def _converted(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    try:
        return pc.cast(column, kind)
    except pa.ArrowInvalid as error:
        raise InvalidFile(f"{name}: {error}") from None


def _numbered(column: pa.ChunkedArray) -> Array:
    encoded = pc.dictionary_encode(column).combine_chunks()
    return np.asarray(encoded.indices).astype("i8")
