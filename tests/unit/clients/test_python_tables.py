"""Reports as tables: the types of columns are those of the document, whatever the values."""

from decimal import Decimal
from typing import Any

import matplotlib as mpl
import polars
import pyarrow
from itemindex_client import Report, schemas

mpl.use("agg")

MONEY = pyarrow.decimal128(38, 6)

FIRST: dict[str, Any] = {"period": "2026-07-01", "items": 3, "p10": "1.50", "p50": None, "p90": "0.1"}

SECOND: dict[str, Any] = {"period": "2026-07-08", "items": 4, "p10": "2.123456", "p50": "3.10", "p90": "0.3"}

SHARES = [{"channel": "WELLCOME", "observations": 3, "share": 0.5}]


def report(*rows: Any) -> Report[schemas.CohortRow]:
    return Report(list(rows), {}, schemas.CohortRow)


def test_pandas_has_floats_and_days_that_can_be_plotted() -> None:
    frame = report(FIRST, SECOND).to_pandas()
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "period": "datetime64[us]",
        "items": "int64",
        "p10": "float64",
        "p50": "float64",
        "p90": "float64",
    }
    axes = frame.set_index("period")[["p10", "p50", "p90"]].plot()
    assert [len(line.get_ydata()) for line in axes.get_lines()] == [2, 2, 2]
    assert frame.p50.mean() == 3.1 and frame.period.dt.day.tolist() == [1, 8]


def test_pandas_has_exact_decimals_on_request() -> None:
    frame = report(FIRST, SECOND).to_pandas(exact=True)
    assert frame.p10.tolist() == [Decimal("1.50"), Decimal("2.123456")] and frame.p50[0] is None
    assert frame.p90.sum() == Decimal("0.4")


def test_arrow_and_polars_have_decimals_and_days() -> None:
    table = report({**FIRST, "channels": SHARES}, SECOND).to_arrow()
    assert [table.schema.field(name).type for name in ("period", "p10", "items")] == [
        pyarrow.date32(),
        MONEY,
        pyarrow.int64(),
    ]
    assert table["p50"].to_pylist() == [None, Decimal("3.100000")]
    assert table["channels"].to_pylist() == [SHARES, None]
    frame = report(FIRST, SECOND).to_polars()
    assert frame.schema["p10"] == polars.Decimal(38, 6) and frame.schema["period"] == polars.Date


def test_the_types_do_not_depend_on_the_values() -> None:
    blank = report(FIRST, {**FIRST, "p10": None}).to_arrow()
    assert blank.schema.field("p10").type == blank.schema.field("p50").type == MONEY
    empty = report()
    assert empty.to_arrow().schema.field("p50").type == MONEY
    assert str(empty.to_pandas().dtypes["p50"]) == "float64" and len(empty.to_polars()) == 0


def test_a_member_that_the_document_lacks_stays_a_column_and_a_missing_whole_number_is_none() -> None:
    rows = report({**FIRST, "new": "x"}, {**SECOND, "items": None})
    frame = rows.to_pandas()
    assert list(frame.columns) == [*FIRST, "new"] and str(frame["items"].dtype) == "float64"
    assert rows.to_arrow()["new"].to_pylist() == ["x", None]


def test_every_row_of_the_document_becomes_columns_of_known_types() -> None:
    for name in [name for name in vars(schemas) if name.endswith("Row")]:
        schema = Report([], {}, getattr(schemas, name)).to_arrow().schema
        assert len(schema) > 3 and pyarrow.null() not in schema.types, name
