"""Answers to the commonest calls without the framework: from memory, or by one read."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from time import perf_counter, time
from typing import Any, NamedTuple

import msgspec
from aiohttp.helpers import rfc822_formatted_time

from edge import rules
from edge.composition import Services
from edge.http.answer_cache import JSON_SELECTED, PUBLIC, Answer, Key, Offer, answer_of, representation_of
from edge.http.context import instance_of, request_id_from, trace_members
from edge.http.json import CACHE_CONTROL
from edge.http.problems import Problem, unavailable
from edge.http.representation import COMPRESSED_FROM_BYTES, compress, none_match
from edge.http.request_context import ANY_ORIGIN_FIELDS, COMMON_FIELDS, span_attributes
from edge.http.routing import Rule
from edge.index.identifiers import requested_identifier
from edge.index.lookup import Record
from edge.quota.billing import UnmeteredLimits, limit_fields, refusal
from edge.quota.limiter import NOT_COUNTED, TAKEN, Decision, may_be_kept, outcome_name
from edge.rules import LIGHT_UNITS
from edge.search.answers import search_parameters
from edge.storage.database import ACCOUNT
from shared.errors import InvalidParameter, StoreUnavailable
from shared.index.iid import canonical_iid
from shared.organizations.accounts import Plan, Principal, account_of, counted_network
from shared.telemetry import metrics
from shared.telemetry.log import trace_of
from shared.telemetry.spans import SpanContext, step_from

# Case, order and number of the lines are those of deploy/nginx/forwarded.conf, not the caller's. A line that is not
# named here has a meaning that this module does not know: the request takes the ordinary way.
_PLAIN = re.compile(
    rb"GET (?P<target>/v1/index/lookup/(?P<iid>[Ii][Ii][Dd](?:-[0-9A-Za-z]{1,16}+){1,8})"
    rb"|/v1/(?:openapi\.json|openapi\.yaml|(?:docs|errors)(?:/[0-9A-Za-z_.-]{1,60}){0,3})"
    rb"|/static(?:/[0-9A-Za-z_.-]{1,60}){1,2}|/v1/index/(?:"
    rb"resolve\?(?P<scheme>gtin|ean|upc|isbn)=(?P<number>[0-9Xx-]{8,17})"
    rb"|[0-9A-Za-z/_.-]{1,120}(?:\?[!-~]{0,1500})?)) HTTP/1\.1\r\n"
    rb"Host: [^\r\n]{1,255}+\r\n"
    rb"X-Real-IP: (?P<address>[0-9a-fA-F.:]{2,45}+)\r\n"
    rb"(?:X-Request-Id: (?P<request_id>[A-Za-z0-9_-]{8,64}+)\r\n)?"
    rb"X-Charge-Id: (?P<charge_id>[0-9a-f]{32})\r\n"
    rb"(?:X-Began: (?P<began>[0-9]{1,12}+\.[0-9]{3})\r\n)?"
    rb"(?:X-Service-Public-Token: (?P<token>[0-9A-Za-z_]{1,80}+)\r\n"
    rb"|Authorization: (?i:ApiKey) (?P<key>[0-9A-Za-z_]{1,80}+)\r\n)?"
    rb"(?:Accept: (?P<accept>[ -~]{1,300}+)\r\n)?"
    rb"(?P<gzip>Accept-Encoding: gzip\r\n)?"
    rb"(?:If-None-Match: (?P<if_none_match>[ -~]{1,600}+)\r\n)?"
    rb"(?:Prefer: [ -~]{1,200}+\r\n)?"
    rb"(?:Origin: [ -~]{1,300}+\r\n)?"
    rb"(?:Content-Type: [ -~]{1,200}+\r\n)?"
    rb"(?:traceparent: (?P<traceparent>[ -~]{1,256}+)\r\n)?"
    rb"\r\n"
)
_HEX_DIGITS = b"0123456789abcdef"
_ID_DIGITS = 32
LONGEST = 4_096
"""Bytes of the longest request worth the expression: a longer one cannot match."""


class PlainRequest(msgspec.Struct, frozen=True):
    """The parts of a recognized request. It has one of `token` and `key`, or none; `iid`, `scheme` name a record."""

    target: bytes
    iid: bytes | None
    scheme: bytes | None
    number: bytes | None
    address: bytes
    request_id: bytes | None
    charge_id: bytes
    began: bytes | None
    token: bytes | None
    key: bytes | None
    accept: bytes | None
    gzip: bytes | None
    if_none_match: bytes | None
    traceparent: bytes | None


def recognized(data: bytes) -> PlainRequest | None:
    """Return the parts of a request that the fast path may answer; None for any other bytes."""
    plain = _PLAIN.fullmatch(data)
    return PlainRequest(*plain.groups()) if plain is not None else None


def is_hexadecimal_id(request_id: bytes) -> bool:
    """Return whether a request id has the form of nginx's own, which is that of a trace id and of a UUID too."""
    return len(request_id) == _ID_DIGITS and not request_id.strip(_HEX_DIGITS)


@lru_cache(maxsize=8192)
def network_of(address: bytes) -> str | None:
    """Return the network that an address is counted as; None for what is no address."""
    return counted_network(address.decode())


@lru_cache(maxsize=1024)
def representation(accept: bytes | None) -> str:
    """Return what `Accept` selects, as the ordinary way does."""
    return representation_of(accept.decode() if accept is not None else None)


LOOKUP = rules.free("lookup")
_CACHED = f"Cache-Control: {CACHE_CONTROL}\r\n".encode()
_JSON_FIELD = b"Content-Type: application/json\r\n"
_NO_PLAN = Plan(
    name="none",
    title="no plan",
    rank=0,
    counted_by="ip",
    daily_units=0,
    burst_units=0,
)
NOT_CHARGED = Decision("", "", _NO_PLAN, 0, TAKEN, 0, 0, 0, 0, verified=False)
"""Instead of the store's decision: a document, which every caller may have."""

Done = Callable[[Answer | StoreUnavailable | None], None]
Read = Callable[["Call", Done], None]
"""Reads the content of a call's answer, and calls `Done` with the answer.

It gets StoreUnavailable where the store that alone knows it does not answer, and None where there is no answer to the
question: the ordinary way says why.
"""


class Caller(msgspec.Struct, frozen=True, eq=False):
    """A principal at one network, and what is the same in all its calls. A document's has no principal and no account.

    `members` of an access line identify the caller; they are JSON.
    """

    principal: Principal | None
    network: str
    account: str | None
    members: bytes


class Call(msgspec.Struct, frozen=True, eq=False):
    """A request that the fast path answers as soon as it is charged.

    `read` reads the answer where memory does not have it.
    """

    request: PlainRequest
    caller: Caller
    answer: Answer
    unchanged: bool
    request_id: bytes
    started: float
    read: Read | None

    @property
    def source(self) -> str:
        """The source of the answer, as the metrics name it: a record, an identifier's record, an answer."""
        if self.request.iid is not None:
            return "record"
        return "identifier" if self.request.scheme is not None else "answer"


@lru_cache(maxsize=8192)
def caller_of(principal: Principal | None, network: str) -> Caller:
    """Return the caller of a request; the same object while the principal is the same."""
    account = organization = key = None
    if principal is not None:
        account, organization = account_of(principal, network), principal.organization_id
        key = principal.credential_id
    members = {"network": network, "account": account, "organization": organization, "key": key}
    return Caller(principal, network, account, msgspec.json.encode(members)[1:-1])


def call_of(request: PlainRequest, caller: Caller, answer: Answer, read: Read | None = None) -> Call:
    """Make the call of a request that begins now."""
    condition = request.if_none_match
    unchanged = bool(condition and answer.etag and none_match(condition.decode(), answer.etag))
    request_id = request.request_id or request_id_from(None).encode()
    return Call(request, caller, answer, unchanged, request_id, perf_counter(), read)


def of_record(record: Record, where: bytes, rule: Rule) -> Answer:
    """Make the answer of a record; `where` is the line of its address, if it was asked for otherwise."""
    unchanged = _CACHED + where + b"ETag: " + record.etag.encode() + b"\r\n"
    return Answer(rule, rule.units, unchanged + _JSON_FIELD, unchanged, record.etag, record.body)


_UUID_MARK = "urn:uuid:00000000-0000-0000-0000-000000000000"
_COMMON = "".join(f"{name}: {value}\r\n" for name, value in COMMON_FIELDS).encode()
_ANY_ORIGIN = _COMMON + "".join(f"{name}: {value}\r\n" for name, value in ANY_ORIGIN_FIELDS).encode()
_OK = b"HTTP/1.1 200 OK\r\n%b%bX-Request-Id: %b\r\n%bContent-Length: %d\r\nDate: %b\r\n\r\n%b"
_UNCHANGED = b"HTTP/1.1 304 Not Modified\r\n%b%bX-Request-Id: %b\r\n%bDate: %b\r\n\r\n"
_REFUSED = (
    b"HTTP/1.1 %b\r\nCache-Control: no-store\r\nRetry-After: %d\r\nContent-Type: application/problem+json\r\n"
    b"%bX-Request-Id: %b\r\n%b%bContent-Length: %d\r\nDate: %b\r\n\r\n%b"
)
# Read by nginx alone, which keeps the refusal under a key that has the second in it.
_REPEATED = b"X-Accel-Expires: 1\r\n"


def ok(answer: Answer, decision: Decision, request_id: bytes) -> bytes:
    """Return the whole response 200."""
    body = answer.body
    common = _ANY_ORIGIN if answer.rule.any_origin else _COMMON
    return _OK % (answer.fields, _limits(answer, decision), request_id, common, len(body), _now(), body)


def unchanged(answer: Answer, decision: Decision, request_id: bytes) -> bytes:
    """Return the whole response 304."""
    common = _ANY_ORIGIN if answer.rule.any_origin else _COMMON
    return _UNCHANGED % (answer.unchanged, _limits(answer, decision), request_id, common, _now())


def refused(call: Call, decision: Decision, problem_base_url: str) -> tuple[int, bytes, bytes]:
    """Return the status, the problem's slug as JSON, and the whole response of a call that was not allowed."""
    before, after = _refusal_body(decision, call.caller.network, problem_base_url)
    body = before + _instance(call.request_id) + after
    common = _ANY_ORIGIN if call.answer.rule.any_origin else _COMMON
    counted = decision.outcome != NOT_COUNTED
    line = b"429 Too Many Requests" if counted else b"503 Service Unavailable"
    seconds, limits = decision.retry_after_seconds, _limits(call.answer, decision)
    again = _REPEATED if _may_be_repeated(decision) else b""
    whole = _REFUSED % (line, seconds, limits, call.request_id, again, common, len(body), _now(), body)
    return (429, b'"rate-limited"', whole) if counted else (503, b'"service-unavailable"', whole)


def failed(answer: Answer, problem: Problem, decision: Decision, request_id: bytes, problem_base_url: str) -> bytes:
    """Return the whole response of a problem that says when to retry."""
    body = problem.document(problem_base_url, request_id.decode())
    common = _ANY_ORIGIN if answer.rule.any_origin else _COMMON
    line = f"{problem.type.status} {problem.type.title}".encode()
    seconds = int(problem.fields["Retry-After"])
    return _REFUSED % (line, seconds, _limits(answer, decision), request_id, b"", common, len(body), _now(), body)


def _may_be_repeated(decision: Decision) -> bool:
    """Return whether nginx may repeat a refusal for the rest of the second: one by the day, decided in this second."""
    return decision.verified and decision.plan.counted_by == "ip" and may_be_kept(decision)


def _limits(answer: Answer, decision: Decision) -> bytes:
    # A call that costs no unit says nothing of units, also where there were too many in this second.
    return limit_fields(decision) if answer.units else b""


def _now() -> bytes:
    return rfc822_formatted_time().encode()


def _refusal_body(decision: Decision, network: str, problem_base_url: str) -> tuple[bytes, bytes]:
    """Return the refusal's document on both sides of its instance; the same for all refusals of one second."""
    return _cached_refusal_body(
        decision.account,
        decision.plan,
        decision.outcome,
        decision.used_day,
        decision.day,
        decision.ends_in_seconds,
        network,
        problem_base_url,
    )


@lru_cache(maxsize=4096)
def _cached_refusal_body(
    account: str, plan: Any, outcome: int, used_day: int, day: int, ends_in: int, network: str, problem_base_url: str
) -> tuple[bytes, bytes]:
    decision = Decision(account, "", plan, 1, outcome, used_day, 0, day, ends_in)
    whole = refusal(decision, network).document(problem_base_url, "0" * 32)
    before, _, after = whole.partition(_UUID_MARK.encode())
    return before, after


def _instance(request_id: bytes) -> bytes:
    text = request_id.decode()
    if is_hexadecimal_id(request_id):
        return f"urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}".encode()
    return instance_of(text).encode()


_PRICING, _SEARCH = b"/v1/index/pricing/", b"/v1/index/search?"


class PendingAnswer(NamedTuple):
    """An answer still without content, and what reads it."""

    answer: Answer
    read: Read


def _unread(rule: Rule, units: int) -> Answer:
    return Answer(rule, units, b"", b"", "", b"")


_RECORD = _unread(LOOKUP, LOOKUP.units)
_PRICES = _unread(rules.light("pricing"), LIGHT_UNITS)
_HITS = _unread(rules.free("search"), rules.free("search").units)


class Reader:
    """Finds what may be read for a request, and reads it."""

    def __init__(self, services: Services) -> None:
        self._records = services.resources.records
        self._answers = services.resources.answers
        self._prices = services.price_history
        self._search = services.search_answers
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, request: PlainRequest) -> PendingAnswer | None:
        """Return the answer to a question that memory cannot answer and that may be read."""
        if request.if_none_match:
            return None
        selected = representation(request.accept)
        if request.iid is not None:
            iid = canonical_iid(request.iid.decode())
            if iid and selected.endswith(JSON_SELECTED) and self._records.peek(iid) is None:
                return PendingAnswer(_RECORD, partial(self._read_record, request.iid.decode().upper()))
        elif request.target.startswith(_PRICING) and selected.partition("+")[0] == "json":
            priced = canonical_iid(request.target[len(_PRICING) :].decode())
            if priced is not None:
                return PendingAnswer(_PRICES, self._reading(partial(self._prices.cacheable, priced)))
        elif request.target.startswith(_SEARCH) and selected.endswith(JSON_SELECTED):
            parameters = search_parameters(request.target[len(_SEARCH) :].decode())
            if parameters is not None:
                return PendingAnswer(_HITS, self._reading(partial(self._searched, parameters)))
        return None

    async def _searched(self, parameters: dict[str, Any]) -> Offer:
        response, until = await self._search.make(parameters)
        return Offer(response, _HITS.units, for_today=False, organization_id=None, until=until)

    def _read_record(self, iid: str, call: Call, done: Done) -> None:
        def read(record: Record | Exception) -> None:
            if isinstance(record, StoreUnavailable):
                done(record)
            elif isinstance(record, Exception) or record.state != "+":
                done(None)
            else:
                done(of_record(record, b"", LOOKUP))

        self._records.read_then(iid, read)

    def _reading(self, make: Callable[[], Awaitable[Offer]]) -> Read:
        """Return what makes an offer in a task of its own."""

        def read(call: Call, done: Done) -> None:
            task = asyncio.create_task(self._read_offered(make, call, done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return read

    async def _read_offered(self, make: Callable[[], Awaitable[Offer]], call: Call, done: Done) -> None:
        request, generation, began = call.request, self._answers.generation, time()
        ACCOUNT.set(call.caller.account)
        try:
            offered = await make()
            if request.gzip is not None:
                compress(offered.response)
            answer = answer_of(call.answer.rule, offered, began)
            key = Key(request.target, representation(request.accept), None, request.gzip is not None)
            self._answers.keep(key, answer, generation)
        except StoreUnavailable as error:
            done(error)
        except Exception:  # noqa: BLE001 - also a fault of ours: the ordinary way meets it again, and reports it
            done(None)
        else:
            done(answer)


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


_INDEX = b"/v1/index/"
_RESOLVE = rules.free("resolve")
_LINE = b'{"ts":"%b","request_id":"%b","method":"GET","route":"%b","path":"%b","status":%d,"us":%d,%b,"problem":%b%b}\n'


class FastPath:
    """Responds to plain requests from memory or with one read of PostgreSQL: checks, charges, logs and counts them."""

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
        """Return what a request leads to; None where aiohttp must respond: it is unusual, or memory lacks a part."""
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
        """Refund the charge and respond that PostgreSQL, which alone knows the record, does not answer."""
        try:
            decision = await self._limiter.refund(decision)
            problem = unavailable(error)
            respond(failed(call.answer, problem, decision, call.request_id, self._problem_base_url))
            self._count(call, decision, problem.type.status, b'"%b"' % problem.type.slug.encode())
        except Exception as unexpected:  # noqa: BLE001 - as above
            self.failed(unexpected)
            decline()

    def failed(self, error: Exception) -> None:
        """Report a fault of ours; the ordinary way responds instead, and reports its own."""
        self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))

    def _response(self, call: Call, decision: Decision) -> tuple[int, bytes, bytes]:
        if not decision.allowed:
            return refused(call, decision, self._problem_base_url)
        if call.unchanged:
            return 304, b"null", unchanged(call.answer, decision, call.request_id)
        return 200, b"null", ok(call.answer, decision, call.request_id)

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
