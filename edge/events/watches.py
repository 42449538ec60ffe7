"""/watches: an organization's watches, and their reports."""

from functools import partial

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema

from edge.events import schemas
from edge.events.feed import EventFeed
from edge.events.schemas import EventList
from edge.events.watch_service import Actor, WatchService, rendered
from edge.http.context import organization_of, principal_of
from edge.http.json import NO_STORE, answers, unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import BODY, PATH, QUERY
from edge.storage.database import Database, Transaction
from edge.storage.idempotency import PARAMETER, IdempotentActs, Outcome, outcome_of, response_of

_TAGS = ["watches"]


class Watches:
    """The handlers."""

    def __init__(self, watches: WatchService, acts: IdempotentActs, feed: EventFeed, lists: Paginator) -> None:
        self._watches = watches
        self._acts = acts
        self._feed = feed
        self._lists = lists

    @docs(
        operationId="createWatch",
        summary="Watch an item, a brand or a category",
        description="Each data load checks the watches of the items that it changes; the event states the item. "
        "A watch of a brand or category covers each of its items, or with `index-moved` its price index.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @json_schema(schemas.NewWatch())
    @answers(schemas.Watch, 201, "The watch; `Location` is its address")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Make a watch."""
        acting, wanted = acting_of(request), request[BODY]

        async def act(database: Database | Transaction) -> Outcome:
            return outcome_of(await self._watches.within(database).add(acting, wanted), 201)

        return created(request, await self._acts.run(request, acting.scope, act, acting.organization))

    @docs(operationId="listWatches", summary="List your organization's watches", tags=_TAGS)
    @querystring_schema(schemas.WatchesQuery())
    @answers(schemas.WatchList, 200, "One page of watches")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        limit = request[QUERY]["limit"]
        find = partial(self._watches.page, acting_of(request), limit)
        response = await self._lists.answer(
            "watches", {"limit": limit}, request[QUERY]["cursor"], find, rendered, lambda row: row["id"]
        )
        response.headers.update(NO_STORE)
        return response

    @docs(operationId="getWatch", summary="Read a watch", tags=_TAGS)
    @match_info_schema(schemas.WatchPath())
    @answers(schemas.Watch, 200, "The watch")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one watch."""
        return unstored_json(await self._watches.one(acting_of(request), request[PATH]["id"]))

    @docs(operationId="pauseWatch", summary="Pause a watch, or resume it", tags=_TAGS)
    @match_info_schema(schemas.WatchPath())
    @json_schema(schemas.WatchChange())
    @answers(schemas.Watch, 200, "The watch as it is now")
    async def change(self, request: web.Request) -> web.StreamResponse:
        """Pause or resume."""
        acting, watch = acting_of(request), request[PATH]["id"]
        await self._watches.pause(acting, watch, paused=request[BODY]["paused"])
        return unstored_json(await self._watches.one(acting, watch))

    @docs(
        operationId="deleteWatch",
        summary="Delete a watch",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "Deleted; its events stay in the feed until they expire"}},
    )
    @match_info_schema(schemas.WatchPath())
    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Delete."""
        acting, watch = acting_of(request), request[PATH]["id"]

        async def act(database: Database | Transaction) -> Outcome:
            await self._watches.within(database).delete(acting, watch)
            return Outcome(204)

        return response_of(await self._acts.run(request, acting.scope, act, acting.organization))

    @docs(
        operationId="listWatchEvents",
        summary="List the events of your watches",
        description="Events of type `watch.fired`, with the same cursors as `/events`.",
        tags=_TAGS,
    )
    @querystring_schema(schemas.WatchEventsQuery())
    @answers(EventList, 200, "One page of events")
    async def events(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page of events."""
        query, organization = request[QUERY], acting_of(request).organization
        return await self._feed.answer(organization, query["after"], query["limit"], ["watch.fired"], dict(query))


def created(request: web.Request, outcome: Outcome) -> web.Response:
    """Answer with what an act made; its address is below the request's."""
    response = response_of(outcome)
    response.headers["Location"] = f"{request.path}/{msgspec.json.decode(outcome.body)['id']}"
    return response


def acting_of(request: web.Request) -> Actor:
    """Return the organization of the caller's key."""
    return Actor(organization_of(request), f"key {principal_of(request).credential_id}")
