"""One POST to an address that a stranger chose: resolved once, never inside the network, bounded in time and size."""

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from shared.webhooks import is_public

SECONDS_MAX = 10.0
ANSWER_BYTES_MAX = 65_536
_KEPT_CHARACTERS = 1_000
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one POST: the status, or why there is none, and the beginning of the receiver's text."""

    status: int | None
    outcome: str
    text: str = ""
    milliseconds: int = 0

    @property
    def accepted(self) -> bool:
        """Whether the receiver has the event."""
        return self.outcome == "accepted"


class _Refused(Exception):
    """The address may not be called; the text says why."""


def post(url: str, body: bytes, headers: Mapping[str, str], *, private_allowed: bool) -> Answer:
    """Send one POST and return what came of it; never raises. A redirect is not followed, it is a failure."""
    started = time.monotonic()
    try:
        status, text = _send(url, body, headers, private_allowed=private_allowed, deadline=started + SECONDS_MAX)
        outcome = "accepted" if 200 <= status < 300 else "redirected" if 300 <= status < 400 else "refused"
        answer = Answer(status, outcome, text)
    except _Refused as refusal:
        answer = Answer(None, str(refusal))
    except TimeoutError:
        answer = Answer(None, "timed-out")
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = time.monotonic() - started >= SECONDS_MAX
        answer = Answer(
            None, "timed-out" if late else "tls-failed" if isinstance(error, ssl.SSLError) else "unreachable"
        )
    elapsed = int((time.monotonic() - started) * 1000)
    return Answer(answer.status, answer.outcome, answer.text, elapsed)


def _send(
    url: str, body: bytes, headers: Mapping[str, str], *, private_allowed: bool, deadline: float
) -> tuple[int, str]:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    address = _address_of(host, port, private_allowed=private_allowed)
    raw = socket.create_connection(address, timeout=SECONDS_MAX)
    # A receiver that sends a byte now and then would keep the socket's own time-out from ever ending the call.
    alarm = threading.Timer(max(0.0, deadline - time.monotonic()), _shut, (raw,))
    alarm.daemon = True
    alarm.start()
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS_MAX)
    try:
        secure = parts.scheme == "https"
        connection.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=host) if secure else raw
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, {**headers, "Connection": "close"})
        response = connection.getresponse()
        text = response.read(ANSWER_BYTES_MAX + 1)
        if len(text) > ANSWER_BYTES_MAX:
            raise _Refused("answer-too-large")
        return response.status, text[:_KEPT_CHARACTERS].decode("utf-8", "replace").replace("\0", "\ufffd")
    finally:
        alarm.cancel()
        connection.close()
        raw.close()


def _address_of(host: str, port: int, *, private_allowed: bool) -> tuple[str, int]:
    """Resolve a host once and return the address to connect to, so that a second answer of DNS cannot change it."""
    found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not private_allowed and not all(is_public(ip_address(one.partition("%")[0])) for one in found):
        raise _Refused("private-address")
    return found[0], port


def _shut(raw: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended by itself
        raw.shutdown(socket.SHUT_RDWR)
