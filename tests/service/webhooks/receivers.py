"""Receivers of webhooks for tests: real HTTP servers on loopback with the behaviour that a test chooses."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Behave = Callable[[int], int | None]
"""From the number of the call, beginning with 0, to the status that is answered; None: hang until the test ends."""


@dataclass
class Receiver:
    """What came, in its order: headers and body of each call, and of those that were accepted."""

    url: str
    behave: Behave = lambda call: 204
    calls: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    accepted: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: threading.Event = field(default_factory=threading.Event)
    location: str | None = None


@contextmanager
def receiver(
    behave: Behave = lambda call: 204, *, location: str | None = None, answer: bytes = b""
) -> Iterator[Receiver]:
    """Serve one receiver."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            arrived = ({name.lower(): value for name, value in self.headers.items()}, body)
            with made.lock:
                number = len(made.calls)
                made.calls.append(arrived)
            status = made.behave(number)
            if status is None:
                made.ended.wait()
                return
            if 200 <= status < 300:
                made.accepted.append(arrived)
            self.send_response(status)
            if made.location is not None:
                self.send_header("Location", made.location)
            self.send_header("Content-Length", str(len(answer)) if status != 204 else "0")
            self.end_headers()
            if status != 204:
                self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook", behave, location=location)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
