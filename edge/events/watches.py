"""/watches: an organization's watches, and their reports."""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from aiohttp import web

from edge.events import schemas
from edge.events.feed import EventFeed
from edge.events.schemas import EventList
from edge.events.watch_service import Actor, WatchService, rendered
from edge.http.context import organization_of, principal_of
from edge.http.json import NO_STORE, unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import BODY, PATH, QUERY
from edge.http.routing import operation
from edge.storage.idempotency import PARAMETER, IdempotentActs

_operation = partial(operation, "watches")
_act = partial(_operation, parameters=[PARAMETER])


class Watches:
    def __init__(self, watches: WatchService, acts: IdempotentActs, feed: EventFeed, lists: Paginator) -> None:
        self._watches = watches
        self._acts = acts
        self._feed = feed
        self._lists = lists

    @_act("createWatch", schemas.NewWatch, answers={201: (schemas.Watch, "The watch; `Location` is its address")})
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Watch an item, a brand or a category.

        Each data load checks the watches of the items that it changes; the event states the item. A watch of a brand or
        category covers each of its items, or with `index-moved` its price index.
        """
        acting, wanted = acting_of(request), request[BODY]
        return created(request, await self._once(request, 201, lambda watches: watches.add(acting, wanted)))

    @_operation("listWatches", schemas.WatchesQuery, answers={200: (schemas.WatchList, "One page of watches")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's watches."""
        limit = request[QUERY]["limit"]
        find = partial(self._watches.page, acting_of(request), limit)
        response = await self._lists.answer(
            "watches", {"limit": limit}, request[QUERY]["cursor"], find, rendered, lambda row: row["id"]
        )
        response.headers.update(NO_STORE)
        return response

    @_operation("getWatch", schemas.WatchPath, answers={200: (schemas.Watch, "The watch")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Read a watch."""
        return unstored_json(await self._watches.one(acting_of(request), request[PATH]["id"]))

    @_operation(
        "pauseWatch", schemas.WatchPath, schemas.WatchChange, answers={200: (schemas.Watch, "The watch as it is now")}
    )
    async def change(self, request: web.Request) -> web.StreamResponse:
        """Pause a watch, or resume it."""
        acting, watch = acting_of(request), request[PATH]["id"]
        await self._watches.pause(acting, watch, paused=request[BODY]["paused"])
        return unstored_json(await self._watches.one(acting, watch))

    @_act("deleteWatch", schemas.WatchPath, answers={204: "Deleted; its events stay in the feed until they expire"})
    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Delete a watch."""
        return await self._once(request, 204, lambda watches: watches.delete(acting_of(request), request[PATH]["id"]))

    @_operation("listWatchEvents", schemas.WatchEventsQuery, answers={200: (EventList, "One page of events")})
    async def events(self, request: web.Request) -> web.StreamResponse:
        """List the events of your watches.

        Events of type `watch.fired`, with the same cursors as `/events`.
        """
        query, organization = request[QUERY], acting_of(request).organization
        return await self._feed.answer(organization, query["after"], query["limit"], ["watch.fired"], dict(query))

    async def _once(
        self, request: web.Request, status: int, act: Callable[[WatchService], Awaitable[object]]
    ) -> web.Response:
        acting = acting_of(request)
        return await self._acts.respond(request, acting.scope, self._watches, act, status, acting.organization)


def created(request: web.Request, response: web.Response) -> web.Response:
    """Return the answer with what an act made; its address is below the request's."""
    assert isinstance(response.body, bytes)
    response.headers["Location"] = f"{request.path}/{msgspec.json.decode(response.body)['id']}"
    return response


def acting_of(request: web.Request) -> Actor:
    """Return the organization of the caller's key."""
    return Actor(organization_of(request), f"key {principal_of(request).credential_id}")
