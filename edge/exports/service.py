"""From a request's body to an export's order: canonical, checked, submitted once per Idempotency-Key."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import uuid4

from edge.exports import estimates
from edge.http.problems import Problem, invalid_parameters
from edge.jobs.service import SubmittedOrder, queue_full_problem
from edge.quota.billing import Charge
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database, Scope
from shared.accounts import Principal
from shared.datasets.schema import DATASETS
from shared.db.queries import beside
from shared.exports.manifest import usual_compression
from shared.jobs.contract import EXPORT

SQL = beside(__file__, "exports.sql")


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The order of one request: canonical parameters, the key it may be repeated by, and the order that it repeats."""

    parameters: dict[str, Any]
    key: str | None
    digest: bytes
    replayed: str | None


class ExportService:
    """Checks and submits orders of exports, for the API and the dashboard."""

    def __init__(self, database: Database, version: DataVersionWatcher, waiting_max: int) -> None:
        self._waiting_max = waiting_max
        self._database = database
        self._version = version

    async def prepare(self, principal: Principal, body: dict[str, Any], key: str | None) -> ExportRequest:
        """Return what a validated body orders, or which order it repeats. Refusals are raised here, before a charge."""
        parameters = canonicalize(body)
        digest = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).digest()
        replayed = await self._replayed(principal, key, digest)
        if replayed is None:
            await self._check(parameters)
        return ExportRequest(parameters, key, digest, replayed)

    async def estimate(self, request: ExportRequest, *, with_rows: bool) -> dict[str, Any]:
        """Return what an order would cost and hold now, with its first rows if asked for."""
        version = self._version.current
        return await estimates.offer(self._database, request.parameters, version, with_rows=with_rows)

    async def submit(
        self, principal: Principal, request: ExportRequest, charge: Charge, traceparent: str
    ) -> SubmittedOrder:
        """Order the export; it is not new where another request with its key was faster."""
        organization, key = principal.organization_id, request.key
        values = (
            EXPORT.name,
            EXPORT.queue,
            json.dumps(request.parameters),
            uuid4().hex,
            organization,
            self._version.current,
            EXPORT.attempts_max,
            request.parameters["format"],
            principal.plan.jobs_queued,
            charge.account,
            charge.charge_id,
            charge.day,
            charge.units,
            key,
            request.digest,
            traceparent,
            self._waiting_max,
        )
        async with self._database.transaction(Scope(organization=organization, task="jobs")) as transaction:
            fetch = transaction.fetch
            if key is not None:
                [lock] = await fetch(SQL.try_lock_key, f"{organization} {key}")
                if not lock["got"]:
                    raise Problem("idempotency-in-progress", "A request with this Idempotency-Key is under way.")
                known = await fetch(SQL.known, organization, key, request.digest)
                if known:
                    return SubmittedOrder(_same(known[0]), known[0]["job_id"], new=False)
            await fetch(SQL.lock, organization)
            rows = await fetch(SQL.submit, *values)
        if not rows:
            raise await queue_full_problem(self._database, self._waiting_max, principal, charge.account)
        return SubmittedOrder(rows[0]["id"], rows[0]["job_id"], new=True)

    async def _replayed(self, principal: Principal, key: str | None, digest: bytes) -> str | None:
        if key is None:
            return None
        organization = principal.organization_id
        scope = Scope(organization=organization)
        known = await self._database.fetch_row(SQL.known, organization, key, digest, scope=scope)
        return _same(known) if known else None

    async def _check(self, parameters: dict[str, Any]) -> None:
        since = parameters["since"]
        if not self._version.current or (since or 0) > self._version.current:
            await self._version.read()  # the caller may have heard of the newest one before this process has
        current = self._version.current
        faults = [("since", f"must be {current} at most, the newest data_version")] * bool(since and since > current)
        requested = parameters["filter"]
        lists = [requested.get(name, []) for name in ("brand", "category", "channel")]
        if any(lists):
            row = await self._database.fetch_row(SQL.unknown_names, *lists)
            assert row is not None
            faults += [("filter.brand", "names no brand; /v1/index/brands lists them")] * bool(row["brands"])
            faults += [("filter.category", "names no category; /v1/index/categories lists them")] * bool(
                row["categories"]
            )
            faults += [("filter.channel", "names no channel")] * bool(row["channels"])
        if faults:
            raise invalid_parameters(faults)


def canonicalize(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body in its one spelling: every column named, names sorted and without duplicates, days as text."""
    narrowed: dict[str, Any] = {}
    for name, value in body["filter"].items():
        if isinstance(value, list):
            narrowed[name] = sorted(set(value))
        else:
            assert isinstance(value, date)
            narrowed["from" if name == "from_" else name] = value.isoformat()
    return {
        "dataset": body["dataset"],
        "columns": body["columns"] or [column.name for column in DATASETS[body["dataset"]].columns],
        "filter": narrowed,
        "since": body["since"],
        "format": body["format"],
        "compression": body["compression"] or usual_compression(body["format"]),
    }


def _same(known: Any) -> str:
    if not known["same"]:
        raise Problem("idempotency-key-reused", "This Idempotency-Key was used for another export.")
    return str(known["id"])
