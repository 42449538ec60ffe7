"""One POST to an address that a person named, bounded in time and size."""

import contextlib
import errno
import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, urlsplit

from workers.events.bounded_connection import Refused, open_connection, seconds_left, system_trust
from workers.events.delivery_outcome import DeliveryOutcome

SECONDS_MAX = 10.0
_KEPT_CHARACTERS = 1_000
_GONE = 410
_OWN_FAULTS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class Poster:
    """Sends POSTs to addresses of the public internet; with `private_allowed` also to those inside a network."""

    private_allowed: bool
    seconds: float = SECONDS_MAX
    tls: ssl.SSLContext = field(default_factory=system_trust)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> DeliveryOutcome:
        """Send one POST and return what came of it within `seconds`. A redirect is not followed, it is a failure.

        Raises OSError where this process has no file or memory left: that is not the receiver's failure.
        """
        started = time.monotonic()
        answer = self._answer(url, body, headers, started + self.seconds)
        return replace(answer, milliseconds=int((time.monotonic() - started) * 1000))

    def _answer(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float) -> DeliveryOutcome:
        try:
            parts = urlsplit(url)
            with open_connection(parts, deadline, self.tls, private_allowed=self.private_allowed) as connection:
                response = send_request(connection, parts, "POST", headers, body)
                seconds_left(deadline)
                status, text = response.status, _beginning(response)
        except Refused as refusal:
            return DeliveryOutcome(None, str(refusal))
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _OWN_FAULTS:
                raise
            late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
            reason = "tls-failed" if isinstance(error, ssl.SSLError) else "unreachable"
            return DeliveryOutcome(None, "timed-out" if late else reason)
        outcome = "accepted" if 200 <= status < 300 else "redirected" if 300 <= status < 400 else "refused"
        ends = "The receiver answered 410 Gone." if status == _GONE else None
        return DeliveryOutcome(status, outcome, text, ends=ends)


def send_request(
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
