"""Orders of jobs by organizations: submitted, read, waited for, cancelled (contract, section 5)."""

import json
import time
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypedDict, cast

from asyncpg import Record

from edge.http.problems import Problem, retry_later
from edge.jobs.waiters import JobWaiters, wait_for_change
from edge.quota.billing import Charge
from edge.quota.concurrency import ConcurrencyLimit
from edge.quota.refusals import limit_problem
from edge.storage.database import Database, Scope, Transaction
from edge.storage.idempotency import lock_key, require_same
from shared.analytics.manifest import ResultManifest, manifest_from
from shared.bulk.manifest import StoredExportManifest, export_manifest_from
from shared.clock import utc_now
from shared.db.queries import load_queries
from shared.errors import JobNotFound, ResultGone, StoreUnavailable
from shared.index.iid import canonical_uuid
from shared.jobs.contract import ENDED, EXPORT, UNLISTED, JobKind
from shared.organizations.accounts import Principal
from shared.telemetry.log import Log

SQL = load_queries(__file__, "orders.sql")
_POLL_SECONDS = 1.0
# Calls that wait for their job at the same time in one process.
_WAITS_OF_ORGANIZATION_MAX, _WAITS_MAX = 32, 500
_RETRY_SECONDS = 5
_MISSING_RETRY_SECONDS = 30
_BACKLOG_RETRY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A computation that is to be made."""

    kind: JobKind
    parameters: dict[str, object]
    format: str
    fingerprint: str
    data_version: int


class OrderRow(TypedDict):
    """The columns of the statements `show` and `list`; JSON is text."""

    id: str
    job_id: str
    kind: str
    parameters: str
    format: str
    data_version: int
    attempt: int
    progress_fraction: float
    progress_stage: str
    rows_done: int
    rows_total: int | None
    result: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    expires_at: datetime | None
    finished_at: datetime | None
    cost_units: int
    changes: int
    state: str


@dataclass(frozen=True, slots=True)
class Order:
    """One row: an organization's order and the job behind it."""

    row: OrderRow

    @property
    def id(self) -> str:
        """The id that its organization knows."""
        return self.row["id"]

    @property
    def job_id(self) -> str:
        """The id of the computation, which orders may share."""
        return self.row["job_id"]

    @property
    def state(self) -> str:
        """The state as this organization sees it."""
        return self.row["state"]

    @property
    def ended(self) -> bool:
        """Whether nothing but expiry can change it any more."""
        return self.state in ENDED

    @property
    def changes(self) -> int:
        """The number of the last change that a watcher may have seen."""
        return self.row["changes"]

    @property
    def manifest(self) -> ResultManifest | None:
        """The published result, if there is one; an export's is `export`."""
        if self.state != "succeeded" or not self.row["result"] or self.row["kind"] == EXPORT.name:
            return None
        return manifest_from(json.loads(self.row["result"]))

    @property
    def export(self) -> StoredExportManifest | None:
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

        The charge pays for it. Raises the problems of full queues and of an Idempotency-Key.

        With `joins` nothing was charged, because the organization waits for the job already: raises JoinedOrderEnded
        where it does not any more. A new job continues the trace of this request; an existing one keeps its own.
        After StoreUnavailable the order may exist or not.
        """
        try:
            submitted = await self._place(principal, spec, charge, traceparent, joins=joins, repeatable=repeatable)
        except Problem:  # nothing was ordered
            raise
        except BaseException:  # a stopping edge cancels what is being placed: the order may exist or not
            await charge.refund_order()
            raise
        await charge.hand_over(new=submitted.new)
        return submitted

    async def _place(
        self,
        principal: Principal,
        spec: JobSpec,
        charge: Charge,
        traceparent: str | None,
        *,
        joins: bool,
        repeatable: Repeatable | None,
    ) -> SubmittedOrder:
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
                if (repeated := await _find_repeated(transaction, principal, repeatable)) is not None:
                    return repeated
            await fetch(SQL.lock, principal.organization_id)
            rows = await fetch(SQL.submit, *values)
            new = bool(rows) and rows[0]["charge_id"] == charge.charge_id
            if joins and new:  # raised inside the transaction: no order is placed that nobody has paid for
                raise JoinedOrderEnded
        if not rows:
            raise await self._queue_full(principal, charge.account)
        return SubmittedOrder(rows[0]["id"], rows[0]["job_id"], new)

    async def find_repeated(self, principal: Principal, repeatable: Repeatable) -> str | None:
        """Return the id of the order that has been placed under a key. Raises `idempotency-key-reused`."""
        async with self._database.transaction(Scope(organization=principal.organization_id)) as transaction:
            order = await _find_repeated(transaction, principal, repeatable)
        return None if order is None else order.order_id

    async def _queue_full(self, principal: Principal, account: str) -> Problem:
        """Return why an order was refused: too many jobs of all organizations are queued (503), or of its own (429)."""
        [row] = await self._database.fetch(SQL.backlog_full, self._waiting_max, scope=Scope(task="jobs"))
        if not row["full"]:
            return _organization_queue_full(principal, account)
        seconds = _BACKLOG_RETRY_SECONDS
        detail = f"{self._waiting_max:,} jobs wait already; nothing was charged. Try again in {seconds} s."
        return retry_later("service-unavailable", detail, seconds)

    async def find(self, organization_id: str | None, order_id: str) -> Order:
        """Return an order. Raises JobNotFound, also where it is another organization's."""
        row = None
        if organization_id is not None and canonical_uuid(order_id) == order_id.lower():
            row = await self._database.fetch_row(
                SQL.show, order_id, organization_id, scope=Scope(organization=organization_id)
            )
        if row is None:
            raise JobNotFound(order_id)
        return _order(row)

    async def list(
        self, organization_id: str | None, state: str | None, kind: str | None, limit: int, after: str | None
    ) -> tuple[list[Order], int]:
        """Return orders after a position, one more than asked where there are more, and how many there are in all."""
        async with self._database.transaction(Scope(organization=organization_id)) as transaction:
            rows = await transaction.fetch(SQL.list, organization_id, state, kind, after, limit + 1, UNLISTED)
            [counted] = await transaction.fetch(SQL.count, organization_id, state, kind, UNLISTED)
        return [_order(row) for row in rows], counted["total"]

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


def _order(row: Record) -> Order:
    return Order(cast(OrderRow, row))


def optimistic_order(order_id: str, spec: JobSpec, units: int) -> Order:
    """Return an order as it was when it was submitted, for when its row cannot be read."""
    return Order(
        {
            "id": order_id,
            "job_id": "",
            "kind": spec.kind.name,
            "parameters": json.dumps(spec.parameters),
            "format": spec.format,
            "data_version": spec.data_version,
            "attempt": 0,
            "progress_fraction": 0.0,
            "progress_stage": "queued",
            "rows_done": 0,
            "rows_total": None,
            "result": None,
            "error": None,
            "created_at": utc_now(),
            "started_at": None,
            "expires_at": None,
            "finished_at": None,
            "cost_units": units,
            "changes": 0,
            "state": "queued",
        }
    )


async def _find_repeated(
    transaction: Transaction, principal: Principal, repeatable: Repeatable
) -> SubmittedOrder | None:
    known = await transaction.fetch_row(SQL.repeated, principal.organization_id, *repeatable)
    if known is None:
        return None
    require_same(known, "export")  # no other kind of job is ordered under a key
    return SubmittedOrder(known["id"], known["job_id"], new=False)


def _organization_queue_full(principal: Principal, account: str) -> Problem:
    """Return the problem of an organization that has as many jobs in the queue as its plan allows."""
    limit = principal.plan.jobs_queued
    detail = (
        f"Your organization has {limit} jobs in the queue, the most that its plan allows. "
        "Wait until one ends, or cancel one."
    )
    return limit_problem(
        detail,
        _RETRY_SECONDS,
        policy=f"{principal.plan.name}-jobs-queued",
        limit=limit,
        resets_at=None,
        counted_as=account,
        lifted_by="Wait until a job ends, cancel one, or choose a plan with a longer queue.",
    )
