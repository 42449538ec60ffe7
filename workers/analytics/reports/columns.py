"""Columns that rows of several reports share: names instead of ids, shares, discounts, rows by channel; their order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SCALE, Rows
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import ByChannel, Key
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.rollups.arrays import Array

_MILLION = 1e6
_NEARLY_HALF = 0.499999
_SIX = 6
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
        return cls.of_brands(connection, tree, {group[position] for group in groups} if position is not None else ())

    @classmethod
    def of_brands(cls, connection: Connection, tree: Tree, brands: Iterable[int]) -> "Names":
        """Read the names of some brands, and of all categories and channels."""
        return cls(brand_slugs(connection, sorted(brands)), tree.codes, channel_codes(connection))

    def of(self, group_by: tuple[str, ...], key: Key) -> dict[str, str | None]:
        """Return a row's groups: slug or code; None for items without brand or category."""
        return {name: self._of_kind(name).get(group) for name, group in zip(group_by, key[2:], strict=False)}

    def columns(self, group_by: Sequence[str], ids: Sequence[Sequence[int]]) -> dict[str, list[str | None]]:
        """Return the groups of many rows by their ids, a column each, as `of` does those of one."""
        named = zip(group_by, ids, strict=False)
        return {name: list(map(self._of_kind(name).get, column)) for name, column in named}

    def _of_kind(self, group: str) -> dict[int, str]:
        return {"brand": self.brands, "category": self.categories, "channel": self.channels}[group]


def brand_names(connection: Connection, ids: list[int]) -> dict[int, tuple[str, str]]:
    """Return slug and name of brands."""
    if not ids:
        return {}
    return {row[0]: (row[1], row[2]) for row in connection.execute(SQL.brand_names, (ids,))}


def brand_slugs(connection: Connection, ids: list[int]) -> dict[int, str]:
    """Return the slug of brands."""
    return {number: slug for number, (slug, _) in brand_names(connection, ids).items()}


def channel_codes(connection: Connection) -> dict[int, str]:
    """Return the code of every channel."""
    return {int(row[0]): str(row[1]) for row in connection.execute(SQL.channels)}


def rounded(values: Array) -> Array:
    """Return values between 0 and 1 rounded to six decimals, each as Python's `round` does."""
    scaled = values * _MILLION
    whole = np.rint(scaled)
    result: Array = whole / _MILLION
    # The product is rounded itself: so near to a half it says nothing of the side on which the value is.
    for place in np.flatnonzero(np.abs(scaled - whole) > _NEARLY_HALF):
        result[place] = round(float(values[place]), 6)
    return result


def figures_or_none(values: Array, digits: Array | None = None) -> list[float | None]:
    """Return figures rounded to six decimals, or each to digits of its own; None in the place of NaN."""
    places = [_SIX] * len(values) if digits is None else digits.tolist()
    return [None if value != value else round(value, n) for value, n in zip(values.tolist(), places, strict=True)]


def grouped_schema(group_by: Iterable[str], figures: Iterable[tuple[str, pa.DataType]]) -> pa.Schema:
    """Return the schema of rows with a period, groups and these figures."""
    return pa.schema([("period", pa.date32()), *((name, pa.string()) for name in group_by), *figures])


def shares(channels: ByChannel, order: Array, codes: dict[int, str]) -> list[list[dict[str, Any]]]:
    """Return observations and share by channel, in the order of the codes, as a column of the type CHANNELS.

    `order` are the segments of the rows.
    """
    by_code = sorted(codes, key=codes.__getitem__)
    rank = np.empty(max(codes, default=0) + 1, "i8")
    rank[by_code] = np.arange(len(by_code))
    row = np.empty(len(order), "i8")
    row[order] = np.arange(len(order))
    of_row = row.take(channels.segment)
    positions = (of_row * len(by_code) + rank.take(channels.channel)).argsort()
    of_row, channel, n = (column.take(positions) for column in (of_row, channels.channel, channels.n))
    totals = np.bincount(of_row, weights=n, minlength=len(order))
    share = rounded(n / totals.take(of_row))
    shown = [
        {"channel": codes[number], "observations": count, "share": part}
        for number, count, part in zip(channel.tolist(), n.tolist(), share.tolist(), strict=True)
    ]
    ends = of_row.searchsorted(np.arange(len(order)), side="right").tolist()
    return [shown[start:end] for start, end in pairwise([0, *ends])]


def in_currency_order(keys: list[Key], groups: list[dict[str, str | None]]) -> Array:
    """Return the places of keys and their groups in the order of rows: period, groups (none last), currency."""

    def order(place: int) -> Any:
        named = ((name is None, name) for name in groups[place].values())
        return (keys[place].period, *named, keys[place].currency)

    return np.array(sorted(range(len(keys)), key=order), "i8")


def in_row_order(rows: Rows, group_by: Sequence[str]) -> Rows:
    """Return rows by period, groups (none last), channel and currency, if they have one."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    named = [[(name is None, name) for name in columns[group]] for group in group_by]
    last = [columns[name] for name in ("channel", "currency") if name in columns]
    keys = list(zip(columns["period"], *named, *last, strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return Rows(rows.schema, [[column[place] for place in order] for column in rows.columns])


def by_channel(
    chosen: Filter, codes: dict[int, str], rows: Callable[[Filter], list[dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a filter for each of its channels, in the order of their codes; `codes` are all channels'."""
    wanted = codes if chosen.channels is None else {channel: codes[channel] for channel in chosen.channels}
    for channel, code in sorted(wanted.items(), key=lambda one: one[1]):
        for row in rows(replace(chosen, channels=(channel,))):
            yield {**row, "channel": code}


def with_channel(schema: pa.Schema) -> pa.Schema:
    """Return a schema with a column for the channel before the currency."""
    return schema.insert(schema.get_field_index("currency"), pa.field("channel", pa.string()))
