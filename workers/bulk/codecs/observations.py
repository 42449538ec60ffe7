"""Observations between PostgreSQL's binary COPY and Arrow: numbers stay arrays, and names are dictionaries. Pure."""

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.outliers import CAUSES, NONE
from shared.bulk.schema import DATASETS, arrow_schema
from shared.db.copy_binary import EPOCH_DAYS, Array, TableLayout
from shared.money import minor_digits
from shared.units.names import PER
from workers.analytics.exact_unit_prices import DECIMALS, Contents, unit_prices

SCHEMA = arrow_schema(DATASETS["observations"])
_COPIED = {
    "item": "i8",
    "price": "i8",
    "list": "i8",  # -1: no list price
    "day": "i4",  # since 2000-01-01
    "channel": "i4",
    "units": "i4",
    "source": "i2",
    "kind": "S1",
    "currency": "S3",
    "outlier": "S1",  # `-`: none
}
LAYOUT = TableLayout(_COPIED.items())
_LETTERS = {"S1": "u1", "S3": "i4"}
# So few rows stay in the processor's cache until the last of their columns is read.
_ROWS_AT_ONCE = 8_192
_SCALE = 4
_KINDS = {ord(kind): kind.text for kind in OBSERVATION_KINDS["both"]}
_CAUSES = {ord(letter): cause for letter, cause in CAUSES.items()}
_UNITS = {ord(unit[0]): unit for unit, _ in PER.values()}
NO_UNIT = ord("-")
"""The code of an unknown content; that of a known one is the first letter of its unit."""
_WORD = (1 << 64) - 1
Columns = dict[str, Array]


class Dictionaries(Protocol):
    """Turns the numbers of a column (`channel`, `kind`, `source`, `currency`, `outlier`) into a dictionary column."""

    def encode(self, column: str, numbers: Array, absent: Array | None = None) -> pa.DictionaryArray:
        """Return a dictionary array of these numbers' texts; null where a mask says that there is none."""


def columns_of(piece: bytes) -> Columns:
    """Return the columns of whole rows of a COPY, letters as their codes and `currency` as one number."""
    rows = LAYOUT.rows_in(piece)
    columns = {name: np.empty(len(rows), _LETTERS.get(kind, kind)) for name, kind in _COPIED.items()}
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[start : start + _ROWS_AT_ONCE]
        for name, column in columns.items():
            column[start : start + len(some)] = _numbers(some[name])
    return columns


def join_columns(pieces: Iterable[bytes]) -> Columns:
    """Return the columns of all pieces of a COPY."""
    parts = [columns_of(piece) for piece in pieces] or [columns_of(b"")]
    return {name: np.concatenate([part[name] for part in parts]) for name in LAYOUT.names}


def observations_batch(iid: pa.Array, columns: Columns, dictionaries: Dictionaries) -> pa.RecordBatch:
    """Return the rows as a record batch of the dataset `observations`; `iid` is the name of each row's item.

    Besides what is copied, columns have what each row's item holds: `per`, `numerator`, `denominator`.
    """
    listed = columns["list"] >= 0
    currency = dictionaries.encode("currency", columns["currency"])
    units = np.array([10 ** (_SCALE - minor_digits(code)) for code in currency.dictionary.to_pylist()], "u8")
    factors = units.take(np.asarray(currency.indices))
    digits = np.array([minor_digits(code) for code in currency.dictionary.to_pylist()], "i8")
    stated = columns["per"] != NO_UNIT
    arrays = {
        "iid": iid,
        "day": pa.array(columns["day"] + np.int32(EPOCH_DAYS)).view(pa.date32()),
        "currency": currency,
        **{name: dictionaries.encode(name, columns[name]) for name in ("channel", "kind", "source")},
        "price": _decimals(columns["price"], factors, None),
        "price_minor": pa.array(columns["price"]),
        "list_price": _decimals(np.where(listed, columns["list"], 0), factors, listed),
        "list_minor": pa.array(columns["list"], mask=~listed),
        "units": pa.array(columns["units"]),
        "outlier": dictionaries.encode("outlier", columns["outlier"], columns["outlier"] == ord(NONE)),
        "unit_price": _unit_prices(columns, digits.take(np.asarray(currency.indices)), stated),
        "unit_price_per": dictionaries.encode("unit_price_per", columns["per"], ~stated),
    }
    return pa.RecordBatch.from_arrays([arrays[name] for name in SCHEMA.names], schema=SCHEMA)


class SharedDictionaries:
    """One dictionary for all batches of a file: a format that repeats dictionaries then writes each once."""

    def __init__(self, channels: Mapping[int, str], sources: Mapping[int, str]) -> None:
        names = {"channel": channels, "source": sources, "kind": _KINDS, "outlier": _CAUSES, "unit_price_per": _UNITS}
        self._tables = {column: _Names(texts) for column, texts in names.items()}
        self._currencies: list[str] = []

    def encode(self, column: str, numbers: Array, absent: Array | None = None) -> pa.DictionaryArray:
        """Return a dictionary array whose dictionary holds all names, or all currencies met so far."""
        if column in self._tables:
            return self._tables[column].encode(numbers, absent)
        return self._encode_currencies(numbers)

    def _encode_currencies(self, codes: Array) -> pa.DictionaryArray:
        if len(codes) and (codes == codes[0]).all():  # the usual case, and much cheaper than sorting
            distinct, inverse = codes[:1], np.zeros(len(codes), "i8")
        else:
            distinct, inverse = np.unique(codes, return_inverse=True)
        names = [_currency(code) for code in distinct.tolist()]
        self._currencies += [name for name in names if name not in self._currencies]
        positions = np.array([self._currencies.index(name) for name in names], "i4")
        return pa.DictionaryArray.from_arrays(
            pa.array(positions.take(inverse)), pa.array(self._currencies, pa.string())
        )


class OwnDictionaries:
    """A dictionary of the texts that this batch has, in their order: a text elsewhere does not change this file."""

    def __init__(self, channels: Mapping[int, str], sources: Mapping[int, str]) -> None:
        self._names = {
            "channel": channels,
            "source": sources,
            "kind": _KINDS,
            "outlier": _CAUSES,
            "unit_price_per": _UNITS,
        }

    def encode(self, column: str, numbers: Array, absent: Array | None = None) -> pa.DictionaryArray:
        """Return a dictionary array of the texts present. The batch must have rows."""
        if absent is not None and absent.all():
            return pa.DictionaryArray.from_arrays(pa.nulls(len(numbers), pa.int32()), pa.array([], pa.string()))
        if absent is not None:
            numbers = np.where(absent, numbers[~absent].min(), numbers)
        least = int(numbers.min())
        present = (np.flatnonzero(np.bincount(numbers - least)) + least).tolist()
        texts = {number: self._text(column, number) for number in present}
        present.sort(key=lambda number: texts[number])
        positions = np.zeros(max(present) - least + 1, "i4")
        positions[np.array(present) - least] = np.arange(len(present))
        values = pa.array([texts[number] for number in present], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(positions[numbers - least], mask=absent), values)

    def _text(self, column: str, number: int) -> str:
        return _currency(number) if column == "currency" else self._names[column][number]


class _Names:
    """A small table from number to name, by plain indexing."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._texts = pa.array(list(names.values()), pa.string())
        self._places = np.zeros(max(names, default=0) + 1, "i4")
        self._places[list(names)] = np.arange(len(names))

    def encode(self, numbers: Array, absent: Array | None) -> pa.DictionaryArray:
        # A number without a name is the first one's place: readers check the places of nulls too.
        return pa.DictionaryArray.from_arrays(pa.array(self._places.take(numbers), mask=absent), self._texts)


def _numbers(values: Array) -> Array:
    """Return numbers as they are, one letter as its code, and three letters as one number.

    Numbers are compared and sorted many times faster than texts.
    """
    if values.dtype.kind != "S":
        return values
    if values.dtype.itemsize == 1:
        return values.view("u1")
    letters = np.frombuffer(values.tobytes(), "u1").reshape(-1, values.dtype.itemsize)
    numbers: Array = letters.astype("i4") @ np.array([65536, 256, 1], "i4")
    return numbers


def _currency(code: int) -> str:
    return code.to_bytes(3, "big").decode()


def _unit_prices(columns: Columns, digits: Array, stated: Array) -> pa.Array:
    """Return decimal(38, 6) of the rows whose items state a content, null for the others."""
    rows = np.flatnonzero(stated)
    held = Contents(columns["numerator"].take(rows), columns["denominator"].take(rows))
    values = unit_prices(columns["price"].take(rows), digits.take(rows), held)
    words = np.zeros((len(stated), 2), "u8")
    if values.dtype == object:
        words[rows] = [(value & _WORD, value >> 64) for value in values]
    else:
        words[rows, 0] = values
    bitmap = pa.py_buffer(np.packbits(stated, bitorder="little"))
    return pa.Array.from_buffers(pa.decimal128(38, DECIMALS), len(stated), [bitmap, pa.py_buffer(words)])


def _decimals(minor: Array, factors: Array, valid: Array | None) -> pa.Array:
    """Return decimal(20, 4): 128 bits, of which amounts, never negative, fill the lower 64."""
    words = np.zeros((len(minor), 2), "u8")
    np.multiply(minor.astype("u8"), factors, out=words[:, 0])
    bitmap = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(pa.decimal128(20, _SCALE), len(minor), [bitmap, pa.py_buffer(words)])
