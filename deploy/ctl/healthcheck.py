"""Is the part in this container well? Exit code 0 or 1, for orchestrators that can only run a command.

It asks at the address that the part itself was given, in the environment: EDGE_BIND, METRICS_LISTEN or
NGINX_METRICS_LISTEN.
"""

import http.client
import os
import socket
import sys
from contextlib import closing

_TIMEOUT_SECONDS = 4.0


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_TIMEOUT_SECONDS)
        self.sock.connect(self._path)


def well(environment: dict[str, str]) -> bool:
    """Ask whichever part the environment tells of; a part that told no address is taken at its word."""
    bind = environment.get("EDGE_BIND", "")
    for name, path in (("METRICS_LISTEN", "/health"), ("NGINX_METRICS_LISTEN", "/alive")):
        if not bind and environment.get(name):
            return _answers(_tcp(environment[name]), path)
    if not bind:
        return True
    return _answers(_Unix(bind.removeprefix("unix:")) if bind.startswith("unix:") else _tcp(bind), "/v1/health")


def _tcp(address: str) -> http.client.HTTPConnection:
    host, _, port = address.rpartition(":")
    everywhere = host in ("", "0.0.0.0", "[::]")  # noqa: S104 - where it listens, not where we ask
    return http.client.HTTPConnection(
        "127.0.0.1" if everywhere else host.strip("[]"), int(port), timeout=_TIMEOUT_SECONDS
    )


def _answers(line: http.client.HTTPConnection, path: str) -> bool:
    with closing(line):
        try:
            line.request("GET", path, headers={"Host": "localhost", "X-Real-IP": "127.0.0.1"})
            return line.getresponse().status < 300
        except (OSError, http.client.HTTPException):
            return False


if __name__ == "__main__":
    sys.exit(0 if well(dict(os.environ)) else 1)
