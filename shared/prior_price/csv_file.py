"""Prices of channels from a CSV file with the columns day (or date), price, and optionally channel, time, status and
list_price (or regular_price)."""

import csv
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TextIO

from shared.errors import InvalidFile
from shared.prior_price.reduction import Moment, Status

_NAMES = {"day": ("day", "date"), "list_price": ("list_price", "regular_price")}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
# No exponent: 1E-400 is no price, and amounts are shown digit by digit.
_AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{0,18})?\Z|\.[0-9]{1,18}\Z")
_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")
Channels = dict[str, list[Moment]]


def read(file: TextIO) -> Channels:
    """Return each channel's moments in the order of the file; without the column, the channel is the empty text.

    Raises InvalidFile for a file without rows or a needed column and, with the line, for what cannot be read.
    """
    rows = csv.DictReader(file)
    columns = _columns(rows.fieldnames or ())
    channels: Channels = {}
    try:
        for row in rows:
            if None in row or None in row.values():
                raise ValueError("the row has not as many values as the first line has names")
            channel = _value(row, columns, "channel") or ""
            channels.setdefault(channel, []).append(_moment(row, columns))
    except (ValueError, csv.Error) as error:
        raise InvalidFile(f"line {rows.line_num}: {error}") from None
    if not channels:
        raise InvalidFile("the file has no row below its first line")
    return channels


def _columns(names: Sequence[str]) -> dict[str, str]:
    there = {name.strip().lower(): name for name in names}
    columns = {}
    for column in ("day", "price", "channel", "time", "status", "list_price"):
        known = [there[name] for name in _NAMES.get(column, (column,)) if name in there]
        if known:
            columns[column] = known[0]
            if sum(name.strip().lower() == known[0].strip().lower() for name in names) > 1:
                raise InvalidFile(f"the first line names the column `{column}` twice")
    for needed in ("day", "price"):
        if needed not in columns:
            raise InvalidFile.without_column(f"the first line names no column `{needed}`", names)
    return columns


def _moment(row: dict[str, str], columns: dict[str, str]) -> Moment:
    day, time = _value(row, columns, "day"), _value(row, columns, "time") or "00:00"
    price, listed = (_amount(_value(row, columns, name)) for name in ("price", "list_price"))
    status = _value(row, columns, "status")
    if not _TIME.match(time):
        raise ValueError("a time is written HH:MM")
    if not _DAY.match(day or ""):
        raise ValueError("a day is written YYYY-MM-DD")
    if status is not None and status not in list(Status):
        raise ValueError(f"a status is one of: {', '.join(Status)}")
    known = (Status.UNOBSERVED if price is None else Status.OFFERED) if status is None else Status(status)
    if known == Status.OFFERED and price is None:
        raise ValueError("an offered price is missing")
    return Moment(date.fromisoformat(day or ""), time, price, known, listed)


def _value(row: dict[str, str], columns: dict[str, str], column: str) -> str | None:
    text = row.get(columns.get(column, ""))
    return text.strip() or None if text else None


def _amount(text: str | None) -> Decimal | None:
    if text is None:
        return None
    if not _AMOUNT.match(text):
        raise ValueError("a price is a plain decimal number that is not negative, such as 12.50")
    return Decimal(text)
