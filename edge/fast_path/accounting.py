"""What is written about each response: metrics, the access line, the account's use and the span."""

import asyncio
from collections import defaultdict
from time import perf_counter

import msgspec

from edge.composition import Resources
from edge.fast_path.call import PlainCall
from edge.fast_path.plain_request import PlainRequest, is_hexadecimal_id
from edge.http.answered_call import AnsweredCall
from edge.http.context import trace_members
from edge.http.request_context import span_attributes
from edge.quota.decision import QuotaDecision, outcome_name
from shared.telemetry import metrics
from shared.telemetry.trace_context import SpanContext, step_from

_FLUSH_SECONDS = 1.0
_LINE = b'{"ts":"%b","request_id":"%b","method":"GET","route":"%b","path":"%b","status":%d,"us":%d,%b,"problem":%b%b}\n'
_Case = tuple[str, int, str, int | None, bool, str | None]
"""Route, status, plan, the limiter's outcome (None where it was not asked), whether refunded, what memory gave."""


class Counts:
    """Counts of responses, collected in memory and added to the metrics once a second."""

    def __init__(self) -> None:
        self._histograms: defaultdict[_Case, metrics.LocalHistogram] = defaultdict(metrics.LocalHistogram)
        self._timer: asyncio.TimerHandle | None = None

    def add(
        self, route: str, decision: QuotaDecision, status: int, seconds: float, *, refunded: bool, source: str | None
    ) -> None:
        """Count one response, its charge, and what memory gave for it: `record`, `identifier`, `answer`, or nothing.

        `refunded` counts that too, as the ordinary way does for a 304.
        """
        outcome = decision.outcome if decision.verified else None
        self._histograms[route, status, decision.plan.name, outcome, refunded, source].note(seconds)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Add what was counted to the metrics."""
        self._timer = None
        for (route, status, plan, outcome, refunded, source), tally in self._histograms.items():
            if source == "answer":
                metrics.answers_reused.inc(tally.count)
            elif source is not None:
                metrics.record_reads.labels("memory").inc(tally.count)
            if source == "identifier":
                metrics.identifier_reads.labels("memory").inc(tally.count)
            metrics.requests.labels(route, status).inc(tally.count)
            if outcome is not None:
                metrics.quota_decisions.labels(plan, outcome_name(outcome)).inc(tally.count)
                if refunded:
                    metrics.quota_decisions.labels(plan, "refunded").inc(tally.count)
            tally.flush_into(metrics.request_seconds.labels(route))
        self._histograms.clear()


class Accounting:
    """Counts responses and writes their access lines and spans, as the ordinary way does."""

    def __init__(self, resources: Resources) -> None:
        self._access_log = resources.access_log
        self._note_use = resources.usage.note
        self._spans = resources.spans
        self._counts = Counts()
        self.flush = self._counts.flush

    def record(
        self,
        call: PlainCall,
        decision: QuotaDecision,
        status: int,
        slug: bytes,
        *,
        read: bool = False,
        stays: bool = False,
    ) -> None:
        """Record one response. `slug` is that of the problem, as JSON; `read`: memory did not have the answer.

        `stays`: the charge could not be refunded, whatever the status.
        """
        seconds, caller, route = perf_counter() - call.started, call.caller, call.answer.rule.name
        refunded = status == 304 and call.answer.units > 0
        source = _source(call.request) if status < 400 and not read else None
        self._counts.add(route, decision, status, seconds, refunded=refunded, source=source)
        units = call.answer.units if status == 200 or stays else 0
        if caller.principal is not None:
            path, problem = call.request.target.partition(b"?")[0].decode(), slug.decode().strip('"')
            identity = (call.request_id.decode(), "GET", path, "" if problem == "null" else problem)
            self._note_use(caller.principal, caller.network, AnsweredCall(route, status, units, seconds, *identity))
        span = self._span(call.request.traceparent, call.request_id)
        self._access_log.append(
            _LINE
            % (
                self._access_log.stamp(),
                call.request_id,
                route.encode(),
                call.request.target.partition(b"?")[0],
                status,
                int(seconds * 1_000_000),
                caller.members,
                slug,
                _trace(span, call.request_id.decode()) if span is not None else b"",
            )
        )
        if span is not None and span.sampled:
            self._note_span(call, span, status, slug, seconds)

    def _span(self, traceparent: bytes | None, request_id: bytes) -> SpanContext | None:
        """Return the request's step in its trace; None where nothing would be written about it."""
        if traceparent is None and not self._spans.share and is_hexadecimal_id(request_id):
            return None
        given = traceparent.decode() if traceparent is not None else None
        return step_from(given, otherwise=request_id.decode(), share=self._spans.share)

    def _note_span(self, call: PlainCall, span: SpanContext, status: int, slug: bytes, seconds: float) -> None:
        problem = None if slug == b"null" else slug.decode().strip('"')
        principal = call.caller.principal
        organization = principal.organization_id if principal is not None else None
        name = call.answer.rule.name
        attributes = span_attributes("GET", name, status, call.request_id.decode(), organization, problem)
        self._spans.note(span, f"GET {name}", "server", seconds, attributes, failed=status >= 500)


def _source(request: PlainRequest) -> str:
    """Return what memory gave, as the metrics name it: a record, an identifier's record, an answer."""
    if request.iid is not None:
        return "record"
    return "identifier" if request.scheme is not None else "answer"


def _trace(span: SpanContext, request_id: str) -> bytes:
    """Return the members of an access line that identify the trace, as JSON behind the others."""
    members = trace_members(span, request_id)
    return b"," + msgspec.json.encode(members)[1:-1] if members else b""
