"""/jobs: an organization's jobs, their state and their results; DELETE cancels one."""

from functools import partial

from aiohttp import web

from edge.http import stream
from edge.http.context import principal_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator
from edge.http.problems import Problem, retry_later
from edge.http.result_body import ResultBody
from edge.http.routing import operation
from edge.http.validation import PATH, QUERY
from edge.jobs import schemas
from edge.jobs.orders import JobOrders, Order
from edge.jobs.serializer import JobSerializer, failure
from edge.quota.open_downloads import OpenDownloads
from shared.analytics.manifest import MEDIA_TYPES
from shared.errors import ResultGone
from shared.objects.directory import ResultStore

_operation = partial(operation, "jobs")

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
        parameters = request[QUERY]
        query = {name: parameters[name] for name in ("state", "kind", "limit")}
        find = partial(
            self._orders.list, principal_of(request).organization_id, query["state"], query["kind"], query["limit"]
        )
        response = await self._lists.answer(
            KIND, query, parameters["cursor"], find, self._serializer.render, lambda order: order.id
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
    return retry_later("job-not-ready", detail, RETRY_SECONDS)
