"""Sends events to webhooks: each endpoint in its order, by one worker at a time, bounded in time and size."""

import contextlib
import errno
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import load_queries
from shared.events.types import event_document
from shared.events.webhooks import RETRY_SECONDS, is_public, key_of, opened_secret, signature_headers
from shared.organizations.accounts import BRAND
from shared.settings.settings import Settings
from shared.telemetry.log import Log, trace_of
from workers.jobs.failed_rows import note_failed_row

# A connection to an address that a person named: resolved once, never inside the network, shut at its deadline.


_PORTS = {"https": 443, "http": 80}


class Refused(Exception):
    """The address may not be called, or its answer not be read; the text says why."""


@cache
def trusted_by_system() -> ssl.SSLContext:
    """Return the context that believes the authorities of the system: reading them takes 50 ms of a processor."""
    return ssl.create_default_context()


@contextlib.contextmanager
def connected(
    parts: SplitResult, deadline: float, tls: ssl.SSLContext, *, private_allowed: bool
) -> Iterator[socket.socket]:
    """Connect, by TLS where the address says so. The connection is shut at the deadline, also while it is used.

    Raises Refused where the host has an address inside a network, unless `private_allowed`.
    """
    if parts.scheme not in _PORTS:
        raise Refused("unreachable")
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    address = _address_of(host, port, private_allowed=private_allowed)
    connection = socket.create_connection(address, timeout=seconds_left(deadline))
    if parts.scheme == "https":
        # The handshake is made under the alarm: a receiver may be slow there as well.
        connection = tls.wrap_socket(connection, server_hostname=host, do_handshake_on_connect=False)
    # A receiver that sends a byte now and then would keep the socket's own time-out from ever ending the call.
    alarm = threading.Timer(max(0.0, deadline - time.monotonic()), _shut, (connection,))
    alarm.daemon = True
    alarm.start()
    try:
        with connection:
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
            yield connection
    finally:
        alarm.cancel()


def seconds_left(deadline: float) -> float:
    """Return how long the call may still take. Raises TimeoutError after its end: a slow resolver has no time-out."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _address_of(host: str, port: int, *, private_allowed: bool) -> tuple[str, int]:
    """Resolve a host once and return the address to connect to, so that a second answer of DNS cannot change it."""
    addresses = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not private_allowed and not all(is_public(ip_address(address.partition("%")[0])) for address in addresses):
        raise Refused("private-address")
    return addresses[0], port


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended by itself
        # Not the method of an SSLSocket: that one also forgets the session which another thread is using.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


# One POST to an address that a caller named, bounded in time and size.


SECONDS_MAX = 10.0
_KEPT_CHARACTERS = 1_000
_OWN_FAULTS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one POST: the status, or why there is none, and the beginning of the receiver's text."""

    status: int | None
    outcome: str
    text: str = ""
    milliseconds: int = 0

    @property
    def accepted(self) -> bool:
        """Whether the receiver has the event."""
        return self.outcome == "accepted"


@dataclass(frozen=True, slots=True)
class Poster:
    """Sends POSTs to addresses of the public internet; with `private_allowed` also to those inside a network."""

    private_allowed: bool
    seconds: float = SECONDS_MAX
    tls: ssl.SSLContext = field(default_factory=trusted_by_system)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send one POST and return what came of it within `seconds`. A redirect is not followed, it is a failure.

        Raises OSError where this process has no file or memory left: that is not the receiver's failure.
        """
        started = time.monotonic()
        answer = self._answer(url, body, headers, started + self.seconds)
        return replace(answer, milliseconds=int((time.monotonic() - started) * 1000))

    def _answer(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float) -> Answer:
        try:
            parts = urlsplit(url)
            with connected(parts, deadline, self.tls, private_allowed=self.private_allowed) as connection:
                response = requested(connection, parts, "POST", headers, body)
                seconds_left(deadline)
                status, text = response.status, _beginning(response)
        except Refused as refusal:
            return Answer(None, str(refusal))
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _OWN_FAULTS:
                raise
            late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
            reason = "tls-failed" if isinstance(error, ssl.SSLError) else "unreachable"
            return Answer(None, "timed-out" if late else reason)
        outcome = "accepted" if 200 <= status < 300 else "redirected" if 300 <= status < 400 else "refused"
        return Answer(status, outcome, text)


def requested(
    connection: socket.socket, parts: SplitResult, method: str, headers: Mapping[str, str], body: bytes | None = None
) -> http.client.HTTPResponse:
    """Send one request through a connection and return the response, whose body is not read yet."""
    http_connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    http_connection.sock = connection
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    http_connection.request(method, target, body, {"Host": parts.netloc, **headers, "Connection": "close"})
    return http_connection.getresponse()


def _beginning(response: http.client.HTTPResponse) -> str:
    """Return the beginning of a receiver's text, as far as it comes: the head alone says whether it has the event."""
    answer = b""
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        while len(answer) < _KEPT_CHARACTERS and (more := response.read1(_KEPT_CHARACTERS - len(answer))):
            answer += more
    return answer.decode("utf-8", "replace").replace("\0", "\ufffd")


# Sends events to webhooks: each endpoint in its order, by one worker at a time, independent of all others.


SQL = load_queries(__file__, "webhooks.sql")
_log = Log("worker")
# By which a lease outlasts one call, so that its outcome can be recorded under it.
_SPARE_SECONDS = 20.0
_AT_ONCE = 200
_POLL_SECONDS = 0.2
_GONE = 410


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A claimed endpoint. Only writes that carry its `lease_no` still count."""

    id: str
    lease_no: int
    organization: str
    url: str


@dataclass(frozen=True, slots=True)
class _Event:
    number: int
    id: str
    type: str
    at: Any
    data: dict[str, Any]
    sealed_secret: bytes
    sealed_secret_before: bytes | None
    failures: int
    replayed: bool


def deliver(settings: Settings, seconds: float, call_seconds: float = SECONDS_MAX) -> int:
    """Send what is due, to many endpoints at once, until nothing is due or for so many seconds; return how many events.

    An endpoint that hangs holds a thread of its own for the time of one call, `call_seconds`, and nothing else: a call
    that is under way when the time is over ends in the background, and the next run serves the others meanwhile.
    """
    poster = Poster(settings.webhook_private_addresses, call_seconds)
    connection = connect(settings.worker_database_url, application="webhooks", autocommit=True)
    return _Deliverer(settings, connection, poster, time.monotonic() + seconds).run()


class _Deliverer:
    """One run. Its threads share a connection, one transaction at a time; no receiver is called under the lock."""

    def __init__(self, settings: Settings, connection: Connection, poster: Poster, until: float) -> None:
        self._settings = settings
        self._connection = connection
        self._lock = threading.Lock()
        self._poster = poster
        self._lease_seconds = poster.seconds + _SPARE_SECONDS
        self._until = until

    def run(self) -> int:
        """Work until nothing is due or the time is over. The connection is closed when the last call has ended."""
        sent = 0
        running: set[Future[int]] = set()
        pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="webhook")
        try:
            while self._may_continue():
                running |= {pool.submit(self._drain, endpoint) for endpoint in self._claim(_AT_ONCE - len(running))}
                if not running:
                    break
                done, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
                sent += sum(run.result() for run in done)
            done, running = wait(running, _POLL_SECONDS)
            return sent + sum(run.result() for run in done)
        finally:
            pool.shutdown(wait=False)
            threading.Thread(target=self._close_after, args=(running,), daemon=True).start()

    def _close_after(self, running: set[Future[int]]) -> None:
        ended, _ = wait(running)
        for error in filter(None, (run.exception() for run in ended)):  # the run, which would raise it, is over
            _log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        self._connection.close()

    def _may_continue(self) -> bool:
        return time.monotonic() < self._until

    def _claim(self, free: int) -> list[Endpoint]:
        if not free:
            return []
        with self._lock:
            rows = self._connection.execute(SQL.claim, (self._lease_seconds, free, BRAND)).fetchall()
        return [Endpoint(*row) for row in rows]

    def _drain(self, endpoint: Endpoint) -> int:
        """Send one endpoint's events in their order until none is left or one fails; return how many were accepted.

        An outage of PostgreSQL ends it: the lease expires, and the event is sent again. So does a fault that is the
        endpoint's own, which must not keep the others from their events.
        """
        sent = 0
        fence = (endpoint.id, endpoint.lease_no)
        try:
            while self._may_continue():
                read_at = time.monotonic()
                with self._lock:
                    row = self._connection.execute(SQL.next_event, fence).fetchone()
                # A process that was stopped for a while may have lost the lease: it must not send any more.
                if row is None or time.monotonic() - read_at > _SPARE_SECONDS:
                    break
                event = _Event(*row)
                answer = self._send(endpoint, event)
                with self._lock:
                    if not _settle(self._connection, endpoint, event, answer, self._lease_seconds):
                        return sent
                sent += 1
            with self._lock:
                self._connection.execute(SQL.release, fence)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this endpoint's alone
            if not unavailable(error):
                note_failed_row("webhook", endpoint.id, error, _log)
        return sent

    def _send(self, endpoint: Endpoint, event: _Event) -> Answer:
        body = msgspec.json.encode(event_document(event.number, event.id, event.type, event.at, event.data))
        secrets = self._settings.signing_secrets
        stored = [sealed for sealed in (event.sealed_secret, event.sealed_secret_before) if sealed is not None]
        opened = [opened_secret(secrets, endpoint.id, sealed) for sealed in stored]
        keys = [key_of(secret) for secret in opened if secret is not None]
        if not keys:
            return Answer(None, "secret-unreadable")
        headers = signature_headers(keys, event.id, int(time.time()), body)
        fields = {"Content-Type": "application/json", "User-Agent": "ItemIndex-Webhooks/1", **headers}
        return self._poster.post(endpoint.url, body, fields)


def _settle(connection: Connection, endpoint: Endpoint, event: _Event, answer: Answer, lease_seconds: float) -> bool:
    """Record an attempt and what follows from it; tell whether the next event may be sent."""
    fence = (endpoint.id, endpoint.lease_no)
    with connection.transaction():
        noted = (event.id, event.number, answer.status, answer.outcome, answer.text, answer.milliseconds)
        connection.execute(SQL.note_attempt, (*fence, *noted))
        if answer.accepted:
            values = (*fence, event.number, event.replayed, lease_seconds)
            held = connection.execute(SQL.accepted, values).fetchone() is not None
            if held and event.replayed:
                connection.execute(SQL.replayed, (endpoint.id, event.number))
            return held
        if answer.status == _GONE:
            connection.execute(SQL.disable, (*fence, "The receiver answered 410 Gone."))
        elif event.failures >= len(RETRY_SECONDS):
            reason = f"An event was not accepted {event.failures + 1} times in a row."
            connection.execute(SQL.disable, (*fence, reason))
        else:
            connection.execute(SQL.failed, (*fence, RETRY_SECONDS[event.failures]))
    return False
