"""The route of the Model Context Protocol, over the routes that its tools call."""

from collections.abc import Sequence

from edge.container import Services
from edge.http.routing import JSON, Route, Rule
from edge.mcp.calls import ToolCalls
from edge.mcp.handlers import McpEndpoint
from edge.mcp.jobs import Tasks
from edge.mcp.origins import Origins
from edge.mcp.pages import Pages
from edge.mcp.rest import RestCalls
from edge.middleware.authentication import Authentication

PATH = "/mcp"
# Open, as what lists the tools is: each call of a tool is authenticated and charged by the rule of its REST call.
_RULE = Rule(name="mcp", offers=JSON)


def routes(listed: Sequence[Route], services: Services, authentication: Authentication) -> tuple[Route, ...]:
    """Return the routes of the protocol; `listed` are those of the API."""
    settings = services.settings
    rest = RestCalls(listed, authentication, services.billing)
    calls = ToolCalls(rest, Pages(services.cursors), settings.problem_base_url)
    endpoint = McpEndpoint(calls, Tasks(rest, calls), Origins(services.origin, settings.mcp_origins))
    return (
        Route("POST", PATH, endpoint.receive, _RULE, documented=False),
        Route("OPTIONS", PATH, endpoint.preflight, _RULE, documented=False),
    )
