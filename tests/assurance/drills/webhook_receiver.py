"""`python -m tests.assurance.drills.webhook_receiver ORDERS JOURNAL PORT…`: receivers of webhooks, one at each port of loopback.

ORDERS is a JSON file that may change at any time: for each port the secret, and how it behaves (`good`, `failing`,
`hanging`). What a receiver accepts is in JOURNAL, a line of JSON each, before it is answered: a receiver that is killed
in between has the event and will be sent it again.
"""

import json
import os
import sys
import threading
import time
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.assurance.drills.webhook_checks import FAILING, GOOD, HANGING, Delivery

# Longer than a sender may wait.
_HANG_SECONDS = 60.0


class Orders:
    """The file of orders, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read = -1
        self._orders: dict[str, dict[str, str]] = {}

    def of(self, port: int) -> dict[str, str]:
        """Return the secret and the behaviour of the receiver at a port."""
        with self._lock:
            changed = self._path.stat().st_mtime_ns
            if changed != self._read:
                self._orders, self._read = json.loads(self._path.read_text()), changed
            return self._orders.get(str(port), {"secret": "", "mode": FAILING})


def receiver(port: int, orders: Orders, journal: int) -> ThreadingHTTPServer:
    """Return a server that takes deliveries; `journal` is a file descriptor that appends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            mine = orders.of(port)
            if mine["mode"] == HANGING:
                time.sleep(_HANG_SECONDS)
                return
            if mine["mode"] == GOOD:
                line = json.dumps(asdict(_delivery(port, mine["secret"], body, dict(self.headers)))) + "\n"
                os.write(journal, line.encode())
            self.send_response(204 if mine["mode"] == GOOD else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing: the journal has it."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def _delivery(port: int, secret: str, body: bytes, head: dict[str, str]) -> Delivery:
    event: Any = json.loads(body)
    try:
        signed = Webhook(secret).verify(body, head) == event and head["webhook-id"] == event["id"]
    except WebhookVerificationError:
        signed = False
    return Delivery(port, int(event["cursor"]), event["data"].get("n", 0), event["timestamp"], time.time(), signed)


def main(orders: str, journal: str, *ports: str) -> None:
    """Serve until the process ends."""
    file = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    given = Orders(Path(orders))
    servers = [receiver(int(port), given, file) for port in ports]
    threads = [threading.Thread(target=server.serve_forever, daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
