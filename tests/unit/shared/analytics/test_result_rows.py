"""Rows of a result are written as the bytes of those that come back from Arrow."""

import io
from datetime import date
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.analytics import results as formats
from shared.analytics.manifest import MEDIA_TYPES
from shared.analytics.results import Rows

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

AMOUNTS = (st.integers(0, 10**30) | st.integers(0, 10**15).map(lambda minor: minor * 10**4)).map(
    lambda millionths: Decimal(millionths).scaleb(-6, EXACT)
)

ROWS_COLUMNS = st.lists(
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


def _rows(rows: list[tuple[Any, ...]]) -> Rows:
    return Rows.of([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def _written(rows: Rows, format: str) -> tuple[dict[str, Any], bytes]:
    sink = io.BytesIO()
    meta = formats.write(rows, lambda digest: {"digest": digest}, format, sink)
    return meta, sink.getvalue()


@pytest.mark.parametrize("format", MEDIA_TYPES)
def test_the_bytes_are_those_of_arrows_table(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    monkeypatch.setattr(formats, "_ROWS_AT_ONCE", 2)  # more rows come in pieces, and as few as these in one

    @settings(max_examples=30)
    @given(rows=ROWS_COLUMNS)
    def check(rows: list[tuple[Any, ...]]) -> None:
        given = _rows(rows)
        back = Rows.of(given.table().to_pylist(), SCHEMA)
        assert _written(given, format) == _written(back, format)
        assert formats.digest(given) == formats.digest(back)

    check()


@given(rows=ROWS_COLUMNS)
def test_the_table_has_the_rows_with_decimals_of_any_size(rows: list[tuple[Any, ...]]) -> None:
    table = _rows(rows).table()
    table.validate(full=True)
    assert _rows(rows).num_rows == table.num_rows == len(rows)
    for row, (period, currency, observations, mean, median, channels) in zip(table.to_pylist(), rows, strict=True):
        assert row == {
            "period": period,
            "currency": currency,
            "observations": observations,
            "mean": mean,
            "median": median,
            "channels": channels,
        }
