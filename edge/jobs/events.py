"""GET /jobs/{id}/events: a job as it goes, as Server-Sent Events (WHATWG HTML, section 9.2)."""

import re
from typing import Any

import msgspec
from aiohttp import hdrs, web
from aiohttp_apispec import docs, match_info_schema

from edge.http.parameters import PATH
from edge.jobs import schemas
from edge.jobs.handlers import organization_of
from edge.jobs.serializers import JobSerializer
from edge.jobs.service import JobOrders, Order
from edge.jobs.waiters import wait_for_change
from shared.errors import JobNotFound, StoreUnavailable

CONTENT_TYPE = "text/event-stream"
_LOOK_SECONDS = 2.0
_LOOKS_A_KEEP_ALIVE = 5
_RECONNECT_MS = 1000
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class Events:
    """The handler."""

    def __init__(self, orders: JobOrders, documents: JobSerializer) -> None:
        self._orders = orders
        self._documents = documents

    @docs(
        operationId="getJobEvents",
        summary="Follow a job",
        description="Server-Sent Events: `state`, `progress`, and at the end `done`, each with the job as its data. "
        "`Last-Event-ID` goes on where a stream broke off; 204 says that there is nothing more to come.",
        tags=["jobs"],
        produces=[CONTENT_TYPE],
        responses={"200": {"description": "The events"}, "204": {"description": "You have seen the end."}},
    )
    @match_info_schema(schemas.JobPath())
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the stream of a job's changes."""
        order = await self._orders.find(organization_of(request), request[PATH]["id"])
        seen = request.headers.get("Last-Event-ID", "")
        last = int(seen) if _NUMBER.fullmatch(seen) else -1
        if order.ended and last >= order.changes:
            return web.Response(status=204, headers={"Cache-Control": "no-store"})
        return EventStream(self._orders, self._documents, order, last)


class EventStream(web.StreamResponse):
    """Sends the events after its own head, which the gates have finished by then."""

    def __init__(self, orders: JobOrders, documents: JobSerializer, order: Order, last: int) -> None:
        fields = {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(headers=fields)
        self._orders = orders
        self._documents = documents
        self._order = order
        self._last = last
        self._told: tuple[str, int] | None = None

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Send head and events, until the job ends, the caller goes, or this process stops."""
        writer = await super().prepare(request)
        if request.method != hdrs.METH_HEAD:
            assert isinstance(request, web.Request)
            await self._follow(request)
        return writer

    async def _follow(self, request: web.Request) -> None:
        waiters, quiet = self._orders.waiters, 0
        await self.write(b"retry: %d\n\n" % _RECONNECT_MS)
        with waiters.subscribe(self._order.job_id) as event:
            while True:
                quiet = 0 if await self._tell() else quiet + 1
                if self._order.ended or waiters.closing.is_set():
                    return
                if quiet and quiet % _LOOKS_A_KEEP_ALIVE == 0:
                    await self.write(b": still here\n\n")
                await wait_for_change(event, _LOOK_SECONDS)
                try:
                    self._order = await self._orders.find(organization_of(request), self._order.id)
                except StoreUnavailable:
                    continue
                except JobNotFound:
                    return

    async def _tell(self) -> bool:
        """Send what is new: a change of state or attempt, else of progress; at the end all of it."""
        order = self._order
        now = (order.state, order.row["attempt"])
        if order.changes <= self._last and not order.ended:
            self._told = now
            return False
        events = ["state"] if now != self._told else []
        self._told, self._last = now, order.changes
        await self._send([*events, "progress", *(["done"] if order.ended else [])])
        return True

    async def _send(self, names: list[str]) -> None:
        data = msgspec.json.encode(self._documents.make(self._order))
        # Only the last of them carries the number: who breaks off before it gets them all again.
        heads = [b""] * (len(names) - 1) + [b"id: %d\n" % self._order.changes]
        lines = [
            b"%bevent: %b\ndata: %b\n\n" % (head, name.encode(), data) for head, name in zip(heads, names, strict=True)
        ]
        await self.write(b"".join(lines))
