"""The fast path: the plain look-up, by IID or by barcode, answered without request object, task or future.

Almost every request is the same: a GET of one item, forwarded by our own nginx with the same header lines in the same
order. One regular expression matches that form; a request that differs by one byte goes to aiohttp's parser and the
ordinary way, which gives the same response (tests/service/http/test_fast_path.py compares the two byte for byte).
Principal, record and limits are in memory; only the charge is waited for.

It uses private parts of aiohttp's protocol: `_waiter`, `_messages`, `_close`, `_force_close`, `_request_in_progress`,
`_handler_waiter`, `_next_keepalive_close_time`. aiohttp's version is pinned for it.
"""

import asyncio
import re
from functools import lru_cache
from time import perf_counter
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.helpers import rfc822_formatted_time
from aiohttp.web_protocol import RequestHandler

from edge.http.context import instance_of, request_id_from
from edge.index.identifiers import asked_identifier
from edge.index.lookup import CACHE_CONTROL
from edge.middleware.request_context import ANY_ORIGIN_FIELDS, COMMON_FIELDS
from edge.quota.headers import limit_fields
from edge.quota.policy import NOT_COUNTED, Decision, outcome_name
from edge.quota.refusal import refusal
from edge.resources import Resources
from shared.accounts import account_of, counted_network
from shared.errors import InvalidParameter
from shared.telemetry import metrics

_FLUSH_SECONDS = 1.0
# The head that nginx.conf makes of a plain look-up. Case, order and number of lines are nginx's, not the caller's.
_PLAIN = re.compile(
    rb"GET /v1/index/(?:lookup/(?P<iid>IID(?:-[0-9A-Z]{1,16}){1,8})"
    rb"|resolve\?(?P<scheme>gtin|ean|upc|isbn)=(?P<number>[0-9Xx-]{8,17})) HTTP/1\.1\r\n"
    rb"Host: [^\r\n]{1,255}\r\n"
    rb"X-Real-IP: (?P<address>[0-9a-fA-F.:]{2,45})\r\n"
    rb"(?:X-Request-Id: (?P<request_id>[A-Za-z0-9_-]{8,64})\r\n)?"
    rb"X-Charge-Id: (?P<charge_id>[0-9a-f]{32})\r\n"
    rb"(?:X-Service-Public-Token: (?P<token>[0-9A-Za-z_]{1,80})|Authorization: ApiKey (?P<key>[0-9A-Za-z_]{1,80}))\r\n"
    rb"(?:Accept: \*/\*\r\n)?\r\n"
)
_PLAIN_LONGEST = 900
_TAIL = "".join(f"{name}: {value}\r\n" for name, value in COMMON_FIELDS + ANY_ORIGIN_FIELDS).encode()
_OK = (
    b"HTTP/1.1 200 OK\r\nCache-Control: " + CACHE_CONTROL.encode() + b"\r\n%bETag: %b\r\n"
    b"Content-Type: application/json\r\n%bX-Request-Id: %b\r\n" + _TAIL + b"Content-Length: %d\r\nDate: %b\r\n\r\n%b"
)
_REFUSED = (
    429,
    b'"rate-limited"',
    b"HTTP/1.1 429 Too Many Requests\r\nCache-Control: no-store\r\nRetry-After: %d\r\n"
    b"Content-Type: application/problem+json\r\n%bX-Request-Id: %b\r\n"
    + _TAIL
    + b"Content-Length: %d\r\nDate: %b\r\n\r\n%b",
)
_UNAVAILABLE = (
    503,
    b'"service-unavailable"',
    _REFUSED[2].replace(b"429 Too Many Requests", b"503 Service Unavailable"),
)
_LINE = (
    b'{"ts":"%b","request_id":"%b","method":"GET","route":"%b","path":"/v1/index/%b",'
    b'"status":%d,"us":%d,%b,"problem":%b}\n'
)
_HEX = re.compile(rb"[0-9a-f]{32}")
_UUID_MARK = "urn:uuid:00000000-0000-0000-0000-000000000000"


class FastPath:
    """What all connections of a process share: the resources, and counts that are flushed once a second."""

    def __init__(self, resources: Resources) -> None:
        self.known = resources.credentials.known
        self.peek = resources.records.peek
        self.peek_resolution = resources.resolutions.peek
        self.address = f"Content-Location: {resources.settings.base_url}/index/lookup/"
        self.consume_then = resources.limiter.consume_then
        self.access_log = resources.access_log
        self.used = resources.usage.note
        self.problem_base_url = resources.settings.problem_base_url
        self.draining = False
        self._tallies = {
            route: {status: metrics.Tally() for status in (200, 429, 503)} for route in ("lookup", "resolve")
        }
        self._outcomes: dict[tuple[str, str], int] = {}
        self._timer: asyncio.TimerHandle | None = None

    def resolve(self, scheme: bytes, number: bytes) -> str | None:
        """Return the one IID that memory has for a number; None if the ordinary way must respond."""
        key = _key(scheme, number)
        found = self.peek_resolution(key) if key is not None else None
        return found.iids[0] if found is not None and len(found.iids) == 1 else None

    def count(self, route: str, decision: Decision, status: int, seconds: float) -> None:
        """Count one response; cheap, because the real metrics are written once a second."""
        self._tallies[route][status].note(seconds)
        if decision.verified:
            key = (decision.plan.name, outcome_name(decision.outcome))
            self._outcomes[key] = self._outcomes.get(key, 0) + 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def log(
        self, request_id: bytes, route: str, path: bytes, status: int, seconds: float, caller: bytes, slug: bytes
    ) -> None:
        """Write the access line of one answer."""
        microseconds = int(seconds * 1_000_000)
        self.access_log.append(
            _LINE % (self.access_log.stamp(), request_id, route.encode(), path, status, microseconds, caller, slug)
        )

    def flush(self) -> None:
        """Add what was counted to the metrics."""
        self._timer = None
        # A refused call reads nothing.
        metrics.record_reads.labels("memory").inc(sum(tallies[200].count for tallies in self._tallies.values()))
        metrics.identifier_reads.labels("memory").inc(self._tallies["resolve"][200].count)
        for route, tallies in self._tallies.items():
            for status, tally in tallies.items():
                if tally.count:
                    metrics.requests.labels(route, status).inc(tally.count)
                    tally.flush_into(metrics.request_seconds.labels(route))
        for (plan, outcome), number in self._outcomes.items():
            metrics.quota_decisions.labels(plan, outcome).inc(number)
        self._outcomes.clear()


class FastPathProtocol(RequestHandler):
    """aiohttp's protocol of one connection, preceded by the fast path."""

    __slots__ = ("_fast_path", "_held", "_trusted")

    def __init__(
        self, manager: web.Server, loop: asyncio.AbstractEventLoop, fast_path: FastPath, options: dict[str, Any]
    ) -> None:
        super().__init__(manager, loop=loop, **options)
        self._fast_path = fast_path
        self._held = b""
        self._trusted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Use the fast path only for our own nginx, which connects over the unix socket: its X-Real-IP is trusted."""
        super().connection_made(transport)
        self._trusted = not isinstance(transport.get_extra_info("peername"), tuple)

    def data_received(self, data: bytes) -> None:
        """Answer a plain look-up here; give everything else to aiohttp."""
        if self._request_in_progress and self._is_ours:
            self._held += data  # a second request before the first is answered: it waits its turn
        elif not (self._idle() and len(data) <= _PLAIN_LONGEST and self._answered(data)):
            super().data_received(data)

    @property
    def _is_ours(self) -> bool:
        # On the fast path `_request_in_progress` is set while aiohttp's own task still waits for a message.
        return self._waiter is not None and not self._messages

    def _idle(self) -> bool:
        return (
            self._trusted
            and self._waiter is not None
            and not self._waiter.done()
            and not self._messages
            and not self._request_in_progress
            and not self._close
            and not self._force_close
            and not self._fast_path.draining
            and not self._held
        )

    def _answered(self, data: bytes) -> bool:
        """Start to respond and return True, or return False if anything is unusual or not in memory."""
        plain = _PLAIN.fullmatch(data)
        if plain is None:
            return False
        named, scheme, number, address, given_id, charge_id, token, key = plain.groups()
        fast_path = self._fast_path
        iid = named.decode() if named else fast_path.resolve(scheme, number)
        record = fast_path.peek(iid) if iid is not None else None
        principal = fast_path.known((token or key).decode())
        if record is None or record.state != "+" or principal is None:
            return False
        if principal.kind != ("public-token" if token else "api-key"):
            return False
        network = _network(address)
        if network is None:
            return False
        account = account_of(principal, network)
        started = perf_counter()
        request_id = given_id or request_id_from(None).encode()
        self._request_in_progress = True

        def decided(decision: Decision) -> None:
            if decision.allowed:
                etag, body = record.etag.encode(), record.body
                now = rfc822_formatted_time().encode()
                where = b"" if named else f"{fast_path.address}{iid}\r\n".encode()
                self._finish(_OK % (where, etag, limit_fields(decision), request_id, len(body), now, body))
                status, slug = 200, b"null"
            else:
                status, slug, form = _UNAVAILABLE if decision.outcome == NOT_COUNTED else _REFUSED
                self._finish(_refused(form, decision, network, request_id, fast_path.problem_base_url))
            seconds = perf_counter() - started
            route = "lookup" if named else "resolve"
            fast_path.count(route, decision, status, seconds)
            fast_path.used(principal, network, route, status, 1 if status == 200 else 0)
            caller = _caller(network, account, principal.organization_id, principal.credential_id)
            fast_path.log(request_id, route, b"lookup/" + named if named else b"resolve", status, seconds, caller, slug)

        fast_path.consume_then(account, principal.plan, 1, charge_id.decode(), decided)
        return True

    def _finish(self, answer: bytes) -> None:
        self._request_in_progress = False
        if self.transport is not None:
            self.transport.write(answer)
            self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
        if self._handler_waiter is not None:  # a shutdown waits for this answer
            self._handler_waiter.set_result(None)
        if self._held:
            held, self._held = self._held, b""
            self.data_received(held)


@lru_cache(maxsize=8192)
def _key(scheme: bytes, number: bytes) -> str | None:
    """Return the key of an identifier that may name one article; None for any other text."""
    try:
        asked = asked_identifier({scheme.decode(): number.decode()})
    except InvalidParameter:
        return None
    return asked.key if asked.is_unique else None


@lru_cache(maxsize=8192)
def _network(address: bytes) -> str | None:
    return counted_network(address.decode())


@lru_cache(maxsize=8192)
def _caller(network: str, account: str, organization: str | None, key: str) -> bytes:
    """Return the members of an access line that identify the caller, as JSON."""
    members = {"network": network, "account": account, "organization": organization, "key": key}
    return msgspec.json.encode(members)[1:-1]


def _refused(form: bytes, decision: Decision, network: str, request_id: bytes, problem_base_url: str) -> bytes:
    before, after = _refusal_body(decision, network, problem_base_url)
    body = before + _instance(request_id) + after
    now = rfc822_formatted_time().encode()
    return form % (decision.retry_after_seconds, limit_fields(decision), request_id, len(body), now, body)


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
    if _HEX.fullmatch(request_id):
        return f"urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}".encode()
    return instance_of(text).encode()
