"""GET /events."""

from aiohttp import web
from aiohttp_apispec import docs, querystring_schema, response_schema

from edge.events import schemas
from edge.events.feed import EventFeed
from edge.http.context import organization_of
from edge.http.parameters import QUERY
from shared.events import KEPT_DAYS


class Events:
    """The handler."""

    def __init__(self, feed: EventFeed) -> None:
        self._feed = feed

    @docs(
        operationId="listEvents",
        summary="List events after a cursor",
        description="Events of your organization and of the index in the order in which they happened; kept for "
        f"{KEPT_DAYS} days. Keep the `cursor` of the last one and ask for those `after` it. Where events after it are "
        "no longer kept, the answer is a 410 that names the oldest cursor.",
        tags=["events"],
    )
    @querystring_schema(schemas.EventsQuery())
    @response_schema(schemas.EventList(), 200, description="One page of events")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        query, organization = request[QUERY], organization_of(request)
        return await self._feed.answer(organization, query["after"], query["limit"], query["type"], dict(query))
