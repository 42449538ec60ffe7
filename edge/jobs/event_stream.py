"""GET /jobs/{id}/events: the progress of a job as Server-Sent Events."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

import msgspec
from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter

from edge.http.context import principal_of
from edge.http.problems import Problem, retry_later
from edge.http.routing import operation
from edge.http.validation import PATH
from edge.jobs import schemas
from edge.jobs.orders import JobOrders, Order
from edge.jobs.serializer import JobSerializer
from edge.jobs.waiters import wait_for_change
from edge.quota.concurrency import ConcurrencyLimit
from shared.errors import JobNotFound, StoreUnavailable
from shared.organizations.accounts import Principal

CONTENT_TYPE = "text/event-stream"
# Notifications say when a row has changed; reading it without one makes up for a notification that was lost.
POLL_SECONDS = 10.0
_RETRY_SECONDS = 2.0
_RECONNECT_MS = 1000
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)

_operation = partial(operation, "jobs")


# Streams that may be open at the same time in one process. nginx.conf has places of their own for them.
_STREAMS_OF_PERSON_MAX, _STREAMS_OF_ORGANIZATION_MAX, _STREAMS_MAX = 4, 16, 200
_CLOSE_SECONDS = 10


class OpenStreams:
    """Bounds the streams of events that one person and one organization have open: each holds a connection."""

    def __init__(self) -> None:
        self._of_people = ConcurrencyLimit(_STREAMS_OF_PERSON_MAX, _STREAMS_MAX)
        self._of_organizations = ConcurrencyLimit(_STREAMS_OF_ORGANIZATION_MAX, _STREAMS_MAX)

    def require(self, principal: Principal) -> None:
        """Raise the problem of a caller who has as many open as may be."""
        if self._of_organizations.is_reached_in_all:
            raise _no_stream("service-unavailable", "As many streams of events are open as this service holds.")
        person = _person(principal)
        if any(self._of_people.is_reached(holder) for holder in person):
            raise _no_stream("rate-limited", f"You have {_STREAMS_OF_PERSON_MAX} streams of events open.")
        if self._of_organizations.is_reached(principal.organization_id or ""):
            detail = f"Your organization has {_STREAMS_OF_ORGANIZATION_MAX} streams of events open."
            raise _no_stream("rate-limited", detail)

    @contextmanager
    def hold(self, principal: Principal) -> Iterator[None]:
        """Count a stream until the block ends."""
        with self._of_people.hold(*_person(principal)), self._of_organizations.hold(principal.organization_id or ""):
            yield


def _person(principal: Principal) -> tuple[str, ...]:
    """Return the id of the person who calls; nothing for an API key."""
    return (principal.credential_id,) if principal.kind == "bearer" else ()


def _no_stream(slug: str, why: str) -> Problem:
    detail = f"{why} Close one of them, or ask for the job itself every {_CLOSE_SECONDS} s."
    return retry_later(slug, detail, _CLOSE_SECONDS)


class JobEvents:
    def __init__(self, orders: JobOrders, serializer: JobSerializer) -> None:
        self._orders = orders
        self._serializer = serializer
        self._open = OpenStreams()

    @_operation(
        "getJobEvents",
        schemas.JobPath,
        answers={200: "Events", 204: "All events were sent."},
        produces=[CONTENT_TYPE],
    )
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Follow a job.

        Server-Sent Events: `state`, `progress` and finally `done`, each with the job as its data. `Last-Event-ID`
        resumes an interrupted stream; 204 means that all events were sent.
        """
        principal = principal_of(request)
        organization = principal.organization_id
        order = await self._orders.find(organization, request[PATH]["id"])
        seen = request.headers.get("Last-Event-ID", "")
        last = int(seen) if _NUMBER.fullmatch(seen) else -1
        if order.ended and last >= order.changes:
            return web.Response(status=204, headers={"Cache-Control": "no-store"})
        self._open.require(principal)
        hold = partial(self._open.hold, principal)
        return EventStream(self._orders, self._serializer, organization, order, last, hold=hold)


class EventStream(web.StreamResponse):
    """Sends a job's events. They follow when the middlewares have finished the headers."""

    def __init__(
        self,
        orders: JobOrders,
        serializer: JobSerializer,
        organization: str | None,
        order: Order,
        last: int,
        poll_seconds: float = POLL_SECONDS,
        hold: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        headers = {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(headers=headers)
        self._orders = orders
        self._serializer = serializer
        self._organization = organization
        self._order = order
        self._last = last
        self._poll_seconds = poll_seconds
        self._hold = hold
        self._sent: tuple[str, int] | None = None

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send headers and events, until the job ends, the client disconnects, or this process stops."""
        # Nothing is awaited between the handler's check and this line: no other stream takes the place.
        with self._hold():
            writer = await super().prepare(request)
            if request.method != hdrs.METH_HEAD:
                await self._follow()
            return writer

    async def _follow(self) -> None:
        waiters, pause = self._orders.waiters, 0.0  # no first pause: a change before it was not notified
        await self.write(b"retry: %d\n\n" % _RECONNECT_MS)
        with waiters.subscribe(self._order.job_id) as event:
            while True:
                await self._send_changes()
                if self._order.ended or waiters.closing.is_set():
                    return
                if not await wait_for_change(event, pause) and pause:
                    await self.write(b": still here\n\n")
                try:
                    self._order = await self._orders.find(self._organization, self._order.id)
                    pause = self._poll_seconds
                except StoreUnavailable:
                    pause = _RETRY_SECONDS
                except JobNotFound:
                    return

    async def _send_changes(self) -> None:
        """Send what is new: a change of state or attempt, otherwise of progress; at the end all of it."""
        order = self._order
        now = (order.state, order.row["attempt"])
        if order.changes <= self._last and not order.ended:
            self._sent = now
            return
        events = ["state"] if now != self._sent else []
        self._sent, self._last = now, order.changes
        await self._send([*events, "progress", *(["done"] if order.ended else [])])

    async def _send(self, names: list[str]) -> None:
        data = msgspec.json.encode(self._serializer.render(self._order))
        # Only the final event carries the id, so a client that disconnects earlier is sent the whole batch again.
        ids = [b""] * (len(names) - 1) + [b"id: %d\n" % self._order.changes]
        events = [
            b"%bevent: %b\ndata: %b\n\n" % (number, name.encode(), data)
            for number, name in zip(ids, names, strict=True)
        ]
        await self.write(b"".join(events))
