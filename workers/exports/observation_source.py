"""Observations from PostgreSQL's binary COPY into Arrow: rows of fixed width are one array, and stay columns."""

from typing import Any

import numpy as np
import pyarrow as pa

from shared.errors import ItemIndexError
from shared.money import minor_digits
from shared.outliers import CAUSES, NONE

_FIELDS = (
    ("item", ">i8"),
    ("price", ">i8"),
    ("list", ">i8"),
    ("day", ">i4"),
    ("channel", ">i4"),
    ("units", ">i4"),
    ("source", ">i2"),
    ("kind", "S1"),
    ("currency", "S3"),
    ("outlier", "S1"),
)
_ROW = np.dtype(
    [("fields", ">i2"), *(entry for name, kind in _FIELDS for entry in ((f"{name}_bytes", ">i4"), (name, kind)))]
)
_HEAD = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_END = b"\xff\xff"
_EPOCH_DAYS = 10_957  # PostgreSQL counts days from 2000-01-01
_SCALE = 4


class Items:
    """The items of a part, and the names behind the numbers in its observations."""

    def __init__(self, ids: Any, iids: Any, channels: dict[int, str], sources: dict[int, str]) -> None:
        order = np.argsort(ids)
        self.ids = ids.take(order)
        self.iids = iids.take(pa.array(order))
        self.channels = _Names(channels)
        self.sources = _Names(sources)
        self.kinds = pa.array(["listing", "sale"])
        self.causes = pa.array(list(CAUSES.values()))
        self.currencies: list[str] = []


class _Names:
    """A small table from id to name, by plain indexing."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = pa.array(list(names.values()), pa.string())
        self._places = np.zeros(max(names, default=0) + 1, "i4")
        self._places[list(names)] = np.arange(len(names))

    def column(self, ids: Any) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(self._places.take(ids)), self.names)


def batch_of(piece: bytes, items: Items) -> Any:
    """Return the rows of a piece of COPY as a record batch of all columns, of the items that there are."""
    rows = _whole_rows(piece)
    place = np.searchsorted(items.ids, rows["item"].astype("i8"))
    place[place == len(items.ids)] = 0
    known = items.ids.take(place) == rows["item"] if len(items.ids) else np.zeros(len(rows), bool)
    if not known.all():
        there = np.flatnonzero(known)
        rows, place = rows.take(there), place.take(there)
    code, factor = _currencies(rows["currency"], items)
    price, listed = rows["price"].astype("i8"), rows["list"].astype("i8")
    unlisted = listed < 0
    columns = {
        "iid": items.iids.take(pa.array(place)),
        "day": pa.array(rows["day"].astype("i4") + np.int32(_EPOCH_DAYS)).view(pa.date32()),
        "channel": items.channels.column(rows["channel"].astype("i8")),
        "kind": pa.DictionaryArray.from_arrays(pa.array((rows["kind"] == b"s").astype("i4")), items.kinds),
        "source": items.sources.column(rows["source"].astype("i8")),
        "currency": pa.DictionaryArray.from_arrays(pa.array(code), pa.array(items.currencies, pa.string())),
        "price": _money(price, factor, None),
        "price_minor": pa.array(price),
        "list_price": _money(np.where(unlisted, 0, listed), factor, unlisted),
        "list_minor": pa.array(listed, mask=unlisted),
        "units": pa.array(rows["units"].astype("i4")),
        "outlier": _causes(rows["outlier"], items),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _causes(letters: Any, items: Items) -> Any:
    # Readers check the places of nulls too: each must be one of the dictionary.
    places, absent = np.zeros(len(letters), "i4"), letters == NONE.encode()
    for place, letter in enumerate(CAUSES):
        places[letters == letter.encode()] = place
    return pa.DictionaryArray.from_arrays(pa.array(places, mask=absent), items.causes)


def _whole_rows(piece: bytes) -> Any:
    start = len(_HEAD) if piece.startswith(_HEAD) else 0
    count, rest = divmod(len(piece) - start, _ROW.itemsize)
    if rest and not (rest == len(_END) and piece.endswith(_END)):
        raise ItemIndexError("observations are not of the width that was asked for")
    rows = np.frombuffer(piece, _ROW, count, start)
    if count and not (rows["fields"] == len(_FIELDS)).all():
        raise ItemIndexError("observations are not of the columns that were asked for")
    return rows


def _currencies(texts: Any, items: Items) -> tuple[Any, Any]:
    """Return each row's place among the currencies seen so far, and what a minor unit is in ten-thousandths."""
    if not len(texts):
        return np.zeros(0, "i4"), np.zeros(0, "u8")
    if (texts == texts[0]).all():
        place = _place(texts[0], items)
        code = np.full(len(texts), place, "i4")
    else:
        found, inverse = np.unique(texts, return_inverse=True)
        code = np.array([_place(text, items) for text in found], "i4").take(inverse)
    factors = np.array([10 ** (_SCALE - minor_digits(name)) for name in items.currencies], "u8")
    return code, factors.take(code)


def _place(text: bytes, items: Items) -> int:
    name = text.decode()
    if name not in items.currencies:
        items.currencies.append(name)
    return items.currencies.index(name)


def _money(minor: Any, factor: Any, absent: Any) -> Any:
    """Return decimal(20, 4): 128 bits, of which amounts, never negative, fill the lower 64."""
    words = np.zeros((len(minor), 2), "u8")
    np.multiply(minor.astype("u8"), factor, out=words[:, 0])
    valid = None if absent is None else pa.py_buffer(np.packbits(~absent, bitorder="little"))
    return pa.Array.from_buffers(pa.decimal128(20, _SCALE), len(minor), [valid, pa.py_buffer(words)])
