"""The reference rates of the European Central Bank: eurofxref-hist.csv, eurofxref.csv, and the XML of both."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from shared.currencies import CODES
from shared.errors import LoadRefused
from workers.ingest import calendar_days
from workers.ingest.batches import Reject

BYTES_MAX = 64 << 20
_RATE = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)
_NONE = ("", "N/A")
_DAY_FORMATS = ("%Y-%-m-%-d", "%d %B %Y")


class RateCell(NamedTuple):
    """One rate as a file writes it, with its line."""

    line: int
    day: str
    currency: str
    text: str


class RateFile(NamedTuple):
    """A file's rates (units of a currency for one euro, by currency and day), rows that cannot be used, and bytes."""

    rates: dict[tuple[str, date], Decimal]
    rejects: list[Reject]
    content: bytes


def read_rate_file(path: Path) -> RateFile:
    """Read a file in any of ECB's forms. Raises LoadRefused for one that is in none of them.

    The file is opened once: it may be a pipe, or be written again meanwhile.
    """
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise LoadRefused(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > BYTES_MAX:
        raise LoadRefused(f"{path}: larger than {BYTES_MAX >> 20} MiB")
    cells = _xml(content, path) if content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") else _csv(content, path)
    published = RateFile({}, [], content)
    for cell in cells:
        _take(published, cell, path.name)
    if not published.rates:
        raise LoadRefused(f"{path}: holds no rate in a form of the European Central Bank")
    return published


def _take(published: RateFile, cell: RateCell, file: str) -> None:
    day, text = calendar_days.parsed(cell.day.strip(), _DAY_FORMATS), cell.text.strip()
    if text in _NONE:
        return
    key = (cell.currency, date.min if day is None else calendar_days.shown(day))
    if cell.currency not in CODES:
        reason = "is no currency (ISO 4217)"
    elif day is None:
        reason = "is no day"
    elif not _RATE.fullmatch(text) or not Decimal(text):
        reason = "is not a rate: no plain number above zero"
    elif published.rates.setdefault(key, Decimal(text)) != Decimal(text):
        reason = "has another rate of the same day in this file"
    else:
        return
    raw = f"{cell.day},{cell.currency},{text}"
    published.rejects.append(Reject(file, cell.line, reason, raw, cell.currency, text))


def _csv(content: bytes, path: Path) -> Iterator[RateCell]:
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        header = [name.strip() for name in next(lines, [])]
        if header[:1] != ["Date"]:
            raise LoadRefused(f"{path}: the first column is not Date, as in eurofxref-hist.csv")
        for row in lines:
            for currency, text in zip(header[1:], row[1:], strict=False):
                if currency:  # ECB ends every line with a comma
                    yield RateCell(lines.line_num, row[0], currency, text)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LoadRefused(f"{path}: is no CSV in UTF-8: {error}") from None


def _xml(content: bytes, path: Path) -> list[RateCell]:
    cells: list[RateCell] = []
    day = ""
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal day
        day = attributes.get("time", day)
        if "currency" in attributes and "rate" in attributes:
            cells.append(RateCell(parser.CurrentLineNumber, day, attributes["currency"], attributes["rate"]))

    def refuse(*declared: object) -> None:
        raise LoadRefused(f"{path}: declares a document type, which files of the ECB do not")

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise LoadRefused(f"{path}: is no XML: {error}") from None
    return cells
