"""The four formats of a result hold the same rows."""

import csv
import hashlib
import io
import json
import subprocess
import sys
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from shared.analytics import results as formats
from shared.analytics.manifest import MEDIA_TYPES
from shared.analytics.results import Rows

META = {"rows": 3, "from": date(2026, 7, 1), "method": "exact"}


def with_meta(digest: str) -> dict[str, Any]:
    return META


SCHEMA_FORMATS = pa.schema(
    [
        ("brand", pa.string()),
        ("period", pa.date32()),
        ("currency", pa.string()),
        ("median", pa.decimal128(38, 6)),
        ("share", pa.float64()),
        ("by_channel", pa.list_(pa.struct([("channel", pa.string()), ("low", pa.decimal128(38, 6))]))),
    ]
)

ANSWER = Rows.of(
    [
        {
            "brand": "vita",
            "period": date(2026, 7, 1),
            "currency": "HKD",
            "median": Decimal("10.9"),
            "share": 0.5,
            "by_channel": [{"channel": "NORTH", "low": Decimal("9")}],
        },
        {
            "brand": '=1+"2"',
            "period": date(2026, 8, 1),
            "currency": "JPY",
            "median": Decimal("100.25"),
            "share": None,
            "by_channel": [],
        },
        {"brand": None, "period": None, "currency": "KWD", "median": None, "share": 1.0, "by_channel": None},
    ],
    SCHEMA_FORMATS,
)


def written(format: str) -> bytes:
    sink = io.BytesIO()
    formats.write(ANSWER, with_meta, format, sink)
    assert not sink.closed
    return sink.getvalue()


def test_json_has_money_as_text_with_its_currencys_digits_and_days_as_iso() -> None:
    document = json.loads(written("json"))
    assert document["meta"] == {"rows": 3, "from": "2026-07-01", "method": "exact"}
    first, second, third = document["data"]
    assert first == {
        "brand": "vita",
        "period": "2026-07-01",
        "currency": "HKD",
        "median": "10.90",
        "share": 0.5,
        "by_channel": [{"channel": "NORTH", "low": "9.00"}],
    }
    assert second["median"] == "100.25"
    assert third == {"brand": None, "period": None, "currency": "KWD", "median": None, "share": 1.0, "by_channel": None}


def test_ndjson_has_the_rows_of_the_json_one_a_line() -> None:
    lines = written("ndjson").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(written("json"))["data"]


def test_csv_is_quoted_by_the_standard_and_no_cell_is_a_formula() -> None:
    raw = written("csv").decode()
    assert raw.count("\r\n") == 4
    head, first, second, third = csv.reader(io.StringIO(raw, newline=""))
    assert head == SCHEMA_FORMATS.names
    assert first == ["vita", "2026-07-01", "HKD", "10.90", "0.5", '[{"channel":"NORTH","low":"9.00"}]']
    assert second[0] == '\'=1+"2"'
    assert third == ["", "", "KWD", "", "1.0", ""]


def test_parquet_keeps_types_and_the_meta() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(written("parquet")))
    assert table.schema.equals(SCHEMA_FORMATS)
    assert json.loads(table.schema.metadata[formats.META_KEY])["rows"] == 3
    assert table.to_pylist() == ANSWER.table().to_pylist()


def test_the_same_rows_give_the_same_bytes() -> None:
    for format in MEDIA_TYPES:
        assert written(format) == written(format), format
    rows = ANSWER.table().to_pylist()
    assert formats.digest(ANSWER) != formats.digest(Rows.of(rows[1:], SCHEMA_FORMATS))


@pytest.mark.parametrize("format", MEDIA_TYPES)
@pytest.mark.parametrize("at_once", [1, 2, 4096])
def test_the_meta_is_made_of_the_digest_of_the_rows_as_ndjson(
    monkeypatch: pytest.MonkeyPatch, format: str, at_once: int
) -> None:
    expected = hashlib.sha256(written("ndjson")).hexdigest()
    whole = written(format)
    monkeypatch.setattr(formats, "_ROWS_AT_ONCE", at_once)
    sink = io.BytesIO()
    assert formats.write(ANSWER, lambda digest: {**META, "digest": digest}, format, sink) == {
        **META,
        "digest": expected,
    }
    assert formats.digest(ANSWER) == expected
    if format != "parquet":
        assert written(format) == whole


def test_no_rows_are_an_answer_too() -> None:
    for format in MEDIA_TYPES:
        sink = io.BytesIO()
        formats.write(Rows.of([], SCHEMA_FORMATS), with_meta, format, sink)
        raw = sink.getvalue()
        expected = {"json": b'{"data":[],"meta":', "csv": b"brand,period", "ndjson": b"", "parquet": b"PAR1"}[format]
        assert raw.startswith(expected), format
        assert format != "ndjson" or raw == b"", format


def test_negative_amounts_stay_numbers_and_texts_that_begin_like_formulas_do_not() -> None:
    rows = Rows(pa.schema([("a", pa.string())]), [["-1.5", "-1+1", "@x", "\tx", "＝1+1", "＋1", "－1", "＠x", "plain"]])
    sink = io.BytesIO()
    formats.write(rows, with_meta, "csv", sink)
    assert [row[0] for row in csv.reader(io.StringIO(sink.getvalue().decode(), newline=""))][1:] == [
        "-1.5",
        "'-1+1",
        "'@x",
        "'\tx",
        "'＝1+1",
        "'＋1",
        "'－1",
        "'＠x",
        "plain",
    ]


def test_the_schema_orders_the_columns_and_what_a_row_lacks_is_none() -> None:
    rows = [dict(reversed(row.items())) for row in ANSWER.table().to_pylist()]
    rows[2].pop("brand")
    assert formats.digest(Rows.of(rows, SCHEMA_FORMATS)) == formats.digest(ANSWER)


def test_the_first_nested_rows_of_a_process_import_nothing() -> None:
    """An import of a second blocks an edge's event loop, and its watchdog ends the process, again and again."""
    script = """
import io
import sys
import edge.server
from edge.analytics.sustainability import SCHEMA
from shared.analytics import results as formats
before = set(sys.modules)
rows = formats.Rows.of([{"indicator": "co2e_kg"}], SCHEMA)
formats.write(rows, lambda digest: {}, "json", io.BytesIO())
print(sorted(set(sys.modules) - before))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
