"""The whole bytes of each response: 200, 304, refusals and problems."""

from functools import lru_cache

from aiohttp.helpers import rfc822_formatted_time

from edge.fast_path.call import PlainCall
from edge.fast_path.plain_request import is_hexadecimal_id
from edge.http.answer_cache import StoredAnswer
from edge.http.context import instance_of
from edge.http.problems import Problem
from edge.http.request_context import ANY_ORIGIN_FIELDS, COMMON_FIELDS
from edge.quota.decision import NOT_COUNTED, QuotaDecision, limit_fields
from edge.quota.known_refusals import may_be_kept
from edge.quota.refusals import refusal
from shared.organizations.accounts import Plan

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
_NO_PROBLEM = b"null"
Response = tuple[int, bytes, bytes]
"""Status, slug of the problem as JSON, and the whole bytes."""


def response_of(call: PlainCall, decision: QuotaDecision, problem_base_url: str) -> Response:
    """Return the response to a call by the decision about it: the answer, 304, or the refusal."""
    if not decision.allowed:
        return _refuse(call, decision, problem_base_url)
    if call.unchanged:
        return 304, _NO_PROBLEM, _not_modified(call.answer, decision, call.request_id)
    return 200, _NO_PROBLEM, _ok(call.answer, decision, call.request_id)


def problem_response(call: PlainCall, problem: Problem, decision: QuotaDecision, problem_base_url: str) -> Response:
    """Return the response of a problem that says when to retry."""
    body = problem.document(problem_base_url, call.request_id.decode())
    common = _ANY_ORIGIN if call.answer.rule.any_origin else _COMMON
    line = f"{problem.type.status} {problem.type.title}".encode()
    seconds, limits = int(problem.fields["Retry-After"]), _limits(call.answer, decision)
    whole = _REFUSED % (line, seconds, limits, call.request_id, b"", common, len(body), _now(), body)
    return problem.type.status, b'"%b"' % problem.type.slug.encode(), whole


def _ok(answer: StoredAnswer, decision: QuotaDecision, request_id: bytes) -> bytes:
    body = answer.body
    common = _ANY_ORIGIN if answer.rule.any_origin else _COMMON
    return _OK % (answer.fields, _limits(answer, decision), request_id, common, len(body), _now(), body)


def _not_modified(answer: StoredAnswer, decision: QuotaDecision, request_id: bytes) -> bytes:
    common = _ANY_ORIGIN if answer.rule.any_origin else _COMMON
    return _UNCHANGED % (answer.unchanged, _limits(answer, decision), request_id, common, _now())


def _refuse(call: PlainCall, decision: QuotaDecision, problem_base_url: str) -> Response:
    before, after = _refusal_body(decision, call.caller.network, problem_base_url)
    body = before + _instance(call.request_id) + after
    common = _ANY_ORIGIN if call.answer.rule.any_origin else _COMMON
    counted = decision.outcome != NOT_COUNTED
    line = b"429 Too Many Requests" if counted else b"503 Service Unavailable"
    seconds, limits = decision.retry_after_seconds, _limits(call.answer, decision)
    again = _REPEATED if _may_be_repeated(decision) else b""
    whole = _REFUSED % (line, seconds, limits, call.request_id, again, common, len(body), _now(), body)
    return (429, b'"rate-limited"', whole) if counted else (503, b'"service-unavailable"', whole)


def _may_be_repeated(decision: QuotaDecision) -> bool:
    """Return whether nginx may repeat a refusal for the rest of the second: one by the day, decided in this second."""
    return decision.verified and decision.plan.counted_by == "ip" and may_be_kept(decision)


def _limits(answer: StoredAnswer, decision: QuotaDecision) -> bytes:
    # A call that costs no unit says nothing of units, also where there were too many in this second.
    return limit_fields(decision) if answer.units else b""


def _now() -> bytes:
    return rfc822_formatted_time().encode()


def _refusal_body(decision: QuotaDecision, network: str, problem_base_url: str) -> tuple[bytes, bytes]:
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
    account: str, plan: Plan, outcome: int, used_day: int, day: int, ends_in: int, network: str, problem_base_url: str
) -> tuple[bytes, bytes]:
    decision = QuotaDecision(account, "", plan, 1, outcome, used_day, 0, day, ends_in)
    whole = refusal(decision, network).document(problem_base_url, "0" * 32)
    before, _, after = whole.partition(_UUID_MARK.encode())
    return before, after


def _instance(request_id: bytes) -> bytes:
    text = request_id.decode()
    if is_hexadecimal_id(request_id):
        return f"urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}".encode()
    return instance_of(text).encode()
