"""One POST of a webhook: it goes to the address that was judged, and neither a receiver nor a resolver can stretch it."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import self_signed
from deploy.local.paths import Paths
from deploy.local.tls import Certificate
from workers.events.poster import Poster

PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.7"

ACCEPTED = b"HTTP/1.1 204 No Content\r\n\r\n"

Serve = Callable[[socket.socket, bytes], None]


class Receiver:
    """A TCP server on loopback for one test; `serve` is given each connection and the head of its request."""

    def __init__(self, serve: Serve, host: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> None:
        self.heads: list[bytes] = []
        self.hung_up_on = threading.Event()
        self._serve = serve
        self._context = context
        self._listener = socket.create_server((host, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Accept no more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self._listener.accept()
                with contextlib.suppress(OSError), accepted:
                    self._answer(accepted)

    def _answer(self, connection: socket.socket) -> None:
        if self._context is not None:
            connection = self._context.wrap_socket(connection, server_side=True)
        head = b""
        # With its body: a connection that is closed over unread bytes is reset.
        while not head.endswith(b"\r\n\r\n{}") and (read := connection.recv(65_536)):
            head += read
        self.heads.append(head)
        with connection:
            try:
                self._serve(connection, head)
            except OSError:
                self.hung_up_on.set()


@contextlib.contextmanager
def receiver(serve: Serve, **options: Any) -> Iterator[Receiver]:
    made = Receiver(serve, **options)
    try:
        yield made
    finally:
        made.close()


def accept(connection: socket.socket, head: bytes) -> None:
    connection.sendall(ACCEPTED)


def dribble(connection: socket.socket, head: bytes) -> None:
    """Send a header that never ends, until the client hangs up or half a minute is over."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    pause = threading.Event()
    for _ in range(1_500):
        connection.sendall(b"x")
        pause.wait(0.02)
    connection.sendall(b"\r\nContent-Length: 0\r\n\r\n")


class Resolver:
    """Names of one test with the answers that follow each other; an address stands for itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
        self.asked = 0
        self._answers = answers
        self._real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._resolve)

    def _resolve(self, host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host != "hooks.example.org":
            return self._real(host, port, *more, **named)
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses to which a connection was tried; none is made."""
    tried: list[str] = []

    def refuse(address: tuple[str, int], timeout: float) -> socket.socket:
        tried.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def test_a_resolver_that_changes_its_answer_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, connected: list[str]
) -> None:
    resolver = Resolver(monkeypatch, [PUBLIC], [PRIVATE])
    answer = Poster(private_allowed=False).post("https://hooks.example.org/", b"{}", {})
    assert (answer.outcome, resolver.asked, connected) == ("unreachable", 1, [PUBLIC])


@pytest.mark.parametrize("answer", [[PRIVATE], [PUBLIC, PRIVATE], [PRIVATE, PUBLIC], ["0.0.0.0"], ["169.254.169.254"]])
def test_a_name_with_a_private_address_among_its_own_is_not_called(
    monkeypatch: pytest.MonkeyPatch, connected: list[str], answer: list[str]
) -> None:
    Resolver(monkeypatch, answer)
    assert Poster(private_allowed=False).post("https://hooks.example.org/", b"{}", {}).outcome == "private-address"
    assert connected == []


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]", "localhost"])
def test_a_spelling_of_loopback_is_not_called(connected: list[str], host: str) -> None:
    """Such an address cannot be saved any more; one that was saved before is judged when it is resolved."""
    assert Poster(private_allowed=False).post(f"https://{host}/", b"{}", {}).outcome == "private-address"
    assert connected == []


def test_the_connection_is_made_to_the_first_address_and_the_request_names_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiver(accept) as chosen:
        resolver = Resolver(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
        url = f"http://hooks.example.org:{chosen.port}/hook?x=1"
        assert Poster(private_allowed=True).post(url, b"{}", {"webhook-id": "e"}).accepted
        assert resolver.asked == 1
        head = chosen.heads[0]
        assert head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
        assert f"\r\nHost: hooks.example.org:{chosen.port}\r\n".encode() in head
        assert b"\r\nwebhook-id: e\r\n" in head


def test_a_resolver_that_takes_too_long_leaves_no_time_to_connect(
    monkeypatch: pytest.MonkeyPatch, connected: list[str]
) -> None:
    Resolver(monkeypatch, [PUBLIC])
    answer = Poster(private_allowed=False, seconds=0.0).post("https://hooks.example.org/", b"{}", {})
    assert (answer.outcome, connected) == ("timed-out", [])


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    """A certificate of 127.0.0.1 and localhost."""
    return self_signed.certificate_of(Paths.below(tmp_path))


def serving(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.chain, certificate.key)
    return context


@pytest.mark.parametrize("secure", [False, True])
def test_a_receiver_that_sends_a_byte_now_and_then_is_hung_up_on(certificate: Certificate, secure: bool) -> None:
    trusting = ssl.create_default_context(cafile=certificate.chain)
    with receiver(dribble, context=serving(certificate) if secure else None) as there:
        url = f"{'https' if secure else 'http'}://127.0.0.1:{there.port}/"
        answer = Poster(private_allowed=True, seconds=1.0, tls=trusting).post(url, b"{}", {})
        assert (answer.outcome, answer.status) == ("timed-out", None)
        assert there.hung_up_on.wait(20), "the connection was shut while the receiver was sending"


def endless(connection: socket.socket, head: bytes) -> None:
    """Send a success, and no body, until the client hangs up."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    connection.recv(1)


def test_a_success_whose_body_never_comes_is_a_success() -> None:
    with receiver(endless) as there:
        answer = Poster(private_allowed=True, seconds=0.5).post(f"http://127.0.0.1:{there.port}/", b"{}", {})
        assert (answer.outcome, answer.status, answer.text) == ("accepted", 200, "")


def test_a_receiver_that_never_finishes_the_tls_handshake_is_hung_up_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        assert Poster(private_allowed=True, seconds=0.5).post(url, b"{}", {}).outcome == "timed-out"


def test_tls_is_verified_for_the_name_and_by_the_authorities_that_are_trusted(certificate: Certificate) -> None:
    trusting = Poster(private_allowed=True, tls=ssl.create_default_context(cafile=certificate.chain))
    with receiver(accept, context=serving(certificate)) as there:
        assert trusting.post(f"https://localhost:{there.port}/", b"{}", {}).accepted
        for poster, host in ((trusting, "127.0.0.2"), (Poster(private_allowed=True), "localhost")):
            assert poster.post(f"https://{host}:{there.port}/", b"{}", {}).outcome in ("tls-failed", "unreachable")
        assert len(there.heads) == 1, "no event was sent where the certificate does not fit"


def test_a_certificate_of_another_name_is_refused(monkeypatch: pytest.MonkeyPatch, certificate: Certificate) -> None:
    Resolver(monkeypatch, ["127.0.0.1"])
    trusting = Poster(private_allowed=True, tls=ssl.create_default_context(cafile=certificate.chain))
    with receiver(accept, context=serving(certificate)) as there:
        answer = trusting.post(f"https://hooks.example.org:{there.port}/", b"{}", {})
        assert (answer.outcome, there.heads) == ("tls-failed", [])


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000, "accepted"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 100_000, "accepted"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "accepted"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk", "accepted"),
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 100_000, "refused"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "unreachable"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "unreachable"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "accepted"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "unreachable"),
        (b"", "unreachable"),
        (b"HTTP/1.1 307 T\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", "redirected"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\x00\xff\x1b[m", "accepted"),
    ],
)
def test_the_answer_of_a_receiver_is_bounded(sent: bytes, outcome: str) -> None:
    with receiver(lambda connection, head: connection.sendall(sent)) as there:
        answer = Poster(private_allowed=True).post(f"http://127.0.0.1:{there.port}/", b"{}", {})
        assert answer.outcome == outcome
        assert len(answer.text) <= 1_000
        assert "\0" not in answer.text, "PostgreSQL's text cannot hold it"


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 305, 307, 308])
def test_no_redirect_is_followed_whatever_its_status(status: int) -> None:
    """Its target could be an address that a webhook must not have."""

    def redirect(connection: socket.socket, head: bytes) -> None:
        location = f"http://127.0.0.1:{elsewhere.port}/"
        connection.sendall(f"HTTP/1.1 {status} R\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())

    with receiver(accept) as elsewhere, receiver(redirect) as there:
        answer = Poster(private_allowed=True).post(f"http://127.0.0.1:{there.port}/", b"{}", {})
        assert (answer.status, answer.outcome) == (status, "redirected")
        assert elsewhere.heads == []
