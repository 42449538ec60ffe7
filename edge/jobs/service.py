"""Orders of jobs by organizations: submitted, read, waited for, cancelled, and shown (contract, section 5)."""

import asyncio
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from edge.http.problems import CATALOGUE, Problem, reason_phrase
from edge.quota.billing import Charge
from edge.quota.concurrency import ConcurrencyLimit
from edge.storage.database import Database, Scope, Transaction
from edge.storage.idempotency import lock_key, require_same
from shared.analytics.manifest import Manifest, manifest_from
from shared.bulk.manifest import ExportManifest, export_manifest_from
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries
from shared.errors import JobNotFound, ResultGone, StoreUnavailable
from shared.index.iid import canonical_uuid
from shared.jobs.contract import ENDED, EXPORT, Kind
from shared.organizations.accounts import Principal
from shared.telemetry import metrics
from shared.telemetry.log import Log


class JobWaiters:
    """Wakes the waiters of a job when its row changes. After a lost notification they notice at their next poll."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self.closing = asyncio.Event()

    def wake(self, job_id: str) -> None:
        """Wake all that wait for this job; an empty id wakes all of every job, as notifications may have been lost."""
        for name in [job_id] if job_id else list(self._waiting):
            for event in self._waiting.get(name, ()):
                event.set()

    def close(self) -> None:
        """Let every waiter finish: the process stops."""
        self.closing.set()
        self.wake("")

    @contextmanager
    def subscribe(self, job_id: str) -> Iterator[asyncio.Event]:
        """Return an event that is set with each change of the job for as long as the block lasts."""
        event = asyncio.Event()
        self._waiting.setdefault(job_id, set()).add(event)
        try:
            yield event
        finally:
            events = self._waiting[job_id]
            events.discard(event)
            if not events:
                del self._waiting[job_id]


async def wait_for_change(event: asyncio.Event, seconds: float) -> bool:
    """Wait up to `seconds` for the next change; return whether there was one."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    event.clear()
    return True


SQL = load_queries(__file__, "orders.sql")
_POLL_SECONDS = 1.0
# Calls that wait for their job at the same time in one process.
_WAITS_OF_ORGANIZATION_MAX, _WAITS_MAX = 32, 500
_RETRY_SECONDS = 5
_MISSING_RETRY_SECONDS = 30
_BACKLOG_RETRY_SECONDS = 60
_UNREADABLE = "result"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A computation that is to be made."""

    kind: Kind
    parameters: dict[str, Any]
    format: str
    fingerprint: str
    data_version: int


@dataclass(frozen=True, slots=True)
class Order:
    """One row: an organization's order and the job behind it."""

    row: Any

    @property
    def id(self) -> str:
        """The id that its organization knows."""
        return str(self.row["id"])

    @property
    def job_id(self) -> str:
        """The id of the computation, which orders may share."""
        return str(self.row["job_id"])

    @property
    def state(self) -> str:
        """The state as this organization sees it."""
        return str(self.row["state"])

    @property
    def ended(self) -> bool:
        """Whether nothing but expiry can change it any more."""
        return self.state in ENDED

    @property
    def changes(self) -> int:
        """The number of the last change that a watcher may have seen."""
        return int(self.row["changes"])

    @property
    def manifest(self) -> Manifest | None:
        """The published result, if there is one; an export's is `export`."""
        if self.state != "succeeded" or not self.row["result"] or self.row["kind"] == EXPORT.name:
            return None
        return manifest_from(json.loads(self.row["result"]))

    @property
    def export(self) -> ExportManifest | None:
        """Return the manifest that an export has published."""
        if self.state != "succeeded" or not self.row["result"] or self.row["kind"] != EXPORT.name:
            return None
        return export_manifest_from(json.loads(self.row["result"]))


class Repeatable(NamedTuple):
    """The key under which an order may be sent again, and a digest of what it orders."""

    key: str
    digest: bytes


class SubmittedOrder(NamedTuple):
    """An organization's order of a job; `new` unless it had one of the same job already."""

    order_id: str
    job_id: str
    new: bool


class JoinedOrderEnded(Exception):
    """The order that a call was to join for nothing has ended meanwhile; nothing was ordered."""


class JobOrders:
    """Reads and changes orders, always within one organization: another organization's order does not exist here."""

    def __init__(self, database: Database, waiters: JobWaiters, waiting_max: int, log: Log) -> None:
        self._database = database
        self._log = log
        self._waiting_max = waiting_max
        self._waits = ConcurrencyLimit(_WAITS_OF_ORGANIZATION_MAX, _WAITS_MAX)
        self.waiters = waiters

    async def submit(
        self,
        principal: Principal,
        spec: JobSpec,
        charge: Charge,
        traceparent: str | None = None,
        *,
        joins: bool = False,
        repeatable: Repeatable | None = None,
    ) -> SubmittedOrder:
        """Order a job: a new one, or the equal one that exists, or return the order that this one repeats.

        Raises the problems of full queues and of an Idempotency-Key.

        With `joins` nothing was charged, because the organization waits for the job already: raises JoinedOrderEnded
        where it does not any more. A new job continues the trace of this request; an existing one keeps its own.
        After StoreUnavailable the order may exist or not.
        """
        kind, limit = spec.kind, principal.plan.jobs_queued
        values = (
            kind.name,
            kind.queue,
            json.dumps(spec.parameters),
            spec.fingerprint,
            spec.data_version,
            kind.attempts_max,
            principal.organization_id,
            spec.format,
            limit,
            charge.account,
            charge.charge_id,
            charge.day,
            charge.units,
            traceparent,
            self._waiting_max,
            charge.endpoint,
            *(repeatable or (None, None)),
        )
        async with self._database.transaction(
            Scope(organization=principal.organization_id, task="jobs")
        ) as transaction:
            fetch = transaction.fetch
            if repeatable is not None:
                await lock_key(transaction, f"{principal.organization_id} {kind.name}", repeatable.key)
                if (repeated := await _repeated(transaction, principal, repeatable)) is not None:
                    return repeated
            await fetch(SQL.lock, principal.organization_id)
            rows = await fetch(SQL.submit, *values)
            new = bool(rows) and rows[0]["charge_id"] == charge.charge_id
            if joins and new:  # raised inside the transaction: no order is placed that nobody has paid for
                raise JoinedOrderEnded
        if not rows:
            raise await self._queue_full(principal, charge.account)
        return SubmittedOrder(rows[0]["id"], rows[0]["job_id"], new)

    async def repeated(self, principal: Principal, repeatable: Repeatable) -> str | None:
        """Return the id of the order that has been placed under a key. Raises `idempotency-key-reused`."""
        async with self._database.transaction(Scope(organization=principal.organization_id)) as transaction:
            order = await _repeated(transaction, principal, repeatable)
        return None if order is None else order.order_id

    async def _queue_full(self, principal: Principal, account: str) -> Problem:
        """Return why an order was refused: too many jobs of all organizations are queued (503), or of its own (429)."""
        [row] = await self._database.fetch(SQL.backlog_full, self._waiting_max, scope=Scope(task="jobs"))
        if not row["full"]:
            return _organization_queue_full(principal, account)
        seconds = _BACKLOG_RETRY_SECONDS
        detail = f"{self._waiting_max:,} jobs wait already; nothing was charged. Try again in {seconds} s."
        fields = {"Retry-After": str(seconds)}
        return Problem("service-unavailable", detail, extra={"retry_after": seconds}, fields=fields)

    async def find(self, organization_id: str | None, order_id: str) -> Order:
        """Return an order. Raises JobNotFound, also where it is another organization's."""
        row = None
        if organization_id is not None and canonical_uuid(order_id) == order_id.lower():
            row = await self._database.fetch_row(
                SQL.show, order_id, organization_id, scope=Scope(organization=organization_id)
            )
        if row is None:
            raise JobNotFound(order_id)
        return Order(row)

    async def list(
        self, organization_id: str | None, state: str | None, kind: str | None, limit: int, after: str | None
    ) -> tuple[list[Order], int]:
        """Return orders after a position, one more than asked where there are more, and how many there are in all."""
        async with self._database.transaction(Scope(organization=organization_id)) as transaction:
            rows = await transaction.fetch(SQL.list, organization_id, state, kind, after, limit + 1)
            [counted] = await transaction.fetch(SQL.count, organization_id, state, kind)
        return [Order(row) for row in rows], counted["total"]

    async def wait(self, organization_id: str | None, submitted: SubmittedOrder, seconds: float) -> Order:
        """Return the order as soon as it has ended, or as it is after `seconds`.

        Returns it at once where the organization has as many calls that wait as it may hold connections by waiting.
        """
        holder = organization_id or ""
        if self._waits.is_reached(holder) or self._waits.is_reached_in_all:
            seconds = 0.0
        ends = time.monotonic() + seconds
        # Subscribed first, so that no change is missed after the read.
        with self._waits.hold(holder), self.waiters.subscribe(submitted.job_id) as event:
            while True:
                order = await self.find(organization_id, submitted.order_id)
                left = ends - time.monotonic()
                if order.ended or left <= 0 or self.waiters.closing.is_set():
                    return order
                await wait_for_change(event, min(left, _POLL_SECONDS))

    async def cancel(self, organization_id: str | None, order_id: str) -> Order:
        """Cancel this organization's order; the job continues only for others. Raises the problem `state-conflict`."""
        order = await self.find(organization_id, order_id)
        if order.state == "cancelled":
            return order
        async with self._database.transaction(Scope(organization=organization_id, task="jobs")) as transaction:
            fetch = transaction.fetch
            await fetch(SQL.lock_job, order_id, organization_id)
            rows = await fetch(SQL.cancel, order_id, organization_id)
            if rows:
                await fetch(SQL.cancel_orphan, rows[0]["job_id"])
        order = await self.find(organization_id, order_id)
        if order.state != "cancelled":
            raise Problem("state-conflict", f"The job has already ended ({order.state}); there is nothing to cancel.")
        return order

    async def mark_result_missing(self, job_id: str, gone: ResultGone) -> StoreUnavailable:
        """Record that the store does not have a job's published bytes; return the error to raise.

        A store may lack an object for a while only, so the result expires when the dispatcher confirms that it is gone.
        """
        if await self._database.fetch(SQL.mark_missing, job_id, scope=Scope(task="jobs")):
            self._log.error("result-missing", job=job_id, object=gone.key)
        return StoreUnavailable("results", _MISSING_RETRY_SECONDS, "does not have this result")


def optimistic_order(order_id: str, spec: JobSpec, units: int) -> Order:
    """Return an order as it was when it was submitted, for when its row cannot be read."""
    unknown = dict.fromkeys(("job_id", "rows_total", "result", "error", "started_at", "expires_at", "finished_at"))
    begun = {"attempt": 0, "progress_fraction": 0.0, "progress_stage": "queued", "rows_done": 0, "changes": 0}
    requested = {"kind": spec.kind.name, "data_version": spec.data_version, "cost_units": units}
    return Order({**unknown, **begun, **requested, "id": order_id, "state": "queued", "created_at": utc_now()})


async def _repeated(transaction: Transaction, principal: Principal, repeatable: Repeatable) -> SubmittedOrder | None:
    known = await transaction.fetch_row(SQL.repeated, principal.organization_id, *repeatable)
    if known is None:
        return None
    require_same(known, "export")  # no other kind of job is ordered under a key
    return SubmittedOrder(known["id"], known["job_id"], new=False)


def _organization_queue_full(principal: Principal, account: str) -> Problem:
    """Return the problem of an organization that has as many jobs in the queue as its plan allows."""
    limit = principal.plan.jobs_queued
    extra = {
        "retry_after": _RETRY_SECONDS,
        "policy": f"{principal.plan.name}-jobs-queued",
        "limit": limit,
        "resets_at": None,
        "counted_as": account,
        "lifted_by": "Wait until a job ends, cancel one, or choose a plan with a longer queue.",
    }
    detail = (
        f"Your organization has {limit} jobs in the queue, the most that its plan allows. "
        "Wait until one ends, or cancel one."
    )
    return Problem("rate-limited", detail, extra=extra, fields={"Retry-After": str(_RETRY_SECONDS)})


class JobSerializer:
    """Renders documents with this service's addresses."""

    def __init__(self, base_url: str, problem_base_url: str) -> None:
        self.base_url = base_url
        self._errors_base = problem_base_url
        metrics.begin_at_zero(metrics.rows_set_aside, [_UNREADABLE])

    def url(self, order_id: str) -> str:
        """Return a job's address."""
        return f"{self.base_url}/jobs/{order_id}"

    def render(self, order: "Order") -> dict[str, Any]:
        """Return the document of an order."""
        row, url = order.row, self.url(order.id)
        return {
            "id": order.id,
            "kind": row["kind"],
            "state": order.state,
            "progress": {
                "fraction": round(row["progress_fraction"], 4),
                "stage": row["progress_stage"],
                "rows_done": row["rows_done"],
                "rows_total": row["rows_total"],
            },
            "attempt": row["attempt"],
            "data_version": row["data_version"],
            "cost_units": row["cost_units"],
            "created_at": rfc3339(row["created_at"]),
            "started_at": _moment(row["started_at"]),
            "finished_at": _moment(row["finished_at"]),
            "expires_at": _moment(row["expires_at"]),
            "result": self._readable_result(order, url),
            "error": self._error(order),
            "links": {"self": url, "result": f"{url}/result", "events": f"{url}/events"},
        }

    def _readable_result(self, order: "Order", url: str) -> dict[str, Any] | None:
        """Return what describes the result; None where its row cannot be read, which must not fail a whole list."""
        try:
            return self._result(order, url)
        except msgspec.ValidationError:
            metrics.rows_set_aside.labels(_UNREADABLE).inc()
            return None

    def _result(self, order: "Order", url: str) -> dict[str, Any] | None:
        manifest, export = order.manifest, order.export
        if export is not None:
            # Of many files, the digest is that of the list which `sha256sum` would write of them.
            lines = "".join(f"{file.sha256}  {file.name}\n" for file in export.files)
            return {
                "url": f"{url}/result",
                "media_type": "application/json",
                "rows": export.rows,
                "bytes": export.bytes,
                "sha256": hashlib.sha256(lines.encode()).hexdigest(),
            }
        if manifest is None:
            return None
        return {
            "url": f"{url}/result",
            "media_type": manifest.media_type,
            "rows": manifest.rows,
            "bytes": manifest.bytes,
            "sha256": manifest.sha256,
        }

    def _error(self, order: "Order") -> dict[str, Any] | None:
        failed = failure(order)
        if failed is None:
            return None
        slug, detail = failed
        status = CATALOGUE[slug].status
        return {
            "type": f"{self._errors_base}/{slug}",
            "title": reason_phrase(status),
            "status": status,
            "detail": detail,
            "instance": f"urn:uuid:{order.id}",
        }


def failure(order: "Order") -> tuple[str, str] | None:
    """Return slug and sentence of why an order has no result and never will; None where it has or may have one."""
    if order.state == "cancelled":
        return "job-cancelled", "The job was cancelled; nothing was charged."
    if order.state != "failed":
        return None
    error: dict[str, Any] = msgspec.json.decode(order.row["error"] or "{}", type=dict)
    slug = error.get("slug", "job-failed")
    known = slug if slug in CATALOGUE else "job-failed"
    return known, str(error.get("detail") or CATALOGUE[known].meaning)


def _moment(moment: Any) -> str | None:
    return rfc3339(moment) if moment is not None else None
