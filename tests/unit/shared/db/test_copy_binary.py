"""The codec of binary COPY, judged by psycopg's own and by bytes that PostgreSQL documents."""

import struct

import numpy as np
import pytest

from shared.db.copy_binary import HEADER, TRAILER, CopyFormatError, RowLayout, TableLayout

COLUMNS = (("id", "i8"), ("day", "i4"), ("source", "i2"), ("currency", "S3"))


def row(*values: bytes | None) -> bytes:
    """Return a row as the documentation says."""
    parts = [struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value for value in values]
    return struct.pack(">h", len(values)) + b"".join(parts)


FIRST = row(struct.pack(">q", 7), struct.pack(">i", -3), struct.pack(">h", 2), b"EUR")

SECOND = row(struct.pack(">q", -1), struct.pack(">i", 9), struct.pack(">h", 0), b"JPY")


def test_rows_are_read_as_the_documentation_lays_them_out() -> None:
    for data in (HEADER + FIRST + SECOND + TRAILER, FIRST + SECOND, HEADER + FIRST + SECOND):
        table = TableLayout(COLUMNS).rows_in(data)
        assert [table[name].tolist() for name, _ in COLUMNS] == [[7, -1], [-3, 9], [2, 0], [b"EUR", b"JPY"]]


def test_a_stream_without_rows_is_an_empty_table() -> None:
    for data in (b"", HEADER, HEADER + TRAILER, TRAILER):
        assert len(TableLayout(COLUMNS).rows_in(data)) == 0, data


def test_written_rows_are_the_same_bytes() -> None:
    layout = TableLayout(COLUMNS)
    table = layout.blank(2)
    table["id"], table["day"], table["source"], table["currency"] = [7, -1], [-3, 9], [2, 0], [b"EUR", b"JPY"]
    assert table.tobytes() == FIRST + SECOND


def test_a_column_that_is_null_in_every_row_has_a_length_and_no_value() -> None:
    layout = TableLayout(COLUMNS, nulls=("day",))
    table = layout.blank(1)
    table["id"], table["source"], table["currency"] = 7, 2, b"EUR"
    assert table.tobytes() == row(struct.pack(">q", 7), None, struct.pack(">h", 2), b"EUR")
    assert layout.names == ["id", "source", "currency"]


@pytest.mark.parametrize(
    "data",
    [
        HEADER + FIRST[:-1],
        HEADER + FIRST + b"\x00",
        row(struct.pack(">q", 7), struct.pack(">i", 1), None, b"EUR"),
        FIRST + struct.pack(">h", 5) + SECOND[2:],
    ],
)
def test_rows_of_another_width_or_of_other_columns_are_refused(data: bytes) -> None:
    with pytest.raises(CopyFormatError):
        TableLayout(COLUMNS).rows_in(data)


def test_a_row_with_values_of_any_width_is_packed() -> None:
    layout = RowLayout(("S1", "i4", "i8"), values=3)
    expected = row(b"b", struct.pack(">i", 4), struct.pack(">q", 8), b"", None, b"packed")
    assert layout.pack((b"b", 4, 8), (b"", None, b"packed")) == expected


def test_a_table_is_a_view_of_what_was_read() -> None:
    data = bytearray(FIRST)
    assert np.shares_memory(TableLayout(COLUMNS).rows_in(data), np.frombuffer(data, "u1"))
