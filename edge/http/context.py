"""The state of one request while the edge handles it, and the ids (UUID version 7) that are new at that moment."""

import os
import re
import time
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address
from uuid import NAMESPACE_OID, UUID, uuid5

from aiohttp import web

from edge.http.answer_cache import AnswerOffer
from edge.storage.database import ACCOUNT
from shared.organizations.accounts import Person, Principal, account_of, counted_network
from shared.organizations.credentials import BEGINNING
from shared.telemetry.trace_context import SpanContext

_CHARGE_ID_MAX = 64
# A key in the wrong place would be written to logs.
_REQUEST_ID = re.compile(rf"(?!.*{BEGINNING})[A-Za-z0-9_-]{{8,64}}", re.ASCII)
_NOWHERE = SpanContext("", "", "", sampled=False)


def uuid7() -> UUID:
    """Return a UUID of version 7 (RFC 9562), as Python 3.14 has it: 48 bits of milliseconds, the rest random."""
    milliseconds = time.time_ns() // 1_000_000
    value = milliseconds << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)


@dataclass(slots=True)
class Context:
    """Filled from the outside in: the first middleware creates it, the others add the caller and what was charged."""

    request_id: str
    charge_id: str
    network: str
    endpoint: str = ""
    started: float = field(default_factory=time.perf_counter)
    principal: Principal | None = None
    person: Person | None = None
    units: int = 0
    account: str | None = None
    limit_fields: bytes = b""
    problem_slug: str | None = None
    span: SpanContext = _NOWHERE
    offer: AnswerOffer | None = None

    def act_as(self, principal: Principal) -> None:
        """Make a principal the caller: its account is charged and limited, and its statements share connections."""
        self.principal, self.account = principal, account_of(principal, self.network)
        ACCOUNT.set(self.account)

    @property
    def caller(self) -> dict[str, str | None]:
        """The members of a log line that identify the caller: ids, and nothing that could be used as a credential."""
        principal = self.principal
        if principal is None:
            return {"organization": None, "key": None}
        key = principal.credential_id if principal.kind != "bearer" else None
        return {"organization": principal.organization_id, "key": key}

    @property
    def trace(self) -> dict[str, str]:
        """The members of a log line that identify the trace."""
        return trace_members(self.span, self.request_id)


def trace_members(span: SpanContext, request_id: str) -> dict[str, str]:
    """Return the members of a log line that identify the trace. Empty if it began here and is not collected: its id
    would be the request id."""
    if span.trace_id == request_id and not span.sampled and not span.parent_id:
        return {}
    return {"trace_id": span.trace_id, "span_id": span.span_id}


CONTEXT: web.RequestKey[Context] = web.RequestKey("context", Context)


def principal_of(request: web.Request) -> Principal:
    """Return the caller of a route that asks for a credential."""
    principal = request[CONTEXT].principal
    assert principal is not None
    return principal


def organization_of(request: web.Request) -> str:
    """Return the caller's organization, of a route that asks for an API key."""
    organization = principal_of(request).organization_id
    assert organization is not None
    return organization


def request_id_from(given: str | None) -> str:
    """Return the caller's request id if it is well-formed and has no key in it, else a new one: a UUIDv7 in hex."""
    return given if given and _REQUEST_ID.fullmatch(given) else uuid7().hex


def instance_of(request_id: str) -> str:
    """Return a request id as a URN (RFC 9562): itself if it is a UUID, otherwise a name-based UUID of it."""
    try:
        return UUID(request_id).urn
    except ValueError:
        return uuid5(NAMESPACE_OID, request_id).urn


Network = IPv4Network | IPv6Network


def network_of(request: web.Request, trusted: tuple[Network, ...]) -> str | None:
    """Return the network that the caller is counted as; None if the reverse proxy did not send the caller's address."""
    address = _peer_address(request)
    if address is None or _is_trusted(address, trusted):
        return counted_network(request.headers.get("X-Real-IP", ""))
    return counted_network(address)


def charge_id_of(request: web.Request, trusted: tuple[Network, ...]) -> str:
    """Return the id under which the request is charged once: that of a trusted reverse proxy, otherwise a new one.

    A caller who could choose it would repeat one id, and every repetition of a charge is free.
    """
    address = _peer_address(request)
    given = request.headers.get("X-Charge-Id") if address is None or _is_trusted(address, trusted) else None
    return given[:_CHARGE_ID_MAX] if given else request_id_from(None)


def _peer_address(request: web.Request) -> str | None:
    """Return the peer's IP address; None for our own nginx, which connects over the unix socket."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    return peer[0] if isinstance(peer, tuple) else None


def _is_trusted(address: str, trusted: tuple[Network, ...]) -> bool:
    return any(ip_address(address) in network for network in trusted)
