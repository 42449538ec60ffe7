"""A collector of spans: keeps what it is sent, and refuses on demand."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Collector(ThreadingHTTPServer):
    """Takes OTLP over HTTP in its JSON form."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Take)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.documents: list[dict[str, Any]] = []
        self.status = 200
        self.came = threading.Event()

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> list[dict[str, Any]]:
        """Every span, with the name of its service."""
        found = []
        for document in self.documents:
            for resource in document["resourceSpans"]:
                service = attributes(resource["resource"])["service.name"]
                found += [{**span, "service": service} for scope in resource["scopeSpans"] for span in scope["spans"]]
        return found


class _Take(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers)))
        if self.server.status == 200:
            self.server.documents.append(json.loads(body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.came.set()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing."""


def attributes(holder: dict[str, Any]) -> dict[str, Any]:
    """Return a list of attributes as a dict of plain values."""
    return {item["key"]: next(iter(item["value"].values())) for item in holder["attributes"]}


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector for as long as the block lasts."""
    collector = Collector()
    thread = threading.Thread(target=collector.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield collector
    finally:
        collector.shutdown()
        thread.join()
        collector.server_close()
