"""A call of a tool: its REST call, and the answer or the problem as a model reads it."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from edge.http.context import CONTEXT
from edge.http.problems import Problem, problem_of
from edge.mcp import views
from edge.mcp.arguments import checked, named_as_arguments
from edge.mcp.pages import Pages
from edge.mcp.rest import RestAnswer, RestCalls
from edge.mcp.tasks import task_of
from edge.mcp.tools import JOB_RESULT, RestCall, Tool
from edge.mcp.views import View
from shared.errors import ItemIndexError

WAIT_SECONDS = 10
"""How long a call waits for a report, for a client that does not follow tasks."""
_ACCEPTED, _SEVERAL, _UNAUTHORIZED = 202, 300, 401
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])
Result = dict[str, Any]
# Makes the whole response body of a result.
Encoded = Callable[[Result], bytes]


class ToolCalls:
    """Calls tools for the sender of a request."""

    def __init__(self, rest: RestCalls, pages: Pages, problem_base_url: str) -> None:
        self._rest = rest
        self._pages = pages
        self._errors_base = problem_base_url

    async def call(
        self, request: web.Request, tool: Tool, given: Any, encoded: Encoded, *, takes_tasks: bool = False
    ) -> Result:
        """Return a tool's result, or the problem of its REST call; with tasks, the job that the call would wait for.

        Raises the problems of a missing or invalid credential, which HTTP answers.
        """
        try:
            arguments = checked(tool, given)
            position = self._pages.position(tool.name, arguments, arguments.pop("cursor", None))
            following = {"cursor": position.rest_cursor} if position.rest_cursor else {}
            call = tool.call({**arguments, **following})
            answer = await self._answer(request, call, 0 if takes_tasks else WAIT_SECONDS)
        except (ItemIndexError, Problem, web.HTTPException) as error:
            return self._refused(request, error)
        if answer.status == _ACCEPTED and takes_tasks:
            return {"resultType": "task", **task_of(answer.body)}
        view = self._view(tool, call, answer)
        text = self._pages.page(tool.name, arguments, view, position, lambda text: encoded(text_result(text)))
        return text_result(text)

    async def _answer(self, request: web.Request, call: RestCall, wait_seconds: int) -> RestAnswer:
        """Return what the route answers; several items to choose from are an answer too."""
        try:
            return await self._rest.answer(request, call, wait_seconds)
        except (ItemIndexError, Problem) as error:
            problem = problem_of(error)
            if problem is None:
                raise
            if problem.type.status != _SEVERAL:
                raise named_as_arguments(problem, call.arguments) from error
            return RestAnswer(_SEVERAL, self._document(request, problem))

    def _refused(self, request: web.Request, error: Exception) -> Result:
        """Return the problem as the result of a tool. Raises it where HTTP must answer, and an unexpected error."""
        problem = problem_of(error)
        if problem is None or problem.type.status == _UNAUTHORIZED:
            raise error
        document = {name: views.fitted(value) for name, value in self._document(request, problem).items()}
        return text_result(_ENCODER.encode(document).decode(), is_error=True)

    def _document(self, request: web.Request, problem: Problem) -> Mapping[str, Any]:
        """Return the problem's document, with the address where an item went that was merged."""
        context = request[CONTEXT]
        context.problem_slug = problem.type.slug
        address = {"location": problem.fields["Location"]} if "Location" in problem.fields else {}
        return {**_DECODER.decode(problem.document(self._errors_base, context.request_id)), **address}

    def _view(self, tool: Tool, call: RestCall, answer: RestAnswer) -> View:
        if answer.status == _ACCEPTED:
            return views.job(answer.body)
        if answer.body is None:
            path = call.route.format(**call.path) if call.route == JOB_RESULT else call.route
            document = {"detail": "The result is too large for a tool, or no JSON; fetch it by REST.", "path": path}
            return View(document, [])
        return tool.view(answer.body)


def text_result(text: str, *, is_error: bool = False) -> Result:
    """Return a tool's result that is one text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
