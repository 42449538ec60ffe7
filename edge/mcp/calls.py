"""A call of a tool: its arguments, its REST call, and the answer, problem or task as a model reads it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

import msgspec
from aiohttp import web
from multidict import MultiDict
from yarl import URL

from edge.auth.middleware import Authentication
from edge.http.context import CONTEXT
from edge.http.faults import Fault
from edge.http.problem_details import problem_of
from edge.http.problems import Problem, invalid_parameters, missing_parameters
from edge.http.routing import Route
from edge.http.stream import BodyStream
from edge.http.validation import PARSER, PATH, QUERY, REQUIRED, load, shown_name
from edge.mcp import views
from edge.mcp.tools import ArgumentSchema, RestCall, Tool
from edge.mcp.views import AnswerBody, AnswerPages, View
from edge.quota.billing import Billing, charge_and_respond
from shared.errors import CursorExpired, InvalidParameter, ItemIndexError
from shared.json_types import JsonValue

_RESULT_BYTES_MAX = 8 * 1024 * 1024

POLL_MS = 2_000
# An expired job has ended: its result is an error that says so.
_STATUS = {
    "queued": "working",
    "running": "working",
    "succeeded": "completed",
    "failed": "completed",
    "expired": "completed",
    "cancelled": "cancelled",
}
WAIT_SECONDS = 10
"""How long a call waits for a report, for a client that does not follow tasks."""
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, object])


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """The answer of a route: its status and its JSON; `body` is None where that is too large, or no JSON."""

    status: int
    body: AnswerBody


class RestCalls:
    """Runs calls of the API's own routes from inside the process, as the caller of a request that came otherwise.

    A call runs through the route's own rule, schemas and handler: what it costs and how it is refused cannot differ.
    """

    def __init__(self, routes: Iterable[Route], authentication: Authentication, billing: Billing) -> None:
        self._routes = {(route.method, route.path): route for route in routes}
        self._authentication = authentication
        self._billing = billing

    async def answer(self, request: web.Request, call: RestCall, wait_seconds: int) -> RestAnswer:
        """Return what the route answers to the caller of `request`, whose body must not be read yet.

        Raises what its middlewares and its handler raise.
        """
        route = self._routes[call.method, call.route]
        # A client of MCP may have no other place for a key than a bearer token.
        await self._authentication.admit(request, replace(route.rule, key_as_bearer=bool(route.rule.accepts)))
        inner = request.clone(
            method=call.method,
            rel_url=URL.build(path="/", query=_as_query(call.query)),
            # The headers of the message belong to MCP: a condition or a range in them is not about this answer.
            headers={"Accept": "application/json", "Prefer": f"wait={wait_seconds}"},
        )
        await _read_parameters(inner, route, call)
        return await _read_answer(await charge_and_respond(self._billing, route.rule, inner, route.handler))


async def _read_parameters(request: web.Request, route: Route, call: RestCall) -> None:
    """Validate in the order in which the route declares: of two faults the same is named as by REST."""
    declared = getattr(route.handler, "__schemas__", ())
    if call.query and not any(entry["location"] == "querystring" for entry in declared):
        raise InvalidParameter(next(iter(call.query)), "is unknown; this call takes no such argument")
    for entry in declared:
        if entry["location"] == "match_info":
            request[PATH] = load(entry["schema"], call.path)
        else:
            request[QUERY] = await PARSER.parse(entry["schema"], request, location="querystring", unknown=None)


def _as_query(values: Mapping[str, JsonValue]) -> MultiDict[str]:
    query: MultiDict[str] = MultiDict()
    for name, value in values.items():
        for single in value if isinstance(value, list) else [value]:
            query.add(name, str(single).lower() if isinstance(single, bool) else str(single))
    return query


async def _read_answer(response: web.StreamResponse) -> RestAnswer:
    if isinstance(response, BodyStream):
        length = response.content_length or 0
        if length > _RESULT_BYTES_MAX or response.content_type != "application/json":
            response.discard()
            return RestAnswer(response.status, None)
        body = await response.whole()
        # Elsewhere than in the event loop: a report of megabytes would hold all other calls up.
        return RestAnswer(response.status, await asyncio.to_thread(msgspec.json.decode, body))
    assert isinstance(response, web.Response)
    if response.content_type != "application/json":
        return RestAnswer(response.status, None)
    assert isinstance(response.body, bytes)
    return RestAnswer(response.status, msgspec.json.decode(response.body))


def check_arguments(tool: Tool, given: JsonValue) -> dict[str, JsonValue]:
    """Return arguments whose names and types are those of the tool's schema; the REST call checks the values.

    Raises the problems `invalid-parameter` and `missing-parameter`, in the words of the REST call.
    """
    if not isinstance(given, dict):
        raise invalid_parameters([Fault("arguments", "must be an object", given)])
    declared = tool.arguments
    known = ", ".join(sorted(declared)) or "none"
    faults = [Fault(shown_name(name), f"is unknown; allowed: {known}") for name in given if name not in declared]
    mistyped = {name: _fault(declared[name], value) for name, value in given.items() if name in declared}
    faults += [Fault(name, fault, given[name]) for name, fault in mistyped.items() if fault is not None]
    if faults:
        raise invalid_parameters(faults)
    missing = _missing_problem(tool, given)
    if missing is not None:
        raise missing
    return {name: _whole(declared[name], value) for name, value in given.items()}


def rename_parameters(problem: Problem, arguments: Mapping[str, str]) -> Problem:
    """Return a problem of a REST call that names the tool's `arguments`, which are given by their parameters' names."""
    if not problem.faults:
        return problem
    faults = [_rename_parameter(fault, arguments) for fault in problem.faults]
    extra = {name: value for name, value in problem.extra.items() if name != "errors"}
    return Problem(problem.type.slug, extra=extra, fields=problem.fields, faults=faults)


def _rename_parameter(fault: Fault, arguments: Mapping[str, str]) -> Fault:
    detail = fault.detail
    for parameter, argument in arguments.items():
        detail = detail.replace(f"`{parameter}`", f"`{argument}`")
    return fault._replace(parameter=arguments.get(fault.parameter, fault.parameter), detail=detail)


def _whole(schema: ArgumentSchema, value: JsonValue) -> JsonValue:
    # `5.0` is an integer of JSON Schema; the REST call takes it without the point.
    return int(value) if isinstance(value, float) and schema.get("type") == "integer" else value


def _missing_problem(tool: Tool, given: Mapping[str, JsonValue]) -> Problem | None:
    names = [name for name in tool.required if name not in given]
    return missing_parameters([Fault(name, REQUIRED) for name in names]) if names else None


def _fault(schema: ArgumentSchema, value: JsonValue) -> str | None:
    """Return the fault of a value; None if it has none."""
    if "enum" in schema:
        return None if value in schema["enum"] else f"must be one of {', '.join(schema['enum'])}"
    match schema["type"]:
        case "string":
            return None if isinstance(value, str) else "must be text"
        case "boolean":
            return None if isinstance(value, bool) else "must be true or false"
        case "integer":
            least, most = schema["minimum"], schema["maximum"]
            number = _number(value)
            if number is None or not (isinstance(number, int) or number.is_integer()) or not least <= number <= most:
                return f"must be a whole number from {least} to {most}"
            return None
        case "number":
            least, most = schema["minimum"], schema["maximum"]
            number = _number(value)
            return (
                None if number is not None and least <= number <= most else f"must be a number from {least} to {most}"
            )
        case _:
            return _list_fault(schema, value)


def _number(value: JsonValue) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _list_fault(schema: ArgumentSchema, value: JsonValue) -> str | None:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return "must be a list of strings"
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    return None if least <= len(value) <= most else f"must have {least} to {most} entries"


def task_of(job: AnswerBody) -> dict[str, object]:
    """Return a job's document as a task. It stays as long as the job, so `ttlMs` names no end."""
    changed = job["finished_at"] or job["started_at"] or job["created_at"]
    progress = job["progress"]
    return {
        "taskId": job["id"],
        "status": _STATUS[job["state"]],
        "statusMessage": f"{progress['stage']}, {progress['fraction']:.0%}",
        "createdAt": job["created_at"],
        "lastUpdatedAt": changed,
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }


_ACCEPTED, _SEVERAL, _UNAUTHORIZED = 202, 300, 401
Result = dict[str, object]
# Makes the whole response body of a result.
Encoder = Callable[[Result], bytes]


class ToolCalls:
    """Calls tools for the sender of a request."""

    def __init__(self, rest: RestCalls, pages: AnswerPages, problem_base_url: str) -> None:
        self._rest = rest
        self._pages = pages
        self._errors_base = problem_base_url

    async def call(
        self, request: web.Request, tool: Tool, given: JsonValue, encode: Encoder, *, takes_tasks: bool = False
    ) -> Result:
        """Return a tool's result, or the problem of its REST call; with tasks, the job that the call would wait for.

        Raises the problems of a missing or invalid credential, which HTTP answers.
        """
        try:
            arguments = check_arguments(tool, given)
            cursor = arguments.pop("cursor", None)
            position = self._pages.position(tool.name, arguments, str(cursor) if cursor is not None else None)
            following = {"cursor": position.rest_cursor} if position.rest_cursor else {}
            call = tool.call({**arguments, **following})
            answer = await self._answer(request, call, 0 if takes_tasks else WAIT_SECONDS)
        except (ItemIndexError, Problem, web.HTTPException) as error:
            return self._refusal_result(request, error)
        if answer.status == _ACCEPTED and takes_tasks:
            return {"resultType": "task", **task_of(answer.body)}
        view = self._view(tool, call, answer)
        try:
            page = self._pages.page(tool.name, arguments, view, position, lambda page: encode(result_of(page)))
        except CursorExpired as error:
            return self._refusal_result(request, error)
        return result_of(page)

    async def _answer(self, request: web.Request, call: RestCall, wait_seconds: int) -> RestAnswer:
        """Return what the route answers; several items to choose from are an answer too."""
        try:
            return await self._rest.answer(request, call, wait_seconds)
        except (ItemIndexError, Problem) as error:
            problem = problem_of(error)
            if problem is None:
                raise
            if problem.type.status != _SEVERAL:
                raise rename_parameters(problem, call.arguments) from error
            return RestAnswer(_SEVERAL, self._document(request, problem))

    def _refusal_result(self, request: web.Request, error: Exception) -> Result:
        """Return the problem as the result of a tool. Raises it where HTTP must answer, and an unexpected error."""
        problem = problem_of(error)
        if problem is None or problem.type.status == _UNAUTHORIZED:
            raise error
        document = {name: views.fit(value) for name, value in self._document(request, problem).items()}
        return error_of(document)

    def _document(self, request: web.Request, problem: Problem) -> Mapping[str, object]:
        """Return the problem's document, with the address where an item went that was merged."""
        context = request[CONTEXT]
        context.problem_slug = problem.type.slug
        address = {"location": problem.fields["Location"]} if "Location" in problem.fields else {}
        return {**_DECODER.decode(problem.document(self._errors_base, context.request_id)), **address}

    def _view(self, tool: Tool, call: RestCall, answer: RestAnswer) -> View:
        if answer.status == _ACCEPTED:
            return views.job(answer.body)
        if answer.body is None:
            document = {
                "detail": "The result is too large for a tool, or is not JSON; fetch it with the REST API.",
                "path": path_of(call),
            }
            return View(document, [])
        return tool.view(answer.body)


def path_of(call: RestCall) -> str:
    """Return the path of a REST call with its parameters filled in."""
    return call.route.format(**{name: quote(value, safe="") for name, value in call.path.items()})


def result_of(page: Mapping[str, object]) -> Result:
    """Return a tool's result: a page of its answer, and the same as text for clients that read nothing else."""
    return {**_text(page), "structuredContent": page, "isError": False}


def error_of(document: Mapping[str, object]) -> Result:
    """Return a tool's result that is an error. It is text alone: output schemas are of answers."""
    return {**_text(document), "isError": True}


def _text(document: Mapping[str, object]) -> Result:
    return {"content": [{"type": "text", "text": _ENCODER.encode(document).decode()}]}
