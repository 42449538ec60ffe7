"""Prices of a CSV file as the columns that outliers are found in."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shared.errors import InvalidFile
from shared.money import MINOR_MAX, minor_digits
from workers.analytics.rollups.codec import Array
from workers.analytics.rollups.outliers import find

NAMES = {
    "item": ("item", "iid", "item_id", "sku", "product_code", "product", "article", "code"),
    "channel": ("channel", "supermarket_code", "store", "shop"),
    "day": ("day", "date"),
    "price": ("price",),
}
"""The columns that are needed, and the names that they may have: in any case, with spaces or underscores."""


@dataclass(frozen=True)
class PriceFile:
    """One row an observation; `item`, `channel` and `month` are numbered, prices are in minor units."""

    rows: pa.Table
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
            item, channel, day, chosen = (one.take(rows) for one in (self.item, self.channel, self.day, price))
            outliers = find(item, channel, day, chosen, self.currency)
            letters[rows.take(outliers.position)] = outliers.cause
        return letters


def read(path: Path, columns: dict[str, str], currency: str) -> PriceFile:
    """Read a file, plain or compressed; `columns` gives names that are not in NAMES. Raises InvalidFile."""
    try:
        as_text = dict.fromkeys(pa.csv.open_csv(path).schema.names, pa.string())
        rows = pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types=as_text))
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidFile(str(error)) from None
    texts = {name: rows[_column(rows, name, columns.get(name))] for name in NAMES}
    days = _converted(texts["day"], pa.date32(), "day")
    day = np.asarray(days.cast(pa.int32())).astype("i8")
    amount = pc.multiply(_converted(texts["price"], pa.float64(), "price"), float(10 ** minor_digits(currency)))
    price = np.rint(np.asarray(amount))
    if len(price) and not (price.min() >= 0 and price.max() <= MINOR_MAX):
        raise InvalidFile("price: negative or too large")
    months = day.astype("M8[D]").astype("M8[M]").astype("i8")
    item, channel = (_numbered(texts[name]) for name in ("item", "channel"))
    return PriceFile(rows, item, channel, day, months, price.astype("i8"), currency)


def _column(rows: pa.Table, name: str, given: str | None) -> str:
    known: dict[str, str] = {column.strip().lower().replace(" ", "_"): column for column in reversed(rows.column_names)}
    for wanted in (given,) if given else NAMES[name]:
        if wanted in rows.column_names:
            return wanted
        if not given and wanted in known:
            return known[wanted]
    raise InvalidFile(f"the file has no column `{given or name}`; name it by --column {name}=COLUMN")


def _converted(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    try:
        return pc.cast(column, kind)
    except pa.ArrowInvalid as error:
        raise InvalidFile(f"{name}: {error}") from None


def _numbered(column: pa.ChunkedArray) -> Array:
    encoded = pc.dictionary_encode(column).combine_chunks()
    return np.asarray(encoded.indices).astype("i8")
