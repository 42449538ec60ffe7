"""Serves a part's metrics and health: a tiny HTTP server for the operator's own network."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from shared.errors import ConfigurationError
from shared.settings.settings import Settings
from shared.telemetry.metrics import EXPOSITION, exposition

_SOCKET_SECONDS = 5.0
_PORT_MAX = 65_535


class MetricsServer(ThreadingHTTPServer):
    """Answers GET /metrics, and GET /health with 200 as long as `healthy` says so, else 503."""

    daemon_threads = True

    def __init__(self, settings: Settings, healthy: Callable[[], bool]) -> None:
        super().__init__(_address(settings.metrics_listen), _Answers)
        self.settings = settings
        self.healthy = healthy

    def start(self) -> None:
        """Serve in the background until the process ends."""
        threading.Thread(target=self.serve_forever, name="metrics-server", daemon=True).start()


class _Answers(BaseHTTPRequestHandler):
    timeout = _SOCKET_SECONDS
    server: MetricsServer

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._answer(200, EXPOSITION, exposition(self.server.settings.metrics_dir))
        elif self.path == "/health":
            healthy = self.server.healthy()
            self._answer(200 if healthy else 503, "text/plain", b"ok\n" if healthy else b"not well\n")
        else:
            self._answer(404, "text/plain", b"")

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing: monitoring asks every few seconds."""

    def _answer(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve_metrics(settings: Settings, healthy: Callable[[], bool] = lambda: True) -> MetricsServer | None:
    """Open the metrics server if a setting names its address. Raises ConfigurationError if that cannot be used."""
    if not settings.metrics_listen:
        return None
    try:
        post = MetricsServer(settings, healthy)
    except OSError as error:
        raise ConfigurationError(
            f"METRICS_LISTEN: {settings.metrics_listen} cannot be used: {error.strerror}"
        ) from None
    post.start()
    return post


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > _PORT_MAX:
        raise ConfigurationError("METRICS_LISTEN must be host:port")
    return host.strip("[]"), int(port)
