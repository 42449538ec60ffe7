"""The parts that rows of all reports share: names instead of ids, shares, coverage, their order."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.db.connect import Connection
from workers.reports.aggregator import ByChannel, Key
from workers.reports.filters import SQL, Filter, Tree
from workers.reports.periods import Range, day_of
from workers.reports.result import Coverage
from workers.rollups.codec import Array
from workers.rollups.statistics import SCALE, millionths_of_hundredth

_HALF = 0xFFFFFFFF
_MILLION = 1e6
_NEARLY_HALF = 0.499999
MONEY = pa.decimal128(38, SCALE)
_CHANNEL = [pa.field("channel", pa.string()), pa.field("observations", pa.int64()), pa.field("share", pa.float64())]
CHANNELS = pa.list_(pa.struct(_CHANNEL))
DISCOUNTS = [
    ("list_price_n", pa.int64()),
    ("promotion_share", pa.float64()),
    ("discount_mean", pa.float64()),
    ("discount_median", pa.float64()),
]
ROUNDED_DISCOUNTS = ("promotion_share", "discount_mean", "discount_median")
DISCOUNT_UNITS = {
    "list_price_n": "observations",
    "promotion_share": "share of observations with a list price",
    "discount_mean": "share of the list price",
    "discount_median": "share of the list price",
}
DISCOUNT_METHOD = (
    "an observation is on promotion where its price is below its list price, by the discount 1 - price / list price; "
    "mean and median of discounts are over observations on promotion; a list price of 0 counts as none"
)


class Names(NamedTuple):
    """Slugs and codes by id."""

    brands: dict[int, str]
    categories: dict[int, str]
    channels: dict[int, str]

    @classmethod
    def read(cls, connection: Connection, tree: Tree, chosen: Filter, keys: list[Key]) -> "Names":
        """Read the names of what the keys group by."""
        position = chosen.group_by.index("brand") if "brand" in chosen.group_by else None
        groups = [(key.first_group, key.second_group) for key in keys]
        ids = sorted({group[position] for group in groups}) if position is not None else []
        slugs = {number: slug for number, (slug, _) in brand_names(connection, ids).items()}
        return cls(slugs, {one.id: one.code for one in tree.by_id.values()}, channel_codes(connection))

    def of(self, group_by: tuple[str, ...], key: Key) -> dict[str, str | None]:
        """Return a row's groups: slug or code; None for items without brand or category."""
        values = {}
        for name, number in zip(group_by, key[2:], strict=False):
            if name == "brand":
                values[name] = self.brands.get(number)
            else:
                values[name] = (self.categories if name == "category" else self.channels).get(number)
        return values


def brand_names(connection: Connection, ids: list[int]) -> dict[int, tuple[str, str]]:
    """Return slug and name of brands."""
    if not ids:
        return {}
    return {row[0]: (row[1], row[2]) for row in connection.execute(SQL.brand_names, (ids,))}


def channel_codes(connection: Connection) -> dict[int, str]:
    """Return the code of every channel."""
    return {int(row[0]): str(row[1]) for row in connection.execute(SQL.channels)}


def money(millionths: list[int | None]) -> Any:
    """Return amounts, given in millionths of their currencies, as a column of the type MONEY."""
    words = b"".join([(n or 0).to_bytes(16, "little") for n in millionths])
    valid = None
    if None in millionths:
        valid = pa.py_buffer(np.packbits([n is not None for n in millionths], bitorder="little"))
    return pa.Array.from_buffers(MONEY, len(millionths), [valid, pa.py_buffer(words)])


def exact_money(hundredths: Array, currencies: list[str]) -> list[Any]:
    """Return columns of hundredths of minor units, the rows of an array, as columns of the type MONEY."""
    factors = np.array([millionths_of_hundredth(one) for one in currencies], "i8")
    # Millionths may leave 63 bits; halves of 32 bits keep every product within them.
    low = (hundredths & _HALF) * factors
    high = (hundredths >> 32) * factors + (low >> 32)
    words = np.zeros((*hundredths.shape, 4), "<u4")
    words[..., 0], words[..., 1], words[..., 2] = low & _HALF, high & _HALF, high >> 32
    return [pa.Array.from_buffers(MONEY, len(currencies), [None, pa.py_buffer(column)]) for column in words]


def rounded(values: Array) -> Array:
    """Return values between 0 and 1 rounded to six decimals, each as Python's `round` does."""
    scaled = values * _MILLION
    whole = np.rint(scaled)
    result: Array = whole / _MILLION
    # The product is rounded itself: so near to a half it says nothing of the side on which the value is.
    for place in np.flatnonzero(np.abs(scaled - whole) > _NEARLY_HALF):
        result[place] = round(float(values[place]), 6)
    return result


def shares(channels: ByChannel, order: list[int], codes: dict[int, str]) -> Any:
    """Return observations and share by channel, in the order of the codes, as a column of the type CHANNELS.

    `order` are the segments of the rows.
    """
    by_code = sorted(codes, key=codes.__getitem__)
    rank = np.empty(max(codes, default=0) + 1, "i8")
    rank[by_code] = np.arange(len(by_code))
    row = np.empty(len(order), "i8")
    row[order] = np.arange(len(order))
    place = row.take(channels.segment) * len(by_code) + rank.take(channels.channel)
    positions = place.argsort()
    segment, n = channels.segment.take(positions), channels.n.take(positions)
    totals = np.bincount(segment, weights=n, minlength=len(order))
    named = [codes[number] for number in channels.channel.take(positions).tolist()]
    columns = (named, n, rounded(n / totals.take(segment)))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _CHANNEL, strict=True)]
    ends = np.bincount(row.take(segment) + 1, minlength=len(order) + 1).cumsum().astype("i4")
    values = pa.StructArray.from_arrays(arrays, fields=_CHANNEL)
    return pa.ListArray.from_arrays(pa.array(ends), values, type=CHANNELS)


def coverage(days: Range, seen: set[int]) -> Coverage:
    """Return which days of the range hold data of what was asked for."""
    return Coverage(days.days, len(seen), day_of(min(seen)) if seen else None, day_of(max(seen)) if seen else None)


def in_currency_order(keys: list[Key], groups: list[dict[str, str | None]]) -> list[int]:
    """Return the places of keys and their groups in the order of rows: period, groups (none last), currency."""

    def order(place: int) -> Any:
        named = ((name is None, name) for name in groups[place].values())
        return (keys[place].period, *named, keys[place].currency)

    return sorted(range(len(keys)), key=order)
