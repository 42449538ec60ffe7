"""The methods of tasks: each is a call of the API about the job that the task is."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from edge.http.problems import Problem, problem_of
from edge.mcp.calls import Encoded, Result, ToolCalls, error_of, task_of
from edge.mcp.protocol import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from edge.mcp.rest import RestCalls
from edge.mcp.tools import JOB, TOOLS_BY_NAME, RestCall
from shared.errors import ItemIndexError, JobNotFound

_REPORT = TOOLS_BY_NAME["market_report"]
_CONFLICT = 409


class Tasks:
    """Answers `tasks/get`, `tasks/update` and `tasks/cancel` for the sender of a request."""

    def __init__(self, rest: RestCalls, calls: ToolCalls) -> None:
        self._rest = rest
        self._calls = calls

    async def get(self, request: web.Request, params: Mapping[str, Any], encoded: Encoded) -> Result:
        """Return the task, with its result where it has ended. Raises RpcError."""
        job = await self._job(request, params, "GET")
        task = task_of(job)
        if task["status"] != "completed":
            return task
        if job["error"] is not None:
            result = error_of(job["error"])
        else:
            result = await self._calls.call(
                request, _REPORT, {"job": job["id"]}, lambda result: encoded({**task, "result": result})
            )
        return {**task, "result": result}

    async def update(self, request: web.Request, params: Mapping[str, Any], encoded: Encoded) -> Result:
        """Acknowledge answers to questions of a task; none of ours asks any. Raises RpcError."""
        await self._job(request, params, "GET")
        return {}

    async def cancel(self, request: web.Request, params: Mapping[str, Any], encoded: Encoded) -> Result:
        """Cancel the task, and acknowledge it; one that has ended stays as it is. Raises RpcError."""
        try:
            await self._job(request, params, "DELETE")
        except Problem as problem:
            if problem.type.status != _CONFLICT:
                raise
        return {}

    @property
    def methods(self) -> Mapping[str, Callable[[web.Request, Mapping[str, Any], Encoded], Awaitable[Result]]]:
        """The methods by their names."""
        return {"tasks/get": self.get, "tasks/update": self.update, "tasks/cancel": self.cancel}

    async def _job(self, request: web.Request, params: Mapping[str, Any], method: str) -> Mapping[str, Any]:
        id = params.get("taskId")
        if not isinstance(id, str):
            raise RpcError(INVALID_PARAMS, "`taskId` must be text.")
        try:
            answer = await self._rest.answer(request, RestCall(JOB, {"id": id}, method=method), 0)
        except JobNotFound:
            raise RpcError(INVALID_PARAMS, "There is no task with this ID.") from None
        job: Mapping[str, Any] = answer.body
        return job


def rpc_error_of(error: Exception) -> RpcError | None:
    """Return a problem as an error of the protocol, with its members; None where HTTP must answer."""
    problem = problem_of(error) if isinstance(error, ItemIndexError | Problem | web.HTTPException) else None
    if problem is None or problem.type.status == 401:
        return None
    return RpcError(
        INTERNAL_ERROR, problem.detail, {"slug": problem.type.slug, "status": problem.type.status, **problem.extra}
    )
