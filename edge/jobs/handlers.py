"""GET /jobs, /jobs/{id}, /jobs/{id}/result; DELETE /jobs/{id}."""

from functools import partial
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema

from edge.downloads import stream
from edge.downloads.body import ResultBody
from edge.http.context import principal_of
from edge.http.json_response import unstored_json
from edge.http.lists import Paginator
from edge.http.parameters import PATH, QUERY
from edge.http.problems import Problem
from edge.jobs import schemas
from edge.jobs.serializers import JobSerializer, failure
from edge.jobs.service import JobOrders, Order
from shared.errors import ResultGone
from shared.objects.directory import ResultStore
from shared.results.layout import MEDIA_TYPES

KIND = "jobs"
RETRY_SECONDS = 2
RESULT_PROBLEMS = ("job-not-ready", "result-expired", "precondition-failed", "range-not-satisfiable")


class Jobs:
    """The handlers."""

    def __init__(self, orders: JobOrders, serializer: JobSerializer, store: ResultStore, lists: Paginator) -> None:
        self._orders = orders
        self._serializer = serializer
        self._store = store
        self._lists = lists

    @docs(
        operationId="listJobs", summary="List your organization's jobs", description="The newest first.", tags=["jobs"]
    )
    @querystring_schema(schemas.JobsQuery())
    @response_schema(schemas.JobList(), 200, description="One page of jobs")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
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

    @docs(operationId="getJob", summary="State of a job", description="Always 200 while it exists.", tags=["jobs"])
    @match_info_schema(schemas.JobPath())
    @response_schema(schemas.Job(), 200, description="The job")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the job as it is now."""
        return self._answer(await self._orders.find(principal_of(request).organization_id, request[PATH]["id"]))

    @docs(
        operationId="cancelJob",
        summary="Cancel a job",
        description="Ends your organization's order; its charge is refunded. A repeated call is no error.",
        tags=["jobs"],
    )
    @match_info_schema(schemas.JobPath())
    @response_schema(schemas.Job(), 200, description="The job, cancelled")
    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Cancel and answer with the job."""
        return self._answer(await self._orders.cancel(principal_of(request).organization_id, request[PATH]["id"]))

    @docs(
        operationId="getJobResult",
        summary="Result of a job",
        description="The bytes whose SHA-256 the job names, with ETag, Range and If-Range.",
        tags=["jobs"],
        produces=[*MEDIA_TYPES.values()],
        responses={
            "206": {"description": "Part that `Range` asks for."},
            "303": {"description": "`Location` lists the files of an export."},
            "304": {"description": "Your copy is current."},
        },
    )
    @match_info_schema(schemas.JobPath())
    @response_schema(schemas.AnyResult(), 200, description="The result")
    async def result(self, request: web.Request) -> web.StreamResponse:
        """Stream what was published, or say why there is nothing."""
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
        return stream.answer(request, manifest, body)

    def _answer(self, order: Order) -> web.Response:
        return unstored_json(self._serializer.render(order))


def _no_result(order: Order) -> Problem:
    failed = failure(order)
    if failed is not None:
        return Problem("state-conflict", f"The job ended as {order.state} and has no result. {failed[1]}")
    if order.state == "expired":
        return Problem("result-expired", "The result was kept for its time and is gone. Ask for it again.")
    detail = f"The job is {order.state}; follow /v1/jobs/{order.id}/events or ask again in {RETRY_SECONDS} s."
    fields = {"Retry-After": str(RETRY_SECONDS)}
    return Problem("job-not-ready", detail, extra={"retry_after": RETRY_SECONDS}, fields=fields)
