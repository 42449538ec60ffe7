"""Prices that their neighbours contradict: found, explained by a usual error, and marked in the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql

from shared.analytics.outliers import NONE, PER_US_DOLLAR
from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH
from shared.db.queries import load_queries
from shared.errors import InvalidFile
from shared.money import MINOR_MAX, minor_digits
from workers.analytics.rollups.codec import Array, Entries, Stratum, order_by, starts_of

if TYPE_CHECKING:
    from workers.analytics.rollups.aggregates import Items


# Which usual error explains a deviation: a shifted decimal point, another currency, the price of a pack.


TOLERANCE = 0.05
"""How far a deviation may be from the one that an error makes, as a difference of natural logarithms."""
PACKS = (2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 30, 36, 48)
SHIFTS = (10, 100, 1000)


def causes(deviation: Array, by_channels: Array, currency: str) -> Array:
    """Return the letter of each deviation's likely cause: that of the nearest error, else what it was compared with."""
    letters = np.where(by_channels, b"o", b"n").astype("S1")
    nearest = np.full(len(deviation), TOLERANCE)
    for letter, errors in ((b"d", SHIFTS), (b"c", _rates(currency)), (b"u", PACKS)):
        for error in errors:
            away = np.abs(np.abs(deviation) - abs(np.log(error)))
            closer = away < nearest
            letters[closer] = letter
            nearest = np.minimum(nearest, away)
    return letters


def _rates(currency: str) -> list[float]:
    """Return the factors between a currency and the others that are often taken for it."""
    own = PER_US_DOLLAR.get(currency)
    return [rate / own for code, rate in PER_US_DOLLAR.items() if code != currency] if own else []


# Prices that their neighbours contradict. Pure, and the same for the same observations in any order. The neighbours
# of an observation are the other observations of its item in the same month, currency and kind: those of its own
# channel, and those of the item's other channels. Deviations are differences of natural logarithms of prices.


Z_MAX = 6.0
"""An observation whose robust z-score is greater contradicts its channel's median."""
LEAST_SCALE = 0.11
"""The least standard deviation that is assumed: times Z_MAX, nearly a factor of two."""
CHANNEL_LEAST = 3
"""Observations that a channel needs for a median of its own; with fewer, the item's other observations are compared."""
OTHERS_LEAST = 3
FEW_MAX = 1.0
"""The greatest deviation from the item's other observations, where a channel has too few (a factor of 2.7)."""
CHANNELS_MAX = 1.4
"""The greatest deviation from the median of two or more other channels (a factor of 4)."""
NEAR = 5 / 64
NEAR_SHARE_MAX, FAR_SHARE_MAX = 0.1, 0.3
"""A price that more than this share of the item's observations come near to is no error of a few; the second share is
for deviations beyond CHANNELS_MAX, which no usual promotion has."""
SUPPORT_MAX = 0.35
"""A price as near as this to the median of the other channels is supported by them."""
_MINOR_LEAST = 0.5  # a price of 0 has no logarithm; it counts as half the smallest unit
_ROOM = 64.0  # more than the logarithms of all prices span: groups do not overlap on one axis
_STEP = 2.0**-20  # of logarithms: sums of such multiples are exact, so that no order of rows decides
_NORMAL = 1.4826  # the median absolute deviation of a normal distribution is its standard deviation divided by this


class Outliers(NamedTuple):
    """Places of the observations that are set aside, ascending, and the letters of their causes."""

    position: Array
    cause: Array


class _Groups(NamedTuple):
    """Rows in order of group and value; `of_row` is each row's group."""

    start: Array
    n: Array
    of_row: Array


def find(item: Array, channel: Array, day: Array, price: Array, currency: str) -> Outliers:
    """Return the outliers of one month, currency and kind; prices are in minor units."""
    suspicious = _spread_items(item, price)
    if not len(suspicious):
        return Outliers(suspicious, np.empty(0, "S1"))
    item, channel, day, price = (column.take(suspicious) for column in (item, channel, day, price))
    value = np.rint(np.log(np.maximum(price, _MINOR_LEAST)) / _STEP) * _STEP
    order = np.lexsort((price, channel, item))
    item, channel, day, value = (column.take(order) for column in (item, channel, day, value))
    deviation, contradicted, by_channels = _contradicted(item, channel, value)
    rows = np.flatnonzero(contradicted)
    confirmed = _corroborated(rows, item, channel, day, value, deviation.take(rows), by_channels.take(rows))
    kept = rows[~confirmed]
    positions = suspicious.take(order.take(kept))
    cause = causes(deviation.take(kept), by_channels.take(kept), currency)
    sorting = np.argsort(positions)
    return Outliers(positions.take(sorting), cause.take(sorting))


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
    wide = high > np.maximum(low, _MINOR_LEAST) * np.exp(min(Z_MAX * LEAST_SCALE, FEW_MAX, CHANNELS_MAX))
    rows: Array = np.flatnonzero(np.repeat(wide, lengths))
    return rows


def _contradicted(item: Array, channel: Array, value: Array) -> tuple[Array, Array, Array]:
    """Return each row's deviation, whether it is too large, and whether only the other channels say so.

    The rows are in order of item, channel and value.
    """
    channels = _groups(item, channel)
    median = _median(value, channels)
    n = channels.n.take(channels.of_row)
    own = value - median.take(channels.of_row)
    by_distance = np.lexsort((np.abs(own), channels.of_row))
    scale = np.maximum(_NORMAL * _median(np.abs(own).take(by_distance), channels), LEAST_SCALE)
    other_median, others = _of_others(item.take(channels.start), median)
    other_median, others = other_median.take(channels.of_row), others.take(channels.of_row)
    from_others = value - other_median
    supported = (others > 0) & (np.abs(from_others) < SUPPORT_MAX)
    by_own = (n >= CHANNEL_LEAST) & (np.abs(own) > Z_MAX * scale.take(channels.of_row)) & ~supported
    by_channels = (n >= CHANNEL_LEAST) & (others >= 2) & (np.abs(from_others) > CHANNELS_MAX)
    middle, remaining = _of_others(item, value)
    loose = value - middle
    few = (n < CHANNEL_LEAST) & (remaining >= OTHERS_LEAST) & (np.abs(loose) > FEW_MAX)
    deviation = np.where(few, loose, np.where(by_own, own, from_others))
    return deviation, by_own | by_channels | few, by_channels & ~by_own


def _corroborated(
    rows: Array, item: Array, channel: Array, day: Array, value: Array, deviation: Array, by_channels: Array
) -> Array:
    """Return which of some rows' prices are confirmed: by another channel on the same day, or a share of the item's.

    `deviation` and `by_channels` are those of `rows`, the other columns have every row. Where only the other channels
    contradict a price, those of its own channel may all be wrong: they confirm nothing.
    """
    in_item = _near(rows, value, item)
    least = np.where(np.abs(deviation) > CHANNELS_MAX, FAR_SHARE_MAX, NEAR_SHARE_MAX) * _sizes(item).take(rows)
    in_channel = _near(rows, value, item, channel)
    same_day = _near(rows, value, item, day) - _near(rows, value, item, day, channel)
    confirmed = np.where(by_channels, in_item - in_channel, in_item - 1) > least
    return confirmed | (same_day > 0)


def _near(rows: Array, value: Array, *keys: Array) -> Array:
    """Return for some rows how many of all rows have the same keys and a value near theirs, themselves included."""
    order = order_by(*keys)
    group = np.empty(len(order), "i8")
    group[order] = _groups(*(key.take(order) for key in keys)).of_row
    axis = group * _ROOM + value
    ascending, points = np.sort(axis), axis.take(rows)
    first, end = np.searchsorted(ascending, points - NEAR, "left"), np.searchsorted(ascending, points + NEAR, "right")
    near: Array = end - first
    return near


def _sizes(item: Array) -> Array:
    groups = _groups(item)
    return groups.n.take(groups.of_row)


def _groups(*keys: Array) -> _Groups:
    start = starts_of(*keys)
    n = np.diff(start, append=len(keys[0]))
    return _Groups(start, n, np.repeat(np.arange(len(start)), n))


def _median(ascending: Array, groups: _Groups) -> Array:
    low, high = groups.start + (groups.n - 1) // 2, groups.start + groups.n // 2
    median: Array = (ascending.take(low) + ascending.take(high)) / 2
    return median


def _of_others(item: Array, value: Array) -> tuple[Array, Array]:
    """Return for each row the median of its item's other values, 0 without any, and their number."""
    order = np.lexsort((value, item))
    median, others = np.empty(len(order)), np.empty(len(order), "i8")
    median[order], others[order] = _without_itself(item.take(order), value.take(order))
    return median, others


def _without_itself(item: Array, ascending: Array) -> tuple[Array, Array]:
    """Return the median of the other values of each row's item, and their number; rows in order of item and value."""
    groups = _groups(item)
    start = groups.start.take(groups.of_row)
    rank = np.arange(len(item)) - start
    others = groups.n.take(groups.of_row) - 1

    def nth(position: Array) -> Array:
        value: Array = ascending.take(np.minimum(start + position + (position >= rank), len(ascending) - 1))
        return value

    median = (nth(np.maximum(others - 1, 0) // 2) + nth(others // 2)) / 2
    return np.where(others > 0, median, 0.0), others


# Rows of observations into entries by stratum, with outliers apart from the rest.


ByStratum = dict[Stratum, Entries]
_NONE = NONE.encode()


class Marks(NamedTuple):
    """Observations whose letter in `observations.outlier` must change, a column each; `day` counts from 2000."""

    item: Array
    day: Array
    channel: Array
    price: Array
    currency: Array
    kind: Array
    outlier: Array


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
        outliers = find(part.item, part.channel, part.day, part.price, currency)
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
    changed = np.flatnonzero(letters != (rows["outlier"] if "outlier" in names else _NONE))
    rows = rows.take(changed)
    item, day, channel, price = (rows[name].astype("i8") for name in ("item", "day", "channel", "price"))
    return Marks(item, day, channel, price, rows["currency"], rows["kind"], letters.take(changed))


# Which observations are outliers, written into the table: only rows whose mark changes.


SQL = load_queries(__file__, "rollups.sql")


def partition(month: date) -> str:
    """Return the name of the table that a month's observations are in."""
    return f"observations_{month:%Y_%m}"


def mark(connection: Connection, month: date, marks: Marks) -> None:
    """Give observations of a month their marks. Identical observations have the same one."""
    if not len(marks.item):
        return
    table = sql.Identifier(partition(month)).as_string(connection)
    days = [EPOCH + timedelta(days=day) for day in marks.day.tolist()]
    texts = [[value.decode() for value in column.tolist()] for column in (marks.currency, marks.kind, marks.outlier)]
    numbers = [column.tolist() for column in (marks.item, marks.channel, marks.price)]
    connection.execute(SQL.mark_outliers.replace("{table}", table).encode(), (*numbers, days, *texts))


# Prices of a file as the columns that outliers are found in.


COLUMNS = {
    "item": ("item", "iid", "item_id", "sku", "product_code", "product", "article", "code"),
    "channel": ("channel", "supermarket_code", "store", "shop"),
    "day": ("day", "date"),
    "price": ("price",),
}
"""The columns of a file, each with the names that it may have."""


@dataclass(frozen=True)
class Prices:
    """One row an observation; `item`, `channel` and `month` are numbered, prices are in minor units."""

    item: Array
    channel: Array
    day: Array
    month: Array
    price: Array
    currency: str

    def outliers(self, price: Array) -> Array:
        """Return the letter of each row's cause, `-` for none, as if these were the prices."""
        letters = np.full(len(price), b"-", "S1")
        for month in np.unique(self.month):
            rows = np.flatnonzero(self.month == month)
            item, channel, day, chosen = (column.take(rows) for column in (self.item, self.channel, self.day, price))
            outliers = find(item, channel, day, chosen, self.currency)
            letters[rows.take(outliers.position)] = outliers.cause
        return letters


def prices_of(columns: Mapping[str, pa.ChunkedArray], currency: str) -> Prices:
    """Read a file's columns, which are text. Raises InvalidFile for a day or a price that is none."""
    days = _converted(columns["day"], pa.date32(), "day")
    day = np.asarray(days.cast(pa.int32())).astype("i8")
    amount = pc.multiply(_converted(columns["price"], pa.float64(), "price"), float(10 ** minor_digits(currency)))
    price = np.rint(np.asarray(amount))
    if not (price.min() >= 0 and price.max() <= MINOR_MAX):
        raise InvalidFile("price: negative or too large")
    months = day.astype("M8[D]").astype("M8[M]").astype("i8")
    item, channel = (_numbered(columns[name]) for name in ("item", "channel"))
    return Prices(item, channel, day, months, price.astype("i8"), currency)


def _converted(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    try:
        return pc.cast(column, kind)
    except pa.ArrowInvalid as error:
        raise InvalidFile(f"{name}: {error}") from None


def _numbered(column: pa.ChunkedArray) -> Array:
    encoded = pc.dictionary_encode(column).combine_chunks()
    return np.asarray(encoded.indices).astype("i8")
