"""Counts of the fast path: plain numbers for each response, written into the real metrics once a second."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import msgspec

from edge import rules
from edge.composition import Services
from edge.fast_path import answers
from edge.fast_path.call import (
    LOOKUP,
    NOT_CHARGED,
    Call,
    PlainRequest,
    call_of,
    caller_of,
    is_hexadecimal_id,
    network_of,
    of_record,
    representation,
)
from edge.fast_path.pending import Reader
from edge.http.answer_cache import JSON_SELECTED, PUBLIC, Answer, Key
from edge.http.answer_keeping import COMPRESSED_FROM_BYTES
from edge.http.context import trace_members
from edge.http.problems import unavailable
from edge.http.request_context import span_attributes
from edge.index.identifiers import requested_identifier
from edge.quota.policy import Decision, outcome_name
from edge.quota.unmetered import UnmeteredLimits
from shared.errors import InvalidParameter, StoreUnavailable
from shared.organizations.accounts import Principal
from shared.telemetry import metrics
from shared.telemetry.log import trace_of
from shared.telemetry.spans import SpanContext, step_from

_FLUSH_SECONDS = 1.0
_Case = tuple[str, int, str, int | None, bool, str | None]
"""Route, status, plan, the limiter's outcome (None where it was not asked), whether refunded, what memory gave."""


class Counts:
    """The counts of one process since the last flush."""

    def __init__(self) -> None:
        self._histograms: defaultdict[_Case, metrics.LocalHistogram] = defaultdict(metrics.LocalHistogram)
        self._timer: asyncio.TimerHandle | None = None

    def note(
        self, route: str, decision: Decision, status: int, seconds: float, *, refunded: bool, source: str | None
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


# The common parts of all connections on the fast path: the sources of answers, and how they are counted.


_INDEX = b"/v1/index/"
_RESOLVE = rules.free("resolve")
_LINE = b'{"ts":"%b","request_id":"%b","method":"GET","route":"%b","path":"%b","status":%d,"us":%d,%b,"problem":%b%b}\n'


class FastPath:
    """Finds what can be answered from memory, and counts what was answered."""

    def __init__(self, services: Services) -> None:
        resources = services.resources
        self._known = resources.credentials.cached
        self._records = resources.records
        self._resolution = resources.resolutions.peek
        self._answer = resources.answers.find
        self._address = f"Content-Location: {resources.settings.base_url}/index/lookup/"
        self._limiter = resources.limiter
        self._reader = Reader(services)
        self._unmetered = UnmeteredLimits(resources.limiter)
        self._log = resources.log
        self._access_log = resources.access_log
        self._used = resources.usage.note
        self._spans = resources.spans
        self._problem_base_url = resources.settings.problem_base_url
        self.draining = False
        self._counts = Counts()
        self._tasks: set[asyncio.Task[None]] = set()
        self.flush = self._counts.flush

    def call(self, request: PlainRequest) -> Call | None:
        """Return what a request leads to; None where memory does not have everything, or anything is unusual."""
        network = network_of(request.address)
        if network is None:
            return None
        if not request.target.startswith(_INDEX):
            return self._document(request, network)
        principal = self._known((request.token or request.key or b"").decode())
        if principal is None:
            return None
        if principal.kind != ("public-token" if request.token else "api-key"):
            return None
        answer, read = self._find(request, principal), None
        if answer is None:
            answer, read = self._reader.find(request) or (None, None)
        if answer is None or principal.kind not in answer.rule.accepts or principal.plan.rank < answer.rule.rank_min:
            return None
        if not answer.units and principal.plan.counted_by != "organization":
            return None
        return call_of(request, caller_of(principal, network), answer, read)

    def _document(self, request: PlainRequest, network: str) -> Call | None:
        """Return the call of a document, which needs no credential, looks at none, and is not counted."""
        accept = request.accept.decode() if request.accept is not None else ""
        answer = self._answer(Key(request.target, accept, PUBLIC, request.gzip is not None))
        if answer is None or answer.rule.accepts:
            return None
        return call_of(request, caller_of(None, network), answer)

    def charge(self, call: Call, respond: Callable[[bytes], None], decline: Callable[[], None]) -> None:
        """Charge a call and give the bytes of its response to `respond`. A 304 costs nothing, so it is only checked.

        Where the answer had to be read and there is none, and where anything fails here, `decline` is called instead:
        the ordinary way responds. It charges the same id, which costs nothing more.
        """

        def decided(decision: Decision) -> None:
            try:
                if decision.allowed and call.read is not None:
                    call.read(call, lambda answer: self._take(answer, call, decision, respond, decline))
                else:
                    self._respond(call, decision, respond)
            except Exception as error:  # noqa: BLE001 - the caller waits for a response, and nothing else knows of it
                self.failed(error)
                decline()

        account, principal = call.caller.account, call.caller.principal
        if principal is None or account is None:
            decided(NOT_CHARGED)
            return
        began, charge_id = float(call.request.began or 0), call.request.charge_id.decode()
        if not call.answer.units:
            self._unmetered.consume_then(account, principal.plan, charge_id, decided)
            return
        charge = self._limiter.check_then if call.unchanged else self._limiter.consume_then
        charge(account, principal.plan, call.answer.units, charge_id, decided, began)

    def _respond(self, call: Call, decision: Decision, respond: Callable[[bytes], None], *, read: bool = False) -> None:
        status, slug, whole = self._response(call, decision)
        respond(whole)
        self._count(call, decision, status, slug, call.source if decision.allowed and not read else None)

    def _take(
        self,
        answer: Answer | StoreUnavailable | None,
        call: Call,
        decision: Decision,
        respond: Callable[[bytes], None],
        decline: Callable[[], None],
    ) -> None:
        """Respond with what was read for a call that is charged."""
        if answer is None:
            decline()
        elif isinstance(answer, StoreUnavailable):
            task = asyncio.create_task(self._give_up(call, decision, answer, respond, decline))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            try:
                self._respond(msgspec.structs.replace(call, answer=answer), decision, respond, read=True)
            except Exception as error:  # noqa: BLE001 - as above
                self.failed(error)
                decline()

    async def _give_up(
        self,
        call: Call,
        decision: Decision,
        error: StoreUnavailable,
        respond: Callable[[bytes], None],
        decline: Callable[[], None],
    ) -> None:
        """Give the charge back and respond that PostgreSQL, which alone knows the record, does not answer."""
        try:
            decision = await self._limiter.refund(decision)
            problem = unavailable(error)
            respond(answers.failed(call.answer, problem, decision, call.request_id, self._problem_base_url))
            self._count(call, decision, problem.type.status, b'"%b"' % problem.type.slug.encode())
        except Exception as unexpected:  # noqa: BLE001 - as above
            self.failed(unexpected)
            decline()

    def failed(self, error: Exception) -> None:
        """Report a fault of ours; the ordinary way responds instead, and reports its own."""
        self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))

    def _response(self, call: Call, decision: Decision) -> tuple[int, bytes, bytes]:
        if not decision.allowed:
            return answers.refused(call, decision, self._problem_base_url)
        if call.unchanged:
            return 304, b"null", answers.unchanged(call.answer, decision, call.request_id)
        return 200, b"null", answers.ok(call.answer, decision, call.request_id)

    def _count(self, call: Call, decision: Decision, status: int, slug: bytes, source: str | None = None) -> None:
        """Count one response and write its access line, its span and the account's use."""
        seconds, caller, route = perf_counter() - call.started, call.caller, call.answer.rule.name
        refunded = bool(call.unchanged and decision.allowed and call.answer.units)
        self._counts.note(route, decision, status, seconds, refunded=refunded, source=source)
        units = call.answer.units if status == 200 else 0
        if caller.principal is not None:
            path, problem = call.request.target.partition(b"?")[0].decode(), slug.decode().strip('"')
            identity = (call.request_id.decode(), "GET", path, "" if problem == "null" else problem)
            self._used(caller.principal, caller.network, route, status, units, seconds, *identity)
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

    def _note_span(self, call: Call, span: SpanContext, status: int, slug: bytes, seconds: float) -> None:
        problem = None if slug == b"null" else slug.decode().strip('"')
        principal = call.caller.principal
        organization = principal.organization_id if principal is not None else None
        name = call.answer.rule.name
        attributes = span_attributes("GET", name, status, call.request_id.decode(), organization, problem)
        self._spans.note(span, f"GET {name}", "server", seconds, attributes, failed=status >= 500)

    def _find(self, request: PlainRequest, principal: Principal) -> Answer | None:
        selected = representation(request.accept)
        if request.iid is not None:
            return self._record_answer(request.iid.decode().upper(), selected, by_number=False)
        if request.scheme is not None and request.number is not None:
            iid = self._resolve(request.scheme, request.number)
            answer = self._record_answer(iid, selected, by_number=True) if iid is not None else None
            if answer is None or request.gzip is None or len(answer.body) < COMPRESSED_FROM_BYTES:
                return answer
        return self._answer(Key(request.target, selected, principal.organization_id, request.gzip is not None))

    def _resolve(self, scheme: bytes, number: bytes) -> str | None:
        """Return the one IID that memory has for a number; None if the ordinary way must respond."""
        key = _key(scheme, number)
        resolution = self._resolution(key) if key is not None else None
        return resolution.iids[0] if resolution is not None and len(resolution.iids) == 1 else None

    def _record_answer(self, iid: str, selected: str, *, by_number: bool) -> Answer | None:
        record = self._records.peek(iid)
        if record is None or record.state != "+" or not selected.endswith(JSON_SELECTED):
            return None
        where = f"{self._address}{iid}\r\n".encode() if by_number else b""
        return of_record(record, where, _RESOLVE if by_number else LOOKUP)


@lru_cache(maxsize=8192)
def _key(scheme: bytes, number: bytes) -> str | None:
    """Return the key of an identifier that may name one article; None for any other text."""
    try:
        identifier = requested_identifier({scheme.decode(): number.decode()})
    except InvalidParameter:
        return None
    return identifier.key if identifier.is_unique else None


def _trace(span: SpanContext, request_id: str) -> bytes:
    """Return the members of an access line that identify the trace, as JSON behind the others."""
    members = trace_members(span, request_id)
    return b"," + msgspec.json.encode(members)[1:-1] if members else b""
