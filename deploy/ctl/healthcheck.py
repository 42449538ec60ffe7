"""Health check of the part in this container or unit: exit code 0 if it answers, else 1.

`python -m deploy.ctl.healthcheck [--wait SECONDS]`. The address is the part's own, from the environment: EDGE_BIND,
METRICS_LISTEN or NGINX_METRICS_LISTEN. With `--wait` the check is repeated until it succeeds or the time is over: a
supervisor that starts edges one after another must not stop the next one before this one answers. A listening socket
does not show that, because gunicorn listens before its workers have started.

Every container runs it every few seconds, so it imports little: HTTP's own client would take most of its time.
"""

import argparse
import os
import socket
import sys
import time

_TIMEOUT_SECONDS = 4.0
_RETRY_SECONDS = 0.1


def healthy(environment: dict[str, str]) -> bool:
    """Return whether the part that the environment names answers; a part without an address counts as healthy."""
    bind = environment.get("EDGE_BIND", "")
    for name, path in (("METRICS_LISTEN", "/health"), ("NGINX_METRICS_LISTEN", "/alive")):
        if not bind and environment.get(name):
            return _answers(environment[name], path)
    return not bind or _answers(bind, "/v1/health")


def _answers(address: str, path: str) -> bool:
    try:
        family, where = _place(address)
        with socket.socket(family) as line:
            line.settimeout(_TIMEOUT_SECONDS)
            line.connect(where)
            line.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\nX-Real-IP: 127.0.0.1\r\n\r\n".encode())
            with line.makefile("rb") as answer:
                status = answer.readline().split()
        return len(status) > 1 and status[1].startswith(b"2")
    except OSError:
        return False


def _place(address: str) -> tuple[socket.AddressFamily, str | tuple[object, ...]]:
    if address.startswith("unix:"):
        return socket.AF_UNIX, address.removeprefix("unix:")
    host, _, port = address.rpartition(":")
    everywhere = host in ("", "0.0.0.0", "[::]")  # noqa: S104 - where it listens, not where we ask
    found = socket.getaddrinfo("127.0.0.1" if everywhere else host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    return found[0], found[4]


def wait_until_healthy(environment: dict[str, str], seconds: float) -> bool:
    """Return whether the part answers within `seconds`; 0 checks once."""
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
