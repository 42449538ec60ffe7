"""Prices of a file as the columns that outliers are found in."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.errors import InvalidFile
from shared.money import MINOR_MAX, minor_digits
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.outliers import find

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
