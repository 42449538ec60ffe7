"""Calls of the API's own routes from inside the process: the same credentials, parameters, charges and problems.

A tool is a REST call in other words. It runs through the route's own rule, schemas and handler, so that what it costs
and how it is refused cannot differ.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from aiohttp import web
from marshmallow import Schema, ValidationError
from multidict import MultiDict
from yarl import URL

from edge.auth.middleware import Authentication
from edge.http.parameters import PARSER, PATH, QUERY, problem_of_validation
from edge.http.routing import Route
from edge.http.stream import Stream
from edge.mcp.tools import RestCall
from edge.quota.billing import Billing
from edge.quota.middleware import charged
from shared.errors import InvalidParameter

_RESULT_BYTES_MAX = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """The answer of a route: its status and its JSON; `body` is None where that is too large, or no JSON."""

    status: int
    body: Any


class RestCalls:
    """Runs calls as the caller of a request that came otherwise."""

    def __init__(self, routes: Iterable[Route], authentication: Authentication, billing: Billing) -> None:
        self._routes = {(one.method, one.path): one for one in routes}
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
        return await _decoded(await charged(self._billing, route.rule, inner, route.handler))


async def _read_parameters(request: web.Request, route: Route, call: RestCall) -> None:
    """Validate in the order in which the route declares: of two faults the same is named as by REST."""
    declared = getattr(route.handler, "__schemas__", ())
    if call.query and not any(entry["location"] == "querystring" for entry in declared):
        raise InvalidParameter(next(iter(call.query)), "is unknown; this call takes no such argument")
    for entry in declared:
        if entry["location"] == "match_info":
            request[PATH] = _path_parameters(entry["schema"], call.path)
        else:
            request[QUERY] = await PARSER.parse(entry["schema"], request, location="querystring", unknown=None)


def _path_parameters(schema: Schema, values: Mapping[str, str]) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = schema.load(values)
    except ValidationError as error:
        raise problem_of_validation(ValidationError({"match_info": error.messages}, data=values), schema) from None
    return loaded


def _as_query(values: Mapping[str, Any]) -> MultiDict[str]:
    query: MultiDict[str] = MultiDict()
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            query.add(name, str(one).lower() if isinstance(one, bool) else str(one))
    return query


async def _decoded(response: web.StreamResponse) -> RestAnswer:
    if isinstance(response, Stream):
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
