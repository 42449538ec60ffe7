"""Rows as plain columns are written as the bytes that Arrow's table of them gives."""

import io
from datetime import date
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.analytics import results as formats
from shared.analytics.results import Columns

SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("currency", pa.string()),
        ("observations", pa.int64()),
        ("mean", pa.decimal128(38, 6)),
        ("median", pa.decimal128(38, 6)),
        ("channels", pa.list_(pa.struct([("channel", pa.string()), ("share", pa.float64())]))),
    ]
)
EXACT = Context(prec=60)
AMOUNTS = st.integers(0, 10**30) | st.integers(0, 10**15).map(lambda minor: minor * 10**4)
ROWS = st.lists(
    st.tuples(
        st.dates(date(1900, 1, 1)),
        st.sampled_from(["JPY", "HKD", "KWD", "CLF"]),
        st.integers(0, 2**62),
        st.none() | AMOUNTS,
        AMOUNTS,
        st.lists(
            st.builds(lambda channel, share: {"channel": channel, "share": share}, st.text(), st.floats(0, 1)),
            max_size=3,
        ),
    ),
    max_size=5,
)


def _columns(rows: list[tuple[Any, ...]]) -> Columns:
    return Columns(SCHEMA, [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in SCHEMA])


def _written(rows: pa.Table | Columns, format: str) -> tuple[dict[str, Any], bytes]:
    sink = io.BytesIO()
    meta = formats.write(rows, lambda digest: {"digest": digest}, format, sink)
    return meta, sink.getvalue()


@pytest.mark.parametrize("at_once", [2, 4096])
@pytest.mark.parametrize("format", formats.MEDIA_TYPES)
def test_the_bytes_are_those_of_arrows_table(monkeypatch: pytest.MonkeyPatch, format: str, at_once: int) -> None:
    monkeypatch.setattr(formats, "_ROWS_AT_ONCE", at_once)

    @given(rows=ROWS)
    def check(rows: list[tuple[Any, ...]]) -> None:
        columns = _columns(rows)
        assert _written(columns, format) == _written(columns.table(), format)
        assert formats.digest(columns) == formats.digest(columns.table())

    check()


@given(rows=ROWS)
def test_the_table_has_the_rows_with_decimals_of_any_size(rows: list[tuple[Any, ...]]) -> None:
    columns = _columns(rows)
    table = columns.table()
    table.validate(full=True)
    assert columns.num_rows == table.num_rows == len(rows)
    for row, (period, currency, observations, mean, median, channels) in zip(table.to_pylist(), rows, strict=True):
        assert row == {
            "period": period,
            "currency": currency,
            "observations": observations,
            "mean": None if mean is None else Decimal(mean).scaleb(-6, EXACT),
            "median": Decimal(median).scaleb(-6, EXACT),
            "channels": channels,
        }
