"""The health check: a part that listens and does not answer is not healthy yet."""

import socket
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer

from deploy.ctl.healthcheck import healthy, main, wait_until_healthy


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/v1/health" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_waiting_ends_when_the_edge_answers_and_not_when_its_socket_listens(tmp_path: Path) -> None:
    environment = {"EDGE_BIND": f"unix:{tmp_path / 'edge.sock'}"}
    server = UnixStreamServer(str(tmp_path / "edge.sock"), _Answers)  # listens from here on
    starting = threading.Event()

    def start_workers() -> None:
        starting.wait(5)
        server.serve_forever(poll_interval=0.05)

    thread = threading.Thread(target=start_workers)
    thread.start()
    try:
        with socket.socket(socket.AF_UNIX) as client:
            assert client.connect_ex(str(tmp_path / "edge.sock")) == 0
        waiter = threading.Thread(target=lambda: results.append(wait_until_healthy(environment, 30)))
        results: list[bool] = []
        waiter.start()
        waiter.join(0.2)
        assert waiter.is_alive()
        starting.set()
        waiter.join(30)
        assert results == [True]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_part_that_never_answers_ends_the_wait_with_exit_code_1(tmp_path: Path) -> None:
    environment = {"EDGE_BIND": f"unix:{tmp_path / 'nothing.sock'}"}
    assert not healthy(environment)
    assert not wait_until_healthy(environment, 0.2)
    assert main([]) == 0  # a part without an address has nothing to check
