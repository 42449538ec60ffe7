"""A request that the fast path answers, with its answer."""

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from edge import rules
from edge.fast_path.request import PlainRequest
from edge.http.answer_cache import Answer
from edge.http.conditional import none_match
from edge.http.context import request_id_from
from edge.http.routing import Rule
from edge.index.lookup import CACHE_CONTROL
from edge.index.records import Record
from edge.quota.policy import TAKEN, Decision
from shared.accounts import Principal
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


class Call(NamedTuple):
    """A request that the fast path answers as soon as it is charged. A document's has no principal and no account.

    `read` reads the answer where memory does not have it.
    """

    request: PlainRequest
    principal: Principal | None
    network: str
    account: str | None
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

    @property
    def ids(self) -> tuple[str | None, str | None]:
        """The organization and the credential, as far as there are any."""
        principal = self.principal
        return (principal.organization_id, principal.credential_id) if principal is not None else (None, None)


def call_of(
    request: PlainRequest,
    principal: Principal | None,
    network: str,
    account: str | None,
    answer: Answer,
    read: Read | None = None,
) -> Call:
    """Make the call of a request that begins now."""
    condition = request.if_none_match
    unchanged = bool(condition and answer.etag and none_match(condition.decode(), answer.etag))
    request_id = request.request_id or request_id_from(None).encode()
    return Call(request, principal, network, account, answer, unchanged, request_id, perf_counter(), read)


def of_record(record: Record, where: bytes, rule: Rule) -> Answer:
    """Make the answer of a record; `where` is the line of its address, if it was asked for otherwise."""
    unchanged = _CACHED + where + b"ETag: " + record.etag.encode() + b"\r\n"
    return Answer(rule, rule.units, unchanged + _JSON_FIELD, unchanged, record.etag, record.body)
