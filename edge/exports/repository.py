"""Exports of an organization: looking them up, their files, ending them. For the API and the dashboard alike."""

from aiohttp import web

from edge.downloads.files import FileResponder, StoredFile
from edge.exports.service import SQL
from edge.http.problems import Problem
from edge.jobs.service import JobOrders, Order
from edge.storage.database import Database, Scope
from shared.errors import JobNotFound, ResultGone
from shared.jobs.contract import EXPORT


class ExportRepository:
    """Another organization's export, and a job that is none, are the problem `export-not-found`."""

    def __init__(self, database: Database, orders: JobOrders, downloads: FileResponder) -> None:
        self._database = database
        self._orders = orders
        self._downloads = downloads

    async def listed(
        self, organization: str | None, state: str | None, limit: int, after: str | None
    ) -> tuple[list[Order], int]:
        """Return one page of exports, the newest first, one more where there are more; and how many there are."""
        return await self._orders.list(organization, state, EXPORT.name, limit, after)

    async def find(self, organization: str | None, order_id: str) -> Order:
        """Return an export in whatever state it is."""
        try:
            order = await self._orders.find(organization, order_id)
        except JobNotFound:
            order = None
        if order is None or order.row["kind"] != EXPORT.name:
            raise Problem("export-not-found", "There is no such export in your organization.")
        return order

    async def send(
        self, request: web.Request, organization: str | None, order_id: str, name: str
    ) -> web.StreamResponse:
        """Send a file that the export's manifest names. Raises ResultGone when its time is over or it is lost,

        StoreUnavailable while the store does not have it and that is not yet confirmed.
        """
        order = await self.find(organization, order_id)
        if order.state == "expired":
            raise ResultGone(order.id)
        manifest = order.export
        part = manifest.file(name) if manifest else None
        if manifest is None or part is None:
            raise Problem("export-not-found", "The export has no file of this name (yet).")
        file = StoredFile(part.key, part.bytes, part.sha256, manifest.media_type, part.name)
        try:
            return await self._downloads.respond(request, file, organization)
        except ResultGone as gone:
            raise await self._orders.mark_result_missing(order.job_id, gone) from gone

    async def end(self, organization: str | None, order_id: str) -> None:
        """Cancel an export that is under way, which then costs nothing, or delete the files of a finished one."""
        order = await self.find(organization, order_id)
        if not order.ended:
            try:
                await self._orders.cancel(organization, order.id)
            except Problem:  # it came to its end in this very moment
                order = await self.find(organization, order.id)
        if order.state == "succeeded":
            scope = Scope(organization=organization, task="jobs")
            await self._database.fetch(SQL.expire_now, order.job_id, organization, scope=scope)

    async def rank_of(self, organization: str) -> int:
        """Return the rank of an organization's plan; 0 where there is no such organization, or it is suspended."""
        row = await self._database.fetch_row(SQL.reader_rank, organization)
        return int(row["rank"]) if row is not None else 0
