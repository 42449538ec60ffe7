"""The outermost middleware: request id, the headers of every response, one access line, two metrics."""

import time
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from multidict import CIMultiDict

from edge.http.access_log import AccessLog
from edge.http.answered_call import AnsweredCall
from edge.http.context import CONTEXT, Context, Network, charge_id_of, network_of, request_id_from
from edge.http.problem_details import ProblemDetails
from edge.http.problems import Problem
from edge.http.redaction import without_credentials
from edge.http.routing import Rule, rule_of
from shared.organizations.accounts import Principal
from shared.telemetry import metrics
from shared.telemetry.spans import Attributes, Spans
from shared.telemetry.trace_context import step_from

# Called for every request of a known caller: principal, network, call.
NoteUse = Callable[[Principal, str, AnsweredCall], None]
# Headers that a browser's script may read; without them web pages would not see the limits.
EXPOSED = "RateLimit, RateLimit-Policy, Retry-After, ETag, X-Request-Id, Link, Location"
COMMON_FIELDS: tuple[tuple[str, str], ...] = (("X-Content-Type-Options", "nosniff"),)
ANY_ORIGIN_FIELDS: tuple[tuple[str, str], ...] = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", EXPOSED),
)


class RequestContext:
    """Creates the context, times the request, and completes the response's headers."""

    def __init__(
        self,
        trusted: tuple[Network, ...],
        problems: ProblemDetails,
        lines: AccessLog,
        spans: Spans,
        note_use: NoteUse,
    ) -> None:
        self._trusted = trusted
        self._problems = problems
        self._lines = lines
        self._spans = spans
        self._note_use = note_use

    def middleware(self) -> Middleware:

        @web.middleware
        async def trace(request: web.Request, handler: Handler) -> web.StreamResponse:
            rule = rule_of(request)
            context = self._context(request, rule)
            response: web.StreamResponse
            with metrics.requests_in_flight.track_inprogress():
                if context.network == "":
                    response = self._problems.answer(_no_address(), context)
                else:
                    response = await handler(request)
            finish_headers(response.headers, context, rule)
            self._record(request, response, context, rule)
            return response

        return trace

    def _context(self, request: web.Request, rule: Rule) -> Context:
        request_id = request_id_from(request.headers.get("X-Request-Id"))
        span = step_from(request.headers.get("traceparent"), otherwise=request_id, share=self._spans.share)
        charge_id, network = charge_id_of(request, self._trusted), network_of(request, self._trusted) or ""
        context = Context(request_id, charge_id, network, rule.name, span=span)
        request[CONTEXT] = context
        return context

    def _record(self, request: web.Request, response: web.StreamResponse, context: Context, rule: Rule) -> None:
        seconds = time.perf_counter() - context.started
        metrics.requests.labels(rule.name, response.status).inc()
        metrics.request_seconds.labels(rule.name).observe(seconds)
        self._lines.write(request.method, rule.name, request.raw_path, response.status, seconds, context)
        if context.principal is not None:
            path, problem = without_credentials(request.path), context.problem_slug or ""
            identity = (context.request_id, request.method, path, problem)
            call = AnsweredCall(rule.name, response.status, context.units, seconds, *identity)
            self._note_use(context.principal, context.network, call)
        if context.span.sampled:
            self._note_span(request, response, context, rule, seconds)

    def _note_span(
        self, request: web.Request, response: web.StreamResponse, context: Context, rule: Rule, seconds: float
    ) -> None:
        organization = context.principal.organization_id if context.principal else None
        attributes = span_attributes(
            request.method, rule.name, response.status, context.request_id, organization, context.problem_slug
        )
        failed = response.status >= 500
        self._spans.note(context.span, f"{request.method} {rule.name}", "server", seconds, attributes, failed=failed)


def span_attributes(
    method: str, route: str, status: int, request_id: str, organization: str | None, problem: str | None
) -> Attributes:
    """Return what a request's span says of it."""
    return {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": status,
        "itemindex.request_id": request_id,
        "itemindex.organization": organization,
        "itemindex.problem": problem,
    }


def finish_headers(head: CIMultiDict[str], context: Context, rule: Rule) -> None:
    """Add the headers that every response of this rule has, always in the same order."""
    for line in () if rule.page else context.limit_fields.decode("ascii").splitlines():
        name, _, value = line.partition(": ")
        head[name] = value
    head["X-Request-Id"] = context.request_id
    for name, value in COMMON_FIELDS + (ANY_ORIGIN_FIELDS if rule.any_origin else ()):
        head[name] = value


def _no_address() -> Problem:
    return Problem("internal-error", "The reverse proxy did not send the caller's address (X-Real-IP).")
