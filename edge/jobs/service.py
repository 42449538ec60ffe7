"""Orders: an organization's own interest in a job. Placed, read, waited for, cancelled."""

import json
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from edge.http.problems import Problem
from edge.jobs.waiters import JobWaiters, changed
from edge.storage.database import Database, Scope
from shared.accounts import Principal
from shared.clock import utc_now
from shared.db.queries import beside
from shared.errors import JobNotFound, ResultGone, StoreUnavailable
from shared.exports.manifest import ExportManifest, export_manifest_from
from shared.jobs.contract import ENDED, EXPORT, Kind
from shared.results.layout import Manifest, manifest_from
from shared.telemetry.log import Log

SQL = beside(__file__, "orders.sql")
_LOOK_SECONDS = 1.0
_RETRY_SECONDS = 5
_MISSING_RETRY_SECONDS = 30
_BACKLOG_RETRY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Charge:
    """What was charged for an order, so that it can be given back."""

    account: str
    charge_id: str
    day: int
    units: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be computed."""

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
        """Whether nothing will change any more, but for expiry."""
        return self.state in ENDED

    @property
    def changes(self) -> int:
        """The number of the last change that a watcher may have seen."""
        return int(self.row["changes"])

    @property
    def manifest(self) -> Manifest | None:
        """What was published, if anything can be read of it; an export's is `export`."""
        if self.state != "succeeded" or not self.row["result"] or self.row["kind"] == EXPORT.name:
            return None
        return manifest_from(json.loads(self.row["result"]))

    @property
    def export(self) -> ExportManifest | None:
        """What an export has published."""
        if self.state != "succeeded" or not self.row["result"] or self.row["kind"] != EXPORT.name:
            return None
        return export_manifest_from(json.loads(self.row["result"]))


class JobOrders:
    """Reads and changes orders, always within one organization: another one's order is not there."""

    def __init__(self, database: Database, watch: JobWaiters, waiting_max: int, log: Log) -> None:
        self._database = database
        self._log = log
        self._waiting_max = waiting_max
        self.watch = watch

    async def place(
        self, principal: Principal, wanted: Wanted, charge: Charge, traceparent: str | None = None
    ) -> tuple[str, bool]:
        """Order it; return the order's id and whether it is a new one. Raises the problem of `refused`.

        A job that is made for it goes on with the trace of this request; one that was there keeps its own.
        After StoreUnavailable the order may be there or not.
        """
        kind, limit = wanted.kind, principal.plan.jobs_queued
        values = (
            kind.name,
            kind.queue,
            json.dumps(wanted.parameters),
            wanted.fingerprint,
            wanted.data_version,
            kind.attempts_max,
            principal.organization_id,
            wanted.format,
            limit,
            charge.account,
            charge.charge_id,
            charge.day,
            charge.units,
            traceparent,
            self._waiting_max,
        )
        async with self._database.transaction(
            Scope(organization=principal.organization_id, task="jobs")
        ) as transaction:
            fetch = transaction.fetch
            await fetch(SQL.lock, principal.organization_id)
            rows = await fetch(SQL.place, *values)
        if not rows:
            raise await refused(self._database, self._waiting_max, principal, charge.account)
        return rows[0]["id"], rows[0]["charge_id"] == charge.charge_id

    async def find(self, organization_id: str | None, order_id: str) -> Order:
        """Return an order. Raises JobNotFound, also where it is another organization's."""
        row = None
        if organization_id is not None and _is_uuid(order_id):
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

    async def wait(self, organization_id: str | None, order_id: str, seconds: float) -> Order:
        """Return the order as soon as it has ended, or as it is when the time is over."""
        ends = time.monotonic() + seconds
        order = await self.find(organization_id, order_id)
        with self.watch.on(order.job_id) as event:
            while True:
                order = await self.find(organization_id, order_id)
                left = ends - time.monotonic()
                if order.ended or left <= 0 or self.watch.closing.is_set():
                    return order
                await changed(event, min(left, _LOOK_SECONDS))

    async def cancel(self, organization_id: str | None, order_id: str) -> Order:
        """End this organization's interest; the job goes on only for others. Raises the problem `state-conflict`."""
        order = await self.find(organization_id, order_id)
        if order.state == "cancelled":
            return order
        async with self._database.transaction(Scope(organization=organization_id, task="jobs")) as transaction:
            fetch = transaction.fetch
            await fetch(SQL.hold, order_id, organization_id)
            rows = await fetch(SQL.cancel, order_id, organization_id)
            if rows:
                await fetch(SQL.abandon, rows[0]["job_id"])
        order = await self.find(organization_id, order_id)
        if order.state != "cancelled":
            raise Problem("state-conflict", f"The job has ended as {order.state}; there is nothing to cancel.")
        return order

    async def missing(self, job_id: str, gone: ResultGone) -> StoreUnavailable:
        """Note that the store does not have a job's published bytes; return the error to raise.

        A store may lose sight of an object for a while, so that only the dispatcher's confirmation lets it expire.
        """
        if await self._database.fetch(SQL.missing, job_id, scope=Scope(task="jobs")):
            self._log.error("result-missing", job=job_id, object=gone.key)
        return StoreUnavailable("results", _MISSING_RETRY_SECONDS, "does not have this result")


def just_placed(order_id: str, wanted: Wanted, units: int) -> Order:
    """Return an order as it was when it was placed, for when its row cannot be read."""
    unknown = dict.fromkeys(("job_id", "rows_total", "result", "error", "started_at", "expires_at", "finished_at"))
    begun = {"attempt": 0, "progress_fraction": 0.0, "progress_stage": "queued", "rows_done": 0, "changes": 0}
    asked = {"kind": wanted.kind.name, "data_version": wanted.data_version, "cost_units": units}
    return Order({**unknown, **begun, **asked, "id": order_id, "state": "queued", "created_at": utc_now()})


async def refused(database: Database, waiting_max: int, principal: Principal, account: str) -> Problem:
    """Say why an order found no place: too many jobs wait of all organizations (503), or of this one (429)."""
    [row] = await database.fetch(SQL.crowded, waiting_max, scope=Scope(task="jobs"))
    if not row["crowded"]:
        return _too_many(principal, account)
    seconds = _BACKLOG_RETRY_SECONDS
    detail = f"{waiting_max:,} jobs wait already; nothing was charged. Try again in {seconds} s."
    return Problem("service-unavailable", detail, extra={"retry_after": seconds}, fields={"Retry-After": str(seconds)})


def _too_many(principal: Principal, account: str) -> Problem:
    """Say that the organization has as many jobs in the queue as its plan allows."""
    limit = principal.plan.jobs_queued
    extra = {
        "retry_after": _RETRY_SECONDS,
        "policy": f"{principal.plan.name}-jobs-queued",
        "limit": limit,
        "resets_at": None,
        "counted_as": account,
        "lifted_by": "A higher plan has a longer queue; a job that ends or is cancelled makes room.",
    }
    detail = f"Your organization has {limit} jobs in the queue, as many as its plan allows."
    return Problem("rate-limited", detail, extra=extra, fields={"Retry-After": str(_RETRY_SECONDS)})


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
