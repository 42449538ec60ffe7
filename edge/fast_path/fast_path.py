"""Serves plain requests: finds the caller and the answer, charges, responds, and has it recorded."""

import asyncio
from collections.abc import Callable
from functools import lru_cache, partial
from time import perf_counter

import msgspec

from edge import rules
from edge.composition import Services
from edge.fast_path.accounting import Accounting
from edge.fast_path.answer_reader import AnswerReader, unread
from edge.fast_path.call import Done, PlainCall, Read, caller_of
from edge.fast_path.plain_request import LONGEST, PLAIN_REQUEST, PlainRequest, network_of, representation
from edge.fast_path.responses import problem_response, response_of
from edge.http.answer_cache import JSON_SELECTED, PUBLIC, AnswerKey, StoredAnswer
from edge.http.compression import COMPRESSED_FROM_BYTES
from edge.http.conditions import none_match
from edge.http.context import request_id_from
from edge.http.json import CACHE_CONTROL
from edge.http.problems import unavailable
from edge.http.routing import Rule
from edge.index.identifiers import requested_identifier
from edge.index.record import ItemRecord, ItemState
from edge.quota.decision import TAKEN, QuotaDecision
from edge.quota.unmetered_limits import UnmeteredLimits
from shared.errors import InvalidParameter, StoreUnavailable
from shared.index.iid import canonical_iid
from shared.organizations.accounts import Plan, Principal
from shared.telemetry.log import trace_of

_INDEX = b"/v1/index/"
_LOOKUP, _RESOLVE = rules.free("lookup"), rules.free("resolve")
_UNREAD_RECORD = unread(_LOOKUP, _LOOKUP.units)
_CACHED = f"Cache-Control: {CACHE_CONTROL}\r\n".encode()
_JSON_FIELD = b"Content-Type: application/json\r\n"
_NO_PLAN = Plan(name="none", title="no plan", rank=0, counted_by="ip", daily_units=0, burst_units=0)
# Instead of the store's decision: a document, which every caller may have.
_NOT_CHARGED = QuotaDecision("", "", _NO_PLAN, 0, TAKEN, 0, 0, 0, 0, verified=False)
Write = Callable[[bytes], None]
Decline = Callable[[], None]


class FastPath:
    """Responds to plain requests from memory or with one read of PostgreSQL; the ordinary way responds to all others.

    Both ways make the same decisions and send the same bytes.
    """

    def __init__(self, services: Services) -> None:
        resources = services.resources
        self._credentials = resources.credentials
        self._records = resources.records
        self._resolutions = resources.resolutions
        self._answers = resources.answers
        self._reader = AnswerReader(services)
        self._limiter = resources.limiter
        self._unmetered = UnmeteredLimits(resources.limiter)
        self._accounting = Accounting(resources)
        self._log = resources.log
        self._address = f"Content-Location: {resources.settings.base_url}/index/lookup/"
        self._problem_base_url = resources.settings.problem_base_url
        self._tasks: set[asyncio.Task[None]] = set()
        self.draining = False
        self.flush = self._accounting.flush

    def serve(self, data: bytes, write: Write, decline: Decline) -> bool:
        """Respond to a request with `write`; return False where it is unusual, or memory lacks a part of the answer.

        After True, `write` is called at once or as soon as the call is charged. Where there is no answer then, or
        anything fails here, `decline` is called instead: the ordinary way responds. It charges the same id, which costs
        nothing more. What is called after the first of both is to be ignored.
        """
        plain = PLAIN_REQUEST.fullmatch(data) if len(data) <= LONGEST else None
        if plain is None:
            return False
        try:
            call = self._call(PlainRequest(*plain.groups()))
            if call is None:
                return False
            self._charge(call, write, decline)
        except Exception as error:  # noqa: BLE001 - an earlier request may be what brought us here: it must not fail
            self._report(error)
            return False
        return True

    def _call(self, request: PlainRequest) -> PlainCall | None:
        """Return what a request leads to; None where the ordinary way must respond."""
        network = network_of(request.address)
        if network is None:
            return None
        principal: Principal | None = None
        read: Read | None = None
        if not request.target.startswith(_INDEX):
            answer = self._document(request)
        else:
            principal = self._credentials.peek((request.token or request.key or b"").decode())
            if principal is None or principal.kind != ("public-token" if request.token else "api-key"):
                return None
            answer = self._find(request, principal)
            if answer is None:
                answer, read = self._find_unread(request) or (None, None)
            if (
                answer is None
                or principal.kind not in answer.rule.accepts
                or principal.plan.rank < answer.rule.rank_min
            ):
                return None
            if not answer.units and principal.plan.counted_by != "organization":
                return None
        if answer is None:
            return None
        condition = request.if_none_match
        unchanged = bool(condition and answer.etag and none_match(condition.decode(), answer.etag))
        request_id = request.request_id or request_id_from(None).encode()
        return PlainCall(request, caller_of(principal, network), answer, unchanged, request_id, perf_counter(), read)

    def _document(self, request: PlainRequest) -> StoredAnswer | None:
        """Return a document, which needs no credential, looks at none, and is not counted."""
        accept = request.accept.decode() if request.accept is not None else ""
        answer = self._answers.find(AnswerKey(request.target, accept, PUBLIC, request.gzip is not None))
        return answer if answer is not None and not answer.rule.accepts else None

    def _find(self, request: PlainRequest, principal: Principal) -> StoredAnswer | None:
        """Return the answer that memory has."""
        selected = representation(request.accept)
        if request.iid is not None:
            return self._find_record(request.iid.decode().upper(), selected)
        if request.scheme is not None and request.number is not None:
            answer = self._find_identified(request.scheme, request.number, selected)
            if answer is None or request.gzip is None or len(answer.body) < COMPRESSED_FROM_BYTES:
                return answer
        return self._answers.find(
            AnswerKey(request.target, selected, principal.organization_id, request.gzip is not None)
        )

    def _find_record(self, iid: str, selected: str) -> StoredAnswer | None:
        record = self._records.peek(iid)
        if record is None or record.state is not ItemState.RECORD or not selected.endswith(JSON_SELECTED):
            return None
        return _record_answer(record, b"", _LOOKUP)

    def _find_identified(self, scheme: bytes, number: bytes, selected: str) -> StoredAnswer | None:
        """Return the answer of the one item that memory has for an identifier, with the line of the item's address."""
        key = _identifier_key(scheme, number)
        resolution = self._resolutions.peek(key) if key is not None else None
        if resolution is None or len(resolution.iids) != 1 or not selected.endswith(JSON_SELECTED):
            return None
        [iid] = resolution.iids
        record = self._records.peek(iid)
        if record is None or record.state is not ItemState.RECORD:
            return None
        return _record_answer(record, f"{self._address}{iid}\r\n".encode(), _RESOLVE)

    def _find_unread(self, request: PlainRequest) -> tuple[StoredAnswer, Read] | None:
        """Return an answer without content that may be read, and what reads it; its rule and its units are known."""
        if request.if_none_match:
            return None
        if request.iid is None:
            return self._reader.find(request)
        iid = canonical_iid(request.iid.decode())
        if iid and representation(request.accept).endswith(JSON_SELECTED) and self._records.peek(iid) is None:
            return _UNREAD_RECORD, partial(self._read_record, request.iid.decode().upper())
        return None

    def _read_record(self, iid: str, call: PlainCall, done: Done) -> None:
        def take(record: ItemRecord | Exception) -> None:
            if isinstance(record, StoreUnavailable):
                done(record)
            elif isinstance(record, Exception) or record.state is not ItemState.RECORD:
                done(None)
            else:
                done(_record_answer(record, b"", _LOOKUP))

        self._records.read_then(iid, take)

    def _charge(self, call: PlainCall, write: Write, decline: Decline) -> None:
        """Charge a call and respond. A 304 costs nothing, so it is only checked."""

        def respond(decision: QuotaDecision) -> None:
            try:
                if call.read is not None and decision.allowed:
                    call.read(call, lambda answer: self._respond_read(answer, call, decision, write, decline))
                else:
                    self._respond(call, decision, write)
            except Exception as error:  # noqa: BLE001 - the caller waits for a response, and nothing else knows of it
                self._report(error)
                decline()

        account, principal = call.caller.account, call.caller.principal
        if principal is None or account is None:
            respond(_NOT_CHARGED)
            return
        began, charge_id = float(call.request.began or 0), call.request.charge_id.decode()
        if not call.answer.units:
            self._unmetered.consume_then(account, principal.plan, charge_id, respond)
        elif call.unchanged:
            self._limiter.check_then(account, principal.plan, call.answer.units, charge_id, respond, began)
        else:
            self._limiter.consume_then(account, principal.plan, call.answer.units, charge_id, respond, began)

    def _respond(self, call: PlainCall, decision: QuotaDecision, write: Write, *, read: bool = False) -> None:
        status, slug, whole = response_of(call, decision, self._problem_base_url)
        write(whole)
        self._accounting.record(call, decision, status, slug, read=read)

    def _respond_read(
        self,
        answer: StoredAnswer | StoreUnavailable | None,
        call: PlainCall,
        decision: QuotaDecision,
        write: Write,
        decline: Decline,
    ) -> None:
        """Respond with what was read for a call that is charged."""
        if answer is None:
            decline()
        elif isinstance(answer, StoreUnavailable):
            task = asyncio.create_task(self._refund(call, decision, answer, write, decline))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            try:
                self._respond(msgspec.structs.replace(call, answer=answer), decision, write, read=True)
            except Exception as error:  # noqa: BLE001 - as above
                self._report(error)
                decline()

    async def _refund(
        self, call: PlainCall, decision: QuotaDecision, error: StoreUnavailable, write: Write, decline: Decline
    ) -> None:
        """Refund the charge and respond that PostgreSQL, which alone knows the record, does not answer."""
        try:
            decision = await self._limiter.refund(decision)
            status, slug, whole = problem_response(call, unavailable(error), decision, self._problem_base_url)
            write(whole)
            self._accounting.record(call, decision, status, slug, stays=decision.units > 0)
        except Exception as unexpected:  # noqa: BLE001 - as above
            self._report(unexpected)
            decline()

    def _report(self, error: Exception) -> None:
        """Log a fault of ours; the ordinary way responds instead, and reports its own."""
        self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))


def _record_answer(record: ItemRecord, where: bytes, rule: Rule) -> StoredAnswer:
    """Make the answer of a record; `where` is the line of its address, if it was asked for otherwise."""
    unchanged = _CACHED + where + b"ETag: " + record.etag.encode() + b"\r\n"
    return StoredAnswer(rule, rule.units, unchanged + _JSON_FIELD, unchanged, record.etag, record.body)


@lru_cache(maxsize=8192)
def _identifier_key(scheme: bytes, number: bytes) -> str | None:
    """Return the key of an identifier that may name one article; None for any other text."""
    try:
        identifier = requested_identifier({scheme.decode(): number.decode()})
    except InvalidParameter:
        return None
    return identifier.key if identifier.is_unique else None
