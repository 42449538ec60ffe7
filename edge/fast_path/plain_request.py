"""The requests that the fast path recognizes, by the exact bytes that our nginx sends."""

import re
from functools import lru_cache

import msgspec

from edge.http.answer_cache import representation_of
from shared.organizations.accounts import counted_network
from shared.organizations.credentials import BEGINNING

# Case, order and number of the lines are those of deploy/nginx/forwarded.conf, not the caller's. A line that is not
# named here has a meaning that this module does not know: the request takes the ordinary way.
PLAIN_REQUEST = re.compile(
    rb"GET (?P<target>/v1/index/lookup/(?P<iid>[Ii][Ii][Dd](?:-[0-9A-Za-z]{1,16}+){1,8})"
    rb"|/v1/(?:openapi\.json|openapi\.yaml|(?:docs|errors)(?:/[0-9A-Za-z_.-]{1,60}){0,3})"
    rb"|/static(?:/[0-9A-Za-z_.-]{1,60}){1,2}|/v1/index/(?:"
    rb"resolve\?(?P<scheme>gtin|ean|upc|isbn)=(?P<number>[0-9Xx-]{8,17})"
    rb"|[0-9A-Za-z/_.-]{1,120}(?:\?[!-~]{0,1500})?)) HTTP/1\.1\r\n"
    rb"Host: [^\r\n]{1,255}+\r\n"
    rb"X-Real-IP: (?P<address>[0-9a-fA-F.:]{2,45}+)\r\n"
    rb"(?:X-Request-Id: (?P<request_id>[A-Za-z0-9-]{8,64}+(?=\r)|(?!.*"
    + BEGINNING.encode()
    + rb")[A-Za-z0-9_-]{8,64}+)\r\n)?"
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
    """The groups of PLAIN_REQUEST. It has one of `token` and `key`, or none; `iid` or `scheme` names a record."""

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
