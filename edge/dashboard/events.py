"""The page of the event log."""

from typing import Any

from aiohttp import web

from edge.dashboard.event_words import TITLES, words_of
from edge.dashboard.page_requests import PageError
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.parameters import whole_number
from shared.events.types import KEPT_DAYS, TYPES

_EVENTS_LISTED = 50


class EventPages(Pages):
    """The handler. Every member reads."""

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One page of events, of one type where the address names one."""
        chosen = request.query.get("type", "")
        if chosen and chosen not in TYPES:
            raise PageError(400, "There is no such event type.")
        organization = visitor.acting.organization
        types = [chosen] if chosen else None
        events = await self._services.events.newest(organization, _cursor(request), _EVENTS_LISTED + 1, types)
        listed = [(event, words_of(event.type, event.data)) for event in events[:_EVENTS_LISTED]]
        older = events[_EVENTS_LISTED - 1].cursor if len(events) > _EVENTS_LISTED else None
        values: dict[str, Any] = {
            "events": listed,
            "older": older,
            "types": TYPES,
            "titles": TITLES,
            "chosen": chosen,
            "days": KEPT_DAYS,
        }
        return render(request, "events.html", visitor, **values)


def _cursor(request: web.Request) -> int | None:
    text = request.query.get("before", "")
    if not text:
        return None
    cursor = whole_number(text, 18)
    if cursor is None:
        raise PageError(400, "This page of the log does not exist. Go back to the first page.")
    return cursor
