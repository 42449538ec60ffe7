"""Items for rows of a table: ordered from a worker, which has the index of matching, and waited for."""

import hashlib
from collections.abc import Sequence

import msgspec

from edge.http.byte_ranges import Slice
from edge.http.context import Context
from edge.http.problems import Problem, retry_later
from edge.http.result_body import ResultBody
from edge.http.stream import BodyStream
from edge.jobs.orders import JobOrders, JobSpec, Order
from edge.jobs.serializer import JobSerializer, failure
from edge.quota.billing import Charge
from edge.storage.data_version import DataVersionWatcher
from shared.articles.table_rows import ItemCandidate, MatchedTable, TableRow
from shared.errors import ResultGone
from shared.jobs.contract import MATCH_TABLE, fingerprint
from shared.objects.directory import ResultStore

# Tools wait for an answer half a minute.
_WAIT_SECONDS = 25
_RETRY_SECONDS = 5
_FORMAT = "json"


class ItemMatching:
    """Matches rows by jobs, which the charge of the call pays for."""

    def __init__(
        self, version: DataVersionWatcher, orders: JobOrders, serializer: JobSerializer, store: ResultStore
    ) -> None:
        self._version = version
        self._orders = orders
        self._serializer = serializer
        self._store = store

    async def match(
        self, context: Context, rows: Sequence[TableRow], charge: Charge, beside: Sequence[Sequence[str]] = ()
    ) -> Sequence[Sequence[ItemCandidate]]:
        """Return the candidates of each row, best first.

        Equal rows that are asked for again join the job under way, or get its result, and pay nothing; unless the
        charge is also for other things `beside` them than before. Raises the problem of a job that failed, and
        `service-unavailable` where it takes longer than a tool waits.
        """
        if not rows:
            return []
        principal = context.principal
        assert principal is not None
        spec = await self._spec(rows, beside)
        submitted = await self._orders.submit(principal, spec, charge, context.span.traceparent)
        order = await self._orders.wait(principal.organization_id, submitted, _WAIT_SECONDS)
        return await self._candidates(order)

    async def _spec(self, rows: Sequence[TableRow], beside: Sequence[Sequence[str]]) -> JobSpec:
        if not self._version.current:
            await self._version.read()
        version = self._version.current
        parameters: dict[str, object] = {"rows": msgspec.to_builtins(rows)}
        if beside:
            parameters["beside"] = hashlib.sha256(msgspec.json.encode(beside)).hexdigest()
        return JobSpec(MATCH_TABLE, parameters, _FORMAT, fingerprint(parameters, _FORMAT, version), version)

    async def _candidates(self, order: Order) -> Sequence[Sequence[ItemCandidate]]:
        manifest, failed, job = order.manifest, failure(order), {"job": self._serializer.url(order.id)}
        if failed is not None:
            raise Problem(*failed, extra=job)
        if manifest is None:
            detail = f"The rows are still being matched. Send the same batch again in {_RETRY_SECONDS} s; it is paid."
            raise retry_later("service-unavailable", detail, _RETRY_SECONDS, job)
        try:
            body = await ResultBody.open(self._store, manifest)
        except ResultGone as gone:
            raise await self._orders.mark_result_missing(order.job_id, gone) from gone
        text = await BodyStream(body, Slice(0, body.length)).whole()
        return [row.candidates for row in msgspec.json.decode(text, type=MatchedTable).data]
