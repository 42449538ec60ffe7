"""Rows as text are what other readers of JSON and CSV read as the same rows, however few values a column has."""

import csv
import io
import json
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.money import minor_digits
from workers.bulk.codecs.text import csv_rows, ndjson_rows

_TEXTS = st.sampled_from(["a", "", "x,y", 'q"q', "two\nlines", "\u2028", "ü", "null", "{}"])

_CURRENCIES = ("HKD", "JPY", "KWD", "CLF")

_ROWS = st.integers(1, 40)


@st.composite
def _batches(draw: st.DrawFn) -> Any:
    rows = draw(_ROWS)

    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> Any:
        absent = draw(st.sampled_from([0, 1, 2]))  # nowhere, here and there, everywhere
        strategy = {0: values, 1: st.none() | values, 2: st.none()}[absent]
        return pa.array(draw(st.lists(strategy, min_size=rows, max_size=rows)), kind)

    width = draw(st.sampled_from([1, 50, 10**9]))
    days = st.integers(0, width % 10_000).map(lambda n: date(1990, 1, 1) + timedelta(days=n))
    currencies = draw(st.lists(st.sampled_from(_CURRENCIES[: draw(st.integers(1, 4))]), min_size=rows, max_size=rows))
    prices = [
        None if draw(st.booleans()) and width == 50 else Decimal(draw(st.integers(0, width))).scaleb(-minor_digits(one))
        for one in currencies
    ]
    off = draw(st.sampled_from([0, 0, 1]))  # the price in minor units, or another number
    minor = [
        None if price is None else int(price.scaleb(minor_digits(one))) + off
        for price, one in zip(prices, currencies, strict=True)
    ]
    columns = {
        "iid": pa.array([f"IID-{n % 7}" for n in range(rows)]),
        "day": column(days, pa.date32()),
        "channel": column(_TEXTS, pa.string()).dictionary_encode(),
        "currency": pa.array(currencies).dictionary_encode(),
        "price": pa.array(prices, pa.decimal128(20, 4)),
        "price_minor": pa.array(minor, pa.int64()),
        "count": column(st.integers(0, width), pa.int64()),
        "name": column(_TEXTS, pa.string()),
    }
    names = draw(st.permutations(list(columns)))
    return pa.RecordBatch.from_arrays([columns[name] for name in names], names)


def _expected(row: dict[str, Any]) -> dict[str, Any]:
    day, price = row["day"], row["price"]
    digits = minor_digits(row["currency"])
    return {
        **row,
        "day": day.isoformat() if day is not None else None,
        "price": f"{price:.{digits}f}" if price is not None else None,
    }


@settings(max_examples=40)
@given(batch=_batches())
def test_ndjson_and_csv_are_read_as_the_same_rows(batch: Any) -> None:
    lines = bytes(ndjson_rows(batch, batch.schema.names)).decode().split("\n")
    assert lines.pop() == ""
    read = [json.loads(line) for line in lines]
    expected = [_expected(row) for row in batch.to_pylist()]
    assert read == expected
    assert [list(row) for row in read] == [batch.schema.names] * batch.num_rows
    text = bytes(csv_rows(batch, batch.schema.names)).decode()
    cells = [["" if value is None else str(value) for value in row.values()] for row in expected]
    assert list(csv.reader(io.StringIO(text, newline=""))) == cells


def test_no_row_is_no_text() -> None:
    for write in (csv_rows, ndjson_rows):
        batch = pa.RecordBatch.from_arrays([pa.array([], pa.string()), pa.array([], pa.date32())], ["name", "day"])
        assert bytes(write(batch, ["name", "day"])) == b"", write
