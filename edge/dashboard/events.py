"""The page of the log of events, the newest first."""

from typing import Any

from aiohttp import web

from edge.dashboard.event_words import words_of
from edge.dashboard.session_guard import PageError, SignedIn, render
from edge.events.feed import EventFeed
from shared.events import KEPT_DAYS, TYPES

_LISTED = 50


class EventPages:
    """The handler. Every member reads."""

    def __init__(self, feed: EventFeed) -> None:
        self._feed = feed

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One page of events, of one type where the address names one."""
        chosen = request.query.get("type", "")
        if chosen and chosen not in TYPES:
            raise PageError(400, "There is no such type of events.")
        organization = visitor.acting.membership.organization_id
        types = [chosen] if chosen else None
        events = await self._feed.newest(organization, _cursor(request), _LISTED + 1, types)
        listed = [(event, words_of(event["type"], event["data"])) for event in events[:_LISTED]]
        older = events[_LISTED - 1]["cursor"] if len(events) > _LISTED else None
        values: dict[str, Any] = {"events": listed, "older": older, "types": TYPES, "chosen": chosen, "days": KEPT_DAYS}
        return render(request, "events.html", visitor, **values)


def _cursor(request: web.Request) -> int | None:
    text = request.query.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise PageError(400, "This address names no page of the log.")
    return int(text)
