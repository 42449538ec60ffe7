"""A connection to an address that a person named: resolved once, never inside the network, shut at its deadline."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address
from urllib.parse import SplitResult

from shared.events.webhook_addresses import is_public

_PORTS = {"https": 443, "http": 80}


class Refused(Exception):
    """The address may not be called, or its answer not be read; the text says why."""


@cache
def system_trust() -> ssl.SSLContext:
    """Return the context that believes the authorities of the system: reading them takes 50 ms of a processor."""
    return ssl.create_default_context()


@contextlib.contextmanager
def open_connection(
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
    alarm = threading.Timer(max(0.0, deadline - time.monotonic()), _shut_down, (connection,))
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


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended by itself
        # Not the method of an SSLSocket: that one also forgets the session which another thread is using.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
