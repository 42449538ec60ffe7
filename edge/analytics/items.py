"""The checks before every read of one item's figures."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from aiohttp import web

from shared.clock import utc_now
from shared.errors import InvalidParameter, ItemNotFound, ItemWithdrawn

DEFAULT_DAYS = 90


class MovedToSurvivor(web.HTTPMovedPermanently):
    """The redirection of a read of a merged item, with the IID of its survivor for pages that have another address."""

    def __init__(self, survivor: str, location: str) -> None:
        super().__init__(location)
        self.survivor = survivor


def require_active_item(row: Any, url: str, channels: Sequence[str], below: str = "", query_string: str = "") -> Any:
    """Return the row of an active item. Raises the domain error of any other item, and of unknown channels.

    The redirection to a survivor keeps the query: without it a caller that follows pays for an unasked answer.
    """
    if row is None:
        raise ItemNotFound
    if row["status"] == "withdrawn":
        raise ItemWithdrawn
    if row["status"] == "merged":
        query = f"?{query_string}" if query_string else ""
        raise MovedToSurvivor(row["survivor_iid"], f"{url}/{row['survivor_iid']}{below}{query}")
    if row["unknown_channels"]:
        raise InvalidParameter("channel", "names no channel; a record's `channels` lists those of its item")
    return row


def range_of(first: date | None, last: date | None) -> tuple[date, date]:
    """Return the days to answer: 90 up to the last day that holds data, or up to today where none does."""
    today = utc_now().date()
    last = last or max(today, first or today)
    first = first or last - timedelta(days=DEFAULT_DAYS - 1)
    if first > last:
        raise InvalidParameter("from", f"must not be after `to`, which is {last.isoformat()}")
    return first, last
