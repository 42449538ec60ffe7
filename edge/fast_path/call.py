"""Requests that the fast path may answer: a GET of the index or of a document, as our nginx forwards it."""

import re
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import msgspec

from edge import rules
from edge.http.answer_cache import Answer, representation_of
from edge.http.context import request_id_from
from edge.http.representation import none_match
from edge.http.routing import Rule
from edge.index.lookup import CACHE_CONTROL, Record
from edge.quota.limiter import TAKEN, Decision
from shared.errors import StoreUnavailable
from shared.organizations.accounts import Plan, Principal, account_of, counted_network

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
