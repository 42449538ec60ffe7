"""POST /mcp: one message of the Model Context Protocol in, one answer out, for the origins that may send one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from aiohttp import hdrs, web

from edge.auth.middleware import Authentication
from edge.composition import Services
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from edge.http.routing import JSON, Route, Rule
from edge.http.validation import shown_name
from edge.mcp import protocol
from edge.mcp.calls import Encoder, RestCalls, Result, ToolCalls, error_of, task_of
from edge.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MalformedMessage,
    Message,
    MessageId,
    RpcError,
    encode_error,
    encode_result,
    message_of,
)
from edge.mcp.protocol import McpPeer
from edge.mcp.tools import JOB, LISTED, TOOLS_BY_NAME, RestCall
from edge.mcp.views import AnswerBody, AnswerPages
from shared.errors import ItemIndexError, JobNotFound
from shared.json_types import JsonValue

_REPORT = TOOLS_BY_NAME["market_report"]
_CONFLICT = 409

_EXPOSED = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
_FIELDS = (
    "Authorization, Content-Type, Mcp-Method, Mcp-Name, MCP-Protocol-Version, X-Request-Id, X-Service-Public-Token"
)
_NO_STORE = {"Cache-Control": "no-store"}
PATH = "/mcp"
# Open, as what lists the tools is: each call of a tool is authenticated and charged by the rule of its REST call.
_RULE = Rule(name="mcp", offers=JSON)


class Tasks:
    """Answers `tasks/get`, `tasks/update` and `tasks/cancel` for the sender of a request."""

    def __init__(self, rest: RestCalls, calls: ToolCalls) -> None:
        self._rest = rest
        self._calls = calls

    async def get(self, request: web.Request, params: Mapping[str, JsonValue], encode: Encoder) -> Result:
        """Return the task, with its result where it has ended. Raises RpcError."""
        job = await self._job(request, params, "GET")
        task = task_of(job)
        if task["status"] != "completed":
            return task
        if job["error"] is not None:
            result = error_of(job["error"])
        else:
            result = await self._calls.call(
                request, _REPORT, {"job": job["id"]}, lambda result: encode({**task, "result": result})
            )
        return {**task, "result": result}

    async def update(self, request: web.Request, params: Mapping[str, JsonValue], encode: Encoder) -> Result:
        """Acknowledge answers to questions of a task; none of ours asks any. Raises RpcError."""
        await self._job(request, params, "GET")
        return {}

    async def cancel(self, request: web.Request, params: Mapping[str, JsonValue], encode: Encoder) -> Result:
        """Cancel the task, and acknowledge it; one that has ended stays as it is. Raises RpcError."""
        try:
            await self._job(request, params, "DELETE")
        except Problem as problem:
            if problem.type.status != _CONFLICT:
                raise
        return {}

    @property
    def methods(self) -> Mapping[str, Callable[[web.Request, Mapping[str, JsonValue], Encoder], Awaitable[Result]]]:
        """The methods by their names."""
        return {"tasks/get": self.get, "tasks/update": self.update, "tasks/cancel": self.cancel}

    async def _job(self, request: web.Request, params: Mapping[str, JsonValue], method: str) -> AnswerBody:
        id = params.get("taskId")
        if not isinstance(id, str):
            raise RpcError(INVALID_PARAMS, "`taskId` must be text.")
        try:
            answer = await self._rest.answer(request, RestCall(JOB, {"id": id}, method=method), 0)
        except JobNotFound:
            raise RpcError(INVALID_PARAMS, "There is no task with this ID.") from None
        return answer.body


def rpc_error_of(error: Exception) -> RpcError | None:
    """Return a problem as an error of the protocol, with its members; None where HTTP must answer."""
    problem = problem_of(error) if isinstance(error, ItemIndexError | Problem | web.HTTPException) else None
    if problem is None or problem.type.status == 401:
        return None
    return RpcError(
        INTERNAL_ERROR, problem.detail, {"slug": problem.type.slug, "status": problem.type.status, **problem.extra}
    )


_METHODS, _MAX_AGE_SECONDS = "POST, OPTIONS", "86400"


class Origins:
    """The service's own origin, and those that its operator allows."""

    def __init__(self, own: str, allowed: str) -> None:
        self._allowed = {own.lower(), *(origin.strip().lower() for origin in allowed.split(",") if origin.strip())}

    def accepts(self, origin: str | None) -> bool:
        """Whether a request of this origin may be answered; programs that are no browsers send none."""
        return origin is None or origin.lower() in self._allowed

    def fields(self, origin: str | None) -> dict[str, str]:
        """Return the CORS headers of an answer to an accepted origin."""
        if origin is None:
            return {"Vary": "Origin"}
        return {"Vary": "Origin", "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _EXPOSED}

    def preflight_fields(self, origin: str) -> dict[str, str]:
        """Return the CORS headers of a pre-flight of an accepted origin."""
        requested = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _FIELDS}
        return {**self.fields(origin), **requested, "Access-Control-Max-Age": _MAX_AGE_SECONDS}


class McpEndpoint:
    def __init__(self, calls: ToolCalls, tasks: Tasks, origins: Origins) -> None:
        self._calls = calls
        self._tasks = tasks
        self._origins = origins

    async def preflight(self, request: web.Request) -> web.StreamResponse:
        """Answer OPTIONS: the CORS headers for an accepted origin, and none for another."""
        origin = request.headers.get(hdrs.ORIGIN)
        allowed = {"Allow": "POST, OPTIONS"}
        if origin is not None and self._origins.accepts(origin):
            allowed |= self._origins.preflight_fields(origin)
        return web.Response(status=204, headers=allowed)

    async def receive(self, request: web.Request) -> web.StreamResponse:
        """Answer one message; nothing is answered to a notification (202)."""
        origin = request.headers.get(hdrs.ORIGIN)
        if not self._origins.accepts(origin):
            return _refusal(
                403, None, RpcError(INVALID_REQUEST, "Calls from this origin are not accepted; see MCP_ORIGINS.")
            )
        try:
            response = await self._answer(request)
        except (ItemIndexError, Problem, web.HTTPException) as error:
            problem = problem_of(error)
            if problem is None:
                raise
            problem.fields.update(self._origins.fields(origin))  # a page must be able to read why it was refused
            raise problem from None
        response.headers.update(self._origins.fields(origin))
        return response

    async def _answer(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            raise Problem("unsupported-media-type", "Send the message as application/json.")
        unread = request.clone()  # calls of the API are copies of it, and one whose body was read cannot be copied
        try:
            message = message_of(await request.read())
        except MalformedMessage as error:
            return _refusal(400, error.id, error)
        stateless = True
        try:
            repeated = protocol.repeated_field(list(request.headers))
            if repeated is not None:
                raise RpcError(protocol.HEADER_MISMATCH, f"The header {repeated} comes twice.")
            peer = protocol.peer_of(message, request.headers)
            stateless = peer.stateless
            if message.is_notification:
                return web.Response(status=202, headers=_NO_STORE)
            result = await self._result(unread, message, peer)
        except RpcError as error:
            return _refusal(protocol.status_of(error, stateless=stateless), message.id, error)
        return _json(200, encode_result(message.id, protocol.with_server_info(result, stateless=stateless)))

    async def _result(self, request: web.Request, message: Message, peer: McpPeer) -> Result:
        """Return the result of a request. Raises RpcError, and the problems that HTTP answers."""
        match message.method, peer.stateless:
            case "tools/call", _:
                return await self._call_tool(request, message, peer)
            case "tools/list", _:
                _check_first_page(message.params)
                return {**LISTED, **(protocol.cacheable() if peer.stateless else {})}
            case "server/discover", True:
                return protocol.discovery_result()
            case "initialize", False:
                return protocol.initialize_result()
            case "ping", False:
                return {}
            case method, True if method in self._tasks.methods:
                return await self._act_on_task(request, message, peer)
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {shown_name(message.method)}")

    async def _call_tool(self, request: web.Request, message: Message, peer: McpPeer) -> Result:
        name = message.params.get("name")
        tool = TOOLS_BY_NAME.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {shown_name(str(name))}. tools/list names all.")
        given = message.params.get("arguments", {})
        encode = _encoder(message, peer)
        return await self._calls.call(request, tool, given, encode, takes_tasks=peer.takes_tasks)

    async def _act_on_task(self, request: web.Request, message: Message, peer: McpPeer) -> Result:
        if not peer.takes_tasks:
            raise protocol.missing_tasks()
        act = self._tasks.methods[message.method]
        try:
            return await act(request, message.params, _encoder(message, peer))
        except (ItemIndexError, Problem, web.HTTPException) as error:
            raise rpc_error_of(error) or error from None


def _encoder(message: Message, peer: McpPeer) -> Encoder:
    def encode(result: Result) -> bytes:
        return encode_result(message.id, protocol.with_server_info(result, stateless=peer.stateless))

    return encode


def _check_first_page(params: Mapping[str, JsonValue]) -> None:
    if params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "The list of tools has one page.")


def _refusal(status: int, id: MessageId, error: RpcError) -> web.Response:
    return _json(status, encode_error(id, error))


def _json(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json", headers=_NO_STORE)


def routes(listed: Sequence[Route], services: Services, authentication: Authentication) -> tuple[Route, ...]:
    """Return the routes of the protocol; `listed` are those of the API."""
    settings = services.settings
    rest = RestCalls(listed, authentication, services.billing)
    calls = ToolCalls(rest, AnswerPages(services.cursors), settings.problem_base_url)
    endpoint = McpEndpoint(calls, Tasks(rest, calls), Origins(services.origin, settings.mcp_origins))
    return (
        Route("POST", PATH, endpoint.receive, _RULE, documented=False),
        Route("OPTIONS", PATH, endpoint.preflight, _RULE, documented=False),
    )
