"""The outermost middleware: request id, the headers of every response, one access line, two metrics."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from edge.http.context import CONTEXT, Context, Network, charge_id_of, network_of, request_id_from
from edge.http.problems import Problem, ProblemDetails
from edge.http.redaction import without_credentials
from edge.http.routing import Rule, rule_of
from shared.organizations.accounts import Principal
from shared.printable import json_line
from shared.telemetry import metrics
from shared.telemetry.log import LineWriter
from shared.telemetry.spans import Attributes, Spans, step_from

_FLUSH_SECONDS = 0.25
_BUFFER_BYTES_MAX = 1 << 20


class AccessLog:
    """Writes one line for each request. A full or failing disk loses lines, never requests."""

    def __init__(self, target: str) -> None:
        self._writer = LineWriter(_open(target), metrics.access_lines_lost) if target else None
        self._buffer = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._second = -1
        self._second_text = b""

    def write(self, method: str, route: str, path: str, status: int, seconds: float, context: Context) -> None:
        """Record one request. The query is left out, because callers put credentials there by mistake."""
        if self._writer is None:
            return
        line = {
            "ts": self.stamp().decode(),
            "request_id": context.request_id,
            "method": method,
            "route": route,
            "path": without_credentials(path.partition("?")[0])[:200],
            "status": status,
            "us": int(seconds * 1_000_000),
            "network": context.network,
            "account": context.account,
            **context.caller,
            "problem": context.problem_slug,
            **context.trace,
        }
        self.append(json_line(line))

    def append(self, line: bytes) -> None:
        """Append a finished line; the fast path formats the same line with less work."""
        if self._writer is None:
            return
        if len(self._buffer) + len(line) > _BUFFER_BYTES_MAX:  # the writer takes as many bytes at once
            metrics.access_lines_lost.inc()
            return
        self._buffer += line
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self._hand_over)

    def stamp(self) -> bytes:
        """Return the present moment for a line; the text up to the second is made once a second."""
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second, self._second_text = second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)).encode()
        return b"%b%03dZ" % (self._second_text, (now - second) * 1000)

    def flush(self) -> None:
        """Wait until everything so far is written, a second at most."""
        self._hand_over()
        if self._writer is not None:
            self._writer.drain()

    def close(self) -> None:
        """Write what is left and close the file."""
        self._hand_over()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _hand_over(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writer is not None and self._buffer:
            self._writer.write(bytes(self._buffer))
            self._buffer.clear()


def _open(target: str) -> int:
    if target == "-":
        return 1
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    return os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)


# Called for every request of a known caller: principal, network, route, status, units, seconds, request id.
Used = Callable[[Principal, str, str, int, int, float, str, str, str, str], None]
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
        used: Used = lambda *call: None,
    ) -> None:
        self._trusted = trusted
        self._problems = problems
        self._lines = lines
        self._spans = spans
        self._used = used

    def middleware(self) -> Any:

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
            self._used(
                context.principal,
                context.network,
                rule.name,
                response.status,
                context.units,
                seconds,
                context.request_id,
                request.method,
                without_credentials(request.path),
                context.problem_slug or "",
            )
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
