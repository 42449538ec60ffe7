"""/jobs: one's jobs, their progress as Server-Sent Events, their results; DELETE ends one."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import msgspec
from aiohttp import hdrs, web

from edge.http import stream
from edge.http.context import principal_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import PATH, QUERY
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.http.stream import ResultBody
from edge.jobs import schemas
from edge.jobs.service import JobOrders, JobSerializer, Order, failure, wait_for_change
from edge.quota.concurrency import ConcurrencyLimit
from edge.quota.open_downloads import OpenDownloads
from shared.analytics.manifest import MEDIA_TYPES
from shared.errors import JobNotFound, ResultGone, StoreUnavailable
from shared.objects.directory import ResultStore
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
    fields = {"Retry-After": str(_CLOSE_SECONDS)}
    return Problem(slug, detail, extra={"retry_after": _CLOSE_SECONDS}, fields=fields)


class Events:
    def __init__(self, orders: JobOrders, serializer: JobSerializer) -> None:
        self._orders = orders
        self._serializer = serializer
        self._open = OpenStreams()

    @_operation(
        "getJobEvents", schemas.JobPath, answers={200: "Events", 204: "All events were sent."}, produces=[CONTENT_TYPE]
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

    async def prepare(self, request: web.BaseRequest) -> Any:
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


KIND = "jobs"
RETRY_SECONDS = 2
RESULT_PROBLEMS = ("job-not-ready", "result-expired", "precondition-failed", "range-not-satisfiable")


class Jobs:
    def __init__(
        self,
        orders: JobOrders,
        serializer: JobSerializer,
        store: ResultStore,
        lists: Paginator,
        under_way: OpenDownloads,
    ) -> None:
        self._under_way = under_way
        self._orders = orders
        self._serializer = serializer
        self._store = store
        self._lists = lists

    @_operation("listJobs", schemas.JobsQuery, answers={200: (schemas.JobList, "One page of jobs")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's jobs.

        Newest first.
        """
        parameters: dict[str, Any] = request[QUERY]
        query = {name: parameters[name] for name in ("state", "kind", "limit")}
        find = partial(
            self._orders.list, principal_of(request).organization_id, query["state"], query["kind"], query["limit"]
        )
        response = await self._lists.answer(
            KIND, query, parameters["cursor"], find, self._serializer.render, lambda one: one.id
        )
        response.headers["Cache-Control"] = "no-store"
        return response

    @_operation("getJob", schemas.JobPath, answers={200: (schemas.Job, "The job")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """State of a job.

        Returns 200 while the job exists, whatever its state.
        """
        return self._answer(await self._orders.find(principal_of(request).organization_id, request[PATH]["id"]))

    @_operation("cancelJob", schemas.JobPath, answers={200: (schemas.Job, "The job, cancelled")})
    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Cancel a job.

        Cancels the job and refunds its charge. Repeating the call is not an error.
        """
        return self._answer(await self._orders.cancel(principal_of(request).organization_id, request[PATH]["id"]))

    @_operation(
        "getJobResult",
        schemas.JobPath,
        answers={
            200: (schemas.AnyResult, "The result"),
            206: "The requested range of the file",
            303: "`Location` lists the files of an export.",
            304: "Your copy is current.",
        },
        produces=[*MEDIA_TYPES.values()],
    )
    async def result(self, request: web.Request) -> web.StreamResponse:
        """Result of a job.

        The file with the SHA-256 stated in the job. Supports ETag, Range and If-Range.
        """
        order = await self._orders.find(principal_of(request).organization_id, request[PATH]["id"])
        if order.export is not None:
            raise web.HTTPSeeOther(f"{self._serializer.base_url}/index/exports/{order.id}")
        manifest = order.manifest
        if manifest is None:
            raise _no_result(order)
        try:
            body = await ResultBody.open(self._store, manifest)
        except ResultGone as gone:
            raise await self._orders.mark_result_missing(order.job_id, gone) from gone
        self._under_way.hold(body, principal_of(request).organization_id)
        return stream.answer(request, manifest, body)

    def _answer(self, order: Order) -> web.Response:
        return unstored_json(self._serializer.render(order))


def _no_result(order: Order) -> Problem:
    failed = failure(order)
    if failed is not None:
        return Problem("state-conflict", f"The job ended ({order.state}) without a result. {failed[1]}")
    if order.state == "expired":
        return Problem("result-expired", "The result has expired and was deleted. Request it again.")
    detail = f"The job is {order.state}; follow /v1/jobs/{order.id}/events or try again in {RETRY_SECONDS} s."
    fields = {"Retry-After": str(RETRY_SECONDS)}
    return Problem("job-not-ready", detail, extra={"retry_after": RETRY_SECONDS}, fields=fields)
