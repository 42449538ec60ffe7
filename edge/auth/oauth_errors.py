"""Refusals in the form of OAuth 2.0 (RFC 6749, section 5.2), for calls that its clients and OpenID providers make."""

from collections.abc import Mapping

from aiohttp import web

from edge.http.problems import Problem


def error_members(problem: Problem, request: web.Request) -> Mapping[str, object]:
    """Return what the protocol adds to a problem document."""
    error = "temporarily_unavailable" if problem.type.status >= 500 else "invalid_request"
    return {"error": error, "error_description": problem.detail}
