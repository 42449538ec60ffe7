"""/watches: an organization's watches, and the acts on them, each of them in its audit log."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import asyncpg
import msgspec
from aiohttp import web

from edge.auth.actor import Actor, acting_of
from edge.events import schemas
from edge.events.feed import EventFeed
from edge.events.schemas import EventList, Watch
from edge.http.faults import unknown
from edge.http.json import NO_STORE, unstored_json
from edge.http.lists import Paginator
from edge.http.problems import Problem, invalid_parameters
from edge.http.routing import operation
from edge.http.validation import BODY, PATH, QUERY
from edge.storage.database import Database, Transaction
from edge.storage.idempotency import PARAMETER, IdempotentActs
from shared.analytics.observations import ObservationKind
from shared.clock import rfc3339
from shared.db.queries import load_queries
from shared.events.types import ABSENT_DAYS_DEFAULT, WATCHES_MAX
from shared.index.iid import require_uuid
from shared.money import to_minor, to_text

SQL = load_queries(__file__, "watches.sql")


@dataclass(frozen=True, slots=True)
class WantedWatch:
    """The members of a request for a watch, as `NewWatch` has checked them."""

    target: str
    code: str
    condition: str
    kind: str
    amount: str | None
    currency: str | None
    days: int | None
    percent: float | None
    label: str | None


class WatchService:
    """The watches of organizations."""

    def __init__(self, database: Database | Transaction) -> None:
        self._database = database

    def within(self, database: Database | Transaction) -> Self:
        """Return the service whose acts are part of a transaction, where it is given one."""
        return type(self)(database)

    async def add(self, acting: Actor, wanted: WantedWatch) -> Watch:
        """Make a watch and return it. Raises `invalid-parameter` where the name that it gives does not exist."""
        code = wanted.code.upper() if wanted.target == "article" else wanted.code
        days = ABSENT_DAYS_DEFAULT if wanted.condition == "returned" and wanted.days is None else wanted.days
        amount = None
        if wanted.amount is not None and wanted.currency is not None:
            amount = to_minor(wanted.amount, wanted.currency)
        kind = ObservationKind[wanted.kind.upper()]
        async with self._database.transaction(acting.scope) as transaction:
            [target] = await transaction.fetch(SQL.target_exists, wanted.target, code)
            if not target["found"]:
                noun = "item" if wanted.target == "article" else wanted.target
                raise invalid_parameters([unknown("code", noun, wanted.code)])
            await transaction.fetch(SQL.lock, acting.organization)
            [counted] = await transaction.fetch(SQL.count, acting.organization)
            if counted["total"] >= WATCHES_MAX:
                raise Problem("state-conflict", f"An organization can have {WATCHES_MAX} watches at most; delete some.")
            values = (wanted.label, wanted.target, code, wanted.condition, kind)
            measures = (wanted.currency, amount, days, wanted.percent)
            [added] = await transaction.fetch(SQL.add, acting.organization, *values, *measures, acting.name)
            [row] = await transaction.fetch(SQL.page, acting.organization, None, 1, added["id"])
        return render_watch(row)

    async def find(self, acting: Actor, watch: str) -> Watch:
        """Return a watch. Raises `watch-not-found`."""
        rows = await self._database.fetch(SQL.page, acting.organization, None, 1, _uuid(watch), scope=acting.scope)
        if not rows:
            raise _not_found()
        return render_watch(rows[0])

    async def page(self, acting: Actor, limit: int, after: str | None) -> tuple[list[asyncpg.Record], int]:
        """Return watches after an id, one more than the limit where there are more, and how many there are in all."""
        rows = await self._database.fetch(SQL.page, acting.organization, after, limit + 1, None, scope=acting.scope)
        [counted] = await self._database.fetch(SQL.count, acting.organization, scope=acting.scope)
        return rows, int(counted["total"])

    async def pause(self, acting: Actor, watch: str, *, paused: bool) -> None:
        """Pause a watch, or evaluate it again. Raises `watch-not-found`."""
        values = (acting.organization, _uuid(watch), paused, acting.name)
        if not await self._database.fetch(SQL.pause, *values, scope=acting.scope):
            raise _not_found()

    async def delete(self, acting: Actor, watch: str) -> None:
        """Delete a watch. Raises `watch-not-found`."""
        values = (acting.organization, _uuid(watch), acting.name)
        if not await self._database.fetch(SQL.delete, *values, scope=acting.scope):
            raise _not_found()


def render_watch(row: asyncpg.Record) -> Watch:
    """Return a watch as answers show it."""
    amount, currency = row["amount_minor"], row["currency"]
    return Watch(
        id=row["id"],
        label=row["label"],
        target=row["target"],
        code=row["code"],
        condition=row["condition"],
        kind=ObservationKind(row["kind"]).text,
        amount=None if amount is None else to_text(amount, currency),
        currency=currency,
        days=row["days"],
        percent=row["percent"],
        created_at=rfc3339(row["created_at"]),
        paused_at=rfc3339(row["paused_at"]) if row["paused_at"] else None,
    )


def _uuid(text: str) -> str:
    return require_uuid(text, _not_found())


def _not_found() -> Problem:
    return Problem(
        "watch-not-found", "Your organization has no watch with this ID.", advice="List them at /v1/watches."
    )


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
        acting, wanted = acting_of(request), WantedWatch(**request[BODY])
        return with_location(request, await self._once(request, 201, lambda watches: watches.add(acting, wanted)))

    @_operation("listWatches", schemas.WatchesQuery, answers={200: (schemas.WatchList, "One page of watches")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's watches."""
        limit = request[QUERY]["limit"]
        find = partial(self._watches.page, acting_of(request), limit)
        response = await self._lists.answer(
            "watches", {"limit": limit}, request[QUERY]["cursor"], find, render_watch, lambda row: row["id"]
        )
        response.headers.update(NO_STORE)
        return response

    @_operation("getWatch", schemas.WatchPath, answers={200: (schemas.Watch, "The watch")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Read a watch."""
        return unstored_json(await self._watches.find(acting_of(request), request[PATH]["id"]))

    @_operation(
        "pauseWatch", schemas.WatchPath, schemas.WatchChange, answers={200: (schemas.Watch, "The watch as it is now")}
    )
    async def change(self, request: web.Request) -> web.StreamResponse:
        """Pause a watch, or resume it."""
        acting, watch = acting_of(request), request[PATH]["id"]
        await self._watches.pause(acting, watch, paused=request[BODY]["paused"])
        return unstored_json(await self._watches.find(acting, watch))

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


def with_location(request: web.Request, response: web.Response) -> web.Response:
    """Return the answer with what an act made; its address is below the request's."""
    assert isinstance(response.body, bytes)
    response.headers["Location"] = f"{request.path}/{msgspec.json.decode(response.body)['id']}"
    return response
