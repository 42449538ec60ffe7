"""One POST to an address that a caller named: resolved once, never inside the network, bounded in time and size."""

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from shared.webhook_urls import is_public

SECONDS_MAX = 10.0
ANSWER_BYTES_MAX = 65_536
_KEPT_CHARACTERS = 1_000
_PORTS = {"https": 443, "http": 80}


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


class _Refused(Exception):
    """The address may not be called, or its answer not be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Poster:
    """Sends POSTs to addresses of the public internet; with `private_allowed` also to those inside a network."""

    private_allowed: bool
    seconds: float = SECONDS_MAX
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send one POST and return what came of it within `seconds`; never raises.

        A redirect is not followed, it is a failure.
        """
        started = time.monotonic()
        answer = self._answer(urlsplit(url), body, headers, started + self.seconds)
        return replace(answer, milliseconds=int((time.monotonic() - started) * 1000))

    def _answer(self, parts: SplitResult, body: bytes, headers: Mapping[str, str], deadline: float) -> Answer:
        try:
            with self._connected(parts, deadline) as connection:
                status, text = _exchanged(connection, parts, body, headers)
            _seconds_left(deadline)
        except _Refused as refusal:
            return Answer(None, str(refusal))
        except (OSError, http.client.HTTPException, ValueError) as error:
            late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
            reason = "tls-failed" if isinstance(error, ssl.SSLError) else "unreachable"
            return Answer(None, "timed-out" if late else reason)
        outcome = "accepted" if 200 <= status < 300 else "redirected" if 300 <= status < 400 else "refused"
        return Answer(status, outcome, text)

    @contextlib.contextmanager
    def _connected(self, parts: SplitResult, deadline: float) -> Iterator[socket.socket]:
        """Connect, by TLS where the address says so. The connection is shut at the deadline, also while it is used."""
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        address = _address_of(host, port, private_allowed=self.private_allowed)
        connection = socket.create_connection(address, timeout=_seconds_left(deadline))
        if parts.scheme == "https":
            # The handshake is made under the alarm: a receiver may be slow there as well.
            connection = self.tls.wrap_socket(connection, server_hostname=host, do_handshake_on_connect=False)
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


def _exchanged(
    connection: socket.socket, parts: SplitResult, body: bytes, headers: Mapping[str, str]
) -> tuple[int, str]:
    """Send the request and return the status and the beginning of the answer."""
    http_connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    http_connection.sock = connection
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    http_connection.request("POST", target, body, {"Host": parts.netloc, **headers, "Connection": "close"})
    response = http_connection.getresponse()
    answer = response.read(ANSWER_BYTES_MAX + 1)
    if len(answer) > ANSWER_BYTES_MAX:
        raise _Refused("answer-too-large")
    return response.status, answer[:_KEPT_CHARACTERS].decode("utf-8", "replace").replace("\0", "\ufffd")


def _address_of(host: str, port: int, *, private_allowed: bool) -> tuple[str, int]:
    """Resolve a host once and return the address to connect to, so that a second answer of DNS cannot change it."""
    addresses = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not private_allowed and not all(is_public(ip_address(one.partition("%")[0])) for one in addresses):
        raise _Refused("private-address")
    return addresses[0], port


def _seconds_left(deadline: float) -> float:
    """Return how long the call may still take. Raises TimeoutError after its end: a slow resolver has no time-out."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended by itself
        # Not the method of an SSLSocket: that one also forgets the session which another thread is using.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
