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
        wrong = "is not a known channel; a record's `channels` lists those of its item"
        raise InvalidParameter("channel", wrong, row["unknown_channels"][0])
    return row


def range_of(first: date | None, to: date | None, observed: date | None) -> tuple[date, date]:
    """Return the days to answer: 90 up to the last day that holds data, or up to today where none does.

    Without `to` a first day after the last data is the whole range: a program that asks for what is new gets an empty
    answer until there is something. Raises InvalidParameter where `to` is before it.
    """
    last = to or max(observed or utc_now().date(), first or date.min)
    first = first or last - timedelta(days=DEFAULT_DAYS - 1)
    if first > last:
        raise InvalidParameter("from", f"must not be after `to`, which is {last.isoformat()}", first.isoformat())
    return first, last
