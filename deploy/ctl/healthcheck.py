"""Health check of the part in this container or unit: exit code 0 if it answers, else 1.

`python -m deploy.ctl.healthcheck [--wait SECONDS]`. The address is the part's own, from the environment: EDGE_BIND,
METRICS_LISTEN or NGINX_METRICS_LISTEN. With `--wait` the check is repeated until it succeeds or the time is over: a
supervisor that starts edges one after another must not stop the next one before this one answers. A listening socket
does not show that, because gunicorn listens before its workers have started.
"""

import argparse
import http.client
import os
import socket
import sys
import time
from contextlib import closing

_TIMEOUT_SECONDS = 4.0
_RETRY_SECONDS = 0.1


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_TIMEOUT_SECONDS)
        self.sock.connect(self._path)


def healthy(environment: dict[str, str]) -> bool:
    """Return whether the part that the environment names answers; a part without an address counts as healthy."""
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


def wait_until_healthy(environment: dict[str, str], seconds: float) -> bool:
    """Return whether the part answers within so many seconds; 0 checks once."""
    ends = time.monotonic() + seconds
    while not healthy(environment):
        if time.monotonic() >= ends:
            return False
        time.sleep(_RETRY_SECONDS)
    return True


def main(arguments: list[str]) -> int:
    """Run the check and return the exit code."""
    parser = argparse.ArgumentParser(prog="healthcheck", description="Exit with 0 if the part answers.")
    parser.add_argument("--wait", type=float, default=0.0, metavar="SECONDS", help="repeat until it answers")
    return 0 if wait_until_healthy(dict(os.environ), parser.parse_args(arguments).wait) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
