"""Statistics of use as /org and the dashboard give them: which days, and the CSV."""

import csv
import io
from datetime import date, timedelta
from typing import Any

from aiohttp import web

from shared.clock import utc_now
from shared.errors import InvalidParameter

USAGE_COLUMNS = ("day", "endpoint", "outcome", "credential", "calls", "units")
_DAYS_MAX = 366


def usage_range(first: date | None, last: date | None) -> tuple[date, date]:
    """Fill in the days asked for: the last 30. Raises InvalidParameter for a range that is none, or too long."""
    last = last or utc_now().date()
    first = first or last - timedelta(days=29)
    if not timedelta(0) <= last - first < timedelta(days=_DAYS_MAX):
        raise InvalidParameter("from", f"must be a day not after `to`, {_DAYS_MAX} days before it at most")
    return first, last


def usage_csv(rows: list[dict[str, Any]]) -> web.Response:
    """Make a CSV (RFC 4180) of statistics of use. Every cell is ours: no caller's text is in it."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(USAGE_COLUMNS)
    writer.writerows([row[name] for name in USAGE_COLUMNS] for row in rows)
    fields = {"Cache-Control": "no-store", "Content-Disposition": 'attachment; filename="usage.csv"'}
    return web.Response(text=text.getvalue(), content_type="text/csv", headers=fields)
