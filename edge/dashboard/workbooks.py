"""Files of a finished report as workbooks of Excel."""

import io
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from edge.dashboard.result_files import Cell, ResultColumn, ResultFile, rows_of

_NUMBER_FORMATS = {"amount": "#,##0.00", "day": "d mmm yyyy"}
# What XML, and with it a workbook, cannot hold.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_WIDTH_MAX = 48


def xlsx_of(columns: Sequence[ResultColumn], title: str, remarks: Sequence[str]) -> ResultFile:
    """Return a workbook: the rows with their headings frozen, and a second sheet that says what they are."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Rows")
    sheet.freeze_panes = "A2"
    for number, column in enumerate(columns, 1):
        longest = max((len(str(value)) for value in (column.heading, *column.cells[:200])), default=8)
        sheet.column_dimensions[get_column_letter(number)].width = min(longest + 2, _WIDTH_MAX)
    sheet.append([_bold(sheet, column.heading) for column in columns])
    for row in rows_of(columns):
        sheet.append([_excel_cell(sheet, value) for value in row])
    about = book.create_sheet("About")
    about.column_dimensions["A"].width = 100
    about.append([_bold(about, title)])
    for remark in remarks:
        about.append([_excel_cell(about, remark)])
    content = io.BytesIO()
    book.save(content)
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return ResultFile(content.getvalue(), media_type, "xlsx")


def _excel_cell(sheet: Any, value: Cell) -> Any:
    """Return a cell whose text is text, also where it begins as a formula does."""
    if isinstance(value, str):
        made = WriteOnlyCell(sheet, _NOT_XML.sub("\ufffd", value))
        made.data_type = "s"
        return made
    made = WriteOnlyCell(sheet, value)
    if isinstance(value, Decimal):
        made.number_format = _NUMBER_FORMATS["amount"]
    elif isinstance(value, date):
        made.number_format = _NUMBER_FORMATS["day"]
    return made


def _bold(sheet: Any, text: str) -> Any:
    made = _excel_cell(sheet, text)
    made.font = Font(bold=True)
    return made
