"""GET /events: the log of events of one organization, by page."""

import json
from collections.abc import Callable, Sequence

import asyncpg
from aiohttp import web

from edge.events import schemas
from edge.http.context import organization_of
from edge.http.lists import envelope
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.http.validation import QUERY
from edge.storage.database import Database, Scope
from shared.db.queries import load_queries
from shared.events.types import KEPT_DAYS, Event, event_document

SQL = load_queries(__file__, "events.sql")
_LATER_THAN_ALL = 2**62


class EventFeed:
    """The log, as far as an organization may see it: its own events and those of every organization."""

    def __init__(self, database: Database, data_version: Callable[[], int]) -> None:
        self._database = database
        self._data_version = data_version

    async def answer(
        self, organization: str, after: int | None, limit: int, types: Sequence[str] | None, query: dict[str, object]
    ) -> web.Response:
        """Answer with the events after a cursor. Raises `events-expired` where some of them are no longer kept."""
        events = await self.page(organization, after, limit + 1, types)
        page = events[:limit]
        more = len(events) > limit
        response = envelope(
            page,
            total=len(events),
            exact=not more,
            next_cursor=page[-1].cursor if more else None,
            query=query,
            data_version=self._data_version(),
        )
        response.headers["Cache-Control"] = "no-store"
        return response

    async def page(self, organization: str, after: int | None, limit: int, types: Sequence[str] | None) -> list[Event]:
        """Return at most `limit` events after a cursor, the oldest first. Raises `events-expired`."""
        scope, start = Scope(organization=organization), after or 0
        async with self._database.transaction(scope) as transaction:
            rows = await transaction.fetch(SQL.page, organization, start, types, limit)
            [deleted] = await transaction.fetch(SQL.deleted_up_to)
            oldest = deleted["up_to"]
            # A log that was restored from a backup assigns numbers again: the reader would pass over the first of them.
            is_ahead = start > oldest and not rows
            is_ahead = is_ahead and not await transaction.fetch(SQL.page, organization, start - 1, None, 1)
        if after is not None and after < oldest:
            raise _gap(f"Events are kept for {KEPT_DAYS} days; some after {after} have expired.", oldest)
        if is_ahead:
            raise _gap(f"No event has the cursor {after}; the log may have been restored from a backup.", oldest)
        return [_document(row) for row in rows]

    async def newest(
        self, organization: str, before: int | None, limit: int, types: Sequence[str] | None
    ) -> list[Event]:
        """Return at most `limit` events before a cursor, the newest first; without a cursor the newest of all."""
        scope = Scope(organization=organization)
        rows = await self._database.fetch(
            SQL.newest, organization, _LATER_THAN_ALL if before is None else before, types, limit, scope=scope
        )
        return [_document(row) for row in rows]


def _gap(why: str, oldest: int) -> Problem:
    detail = f"{why} The oldest available event is after {oldest}."
    return Problem("events-expired", detail, extra={"oldest_cursor": str(oldest)})


def _document(row: asyncpg.Record) -> Event:
    return event_document(row["number"], row["id"], row["type"], row["at"], json.loads(row["data"]))


class EventFeedHandlers:
    def __init__(self, feed: EventFeed) -> None:
        self._feed = feed

    @operation(
        "events",
        "listEvents",
        schemas.EventsQuery,
        answers={200: (schemas.EventList, "One page of events")},
        description="Events of your organization and of the index in the order in which they happened; kept for "
        f"{KEPT_DAYS} days. Store the `cursor` of the last event, and request those `after` it. If some of these "
        "have expired, the response is 410 with the oldest cursor.",
    )
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List events after a cursor."""
        query, organization = request[QUERY], organization_of(request)
        return await self._feed.answer(organization, query["after"], query["limit"], query["type"], dict(query))
