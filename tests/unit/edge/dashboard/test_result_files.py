"""Files of a result: names beside ids, figures as numbers, and no text that a spreadsheet would run."""

import csv
import io
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq
from openpyxl import load_workbook

from edge.analytics.period_words import Periods
from edge.analytics.wording import RowContext
from edge.dashboard.result_files import columns_of, csv_of, file_name, parquet_of
from edge.dashboard.workbooks import xlsx_of

NAMES = {"brand": {"vitasoy": "=HYPERLINK(1)"}, "category": {"drinks": "Drinks › Soy"}}
READING = RowContext(Periods("day"), {"p50": "currency"}, NAMES)
ROWS: list[dict[str, Any]] = [
    {
        "period": f"2026-07-{day}",
        "brand": "vitasoy",
        "category": "drinks",
        "currency": "HKD",
        "p50": price,
        "items": 11,
        "share": 0.25,
        "channels": [{"channel": "A", "share": 0.5}],
    }
    for day, price in (("15", "23.00"), ("16", None))
]


def test_a_csv_has_headings_names_and_no_formula() -> None:
    made = csv_of(columns_of(ROWS, READING))
    assert made.content.startswith(b"\xef\xbb\xbf")
    heads, first, second = csv.reader(io.StringIO(made.content.decode("utf-8-sig")))
    row = dict(zip(heads, first, strict=True))
    assert row["Brand"] == "'=HYPERLINK(1)" and row["Brand, code"] == "vitasoy"
    assert row["Category"] == "Drinks › Soy"
    assert row["Period"] == "2026-07-15"
    assert "23.00" in first and "23.00" not in second


def test_a_workbook_has_dates_numbers_and_text_that_stays_text() -> None:
    made = xlsx_of(columns_of(ROWS, READING), "Vitasoy", ["=1+1", "bad \x00 sign"])
    book = load_workbook(io.BytesIO(made.content))
    sheet, about = book["Rows"], book["About"]
    heads = [one.value for one in sheet[1]]
    cells = dict(zip(heads, sheet[2], strict=True))
    assert sheet.freeze_panes == "A2"
    assert cells["Period"].value.date() == date(2026, 7, 15) and cells["Period"].number_format == "d mmm yyyy"
    assert cells["Brand"].value == "=HYPERLINK(1)" and cells["Brand"].data_type == "s"
    [price] = [one for one in sheet[2] if one.number_format == "#,##0.00"]
    assert price.value == 23
    assert [row[0].value for row in about.iter_rows()] == ["Vitasoy", "=1+1", "bad \ufffd sign"]
    assert about["A2"].data_type == "s"


def test_a_parquet_file_has_the_columns_of_the_api_in_types() -> None:
    made = parquet_of(columns_of(ROWS, READING))
    table = pq.read_table(io.BytesIO(made.content))
    row = table.to_pylist()[0]
    assert row["brand_name"] == "=HYPERLINK(1)" and row["brand"] == "vitasoy"
    assert row["p50"] == Decimal("23.00") and row["period"] == date(2026, 7, 15) and row["items"] == 11


def test_a_file_is_named_for_what_is_in_it_and_by_no_hostile_name() -> None:
    july = date(2026, 7, 15), date(2026, 7, 24)
    assert file_name("Vitasoy Price index", *july) == "vitasoy-price-index-2026-07"
    assert file_name("Food Cohort", date(2006, 6, 1), date(2022, 5, 1)) == "food-cohort-2006-06-to-2022-05"
    assert file_name('../"\r\nx: y', None, None) == "x-y"
    assert file_name("豆漿", None, None) == "report"
