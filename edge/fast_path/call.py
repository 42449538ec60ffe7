"""A request that the fast path answers, with its answer."""

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import msgspec

from edge import rules
from edge.fast_path.request import PlainRequest
from edge.http.answer_cache import Answer
from edge.http.conditional import none_match
from edge.http.context import request_id_from
from edge.http.routing import Rule
from edge.index.lookup import CACHE_CONTROL
from edge.index.records import Record
from edge.quota.policy import TAKEN, Decision
from shared.accounts import Principal, account_of
from shared.errors import StoreUnavailable
from shared.plans import Plan

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
